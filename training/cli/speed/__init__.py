"""How fast the package is.

benchmark  `krypenv bench`
lines      the lines of the benchmark
beside     two installations side by side
first_use  times of the first use
"""
