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
    seconds: Annotated[float, typer.Option(help="how long a rate is measured in each of three rounds")] = 1.0,
    games: Annotated[int, typer.Option(help="games at once in the batch engine")] = 4096,
    threads: Annotated[int, typer.Option(help="threads of the line on several threads")] = 2,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="also write the figures to this file")
    ] = None,
) -> None:
    """Measure the speed of engine and environment."""
    from krypenv.training.benchmark import COLUMNS, Line, benchmark, table_row
    from krypenv.training.outputs import check_files
    from krypenv.training.report import print_table, write_json

    check_files(json_file)
    console = Console(stderr=True)
    with console.status("measuring") as status:
        report = benchmark(games, seconds, threads, peers, status.update)
    if json_file:
        write_json(json_file, report)
    typer.echo(", ".join(f"{key} {value}" for key, value in report["machine"].items()))
    print_table(COLUMNS, [table_row(Line(**line)) for line in report["lines"]])
