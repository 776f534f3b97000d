"""The commands of research.

solve    `krypenv solve`
exploit  `krypenv exploit`
data     `krypenv data`
"""
