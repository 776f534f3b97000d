"""What a page that studies games may ask for: a game, and the moves of a line."""

from __future__ import annotations

from typing import Any

from krypenv.inputs import schema
from krypenv.ui.browser.requests import a_message, parse_message

LARGEST = 1 << 16  # characters of a record, or of a position
LONGEST = 2 * LARGEST + 20_000  # characters of a message: a game in JSON, where a line break takes two, and its moves
MOST_MOVES = 1000  # of a line
_A_PLACE = schema.whole(0, 100_000)
VISITS = {
    "open": a_message(
        {}, {"record": str, "moves": schema.a_list(schema.Line, 0, MOST_MOVES), "game": schema.whole(1, 100_000)}
    ),
    "look": a_message({"at": _A_PLACE}),
    "move": a_message({"at": _A_PLACE, "move": schema.Line}),
    **dict.fromkeys(("return", "challenge"), a_message({})),
}


def parse_visit(text: str) -> dict[str, Any]:
    """Return what a message asks for; raises ValueError, with a sentence, for anything else."""
    return parse_message(text, VISITS, LONGEST)
