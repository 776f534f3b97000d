"""What a page may ask for: messages of JSON, checked before anything uses them."""

from __future__ import annotations

from typing import NamedTuple

from krypenv.inputs import schema
from krypenv.inputs.files import parse_json

LONGEST = 2000  # characters of a message
WORDS = ("play", "undo", "hint", "next", "new", "again", "go", "stand_in", "pace", "pause", "step")
OF_PACE = ("pace", "pause", "step")  # what does not concern the game
WITH = {"play": "move", "stand_in": "seat", "pace": "pace", "pause": "on"}  # what else a message has
PACES = {"slow": 2.5, "normal": 1.0, "fast": 0.25}  # how fast agents play: what their pause is multiplied by
_OF_A_GAME = schema.a_record(
    {
        "do": schema.matching("|".join(WORDS), f"one of {', '.join(WORDS)}"),
        "game": schema.whole(0),
        "moves": schema.whole(0),
    },
    {
        "move": schema.line,
        "seat": schema.whole(0, 5),
        "pace": schema.matching("|".join(PACES), f"one of {', '.join(PACES)}"),
        "on": schema.flag,
    },
    more=False,
)
_SIT = schema.a_record({"do": schema.matching("sit", "'sit', in the first message"), "key": schema.line}, more=False)


class Request(NamedTuple):
    """What a page asks for, and of which state of the table: a page that is behind changes nothing."""

    do: str  # one of WORDS
    game: int  # which game of the table the page shows
    moves: int  # how many moves of it
    move: str = ""  # as records write it
    seat: int = -1  # of a person for whom an agent is to play
    pace: str = ""  # one of PACES
    on: bool = False  # whether agents are to pause


def parse_request(text: str) -> Request:
    """Return what a message asks for; raise ValueError, with a sentence, for anything else."""
    found = _parse(text, _OF_A_GAME)
    more, needed = set(found) & set(WITH.values()), WITH.get(found["do"])
    if more != ({needed} if needed else set()):
        raise ValueError(f"a message to {found['do']} has {f'a {needed}' if needed else 'nothing else'}")
    return Request(**found)


def parse_key(text: str) -> str:
    """Return the key of the first message, with which a page takes its seat; raise ValueError for anything else."""
    return str(_parse(text, _SIT)["key"])


def _parse(text: str, check: schema.Check) -> dict:
    if len(text) > LONGEST:
        raise ValueError(f"a message has at most {LONGEST} characters, not {len(text):,}")
    try:
        found = parse_json(text)
    except ValueError as error:
        raise ValueError(f"a message {error}") from None
    check(found, "")
    assert isinstance(found, dict)
    return found
