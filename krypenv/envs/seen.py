"""Positions as plain values for JSON, from one seat's view: for programs and for the structs of OpenSpiel."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from krypenv.envs.course import CHANCE, Course, action_text
from krypenv.game.display import format_view, seat_counts
from krypenv.game.game import Game
from krypenv.game.moves import Move, list_some
from krypenv.inputs.files import parse_json
from krypenv.inputs.words import is_whole, one_line, shown
from krypenv.rules import Rules

MOST_MOVES = 200  # that are listed where captures are optional


class Struct(SimpleNamespace):
    """Plain values by name, as attributes and as JSON, like the structs of OpenSpiel.

    Args:
        values: a mapping with texts as keys, or the JSON of one.
    """

    def __init__(self, values: str | Mapping[str, Any]) -> None:
        values = parse_json(values) if isinstance(values, str) else values
        if not isinstance(values, Mapping):
            raise ValueError(f"a struct is made of a JSON object, not of {shown(values)}")
        super().__init__(**values)

    def to_dict(self) -> dict[str, Any]:
        """Return the values by name."""
        return dict(self.__dict__)

    def to_json(self) -> str:
        """Return the values as JSON."""
        return json.dumps(self.__dict__)


def public_values(game: Game) -> dict[str, Any]:
    """Describe the public part of a position."""
    return {
        "dealer": game.dealer,
        "deal": game.deal_number,
        "deals": int(game.compiled["num_deals"][0]),
        "stock": game.stock_size,
        "table": game.table,
        "builds": [build._asdict() for build in game.builds],
        "set_aside": game.set_aside,
        "last_capturer": game.last_capturer,
        "seats": [_seat_values(game, seat) for seat in range(game.rules.players)],
        "pending": game.pending,
        "taken": game.taken,
        "building": game.building,
    }


def seen_values(
    game: Game,
    seat: int,
    numbers: np.ndarray,
    plays: Iterable[tuple[int, Move]] | None = None,
    listed: bool = True,
) -> dict[str, Any]:
    """Describe a position as a seat sees it: docs/programs.md has the keys.

    Args:
        game: the game; hidden cards are not read.
        seat: the seat.
        numbers: its observation, (N,) int8.
        plays: the plays of the deal in order, each with its seat; None if they are not known.
        listed: list the legal moves, as values and in the text.
    """
    options: dict[str, Any] = {}
    if listed:
        moves, are_all = list_some(game, MOST_MOVES) if game.turn == seat else ([], True)
        options = {"moves": [str(move) for move in moves], "more_moves": not are_all}
    records = None if plays is None else [{"seat": player, "move": str(move)} for player, move in plays]
    text = format_view(game, seat, listed)
    if records and not game.plays:
        moves_of_seats = ", ".join(f"seat {play['seat']} {play['move']}" for play in records)
        text += f"\nPlays of this deal: {moves_of_seats}."
    return {
        "seat": seat,
        "hand": game.hand(seat),
        **public_values(game),
        **options,
        "plays": records,
        "text": text,
        "numbers": numbers[: game.rules.observation_size].tolist(),
    }


def _seat_values(game: Game, seat: int) -> dict[str, int]:
    """Describe the public part of a seat: its team, the size of its hand, and its counts."""
    counts = {name.replace(" ", "_"): count for name, count in seat_counts(game, seat).items()}
    return {"team": game.rules.team_of(seat), "hand_size": len(game.hand(seat)), **counts}


# ---------------------------------------------------------------------- courses, for OpenSpiel


def history_of(rules: Rules, struct: Struct) -> list[int]:
    """Read the history of the struct of a state; raise ValueError if it has none, or is one of other rules."""
    values = struct.to_dict()
    if values.get("rules") != str(rules):
        raise ValueError(f"the struct is of {shown(values.get('rules'))}, not of {rules}")
    history = values.get("history")
    if not isinstance(history, list) or not all(is_whole(action, 0, rules.num_actions - 1) for action in history):
        raise ValueError(f"the history of a struct is a list of actions, not {shown(history)}")
    return history


class StructState:
    """The structs of a state in OpenSpiel, which Python games lack there.

    Attributes:
        course: the session up to the state.
    """

    course: Course

    def to_struct(self) -> Struct:
        """Describe the whole state with all hands and its history; `game.new_initial_state(struct)` is the inverse."""
        course = self.course
        game = Game.at_row(course.rules, course.state)
        return Struct(
            {
                "rules": str(course.rules),
                "history": list(course.path),
                "current_player": course.turn,
                "returns": course.returns(),
                "hands": [game.hand(seat) for seat in range(course.rules.players)],
                **public_values(game),
            }
        )

    def to_observation_struct(self, player: int | None = None) -> Struct:
        """Describe what a player sees, by default the one to act, in the form for programs (docs/programs.md).

        Raises ValueError for an unknown player, and while chance deals.
        """
        course = self.course
        if course.turn == CHANCE:
            raise ValueError("a player sees a state where a seat is to act, or at the end; here chance deals")
        seat = course.check_seat(course.turn if player is None else player)
        plays = [(owner, Move.of_kinds(card, takes, 0, build, builds)) for owner, (card, takes, _, build, builds) in
                 course.plays[len(course.beginning.plays) :]]  # fmt: skip
        return Struct(seen_values(Game.at_row(course.rules, course.state), seat, course.observation(seat), plays))

    def action_to_struct(self, *player_and_action: int) -> Struct:
        """Name an action, as in `{"action": "play 8S"}`; the player may be left out."""
        *player, action = player_and_action
        return Struct({"action": action_text(player[0] if player else self.course.turn, action)})

    def struct_to_actions(self, struct: Struct) -> list[int]:
        """Read the action of a struct, or the actions of a whole `{"move": "8Sx2H6D"}`; ValueError if illegal."""
        course, values = self.course, struct.to_dict()
        if "move" in values and course.turn >= 0:
            game = Game.at_row(course.rules, course.state)
            game.push(values["move"])
            return list(game.actions)
        legal = {action_text(course.turn, action): action for action in course.options()}
        name = values.get("action")
        if not isinstance(name, str) or name not in legal:
            raise ValueError(
                f"{shown(values)} is no legal action; legal are {one_line(', '.join(legal), 1000) or 'none'}"
            )
        return [legal[name]]

    def apply_action_struct(self, struct: Struct) -> None:
        """Carry out what `struct_to_actions` returns."""
        for action in self.struct_to_actions(struct):
            self.apply_action(action)  # type: ignore[attr-defined]
