"""The lessons: small positions that teach by being played. Each is a file of data in `positions/`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from krypenv.game.game import Game
from krypenv.inputs import schema
from krypenv.inputs.files import read_json

FOLDER = Path(__file__).parent / "positions"
OTHER = "Kim"  # what the texts call the other player
_TEXTS = schema.a_record(
    {
        "title": schema.Line,
        "task": schema.Line,
        "right": schema.Line,
        "wrong": dict[schema.Line, schema.Line],
    },
    more=False,
)
_LESSON = schema.a_record(
    {
        "position": schema.Line,
        "accept": schema.a_list(schema.Line, 1, 10),
        "then": schema.a_list(schema.Line, 0, 10),
        "en": _TEXTS,
        "sv": _TEXTS,
    },
    more=False,
)


class Lesson(NamedTuple):
    """A position and what is to be done in it, in one language."""

    position: str  # the first seat is the learner's, and to play
    accept: tuple[str, ...]  # the moves that solve it
    then: tuple[str, ...]  # the moves that follow, which show what it was good for
    title: str
    task: str
    right: str  # what is said once it is solved
    wrong: dict[str, str]  # what is said of each other legal move

    def game(self) -> Game:
        """Return the position."""
        return Game.from_position(self.position)


@cache
def lessons_in(language: str) -> tuple[Lesson, ...]:
    """Return all lessons in their order."""
    found = []
    for path in sorted(FOLDER.glob("*.json")):
        data = read_json(path)
        schema.check(_LESSON, data, path.name)
        found.append(Lesson(data["position"], tuple(data["accept"]), tuple(data["then"]), **data[language]))
    return tuple(found)
