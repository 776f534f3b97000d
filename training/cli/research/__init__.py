"""The commands of research.

solve    `krypenv solve`
exploit  `krypenv exploit`
imitate  `krypenv imitate`
data     `krypenv data`
"""
