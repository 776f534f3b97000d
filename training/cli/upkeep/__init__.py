"""The commands that look after the package.

bench        `krypenv bench`
bench_lines  what each line of the benchmark measures
doctor       `krypenv doctor`
"""
