"""The rules of a game as rich prints them: in five lines, or in full with examples."""

from __future__ import annotations

import textwrap

from rich.console import Console
from rich.text import Text

from krypenv.ui.narrator.narrator import Narrator

WIDEST = 100  # columns; longer lines are hard to read
_GAP = "  "


def shows(console: Console, characters: str) -> bool:
    """Check whether a console can show some characters."""
    try:
        characters.encode(console.encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def five_lines(narrator: Narrator, width: int) -> Text:
    """Lay out the five lines in `width` columns, each beside its heading."""
    sections = narrator.lines()
    room = max(len(heading) for heading, _ in sections) + len(_GAP)
    lines = []
    for heading, line in sections:
        first, *rest = textwrap.wrap(line, max(min(width, WIDEST) - room, 1))
        lines.append(Text.assemble((heading.ljust(room), "bold"), first))
        lines += [Text(" " * room + more) for more in rest]
    return Text("\n").join(lines)


def in_full(narrator: Narrator, width: int) -> Text:
    """Lay out all rules in `width` columns: paragraphs under five headings."""
    parts = []
    for heading, paragraphs in narrator.in_full():
        wrapped = [
            textwrap.fill(each, min(width, WIDEST), initial_indent=_GAP, subsequent_indent=_GAP) for each in paragraphs
        ]
        parts.append(Text.assemble((heading, "bold"), "\n", "\n".join(wrapped)))
    return Text("\n\n").join(parts)
