"""The pages stay short: words that are written by hand, without code and what `make pages` and commands write."""

from __future__ import annotations

import re
from pathlib import Path

from support.places import DOCS, ROOT

MOST = 25_000  # in docs/
MOST_OF_README = 900
MADE = {"kasino.md", "mulle.md", "commands.md", "board.md"}  # as a whole
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
PART = re.compile(r"^<!-- (?:generated: [^\n]*|peers) -->$.*?^<!-- end -->$", re.MULTILINE | re.DOTALL)
TARGET = re.compile(r"\]\([^)]*\)")
WORD = re.compile(r"[^\W\d_][\w'-]*")


def words(text: str) -> int:
    """The words of a page that are written by hand, without the targets of links."""
    for part in (PART, CODE, TARGET):
        text = part.sub("", text)
    return len(WORD.findall(text))


def written() -> dict[str, int]:
    """The words of each page of docs/; cards of models are written by a command."""
    pages = [page for page in sorted(DOCS.rglob("*.md")) if page.name not in MADE and page.parent.name != "models"]
    return {page.relative_to(DOCS).as_posix(): words(page.read_text(encoding="utf-8")) for page in pages}


def test_the_pages_stay_short() -> None:
    found = written()
    assert sum(found.values()) <= MOST, sorted(found.items(), key=lambda page: -page[1])


def test_the_readme_stays_short() -> None:
    assert words((ROOT / "README.md").read_text(encoding="utf-8")) <= MOST_OF_README


def test_what_is_made_is_not_counted() -> None:
    text = "one two\n\n```bash\nthree\n```\n\n<!-- generated: four -->\n\nfive\n\n<!-- end -->\n\n[six](seven.md)\n"
    assert words(text) == 3


def test_pages_that_are_made_are_there() -> None:
    assert {path.name for path in map(Path, DOCS.rglob("*.md"))} >= MADE
