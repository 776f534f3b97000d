"""The pages stay short: words as `wc -w` counts them, tables and code included."""

from __future__ import annotations

from pathlib import Path

from support.places import DOCS, ROOT

WRITTEN_BY_COMMANDS = ("models/", "results/scores/board.md", "notebooks/", "commands.md")


def words(path: Path) -> int:
    """The words of a page, as `wc -w` counts them."""
    return len(path.read_text(encoding="utf-8").split())


def test_pages_stay_short() -> None:
    """The cards of models and the board of scores are not counted."""
    found = {path.relative_to(DOCS).as_posix(): words(path) for path in DOCS.rglob("*.md")}
    found = {name: count for name, count in found.items() if not name.startswith(WRITTEN_BY_COMMANDS)}
    assert sum(found.values()) <= 36_000, sorted(found.items(), key=lambda page: -page[1])
    assert words(ROOT / "README.md") <= 940
    assert words(ROOT / "CONTRIBUTING.md") <= 1_500
