"""`krypenv bench`."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from krypenv.training.cli.options import JsonFile, flag, option
from krypenv.training.runs.panels import LENGTH, MEASURED


def bench(
    only: Annotated[
        list[str] | None,
        option(
            panel=MEASURED, metavar="PATTERN", help="lines to measure, as in 'engine*'; repeatable", default="all lines"
        ),
    ] = None,
    peers: Annotated[bool, flag("--peers", MEASURED, "also measure OpenSpiel and PettingZoo, if installed")] = False,
    other: Annotated[
        str | None,
        option(
            "--beside",
            panel=MEASURED,
            metavar="PYTHON",
            help="compare with the krypenv of this interpreter, in alternating turns",
        ),
    ] = None,
    first_use: Annotated[
        bool,
        flag("--first-use", MEASURED, "measure the import and the first use of each part instead; takes minutes"),
    ] = False,
    games: Annotated[int, option(panel=LENGTH, help="games in a batch of the engine")] = 4096,
    threads: Annotated[int, option(panel=LENGTH, help="threads of the multi-threaded line")] = 2,
    seconds: Annotated[
        float,
        option(panel=LENGTH, help="seconds to measure a rate in each of three rounds; with --beside, in ten turns"),
    ] = 1.0,
    json_file: JsonFile = None,
) -> None:
    """Measure the speed of the engine, the environments and the agents, also beside peers or another version."""
    from krypenv.training.cli.outputs import check_files
    from krypenv.training.cli.speed import benchmark, beside
    from krypenv.training.runs.tables import print_table, write_json

    check_files(json_file)
    if peers + (other is not None) + first_use > 1:
        raise ValueError("--peers, --beside and --first-use are three measurements; give one of them")
    if first_use:
        from krypenv.training.cli.speed.first_use import run

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
    typer.echo("ratio: steps of this krypenv in the time of one step of the other; above 1 this one is faster")
