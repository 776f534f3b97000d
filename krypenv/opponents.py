"""Opponents of a learner: who they are, with which weights they are drawn, and what they answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from krypenv.words import one_line, shown

RANDOM = "random"  # the one opponent that is known by name
MOST_WEIGHT = 1e9


class Player(Protocol):
    """Whatever can sit at a table: a function from what a seat sees to an action."""

    def act(self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]) -> npt.ArrayLike:
        """Return one action for each of (M, N) int8 observations and (M, 105) int8 masks."""


Opponent = Player | str
Opponents = Opponent | Sequence[tuple[Opponent, float]]


def as_pool(opponents: Opponents) -> list[tuple[Opponent, float]]:
    """Return opponents as a list of (opponent, weight); raises ValueError where that can't be."""
    if isinstance(opponents, str) or hasattr(opponents, "act"):
        return [(_check_opponent(opponents), 1.0)]
    try:
        entries = list(opponents)
    except TypeError:
        what = f"{shown(opponents)} can't be an opponent{_WHAT_IS}, or a list of pairs (opponent, weight)"
        raise ValueError(what) from None
    pool = [_check_entry(entry) for entry in entries]
    if not sum(weight for _, weight in pool) > 0:
        raise ValueError("no opponent has a weight above 0")
    return pool


_WHAT_IS = (
    ": it is 'random' or an object with act(observations, action_masks), such as krypenv.agents.make(name, rules) gives"
)


def _check_opponent(opponent: Any) -> Opponent:
    if isinstance(opponent, str) and opponent == RANDOM:
        return opponent
    if not callable(getattr(opponent, "act", None)):
        raise ValueError(f"{shown(opponent)} can't be an opponent{_WHAT_IS}")
    return opponent


def _check_entry(entry: Any) -> tuple[Opponent, float]:
    if isinstance(entry, str) or not isinstance(entry, Sequence) or len(entry) != 2:
        raise ValueError(f"opponents are a list of pairs (opponent, weight), and {shown(entry)} is none")
    opponent, weight = entry
    is_number = isinstance(weight, (int, float, np.integer, np.floating)) and not isinstance(weight, bool)
    if not is_number or not 0 <= weight <= MOST_WEIGHT:
        raise ValueError(f"the weight of an opponent is a number from 0 to {MOST_WEIGHT:g}, not {shown(weight)}")
    return _check_opponent(opponent), weight


def ask_opponent(opponent: Player, observations: np.ndarray, masks: np.ndarray) -> npt.NDArray[Any]:
    """Return what an opponent answers to M rows, (M,) ints; raises ValueError where that are not M whole numbers."""
    actions: npt.NDArray[Any] = np.asarray(opponent.act(observations, masks))
    if actions.shape != (len(masks),) or actions.dtype.kind not in "iu":
        raise ValueError(
            f"{shown(getattr(opponent, 'name', opponent))} gave {one_line(str(actions.dtype))} of shape "
            f"{actions.shape} for {len(masks)} decisions, and not whole numbers of shape ({len(masks)},)"
        )
    return actions
