"""The commands that look after the package.

bench   `krypenv bench`
doctor  `krypenv doctor`
"""
