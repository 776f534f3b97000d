"""`krypenv bench`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import typer
from rich.console import Console

from krypenv.training.runs import limits
from krypenv.training.runs.options import Command, a_json_file, setting
from krypenv.training.runs.panels import LENGTH, MEASURED


@dataclass(frozen=True)
class BenchSettings(Command):
    """The settings of `krypenv bench`."""

    command: ClassVar[str] = "bench"
    only: tuple[str, ...] = setting(
        (), "lines to measure, as in 'engine*'; repeatable [default: all lines]", panel=MEASURED, metavar="PATTERN"
    )
    peers: bool = setting(False, "also measure OpenSpiel and PettingZoo, if installed", panel=MEASURED)
    beside: str | None = setting(
        None, "compare with the krypenv of this interpreter, in alternating turns", panel=MEASURED, metavar="PYTHON"
    )
    first_use: bool = setting(
        False, "measure the import and the first use of each part instead; takes minutes", panel=MEASURED
    )
    games: int = setting(4096, "games in a batch of the engine", limits.GAMES, LENGTH)
    threads: int = setting(2, "threads of the multi-threaded line", limits.THREADS, LENGTH)
    seconds: float = setting(
        1.0, "seconds to measure a rate in each of three rounds; with --beside, in ten turns", limits.SECONDS, LENGTH
    )
    json: Path | None = a_json_file()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.peers + (self.beside is not None) + self.first_use > 1:
            raise ValueError("--peers, --beside and --first-use are three measurements; give one of them")


def run(settings: BenchSettings) -> None:
    """Measure the speed of the engine, the environments and the agents, also beside peers or another version."""
    from krypenv.training.cli.outputs import check_files
    from krypenv.training.cli.speed import benchmark, beside
    from krypenv.training.runs.tables import print_table, write_json

    check_files(settings.json)
    if settings.first_use:
        from krypenv.training.cli.speed.first_use import run as measure_first_use

        measure_first_use(settings.json)
        return
    console, other, how = Console(stderr=True), settings.beside, (settings.games, settings.seconds, settings.threads)
    with console.status("measuring") as status:
        if other is not None:
            report = beside.beside(other, *how, settings.only, status.update)
        else:
            report = benchmark.benchmark(*how, settings.peers, status.update, settings.only)
    if settings.json:
        write_json(settings.json, report)
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
