"""The messages of the protocol, version 1, as plain values, and the checks of what a program answers."""

from __future__ import annotations

import dataclasses
from functools import cache, lru_cache
from importlib import metadata
from typing import Any, NamedTuple

import numpy as np

from krypenv import observation
from krypenv.envs.structs import seen_values
from krypenv.features import history_in
from krypenv.game.game import Game
from krypenv.game.moves import Move
from krypenv.inputs.words import shown
from krypenv.observation import history_columns
from krypenv.rules import Rules

VERSION = 1
BYE = {"type": "bye"}
NAME, MOVE, ERROR = "name", "move", "error"  # what is asked for, and what is answered in its place


def hello(rules: Rules, seed: int, seconds: float) -> dict[str, Any]:
    """Return the first message: what is spoken, what is played, and how decisions are numbered."""
    return {
        "type": "hello",
        "protocol": VERSION,
        "krypenv": metadata.version("krypenv"),
        "rules": str(rules),
        "fields": dataclasses.asdict(rules),
        "seed": seed,
        "seconds": seconds,
        "observation": {
            "version": observation.VERSION,
            "blocks": {name: [part.start, part.stop] for name, part in rules.layout.items()},
        },
    }


def decide(number: int, game: Game, seen: np.ndarray, seconds: float) -> dict[str, Any]:
    """Return the question for a move of the seat to act in a game that shows it `seen`, (N,) int8, and nothing else."""
    values = seen_values(game, game.turn, seen, _plays(game, seen))
    return {"type": "decide", "id": number, "seconds": seconds, **values}


def _plays(game: Game, seen: np.ndarray) -> list[tuple[int, Move]] | None:
    """Return the plays of the deal in order, without their sweeps; None if what is seen does not hold the history."""
    columns, plays = _columns_of(game.rules), []
    history = history_in(game.rules, seen[None])[0]
    if len(history) == 0:
        return None
    for row in history[history.any(axis=1)]:
        told = {name: _multiset(row[part]) for name, part in columns.items()}
        builds = tuple(told.get("builds", ()))
        move = Move.of_kinds(told["card"][0], told["takes"], 0, sum(told.get("build", ())), builds)
        plays.append(((game.turn + told["who"][0]) % game.rules.players, move))
    return plays


_columns_of = lru_cache(16)(history_columns)


def _multiset(counts: np.ndarray) -> list[int]:
    """Return the places of what is counted, ascending, each as often as it is there."""
    return [place for place in np.flatnonzero(counts).tolist() for _ in range(counts[place])]


class Answer(NamedTuple):
    """What a program answers: the text that it was asked for, or why it has none."""

    text: str
    is_error: bool


@cache
def _schema(key: str, has_id: bool) -> Any:
    """Return the schema of an answer. Pydantic is not imported before there is one."""
    from krypenv.inputs.schema import Line, a_record, whole

    return a_record({key: str if key == ERROR else Line, **({"id": whole()} if has_id else {})})


def read_answer(answer: Any, key: str, number: int | None = None) -> Answer:
    """Return the text that an answer has under a key, or under `ERROR`; its id must be `number`, if there is one.

    Raises ValueError, naming the fault, for anything else.
    """
    from krypenv.inputs.schema import check

    key = ERROR if isinstance(answer, dict) and ERROR in answer else key
    check(_schema(key, number is not None), answer)
    if number is not None and answer["id"] != number:
        raise ValueError(f"id is {shown(answer['id'])}, and that of the question is {number}")
    return Answer(answer[key], key == ERROR)
