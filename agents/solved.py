"""Strategies of small games, one line for each information set: files, and the agent that plays them.

A strategy knows a decision by what decides it: the seat's cards, what is on the table and has been seen, and the plays
of the current deal in their order. What can't matter any more is left out of the key.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import safetensors.numpy
from safetensors import SafetensorError

from krypenv.agents.base import IntArray, check_seed
from krypenv.inputs.files import parse_json, read_file, write_whole
from krypenv.inputs.schema import a_record, flag, line, matching, number, optional, sentence_of, text, whole
from krypenv.inputs.words import one_line, shown
from krypenv.observation import VERSION, history_size
from krypenv.rules import Rules, rules_text

FORMAT = 1
STRATEGY, FACTS = "strategy.safetensors", "strategy.json"
# Blocks that tell of the past only; points too, but where they decide what later sweeps are worth.
_PAST = ("cannot_hold", "cannot_hold_special", "session_total", "games_left", "totals")
_POINTS = ("points", "sweeps", "counted_sweeps", "mulles")

_check_facts = a_record(
    {
        "rules": rules_text,
        "observation_version": whole(0),
        "sha256": matching("[0-9a-f]{64}", "64 hexadecimal digits"),
        "value": number(),
        "exploitability": number(0),
    },
    {"command": optional(text), "seconds": optional(number(0)), "version": optional(line), "points": optional(flag)},
)


class StrategyError(ValueError):
    """A strategy that can't be loaded or used; the message says why."""


class Strategy(NamedTuple):
    """Probabilities of the choices in I information sets, those of each one after another."""

    keys: npt.NDArray[np.uint64]  # (I, 2), sorted
    first: IntArray  # (I + 1,): where the choices of each begin
    actions: npt.NDArray[np.int16]  # (choices,)
    probabilities: npt.NDArray[np.float64]  # (choices,)


def deciding(rules: Rules, points: bool = False) -> npt.NDArray[np.bool_]:
    """Return which entries of an observation with the history block tell information sets apart, (N,).

    With `points` those with other points so far differ, even if nothing to come depends on them.
    """
    decides = np.ones(rules.observation_size + history_size(rules), bool)
    points_decide = rules.sweep_limit is not None or rules.sweeps_cancel or rules.threshold_at_once
    for name in _PAST if points or points_decide else (*_PAST, *_POINTS):
        if name in rules.layout:
            decides[rules.layout[name]] = False
    return decides


def keys_of(rules: Rules, observations: npt.NDArray[np.int8], points: bool = False) -> npt.NDArray[np.uint64]:
    """Return the keys of the information sets in which observations with the history block are made, (B, 2).

    `points` is as in `deciding`.
    """
    rows = np.ascontiguousarray(observations[:, deciding(rules, points)])
    digests = b"".join(hashlib.blake2b(row.tobytes(), digest_size=16).digest() for row in rows)
    return np.frombuffer(digests, np.uint64).reshape(-1, 2)


def strategy_of(
    keys: npt.NDArray[np.uint64], choice: IntArray, actions: npt.NDArray[np.int16], policy: npt.NDArray[np.float64]
) -> Strategy:
    """Return the strategy with these keys, (I, 2), whose choices lie one after another, (I + 1,) and (choices,)."""
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    sizes = np.diff(choice)[order]
    first = np.concatenate([[0], np.cumsum(sizes)])
    places = np.repeat(choice[:-1][order] - first[:-1], sizes) + np.arange(first[-1])
    return Strategy(keys[order], first, actions[places], policy[places])


def save_strategy(folder: str | Path, strategy: Strategy, rules: Rules, **facts: Any) -> Path:
    """Write a strategy as a folder, and return the folder; `facts` (value, command ...) go into strategy.json."""
    folder = Path(folder)
    data = safetensors.numpy.save({name: np.ascontiguousarray(array) for name, array in strategy._asdict().items()})
    card = {
        "format": FORMAT, "rules": str(rules), "observation_version": VERSION,
        "sha256": hashlib.sha256(data).hexdigest(), **facts,
    }  # fmt: skip
    write_whole(folder / STRATEGY, data)
    write_whole(folder / FACTS, (json.dumps(card, indent=2) + "\n").encode())
    return folder


def is_strategy(folder: str | Path) -> bool:
    """Return whether a folder holds a strategy."""
    return (Path(folder) / FACTS).is_file()


def load_strategy(folder: str | Path) -> tuple[Strategy, dict[str, Any]]:
    """Return the strategy in a folder, and the contents of its strategy.json.

    Raises StrategyError with one sentence if the folder holds none, is torn, was changed or is of another version.
    """
    folder = Path(folder)
    try:
        facts = parse_json(read_file(folder / FACTS))
        data = read_file(folder / STRATEGY)
    except OSError:
        raise StrategyError(f"{folder} holds no strategy; one is a folder with {FACTS} and {STRATEGY}") from None
    except ValueError as error:
        raise StrategyError(f"{folder / FACTS} {error}") from None
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        found = facts.get("format") if isinstance(facts, dict) else facts
        raise StrategyError(f"{folder} is a strategy of format {shown(found)}; this version reads format {FORMAT}")
    try:
        _check_facts(facts, "")
    except ValueError as error:
        raise StrategyError(f"{folder / FACTS}: {sentence_of(error)}") from None
    if facts["observation_version"] != VERSION:
        raise StrategyError(
            f"{folder} was computed for observations of version {shown(facts['observation_version'])}, and this "
            f"krypenv gives version {VERSION}; compute it anew"
        )
    if facts["sha256"] != hashlib.sha256(data).hexdigest():
        raise StrategyError(
            f"{folder / STRATEGY} is not the file that {FACTS} was written for; it is torn or was changed"
        )
    try:
        strategy = Strategy(**safetensors.numpy.load(data))
    except (SafetensorError, TypeError) as error:
        raise StrategyError(f"{folder / STRATEGY} is no strategy: {one_line(str(error))}") from None
    return strategy, facts


class StrategyPlayer:
    """Plays a strategy that `krypenv solve` has saved: draws each action by its probability.

    It asks for the history block (`needs_history`), which tells it the plays of the current deal.

    Args:
        folder: the folder of the strategy.

    Raises StrategyError for a folder that holds none for these rules.
    """

    needs_history = True
    remembers = False

    def __init__(self, folder: str | Path, rules: Rules, seed: int = 0) -> None:
        self.name, self.rules = str(folder), rules
        self._strategy, facts = load_strategy(folder)
        if Rules.parse(facts["rules"]) != rules:
            raise StrategyError(f"{folder} is a strategy for '{facts['rules']}' and can't play '{rules}'")
        self._points = bool(facts.get("points"))
        self._places = {key.tobytes(): at for at, key in enumerate(self._strategy.keys)}
        self._rng = np.random.default_rng(check_seed(seed))

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> IntArray:
        """Return an action for each row, (B,) int64; see `krypenv.agents.Agent`.

        Raises ValueError for observations without the history block.
        """
        probabilities = self.probabilities(observations, action_masks)
        rising = probabilities.cumsum(axis=1)
        luck = self._rng.random((len(rising), 1)) * rising[:, -1:]
        found: IntArray = (rising > luck).argmax(axis=1)
        return found

    def probabilities(self, observations: np.ndarray, action_masks: np.ndarray) -> npt.NDArray[np.float64]:
        """Return the probability of each action, (B, A)."""
        size = self.rules.observation_size + history_size(self.rules)
        if observations.shape[1] < size:
            raise ValueError(
                f"{self.name} plays by the plays of the current deal; make the environment with history=True"
            )
        masks = np.asarray(action_masks)
        found = masks / masks.sum(axis=1, keepdims=True)
        seen = np.concatenate(  # without the features between the two
            [observations[:, : self.rules.observation_size], observations[:, -history_size(self.rules) :]], axis=1
        )
        open_rows = np.flatnonzero(masks.sum(axis=1) > 1)
        for row, key in zip(open_rows, keys_of(self.rules, seen[open_rows], self._points), strict=True):
            at = self._places.get(key.tobytes())
            if at is None:
                raise StrategyError(f"the strategy in {self.name} lacks a decision of its game; it was changed")
            choices = slice(self._strategy.first[at], self._strategy.first[at + 1])
            found[row] = 0.0
            found[row, self._strategy.actions[choices]] = self._strategy.probabilities[choices]
        return found
