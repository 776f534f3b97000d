"""Measurements of the project itself: speed, and what each part of training is worth.

benchmark    `krypenv bench`
bench_lines  the lines of the benchmark
beside       two installations side by side
first_use    times of the first use
ablation     `krypenv ablate`
model_card   `krypenv card`
"""
