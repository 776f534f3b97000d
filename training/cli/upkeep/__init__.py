"""The commands that look after the package and its models.

bench   `krypenv bench`
doctor  `krypenv doctor`
card    `krypenv card`
"""
