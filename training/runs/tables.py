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
    """Print a table with all columns but the first right-aligned. Names and headings may wrap; figures don't.

    Figures that don't fit beside the names go to a further table below.
    """
    console = Console()
    if _width(columns, rows) > console.width:
        columns, rows = _with_intervals_below(columns, rows)
    table = _Columns(columns, rows)
    for shown in table.parts(console.width):
        console.print(table.drawn(shown))


class _Columns:
    """The columns of a table: names, which may wrap, and figures, which don't."""

    def __init__(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        self._rows = rows
        self._is_name = [number == 0 or column in NAME_COLUMNS for number, column in enumerate(columns)]
        widths = [max([0, *(_longest(row[number]) for row in rows)]) for number in range(len(columns))]
        self._headings = [
            column if is_name else textwrap.fill(column, max(NARROWEST, width))
            for column, width, is_name in zip(columns, widths, self._is_name, strict=True)
        ]
        whole = [max(width, _longest(text)) for width, text in zip(widths, self._headings, strict=True)]
        self._least = [min(NARROWEST, width) if self._is_name[number] else width for number, width in enumerate(whole)]

    def parts(self, width: int) -> list[list[int]]:
        """Return which columns stand side by side in a table of some width; the first names stand in each."""
        first = next((number for number, is_name in enumerate(self._is_name) if not is_name), len(self._is_name))
        names = list(range(first))
        found = [[*names]]
        for number in range(first, len(self._is_name)):
            if 1 + sum(3 + self._least[each] for each in (*found[-1], number)) > width and len(found[-1]) > first:
                found.append([*names])
            found[-1].append(number)
        return found

    def drawn(self, shown: Sequence[int]) -> Table:
        """Return some columns as a table."""
        table = Table()
        for number in shown:
            is_name = self._is_name[number]
            justify: Literal["left", "right"] = "left" if number == 0 else "right"
            least = self._least[number] if is_name else None
            heading = escape(self._headings[number])
            table.add_column(heading, justify=justify, no_wrap=not is_name, overflow="fold", min_width=least)
        for row in self._rows:
            table.add_row(*(escape("\n".join(map(printable, row[number].split("\n")))) for number in shown))
        return table


def _longest(text: str) -> int:
    return max(map(len, text.split("\n")))


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
