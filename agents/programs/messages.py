"""The messages of the protocol, version 1, as plain values, and the checks of what a program answers."""

from __future__ import annotations

import dataclasses
from functools import lru_cache
from importlib import metadata
from typing import Any, NamedTuple

import numpy as np

from krypenv import observation
from krypenv.features import history_in
from krypenv.game.core import Core
from krypenv.game.display import seat_counts
from krypenv.game.moves import Move
from krypenv.game.some_moves import list_some
from krypenv.game.view import format_view
from krypenv.inputs.schema import a_record, line, text, whole
from krypenv.inputs.words import shown
from krypenv.observation import history_columns
from krypenv.rules import Rules

VERSION = 1
MOST_MOVES = 200  # that a message lists where captures are optional
BYE = {"type": "bye"}
SEAT = "seat"
NAME, MOVE, ERROR = "name", "move", "error"  # what is asked for, and what is answered in its place
_ANSWERS = {
    (key, has_id): a_record({key: text if key == ERROR else line, **({"id": whole()} if has_id else {})})
    for key in (NAME, MOVE, ERROR)
    for has_id in (False, True)
}


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


def decide(number: int, game: Core, seen: np.ndarray, seconds: float) -> dict[str, Any]:
    """Return the question for a move of the seat to act in a game that shows it `seen`, (N,) int8, and nothing else."""
    seat, rules = game.turn, game.rules
    moves, are_all = list_some(game, MOST_MOVES)
    plays, text = _plays(game, seen), format_view(game, seat)
    if plays:
        text += f"\nPlays of this deal: {', '.join(f'seat {play[SEAT]} {play[MOVE]}' for play in plays)}."
    return {
        "type": "decide",
        "id": number,
        "seconds": seconds,
        SEAT: seat,
        "dealer": game.dealer,
        "deal": game.deal_number,
        "deals": _shape_of(rules).deals,
        "stock": game.stock_size,
        "hand": game.hand(seat),
        "table": game.table,
        "builds": [
            {"value": value, "cards": cards, "owner": owner, "multiple": is_multiple}
            for value, cards, owner, is_multiple in game.builds
        ],
        "set_aside": game.set_aside,
        "last_capturer": game.last_capturer,
        "seats": [_of_seat(game, each) for each in range(rules.players)],
        "pending": game.pending,
        "taken": game.taken,
        "building": game.building,
        "moves": [str(move) for move in moves],
        "more_moves": not are_all,
        "plays": plays,
        "text": text,
        "numbers": seen[: rules.observation_size].tolist(),
    }


class _Shape(NamedTuple):
    """What follows from rules alone."""

    deals: int
    columns: dict[str, slice]  # of the history block


@lru_cache(16)
def _shape_of(rules: Rules) -> _Shape:
    return _Shape(len(rules.deal_sizes()), history_columns(rules))


def _plays(game: Core, seen: np.ndarray) -> list[dict[str, Any]] | None:
    """Return the plays of the deal in order, without their sweeps; None if what is seen does not hold the history."""
    shape, plays = _shape_of(game.rules), []
    history = history_in(game.rules, seen[None])[0]
    if len(history) == 0:
        return None
    for row in history[history.any(axis=1)]:
        told = {name: _multiset(row[part]) for name, part in shape.columns.items()}
        builds = tuple(told.get("builds", ()))
        move = Move.of_kinds(told["card"][0], told["takes"], 0, sum(told.get("build", ())), builds)
        plays.append({SEAT: (game.turn + told["who"][0]) % game.rules.players, MOVE: str(move)})
    return plays


def _multiset(counts: np.ndarray) -> list[int]:
    """Return the places of what is counted, ascending, each as often as it is there."""
    return [place for place in np.flatnonzero(counts).tolist() for _ in range(counts[place])]


def _of_seat(game: Core, seat: int) -> dict[str, int]:
    """Return what everybody knows of a seat: its side, the number of its cards, and what is counted."""
    counts = {name.replace(" ", "_"): count for name, count in seat_counts(game, seat).items()}
    return {"team": game.rules.team_of(seat), "hand_size": len(game.hand(seat)), **counts}


class Answer(NamedTuple):
    """What a program answers: the text that it was asked for, or why it has none."""

    text: str
    is_error: bool


def read_answer(answer: Any, key: str, number: int | None = None) -> Answer:
    """Return the text that an answer has under a key, or under `ERROR`; its id must be `number`, if there is one.

    Raises ValueError, naming the fault, for anything else.
    """
    key = ERROR if isinstance(answer, dict) and ERROR in answer else key
    _ANSWERS[key, number is not None](answer, "")
    if number is not None and answer["id"] != number:
        raise ValueError(f"id is {shown(answer['id'])}, and that of the question is {number}")
    return Answer(answer[key], key == ERROR)
