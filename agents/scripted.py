"""The scripted agents: random, greedy and tactician. They read the first block of the observation and nothing else."""

from __future__ import annotations

import numpy as np

from krypenv.agents.base import IntArray, check_options, check_seed, format_spec
from krypenv.cards import NUM_ACTIONS, TAKE
from krypenv.kernels.captures import bit_index, borrow_scratch
from krypenv.kernels.checks import check_decisions
from krypenv.kernels.features import look, make_view, weigh
from krypenv.kernels.scoring import cost_of
from krypenv.kernels.tables import compile_rules, hand_value_of
from krypenv.rules import Rules
from krypenv.runtime.jit import kernel

# What the tactician with `shed` credits a creeping card for each unit of its hand value above the middle one (2 to 14).
SHED_WEIGHT = 0.05
MIDDLE_VALUE = 8


@kernel
def list_legal(action_mask: np.ndarray, out: np.ndarray) -> int:
    """Write the legal actions of one row into `out`, (105,) int64, and return their number."""
    count = 0
    for action in range(NUM_ACTIONS):
        if action_mask[action]:
            out[count] = action
            count += 1
    return count


@kernel
def list_bits(plays: int, takes: int, out: np.ndarray) -> int:
    """Write the legal actions, given as bits of kinds to play or to take, into `out` and return their number."""
    first = np.int64(0) if takes == 0 else np.int64(TAKE)
    left = plays | takes
    count = 0
    while left != 0:
        bit = left & -left
        left ^= bit
        out[count] = first + bit_index(bit)
        count += 1
    return count


@kernel
def draw(luck: int, count: int) -> int:
    """Return a number below `count` from 32 random bits."""
    return luck * count >> 32


@kernel
def choose_any(action_masks: np.ndarray, luck: np.ndarray, legal: np.ndarray, out: np.ndarray) -> None:
    """Write a uniformly random legal action of each row into `out`, (B,) int64; `luck` is (B,) of 32 random bits.

    `legal` is scratch, (105,) int64.
    """
    for row in range(len(out)):
        count = list_legal(action_masks[row], legal)
        out[row] = legal[draw(luck[row], count)]


@kernel
def choose_best(
    tables: np.ndarray,
    observations: np.ndarray,
    action_masks: np.ndarray,
    looks_ahead: bool,
    shed_weight: float,
    luck: np.ndarray,
    view: np.ndarray,
    scratch: np.ndarray,
    legal: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write the legal action with the lowest count of each row into `out`, (B,) int64, and among equals any one.

    The count is the points taken now and those of own sweeps; with `looks_ahead` less the points of the sweep that the
    next seat may have to make, times its chance, and for a card that creeps less `shed_weight` for each unit of its
    value above the middle.
    """
    for row in range(len(out)):
        count = list_legal(action_masks[row], legal)
        out[row] = best_action(
            tables[0], observations[row], legal, count, looks_ahead, shed_weight, luck[row], view[0], scratch[0]
        )


@kernel
def best_action(
    tables: np.record,
    observation: np.ndarray,
    legal: np.ndarray,
    count: int,
    looks_ahead: bool,
    shed_weight: float,
    luck: int,
    view: np.record,
    scratch: np.record,
) -> int:
    """Return the one of the first `count` legal actions with the lowest count, as `choose_best` tells it.

    `legal` is written over.
    """
    tied = 1
    if count > 1:
        look(tables, observation, view)
        lowest = np.inf
        for at in range(count):
            action = legal[at]
            result = weigh(tables, observation, action, view, scratch)
            if not looks_ahead:
                result = cost_of(tables, view.least_points, view.sweeps, 0.0)
            elif view.creeps:
                result -= shed_weight * (hand_value_of(tables, action) - MIDDLE_VALUE)
            if result < lowest:
                lowest = result
                tied = 0
            if result == lowest:
                legal[tied] = action  # never ahead of `at`
                tied += 1
    return legal[draw(luck, tied)]


class _Scripted:
    """Work space, and one stream of random numbers for ties. One agent serves one thread."""

    def __init__(self, name: str, rules: Rules, seed: int) -> None:
        self.name = name
        self.rules = rules
        self._tables = compile_rules(rules)
        self._view = make_view()
        self._legal = np.empty(rules.num_actions, np.int64)
        self._rng = np.random.default_rng(check_seed(seed))

    def _luck(self, count: int) -> IntArray:
        return self._rng.integers(0, 1 << 32, count)

    def _choose_best(
        self, observations: np.ndarray, action_masks: np.ndarray, looks_ahead: bool, shed_weight: float
    ) -> IntArray:
        observations, masks = check_decisions(self.rules, observations, action_masks)
        out = np.empty(len(masks), np.int64)
        choose_best(
            self._tables,
            observations,
            masks,
            looks_ahead,
            shed_weight,
            self._luck(len(masks)),
            self._view,
            borrow_scratch(),
            self._legal,
            out,
        )
        return out


class Random(_Scripted):
    """Any legal action, each with the same chance."""

    def __init__(self, rules: Rules, seed: int = 0) -> None:
        super().__init__("random", rules, seed)

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> IntArray:
        """Return a random legal action for each row, (B,) int64; see `krypenv.agents.Agent`."""
        _, masks = check_decisions(self.rules, observations, action_masks)
        out = np.empty(len(masks), np.int64)
        choose_any(masks, self._luck(len(masks)), self._legal, out)
        return out


class Greedy(_Scripted):
    """The fewest points now, those of an own sweep (R9) counted; ties at random."""

    def __init__(self, rules: Rules, seed: int = 0) -> None:
        super().__init__("greedy", rules, seed)

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> IntArray:
        """Return for each row the action that takes the fewest points, (B,) int64; see `krypenv.agents.Agent`."""
        return self._choose_best(observations, action_masks, False, 0.0)


class Tactician(_Scripted):
    """The fewest points now, less those of a sweep set up times its chance; ties at random.

    With `shed` it also prefers high cards where it creeps: in hand, more sums of table cards come to their value.
    """

    def __init__(self, rules: Rules, seed: int = 0, *, shed: bool = False) -> None:
        check_options("tactician", Tactician, {"shed": shed})
        super().__init__(format_spec("tactician", {"shed": True} if shed else {}), rules, seed)
        self._shed_weight = SHED_WEIGHT if shed else 0.0

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> IntArray:
        """Return for each row the action with the lowest count, (B,) int64; see `krypenv.agents.Agent`."""
        return self._choose_best(observations, action_masks, True, self._shed_weight)
