"""The pages stay short: words as `wc -w` counts them, tables and code included."""

from __future__ import annotations

import pytest
from support.places import DOCS, ROOT

WRITTEN_BY_COMMANDS = ("models/", "results/scores/board.md", "notebooks/", "commands.md")


def words(text: str) -> int:
    """The words of a text, as `wc -w` counts them."""
    return len(text.split())


def test_the_docs_stay_short() -> None:
    """The cards of models and the board of scores are not counted."""
    pages = {path.relative_to(DOCS).as_posix(): path for path in DOCS.rglob("*.md")}
    found = {
        name: words(path.read_text(encoding="utf-8"))
        for name, path in pages.items()
        if not name.startswith(WRITTEN_BY_COMMANDS)
    }
    assert sum(found.values()) <= 36_000, sorted(found.items(), key=lambda page: -page[1])


@pytest.mark.parametrize(("name", "most"), [("README.md", 940), ("CONTRIBUTING.md", 3_300)])
def test_a_page_of_the_root_stays_short(name: str, most: int) -> None:
    assert words((ROOT / name).read_text(encoding="utf-8")) <= most
