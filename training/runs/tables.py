"""Tables in the terminal and figures in JSON files."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from krypenv.inputs.files import write_whole
from krypenv.inputs.words import printable

NAME_COLUMNS = ("agent", "against", "points a game", "what", "budget", "move", "played", "best", "training")
NARROWEST = 12  # characters of a heading that is never folded, and of names that are
INTERVAL = "95% interval"  # a column that goes below the figure before it where the table is too wide


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table with all columns but the first right-aligned. Names and headings may wrap; figures don't."""
    console = Console()
    if _width(columns, rows) > console.width:
        columns, rows = _with_intervals_below(columns, rows)
    table = Table()
    for number, column in enumerate(columns):
        is_name = column in NAME_COLUMNS or number == 0
        width = max([NARROWEST, *(len(line) for row in rows for line in row[number].split("\n"))])
        heading = column if is_name else textwrap.fill(column, width)
        justify: Literal["left", "right"] = "left" if number == 0 else "right"
        least = min(NARROWEST, max(map(len, (column, *(row[number] for row in rows))))) if is_name else None
        table.add_column(escape(heading), justify=justify, no_wrap=not is_name, overflow="fold", min_width=least)
    for row in rows:
        table.add_row(*(escape("\n".join(map(printable, cell.split("\n")))) for cell in row))
    console.print(table)


def _width(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Return the characters of a line of the table if names don't wrap."""
    cells = zip(columns, *rows, strict=True)
    return 1 + sum(3 + max(min(len(column), NARROWEST), *map(len, below)) for column, *below in cells if below)


def _with_intervals_below(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[list[str], list[list[str]]]:
    """Return the table with each interval below the figure before it."""
    kept = [at for at, column in enumerate(columns) if column != INTERVAL]
    below = {at - 1 for at, column in enumerate(columns) if column == INTERVAL}
    folded = [
        [row[at] + ("\n" + row[at + 1].replace("to ", "to\n") if at in below else "") for at in kept] for row in rows
    ]
    return [columns[at] for at in kept], folded


def write_json(path: Path, data: dict[str, Any]) -> None:
    """Write plain values as JSON, atomically."""
    write_whole(path, (json.dumps(data, indent=2, allow_nan=False) + "\n").encode())
