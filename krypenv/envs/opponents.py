"""Opponents of a learner: who they are, the weights they are drawn with, and the actions they choose."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from krypenv.inputs.words import one_line, shown
from krypenv.rules import Rules

RANDOM = "random"  # the engine itself plays this one
MOST_WEIGHT = 1e9


class Player(Protocol):
    """Anything that can play a seat: it chooses actions from what the seat sees."""

    def act(self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]) -> npt.ArrayLike:
        """Return one action for each of (M, N) int8 observations and (M, 105) int8 masks."""


Opponent = Player | str
Opponents = Opponent | Sequence[Opponent | tuple[Opponent, float]]
_KINDS = "the name of an agent, such as 'greedy', or an object with act(observations, action_masks)"


def as_pool(opponents: Opponents) -> list[tuple[Opponent, float]]:
    """Return opponents as a list of (opponent, weight), names still as names; raise ValueError for anything else."""
    if isinstance(opponents, str) or hasattr(opponents, "act"):
        return [(_check_opponent(opponents), 1.0)]
    try:
        entries = list(opponents)
    except TypeError:
        what = f"{shown(opponents)} can't be an opponent: it is {_KINDS}, or a list of them or of (opponent, weight)"
        raise ValueError(what) from None
    pool = [_check_entry(entry) for entry in entries]
    if not sum(weight for _, weight in pool) > 0:
        raise ValueError(
            "no opponent has a weight above 0" if pool else "opponents are at least one, not an empty list"
        )
    return pool


def make_named(name: str, rules: Rules, seed: int) -> Opponent:
    """Return the named agent, its random choices seeded; for the engine's own random agent return just the name.

    Raises ValueError if there is no such agent, or if it has to see what is hidden.
    """
    if name == RANDOM:
        return name
    agent = importlib.import_module("krypenv.agents").make(
        name, rules, seed
    )  # imported here, because agents import the environments
    if getattr(agent, "cheats", False):
        raise ValueError(f"{agent.name} sees what is hidden, but an opponent may see only what its seat sees")
    return agent


def _check_opponent(opponent: Any) -> Opponent:
    if not isinstance(opponent, str) and not callable(getattr(opponent, "act", None)):
        raise ValueError(f"{shown(opponent)} can't be an opponent: it is {_KINDS}")
    return opponent


def _check_entry(entry: Any) -> tuple[Opponent, float]:
    if isinstance(entry, str) or hasattr(entry, "act"):
        return _check_opponent(entry), 1.0
    if not isinstance(entry, Sequence) or len(entry) != 2:
        raise ValueError(
            f"an entry of a list of opponents is {_KINDS}, or a pair of one and its weight, and {shown(entry)} is none"
        )
    opponent, weight = entry
    is_number = isinstance(weight, (int, float, np.integer, np.floating)) and not isinstance(weight, bool)
    if not is_number or not 0 <= weight <= MOST_WEIGHT:
        raise ValueError(f"the weight of an opponent is a number from 0 to {MOST_WEIGHT:g}, not {shown(weight)}")
    return _check_opponent(opponent), weight


def ask_opponent(opponent: Player, observations: np.ndarray, masks: np.ndarray) -> npt.NDArray[Any]:
    """Return an opponent's actions for M rows, (M,) ints; raise ValueError unless they are M whole numbers."""
    actions: npt.NDArray[Any] = np.asarray(opponent.act(observations, masks))
    if actions.shape != (len(masks),) or actions.dtype.kind not in "iu":
        raise ValueError(
            f"{shown(getattr(opponent, 'name', opponent))} gave {one_line(str(actions.dtype))} of shape "
            f"{actions.shape} for {len(masks)} decisions, and not whole numbers of shape ({len(masks)},)"
        )
    return actions
