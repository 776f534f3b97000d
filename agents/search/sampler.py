"""What the agents that sample worlds have in common: their budget, their threads, and the look at the clock."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.agents.base import Agent, IntArray, check_options, check_seed, format_spec, options_of
from krypenv.agents.search.horizon import make_model
from krypenv.agents.search.sampling import NO_ACTION
from krypenv.agents.search.space import make_space, with_room
from krypenv.cards import NUM_ACTIONS
from krypenv.kernels.checks import check_decisions
from krypenv.kernels.tables import compile_rules
from krypenv.kernels.worlds import check_genuine
from krypenv.rules import Rules

BATCH = 5  # worlds between two looks at the clock
MOST_SHARED = 20_000_000  # worlds of all threads that are kept at once, each in 16 to 56 bytes
NOT_ASKED = np.empty((0, NUM_ACTIONS))  # in place of values that nobody asked for


def name_of(name: str, agent: Agent, options: dict[str, Any]) -> str:
    """Return the string that makes an agent, from the values of its options; `threads` and defaults are left out.

    Raises ValueError for a value that an option can't have.
    """
    defaults = options_of(type(agent))
    given = {key: options[key] for key in defaults}
    given = {key: value.item() if isinstance(value, np.generic) else value for key, value in given.items()}
    check_options(name, type(agent), given)
    named = {key: given[key] for key in defaults if key != "threads" and given[key] != defaults[key]}
    return format_spec(name, named)


def check_memory(worlds: int, threads: int) -> None:
    """Raise ValueError where the worlds that all threads keep at once need too much memory."""
    if worlds * threads > MOST_SHARED:
        raise ValueError(
            f"{worlds * threads} worlds that are kept at once need too much memory; "
            f"worlds times candidates times threads is {MOST_SHARED} at most"
        )


class Sampler:
    """An agent that looks at worlds: deals of the unseen cards that agree with what the seat has seen.

    Args:
        worlds: worlds a decision, at most.
        ms: milliseconds after which a decision looks at no more worlds, 0 for no limit. How many they are then
            depends on the machine.
        threads: threads that share the rows, 0 for all processors; without `ms` choices do not depend on it.
    """

    name: str

    # Kernels that choose for every `parts`-th row from `part` on, and for all rows on a thread for each work space.
    # The first takes tables, model, observations, masks, seeds, first world, worlds, *plan, *work, space, values, out,
    # and then part and parts; the second a tuple of the former, and (threads,) bool. Where the first world is not 0
    # they go on with what is in the work space, and a thread has one row.
    _serial: Any
    _parallel: Any
    _plan: tuple[Any, ...]
    gives_values = True  # whether the kernels fill in `values`

    def __init__(self, rules: Rules, seed: int, worlds: int, value: str, ms: float, threads: int) -> None:
        self.rules = rules
        self._worlds, self._ms = worlds, ms
        self._threads = threads or os.cpu_count() or 1
        self._tables, self._model = compile_rules(rules), make_model(value)
        self._space = make_space(self._threads)
        self._work: tuple[Any, ...] = ()
        self._rng = np.random.default_rng(check_seed(seed))
        self._is_new = True  # nothing has been decided, and the kernels may not be compiled

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> IntArray:
        """Return an action for each row, (B,) int64; see `krypenv.agents.Agent`."""
        observations, masks, seeds = self._begin(observations, action_masks)
        return with_room(self, lambda: self._act(observations, masks, seeds))

    def _act(self, observations: np.ndarray, masks: np.ndarray, seeds: np.ndarray) -> IntArray:
        out = np.empty(len(observations), np.int64)
        if not self._ms:
            self._choose(observations, masks, seeds, 0, self._worlds, out)
            return out
        if self._is_new and len(out):  # no decision pays for the compiling of the kernels
            for most in {1, self._threads}:
                self._choose(observations[:most], masks[:most], seeds[:most], 0, 1, out[:most])
            self._is_new = False
        for row in range(0, len(out), self._threads):
            rows = slice(row, row + self._threads)
            deadline = time.perf_counter() + self._ms / 1000
            for first in range(0, self._worlds, BATCH):
                worlds = min(BATCH, self._worlds - first)
                self._choose(observations[rows], masks[rows], seeds[rows], first, worlds, out[rows])
                if time.perf_counter() > deadline:
                    break
        return out

    def action_values(self, observations: np.ndarray, action_masks: np.ndarray) -> npt.NDArray[np.float64]:
        """Return the expected margin after each action, (B, 105) float64, in points.

        It is minus infinity for illegal actions and for those that were clearly behind after some worlds, and 0 where
        there is no choice. `ms` does not count here. Raises ValueError where the agent does not value actions.
        """
        if not self.gives_values:
            raise ValueError(f"{self.name} does not value actions; search and rollout do")
        observations, masks, seeds = self._begin(observations, action_masks)
        values = np.where(masks > 0, 0.0, -np.inf)
        out = np.empty(len(masks), np.int64)
        with_room(self, lambda: self._choose(observations, masks, seeds, 0, self._worlds, out, values))
        return values

    def _begin(
        self, observations: np.ndarray, action_masks: np.ndarray
    ) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8], npt.NDArray[np.uint64]]:
        """Return decisions as the kernels take them, with a seed for each; raises ValueError where one is none."""
        observations, masks = check_decisions(self.rules, observations, action_masks)
        check_genuine(self.rules, observations, masks)
        return observations, masks, self._rng.integers(0, 1 << 63, len(observations)).astype(np.uint64)

    def _choose(
        self,
        observations: np.ndarray,
        masks: np.ndarray,
        seeds: np.ndarray,
        first: int,
        worlds: int,
        out: np.ndarray,
        values: npt.NDArray[np.float64] = NOT_ASKED,
    ) -> None:
        given = (
            self._tables, self._model, observations, masks, seeds, first, worlds, *self._plan, *self._work, self._space,
            values, out,
        )  # fmt: skip
        if self._threads > 1 and len(out) > 1:
            done = np.zeros(self._threads, np.bool_)
            self._parallel(given, done)
            for part in np.flatnonzero(~done).tolist():  # once more on this thread, where its error is not lost
                self._serial(*given, part, self._threads)
        else:
            self._serial(*given, 0, 1)
        if (out == NO_ACTION).any():
            raise ValueError(f"no deal of the unseen cards agrees with observation {np.argmax(out == NO_ACTION)}")
