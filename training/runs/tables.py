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

NAME_COLUMNS = ("agent", "against", "points a game", "what", "move", "played", "best", "training")
NARROWEST = 12  # characters of a heading that is never folded


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table with all columns but the first right-aligned. Names and headings may wrap; figures don't."""
    table = Table()
    for number, column in enumerate(columns):
        is_name = column in NAME_COLUMNS
        width = max([NARROWEST, *(len(row[number]) for row in rows)])
        heading = column if is_name else textwrap.fill(column, width)
        justify: Literal["left", "right"] = "left" if number == 0 else "right"
        table.add_column(escape(heading), justify=justify, no_wrap=not is_name, overflow="fold")
    for row in rows:
        table.add_row(*(escape("\n".join(map(printable, cell.split("\n")))) for cell in row))
    Console().print(table)


def write_json(path: Path, data: dict[str, Any]) -> None:
    """Write plain values as JSON, atomically."""
    write_whole(path, (json.dumps(data, indent=2, allow_nan=False) + "\n").encode())
