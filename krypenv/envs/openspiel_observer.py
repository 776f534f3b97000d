"""OpenSpiel's observer: the named blocks of an observation, and with perfect recall hands and plays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyspiel

from krypenv.cards import NO_SEAT, NUM_KINDS
from krypenv.envs.chance import CoursePlan
from krypenv.envs.course import Course, cards_of, format_blocks
from krypenv.game.moves import Play
from krypenv.inputs.words import shown
from krypenv.observation import history_columns, history_width
from krypenv.rules import Rules

FloatArray = npt.NDArray[np.float32]


class Observer:
    """Writes what a seat observes into `tensor`, whose named parts are `dict`; see `open_spiel.python.observation`.

    - Public parts are the blocks of `rules.layout`, but for the hand. Without private parts, `seen` leaves it out.
    - Private is the `hand`.
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
        parts = self._parts(Course(plan), 0)
        self.tensor: FloatArray = np.zeros(sum(part.size for part in parts.values()), np.float32)
        self.dict: dict[str, FloatArray] = {}
        end = 0
        for name, part in parts.items():
            start, end = end, end + part.size
            self.dict[name] = self.tensor[start:end].reshape(part.shape)

    def _parts(self, course: Course, player: int) -> dict[str, npt.NDArray[Any]]:
        """List the parts that a player observes, by name."""
        rules, blocks = course.rules, course.observed(player)
        if not self._is_private:
            blocks["seen"] -= blocks["hand"]
        parts: dict[str, npt.NDArray[Any]] = {"hand": blocks.pop("hand")} if self._is_private else {}
        if self._public:
            parts |= {name: block for name, block in blocks.items() if name != "hand"}
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
            return course.recall(player) if self._is_private else course.record
        if self._recalls:
            return " | ".join(cards_of(hand) for hand in self._parts(course, player).get("dealt", ()) if hand.any())
        return format_blocks(self._parts(course, player))


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
