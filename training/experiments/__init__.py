"""What is measured of the project itself: speed, and what each part of training brings.

benchmark    `krypenv bench`
bench_lines  its lines
beside       two installations side by side
first_use    how long the first use takes
ablation     `krypenv ablate`
model_card   `krypenv card`
"""
