"""Tables in the terminal, names on pages, and figures as JSON values, JSON files and pictures."""

from __future__ import annotations

import io
import json
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic_core import to_jsonable_python
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from krypenv.inputs.files import write_whole
from krypenv.inputs.words import LONGEST_NAME, one_line, printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME_COLUMNS = ("agent", "against", "points a game", "what", "budget", "move", "played", "best", "training")
NARROWEST = 12  # least width to which headings and names are folded, in characters
DPI = 120  # of pictures
INTERVAL = "95% interval"


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], console: Console | None = None) -> None:
    """Print a table with all columns but the first right-aligned. Names and headings may wrap; figures don't.

    If the figures don't fit beside the names, the last columns move into a second table.
    """
    console = console or Console()
    names = [at for at, column in enumerate(columns) if at == 0 or column in NAME_COLUMNS]
    figures = [_longest(["", *cells]) for _, *cells in zip(columns, *rows, strict=True)]
    for narrowest in (NARROWEST, 1):  # headings are folded further only where the table is too wide
        headings = [
            column if at in names else textwrap.fill(column, max(narrowest, figures[at]), break_long_words=False)
            for at, column in enumerate(columns)
        ]
        widths = [max(width, _longest([heading])) for width, heading in zip(figures, headings, strict=True)]
        if 1 + sum(3 + width for width in widths) <= console.width:  # with the border
            break
    least = [min(NARROWEST, width) if at in names else width for at, width in enumerate(widths)]
    first = next((at for at in range(len(columns)) if at not in names), len(columns))  # columns of all tables
    parts = [list(range(first))]
    for at in range(first, len(columns)):
        if len(parts[-1]) > first and 1 + sum(3 + least[column] for column in (*parts[-1], at)) > console.width:
            parts.append(list(range(first)))
        parts[-1].append(at)
    for part in parts:
        is_tight = 1 + sum(3 + widths[at] for at in part) > console.width
        table = Table()
        for at in part:
            table.add_column(
                escape(headings[at]), justify="right" if at else "left", overflow="fold", min_width=least[at],
                no_wrap=at not in names,
            )  # fmt: skip
        for row in rows:
            cells = [row[at].replace("(", "\n(") if is_tight and at in names else row[at] for at in part]  # options
            table.add_row(*(escape("\n".join(map(printable, cell.split("\n")))) for cell in cells))
        console.print(table)


def _longest(cells: Iterable[str]) -> int:
    return max(len(line) for cell in cells for line in cell.split("\n"))


def as_code(text: str, longest: int = LONGEST_NAME) -> str:
    """Escape a text from outside for Markdown, as code on one line; over `longest` characters it loses its middle.

    >>> as_code("tactician(shed=True)"), as_code("a`b")
    ('`tactician(shed=True)`', '<code>a&#96;b</code>')
    """
    text = one_line(text, longest)
    if text and not set(text) & set("`|\\<>&"):
        return f"`{text}`"
    letters = (letter if letter.isalnum() or letter in " .…" else f"&#{ord(letter)};" for letter in text)
    return f"<code>{''.join(letters)}</code>"


def plain(value: Any) -> Any:
    """Convert figures, in dataclasses and arrays too, to plain JSON values; those that are not finite become None."""
    return to_jsonable_python(value, inf_nan_mode="null", fallback=lambda array: array.tolist())


def write_json(path: Path, data: dict[str, Any]) -> None:
    """Write plain values as JSON, atomically."""
    write_whole(path, (json.dumps(data, indent=2, allow_nan=False) + "\n").encode())


def save_figure(path: Path, figure: Figure, dpi: int = DPI) -> None:
    """Write a figure as a PNG file without software versions, so that equal figures give equal files."""
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=dpi, metadata={"Software": None})
    write_whole(path, data.getvalue())
