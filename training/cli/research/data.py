"""`krypenv data`."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.console import Console
from rich.progress import Progress

from krypenv.training.cli.outputs import check_folder
from krypenv.training.data import making
from krypenv.training.data.making import DataSettings


def run(settings: DataSettings) -> None:
    """Play games, and write every decision as a row: a data set for learning offline.

    The rows and their card are stored in DIR. If the command is stopped or killed, the same command resumes it.
    """
    check_folder(settings.out)
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("games", total=settings.games)
        data = making.make_data(settings, lambda done, games: bar.update(task, completed=done, total=games))
    size = sum((data.folder / file["name"]).stat().st_size for file in data.card["files"])
    typer.echo(
        f"{data.rules}: {len(data):,} decisions of {settings.games:,} games, {size / 1e6:,.1f} MB in "
        f"{Path(settings.out)}"
    )
