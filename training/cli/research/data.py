"""`krypenv data`."""

from __future__ import annotations

import typer

from krypenv.training.data import making
from krypenv.training.data.making import DataSettings
from krypenv.training.runs.progress import bar_of


def run(settings: DataSettings) -> None:
    """Play games, and write every decision as a row: a data set for learning offline.

    The rows and their card are stored in DIR. If the command is stopped or killed, the same command resumes it.
    """
    with bar_of("games") as show:
        data = making.make_data(settings, show)
    size = sum((data.folder / file["name"]).stat().st_size for file in data.card["files"])
    typer.echo(
        f"{data.rules}: {len(data):,} decisions of {settings.games:,} games, {size / 1e6:,.1f} MB in {settings.out}"
    )
