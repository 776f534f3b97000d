"""OpenSpiel's observer: the named blocks of an observation, and with perfect recall hands and plays; structs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyspiel

from krypenv.cards import NO_SEAT, NUM_KINDS
from krypenv.envs.chance import CoursePlan
from krypenv.envs.course import CHANCE, TERMINAL, Course, action_text, cards_of
from krypenv.envs.structs import Struct, public_values, seen_values
from krypenv.game.game import Game
from krypenv.game.moves import Move, Play
from krypenv.inputs.words import is_whole, listed, shown
from krypenv.observation import history_columns, history_width
from krypenv.rules import Rules

FloatArray = npt.NDArray[np.float32]


class Observer:
    """Writes what a seat observes into `tensor`, whose named parts are `dict`; see `open_spiel.python.observation`.

    - Public parts are the blocks of `rules.layout`, but for the hand. Without private parts, `seen` leaves it out.
    - Private is the `hand`, or for all players the `hands`, (P, 52), by seat.
    - With perfect recall come, for the game in progress, the cards `dealt` to the hand (private) and `laid` on the
      table in each deal, and the `plays` (public), a row for each with the columns of
      `krypenv.observation.history_columns(rules)`. The earlier games of a session are in the string only; what counts
      of them is in the public blocks.

    Args:
        plan: the rules, and how chance deals.
        kind: the parts to observe, a `pyspiel.IIGObservationType`.
        params: must be empty.
    """

    def __init__(self, plan: CoursePlan, kind: Any, params: dict[str, Any] | None = None) -> None:
        if params:
            raise ValueError(f"observations take no parameters, not {shown(params)}")
        self._public, self._recalls = kind.public_info, kind.perfect_recall
        self._is_private = kind.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        self._shows_all = kind.private_info == pyspiel.PrivateInfoType.ALL_PLAYERS
        parts = self._parts(Course(plan), 0)
        self.tensor: FloatArray = np.zeros(sum(part.size for part in parts.values()), np.float32)
        self.dict: dict[str, FloatArray] = {}
        end = 0
        for name, part in parts.items():
            start, end = end, end + part.size
            self.dict[name] = self.tensor[start:end].reshape(part.shape)

    def _parts(self, course: Course, player: int) -> dict[str, npt.NDArray[Any]]:
        """Return what a player observes of a course, by name."""
        rules, layout, observation = course.rules, course.rules.layout, course.observation(player)
        parts: dict[str, npt.NDArray[Any]] = {}
        if self._is_private:
            parts["hand"] = observation[layout["hand"]]
        if self._shows_all:
            parts["hands"] = course.state["hands"][: rules.players]
        if self._public:
            parts |= {name: observation[block] for name, block in layout.items() if name != "hand"}
            if not self._is_private:
                parts["seen"] = parts["seen"] - observation[layout["hand"]]
        if self._recalls:
            dealt, laid = np.zeros((2, len(course.plan.deals), NUM_KINDS), np.int8)
            for number, seat, kind in course.dealt():
                if seat in (player, NO_SEAT):
                    (laid if seat == NO_SEAT else dealt)[number, kind] += 1
            if self._is_private:
                parts["dealt"] = dealt
            if self._public:
                plays = np.zeros((rules.deck_size, history_width(rules)), np.int8)
                write_plays(rules, course.plays, player, plays)
                parts |= {"laid": laid, "plays": plays}
        return parts

    def set_from(self, state: Any, player: int) -> None:
        """Write what a player observes of a state."""
        if self.dict:
            parts = self._parts(state.course, player).values()
            np.concatenate([part.ravel() for part in parts], out=self.tensor)

    def string_from(self, state: Any, player: int) -> str:
        """Format what a player observes of a state as text."""
        course: Course = state.course
        if self._recalls and self._public:
            text = course.recall(player) if self._is_private else course.record
        elif self._recalls:
            text = " | ".join(cards_of(hand) for hand in self._parts(course, player)["dealt"] if hand.any())
        else:
            text = course.text(player, self._public, self._is_private)
        return f"{text}\n{course}" if self._shows_all else text


def write_plays(rules: Rules, plays: Sequence[tuple[int, Play]], player: int, rows: npt.NDArray[Any]) -> None:
    """Write plays into rows of zeros, one each, as a player sees them (`krypenv.observation.history_columns`)."""
    columns = history_columns(rules)
    for row, (seat, (card, takes, _, build, builds)) in zip(rows, plays, strict=False):
        row[(seat - player) % rules.players] = 1
        row[columns["card"].start + card] = 1
        np.add.at(row[columns["takes"]], list(takes), 1)
        if build:
            row[columns["build"].start + build] = 1
        if builds:
            row[columns["builds"]][list(builds)] = 1


# ---------------------------------------------------------------------- structs


def state_struct(course: Course) -> Struct:
    """Describe a whole state, with all hands; its history is None if it was resumed from a state."""
    game = Game.at_row(course.rules, course.state)
    has_history = course.start.turn == CHANCE
    return Struct(
        {
            "rules": str(course.rules),
            "history": list(course.path) if has_history else None,
            "current_player": course.turn,
            "returns": course.returns(),
            "hands": [game.hand(seat) for seat in range(course.rules.players)],
            **public_values(game),
        }
    )


def history_of(rules: Rules, struct: Struct) -> list[int]:
    """Read the history of the struct of a state; raise ValueError if it has none, or is one of other rules."""
    values = struct.to_dict()
    if values.get("rules") != str(rules):
        raise ValueError(f"the struct is of {shown(values.get('rules'))}, not of {rules}")
    history = values.get("history")
    if not isinstance(history, list) or not all(is_whole(action, 0, rules.num_actions - 1) for action in history):
        raise ValueError(f"the history of a struct is a list of actions, not {shown(history)}")
    return history


def observation_struct(course: Course, player: int) -> Struct:
    """Describe what a player sees of a state, with the plays of the deal since the state began.

    Raises ValueError for an unknown player, and while chance deals.
    """
    if course.turn == CHANCE:
        raise ValueError("a player sees a state where a seat is to act, or at the end; here chance deals")
    plays = [(seat, Move.of_kinds(card, takes, 0, build, builds)) for seat, (card, takes, _, build, builds) in
             course.plays[len(course.beginning.plays) :]]  # fmt: skip
    game = Game.at_row(course.rules, course.state)
    return Struct(seen_values(game, course.check_seat(player), course.observation(player), plays))


def actions_of(course: Course, struct: Struct) -> list[int]:
    """Read the actions that a struct names: one by `action`, or those of a whole play by `move`."""
    values = struct.to_dict()
    if "move" in values and course.turn >= 0:
        game = Game.at_row(course.rules, course.state)
        game.push(values["move"])
        return list(game.actions)
    legal = {} if course.turn == TERMINAL else {action_text(course.turn, action): action for action in course.options()}
    name = values.get("action")
    if not isinstance(name, str) or name not in legal:
        raise ValueError(f"{shown(values)} is no legal action; legal are {listed(legal) or 'none'}")
    return [legal[name]]
