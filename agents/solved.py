"""Tabular strategies of small games: files, and the agent that plays them.

1. An information set is what the seat to act sees, with the plays of the current deal in order. Entries that can't
   affect the rest of the game are left out (`deciding`), and the others are hashed to a key (`keys_of`).
2. A strategy has the probability of each choice in each information set. CFR+ (Tammelin 2014) computes it in
   `krypenv.training.solving`, and a safetensors file holds it.
3. The agent looks its information set up and draws an action by these probabilities.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from krypenv.agents.base import FloatArray, IntArray, Policy, check_seed, draw_actions
from krypenv.inputs.artifacts import read_artifact
from krypenv.observation import VERSION, history_size
from krypenv.rules import Rules

STRATEGY = "strategy.safetensors"
KIND, FORMAT = "strategy", 1
# Blocks that tell of the past only; points too, but where they decide what later sweeps are worth.
_PAST = ("cannot_hold", "cannot_hold_special", "session_total", "games_left", "totals")
_POINTS = ("points", "sweeps", "counted_sweeps", "mulles")


class Strategy(NamedTuple):
    """Probabilities of the choices in I information sets, those of each one after another."""

    keys: npt.NDArray[np.uint64]  # (I, 2), sorted
    first: IntArray  # (I + 1,): where the choices of each begin
    actions: npt.NDArray[np.int16]  # (choices,)
    probabilities: npt.NDArray[np.float64]  # (choices,)


def deciding(rules: Rules, points: bool = False) -> npt.NDArray[np.bool_]:
    """Select the entries of an observation with the history block that distinguish information sets, (N,).

    With `points` these include the points so far, even if nothing to come depends on them.
    """
    decides = np.ones(rules.observation_size + history_size(rules), bool)
    points_decide = rules.sweep_limit is not None or rules.sweeps_cancel or rules.threshold_at_once
    for name in _PAST if points or points_decide else (*_PAST, *_POINTS):
        if name in rules.layout:
            decides[rules.layout[name]] = False
    return decides


def keys_of(rules: Rules, observations: npt.NDArray[np.int8], points: bool = False) -> npt.NDArray[np.uint64]:
    """Hash observations with the history block to the keys of their information sets, (B, 2); see `deciding`."""
    rows = np.ascontiguousarray(observations[:, deciding(rules, points)])
    digests = b"".join(hashlib.blake2b(row.tobytes(), digest_size=16).digest() for row in rows)
    return np.frombuffer(digests, np.uint64).reshape(-1, 2)


def is_strategy(folder: str | Path) -> bool:
    """Check whether a folder holds a strategy."""
    return (Path(folder) / STRATEGY).is_file()


def load_strategy(folder: str | Path) -> tuple[Strategy, dict[str, Any]]:
    """Read the strategy in a folder, and the facts stored with it.

    Raises ValueError with one sentence if the folder holds none, or it is torn, was changed or is of another version.
    """
    path = Path(folder) / STRATEGY
    if not path.is_file():
        raise ValueError(
            f"{folder} holds no strategy; one is a folder with {STRATEGY}, as krypenv solve --out makes it"
        )
    arrays, facts = read_artifact(path, KIND, FORMAT)
    if facts["observation_version"] != VERSION:
        raise ValueError(
            f"{folder} was computed for observations of version {facts['observation_version']}, and this krypenv gives "
            f"version {VERSION}; compute it anew"
        )
    strategy = Strategy(**arrays)
    shapes = strategy.keys.shape, strategy.actions.shape, strategy.probabilities.shape
    choices = (strategy.first[-1],)
    if shapes != ((len(strategy.first) - 1, 2), choices, choices):
        raise ValueError(f"the arrays in {path} are not those of one strategy; compute it anew")
    return strategy, facts


class StrategyPlayer(Policy):
    """Plays a strategy that `krypenv solve` has saved: draws each action by its probability.

    It needs the history block (`needs_history`), for the plays of the current deal.

    Args:
        folder: the folder of the strategy.

    Raises ValueError for a folder that holds none for these rules.
    """

    needs_history = True
    remembers = False
    is_quick = True

    def __init__(self, folder: str | Path, rules: Rules, seed: int = 0) -> None:
        self.name, self.rules = str(folder), rules
        self._strategy, facts = load_strategy(folder)
        if Rules.parse(facts["rules"]) != rules:
            raise ValueError(f"{folder} is a strategy for '{facts['rules']}' and can't play '{rules}'")
        self._points = bool(facts.get("points"))
        self._places = {key.tobytes(): at for at, key in enumerate(self._strategy.keys)}
        self._rng = np.random.default_rng(check_seed(seed))

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> IntArray:
        """Draw an action for each row, (B,) int64; raises ValueError for observations without the history block."""
        return draw_actions(self.probabilities(observations, action_masks), self._rng)

    def _probabilities(self, observations: np.ndarray, action_masks: np.ndarray) -> FloatArray:
        size = self.rules.observation_size + history_size(self.rules)
        if observations.shape[1] < size:
            raise ValueError(
                f"{self.name} plays by the plays of the current deal; make the environment with history=True"
            )
        masks = np.asarray(action_masks)
        probabilities = masks / masks.sum(axis=1, keepdims=True)
        seen = np.concatenate(  # without the features between the two
            [observations[:, : self.rules.observation_size], observations[:, -history_size(self.rules) :]], axis=1
        )
        open_rows = np.flatnonzero(masks.sum(axis=1) > 1)
        for row, key in zip(open_rows, keys_of(self.rules, seen[open_rows], self._points), strict=True):
            at = self._places.get(key.tobytes())
            if at is None:
                raise ValueError(f"the strategy in {self.name} lacks a decision of its game; it was changed")
            choices = slice(self._strategy.first[at], self._strategy.first[at + 1])
            probabilities[row] = 0.0
            probabilities[row, self._strategy.actions[choices]] = self._strategy.probabilities[choices]
        return probabilities
