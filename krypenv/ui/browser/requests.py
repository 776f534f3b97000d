"""What a page may ask for: messages of JSON, checked before anything uses them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from krypenv.inputs import schema
from krypenv.inputs.files import parse_json
from krypenv.inputs.words import shown

MOST_CHARACTERS = 2000  # of a message, unless it holds a game
LARGEST = 1 << 16  # characters of a record, or of a position
OF_PACE = ("pace", "pause", "step")  # what does not concern the game
PACES = {"slow": 2.5, "normal": 1.0, "fast": 0.25}  # how fast agents play: what their pause is multiplied by


def a_message(needed: Mapping[str, Any], others: Mapping[str, Any] | None = None) -> schema.Schema:
    """Return the schema of a message that has `do`, all that is needed, any of the others, and nothing else."""
    return schema.a_record({"do": schema.Line, **needed}, dict(others or {}), more=False)


def _of_a_game(**more: Any) -> schema.Schema:
    return a_message({"edit": schema.whole(0), **more})


REQUESTS: Mapping[str, schema.Schema] = {
    "play": _of_a_game(move=schema.Line),
    "stand_in": _of_a_game(seat=schema.whole(0, 5)),
    "pace": _of_a_game(pace=schema.matching("|".join(PACES), f"one of {', '.join(PACES)}")),
    "pause": _of_a_game(on=bool),
    **dict.fromkeys(("undo", "hint", "next", "again", "go", "step", "end"), _of_a_game()),
}
_NAME = schema.matching(r"[\w .'-]{0,20}", "a name of at most 20 letters")
CHOOSING: Mapping[str, schema.Schema] = {  # what the host may ask for at the start screen
    "start": a_message({}, {"language": schema.Line}),
    "back": a_message({}),
    "resume": a_message({"file": schema.Line}),
    "begin": a_message(
        {"rules": schema.Line, "players": schema.a_list(schema.Line, 1, 6)},
        {
            "names": schema.a_list(_NAME, 0, 6),
            "language": schema.Line,
            "seed": schema.whole(0),
            "helper": schema.Line,
        },
    ),
}
_A_MESSAGE = schema.a_record({"do": schema.Line})
_SIT = {"sit": a_message({"key": schema.Line})}


class Request(NamedTuple):
    """What a page asks for, and of which state of the table: a page that is behind changes nothing."""

    do: str  # one of REQUESTS
    edit: int  # which state of the game the page shows, as `Hosted.edit` counts them
    move: str = ""  # as records write it
    seat: int = -1  # of a person for whom an agent is to play
    pace: str = ""  # one of PACES
    on: bool = False  # whether agents are to pause


def parse_key(text: str) -> str:
    """Return the key of the first message, with which a page takes its seat; raises ValueError for anything else."""
    return str(parse_message(text, _SIT)["key"])


def parse_message(text: str, kinds: Mapping[str, schema.Schema], longest: int = MOST_CHARACTERS) -> dict[str, Any]:
    """Return a message of a page.

    Args:
        text: the message as it came.
        kinds: the schemas of the messages that are allowed, by their `do`.
        longest: how many characters it may have.

    Raises ValueError, with a sentence, for anything else.
    """
    if len(text) > longest:
        raise ValueError(f"a message has at most {longest:,} characters, not {len(text):,}")
    try:
        found = parse_json(text)
    except ValueError as error:
        raise ValueError(f"a message {error}") from None
    schema.check(_A_MESSAGE, found)
    assert isinstance(found, dict)
    if found["do"] not in kinds:
        raise ValueError(f"do is to be one of {', '.join(kinds)}, not {shown(found['do'])}")
    schema.check(kinds[found["do"]], found)
    return found
