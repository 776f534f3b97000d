"""Opponents of a learner: who they are, the weights they are drawn with, and the actions they choose."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from krypenv.inputs.words import one_line, shown
from krypenv.rules import Rules

RANDOM = "random"  # the engine itself plays this one
MOST_WEIGHT = 1e9
LEVELS = {"first_steps": "greedy", "even": "tactician", "hard": "search", "champion": "champion"}  # agents by level


class Player(Protocol):
    """Anything that can play a seat: it chooses actions from what the seat sees."""

    def act(self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]) -> npt.ArrayLike:
        """Return one action for each of (M, N) int8 observations and (M, 105) int8 masks."""


Opponent = Player | str
Opponents = Opponent | Sequence[Opponent | tuple[Opponent, float]]
_KINDS = "the name of an agent, such as 'greedy', or an object with act(observations, action_masks)"


def as_pool(opponents: Opponents) -> list[tuple[Opponent, float]]:
    """Read opponents as pairs of one and its weight, names still as names; raise ValueError for anything else."""
    try:
        entries = [opponents] if _is_opponent(opponents) else list(cast(Sequence[Any], opponents))
    except TypeError:
        what = f"{shown(opponents)} can't be an opponent: it is {_KINDS}, or a list of them or of (opponent, weight)"
        raise ValueError(what) from None
    pool = [_read_entry(entry) for entry in entries]
    if not pool:
        raise ValueError("opponents are at least one, not an empty list")
    if not any(weight for _, weight in pool):
        raise ValueError("no opponent has a weight above 0")
    return pool


def _is_opponent(value: Any) -> bool:
    return isinstance(value, str) or callable(getattr(value, "act", None))


def _read_entry(entry: Any) -> tuple[Opponent, float]:
    opponent, weight = entry if isinstance(entry, (tuple, list)) and len(entry) == 2 else (entry, 1.0)
    if not _is_opponent(opponent):
        raise ValueError(
            f"an entry of a list of opponents is {_KINDS}, or a pair of one and its weight, and {shown(entry)} is none"
        )
    is_number = isinstance(weight, (int, float, np.integer, np.floating)) and not isinstance(weight, bool)
    if not is_number or not 0 <= weight <= MOST_WEIGHT:
        raise ValueError(f"the weight of an opponent is a number from 0 to {MOST_WEIGHT:g}, not {shown(weight)}")
    return opponent, weight


def make_named(name: str, rules: Rules, seed: int) -> Player:
    """Make the named agent, its random choices seeded.

    Raises ValueError if there is no such agent, or if it has to see what is hidden.
    """
    agents = importlib.import_module("krypenv.agents")  # here, because agents import the environments
    agent: Player = agents.make(name, rules, seed)
    if getattr(agent, "cheats", False):
        raise ValueError(f"{name} sees what is hidden, but an opponent may see only what its seat sees")
    return agent


def ask_opponent(opponent: Player, observations: np.ndarray, masks: np.ndarray) -> npt.NDArray[Any]:
    """Ask an opponent for its actions in M rows, (M,) ints; raise ValueError unless they are M whole numbers."""
    actions: npt.NDArray[Any] = np.asarray(opponent.act(observations, masks))
    if actions.shape != (len(masks),) or actions.dtype.kind not in "iu":
        raise ValueError(
            f"{shown(getattr(opponent, 'name', opponent))} gave {one_line(str(actions.dtype))} of shape "
            f"{actions.shape} for {len(masks)} decisions, and not whole numbers of shape ({len(masks)},)"
        )
    return actions
