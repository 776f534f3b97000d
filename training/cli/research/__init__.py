"""The commands of research.

study    `krypenv study`
compare  `krypenv compare`
solve    `krypenv solve`
exploit  `krypenv exploit`
imitate  `krypenv imitate`
data     `krypenv data`
"""
