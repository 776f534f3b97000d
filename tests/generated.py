"""The parts of pages that are made: `make pages` writes them, `tests/docs/test_pages.py` holds them up to date.

What lies between `<!-- generated: KIND NAME ... -->` and `<!-- end -->` in a page is made by the function of that kind
in `KINDS`: tables of stored matches (`result_tables.py`), stored answers of studies (`study_tables.py`), and tables of
what the package itself lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import result_tables
import study_tables

from krypenv import features, observation, whole_state
from krypenv.observation import HISTORY_COLUMNS, HISTORY_DESCRIPTIONS, LAYOUT
from krypenv.training.data.columns import COLUMNS

DOCS = Path(__file__).parent.parent / "docs"
PLACE = re.compile(r"<!-- generated: (\w+)((?: [^>\n]+)?) -->\n.*?<!-- end -->\n", re.DOTALL)
LAYOUTS = {  # by their names in the page of Krypkasino's environment
    "observation": (LAYOUT, observation.DESCRIPTIONS),
    "features": (features.COLUMNS, features.DESCRIPTIONS),
    "history": (HISTORY_COLUMNS, HISTORY_DESCRIPTIONS),
    "state": (whole_state.LAYOUT, whole_state.DESCRIPTIONS),
}


def with_parts(page: str, folder: str) -> str:
    """Return a page with its generated parts made anew; `folder` is the path from the page to that of results."""

    def made(place: re.Match[str]) -> str:
        text = KINDS[place[1]](place[2].split(), folder)
        return f"<!-- generated: {place[1]}{place[2]} -->\n\n{text}\n<!-- end -->\n"

    return PLACE.sub(made, page)


def pages_with_parts() -> dict[Path, str]:
    """Return the pages that have generated parts, with these made anew, by file."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("**/*.md"))}
    return {
        path: with_parts(text, "" if path.parent.name == "results" else "results/")
        for path, text in texts.items()
        if PLACE.search(text)
    }


def spans_of(layout: Mapping[str, slice]) -> dict[str, str]:
    """Return the first and the last index of each block, as a table shows them."""
    return {name: f"{part.start}–{part.stop - 1}".removesuffix(f"–{part.start}") for name, part in layout.items()}


def rows_of(layout: Mapping[str, slice], descriptions: Mapping[str, str]) -> str:
    """Return the rows of a table of blocks."""
    return "\n".join(f"| {span} | `{name}` | {descriptions[name]} |" for name, span in spans_of(layout).items())


def layout(names: Sequence[str], folder: str) -> str:
    """Return the entries of a part of the observation, or of the state."""
    return f"{HEAD}{rows_of(*LAYOUTS[names[0]])}\n"


def columns(names: Sequence[str], folder: str) -> str:
    """Return the columns of data sets."""
    rows = (
        (f"`{each.name}`{f', with `--{each.option}`' if each.option else ''}", each.type, each.text) for each in COLUMNS
    )
    return result_tables.table_of(("column", "type", "what it holds"), rows)


HEAD = "| Index | Name | Description |\n|---|---|---|\n"
KINDS: dict[str, Callable[[Sequence[str], str], str]] = {
    "layout": layout,
    "columns": columns,
    **result_tables.KINDS,
    **study_tables.KINDS,
}
