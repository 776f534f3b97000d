"""`krypenv bench`."""

from __future__ import annotations

import typer
from rich.console import Console

from krypenv.training.cli.outputs import check_files
from krypenv.training.cli.speed import benchmark, beside
from krypenv.training.cli.speed.benchmark import BenchSettings
from krypenv.training.runs.tables import print_table, write_json


def run(settings: BenchSettings) -> None:
    """Measure the speed of the engine, the environments and the agents, also beside peers or another version."""
    check_files(settings.json)
    if settings.first_use:
        from krypenv.training.cli.speed.first_use import run as measure_first_use

        measure_first_use(settings.json)
        return
    measure = benchmark.benchmark if settings.beside is None else beside.beside
    with Console(stderr=True).status("measuring") as status:
        report = measure(settings, status.update)
    if settings.json:
        write_json(settings.json, report)
    typer.echo(", ".join(f"{key} {value}" for key, value in report["machine"].items()))
    if settings.beside is None:
        print_table(benchmark.COLUMNS, [benchmark.table_row(benchmark.Line(**line)) for line in report["lines"]])
        return
    for side in ("this", "other"):
        typer.echo(side + ": " + ", ".join(f"{key} {value}" for key, value in report[side].items()))
    compared = [beside.Compared(**line) for line in report["lines"]]
    print_table(beside.COLUMNS, [beside.table_row(line) for line in compared])
    for line in compared:
        if line.reason:
            typer.echo(f"{line.what}: {line.reason}")
    typer.echo("ratio: steps of this krypenv in the time of one step of the other; above 1 this one is faster")
