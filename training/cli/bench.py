"""The command `krypenv bench`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console


def bench(
    peers: Annotated[
        bool, typer.Option("--peers", help="measure OpenSpiel and PettingZoo too, where installed")
    ] = False,
    other: Annotated[
        str | None,
        typer.Option(
            "--beside", metavar="PYTHON", help="compare with the krypenv of this interpreter, in alternating turns"
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="only lines that fit, as in 'engine*'; may be given more than once"),
    ] = None,
    seconds: Annotated[
        float, typer.Option(help="how long a rate is measured in each of three rounds, or in ten of forty turns")
    ] = 1.0,
    games: Annotated[int, typer.Option(help="games at once in the batch engine")] = 4096,
    threads: Annotated[int, typer.Option(help="threads of the line on several threads")] = 2,
    first_use: Annotated[
        bool, typer.Option("--first-use", help="measure the import and everything's first use instead, for minutes")
    ] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="also write the figures to this file")
    ] = None,
) -> None:
    """Measure the speed of the engine, the environments and the agents, also beside peers or another version."""
    from krypenv.training.cli.outputs import check_files
    from krypenv.training.common.report import print_table, write_json
    from krypenv.training.experiments import benchmark, beside

    check_files(json_file)
    if peers + (other is not None) + first_use > 1:
        raise ValueError("--peers, --beside and --first-use are three measurements; give one of them")
    if first_use:
        from krypenv.training.experiments.first_use import run

        run(json_file)
        return
    console = Console(stderr=True)
    with console.status("measuring") as status:
        if other is not None:
            report = beside.beside(other, games, seconds, threads, only or (), status.update)
        else:
            report = benchmark.benchmark(games, seconds, threads, peers, status.update, only or ())
    if json_file:
        write_json(json_file, report)
    typer.echo(", ".join(f"{key} {value}" for key, value in report["machine"].items()))
    if other is None:
        print_table(benchmark.COLUMNS, [benchmark.table_row(benchmark.Line(**line)) for line in report["lines"]])
        return
    for side in ("this", "other"):
        typer.echo(side + ": " + ", ".join(f"{key} {value}" for key, value in report[side].items()))
    compared = [beside.Compared(**line) for line in report["lines"]]
    print_table(beside.COLUMNS, [beside.table_row(line) for line in compared])
    for line in compared:
        if line.reason:
            typer.echo(f"{line.what}: {line.reason}")
    typer.echo("ratio: this krypenv's steps in the time of one of the other's; above 1 this one is faster")
