"""The base of the agents that sample worlds: their budget, their threads and their time limit."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from krypenv.agents.base import BaseAgent, IntArray, check_seed
from krypenv.agents.moves.record import add_move
from krypenv.agents.search.horizon import make_model
from krypenv.agents.search.sampling import NO_ACTION, list_root
from krypenv.agents.search.worlds import Job
from krypenv.agents.workspace import make_workspaces
from krypenv.game.moves import Move
from krypenv.kernels.compiled import compile_rules
from krypenv.kernels.decision_checks import check_decisions
from krypenv.rules import Rules
from krypenv.runtime.threads import Lock, count_threads, in_turn, share
from krypenv.worlds.determinize import check_genuine

BATCH = 5  # worlds after which the clock is read
MOST_SHARED = 20_000_000  # worlds that all threads keep at once, each in 16 to 56 bytes
MANY_WORLDS = 10  # with this many for a decision, an agent takes longer than to play deals out


class Examined(NamedTuple):
    """The n moves of one decision, and what they are worth to an agent."""

    moves: np.ndarray  # (n,) of `MOVE`
    margins: npt.NDArray[np.float64]  # (worlds, n), in points; one world if nothing is hidden
    leanings: npt.NDArray[np.float64] | float = 0.0  # the agent's prior, in points for each move
    was_cut: bool = False  # captures that might be better were left out


def check_memory(worlds: int, threads: int) -> None:
    """Raise ValueError if the worlds that all threads (0: as many as processors) keep at once need too much memory."""
    at_once = worlds * count_threads(threads)
    if at_once > MOST_SHARED:
        raise ValueError(
            f"{at_once} worlds that are kept at once need too much memory; "
            f"worlds times proposals times threads is {MOST_SHARED} at most"
        )


class Sampler(BaseAgent):
    """An agent that samples worlds: deals of the unseen cards that agree with the observation.

    Args:
        worlds: worlds for a decision, at most.
        ms: time limit for a decision in milliseconds, 0 for none. The number of worlds then depends on the machine.
        threads: threads that share the rows, 0 for all processors; without `ms` choices do not depend on it.
    """

    name: str
    remembers = False  # whether what it does depends on earlier calls
    gives_values = True  # whether the kernel fills in `Job.values`

    # Kernels (`sampling.Loop.decide_rows`, `sampling.list_root`, `sampling.Loop.value_worlds`), and what they share.
    _decide: Any
    _list: Any = staticmethod(list_root)
    _value: Any
    _plan: Any

    def __init__(self, rules: Rules, seed: int, worlds: int, value: str, ms: float, threads: int) -> None:
        self.rules, self.lock = rules, Lock()
        self._worlds, self._ms = worlds, ms
        self.is_quick = worlds < MANY_WORLDS
        self._threads = count_threads(threads)
        self._compiled, self._workspaces = compile_rules(rules), make_workspaces(self._threads, make_model(value))
        self._rng = np.random.default_rng(check_seed(seed))
        self._is_new = True  # nothing has been decided, and the kernel may not be compiled

    @in_turn
    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> IntArray:
        """Choose an action for each row, (B,) int64; see `krypenv.agents.Agent`."""
        job = self._ask(observations, action_masks)
        return self._answer(job, self._plan_of(job))

    def _answer(self, job: Job, plan: Any) -> IntArray:
        if not self._ms:
            self._choose(job, plan)
            return job.out
        if self._is_new and job.stop:  # compile the kernel before any clock starts
            self._choose(job._replace(stop=1, worlds=1), plan)
            self._is_new = False
        for row in range(0, job.stop, self._threads):
            rows = job._replace(start=row, stop=min(row + self._threads, job.stop))
            deadline = time.perf_counter() + self._ms / 1000
            for first in range(0, job.worlds, BATCH):
                self._choose(rows._replace(first=first, worlds=min(BATCH, job.worlds - first)), plan)
                if time.perf_counter() > deadline:
                    break
        return job.out

    def _plan_of(self, job: Job) -> Any:
        """Make the plan for a job; a hook for agents that read more of the observations than others."""
        return self._plan

    def _plan_part(self, plan: Any, part: int) -> Any:
        """Take a thread's part of a plan; a hook for agents whose plans hold scratch for each thread."""
        return plan

    @in_turn
    def action_values(self, observations: np.ndarray, action_masks: np.ndarray) -> npt.NDArray[np.float64]:
        """Compute the agent's value of each action, (B, A) float64, in points.

        For `search` and `rollout` it is the mean margin over the worlds, leaf value included. `guided` adds a term for
        the network's prior: see `Guided`. The value is minus infinity for illegal and pruned actions, and 0 if there is
        no choice. `ms` is ignored. Raises ValueError if the agent does not value actions.
        """
        if not self.gives_values:
            raise ValueError(f"{self.name} does not value actions; search, rollout and guided do")
        job = self._ask(observations, action_masks)
        job = job._replace(values=np.where(job.masks > 0, 0.0, -np.inf))
        self._choose(job, self._plan_of(job))
        return job.values

    def _ask(self, observations: np.ndarray, action_masks: np.ndarray) -> Job:
        """Make the job of some decisions, with a seed for each; raises ValueError for an invalid decision."""
        observations, masks = check_decisions(self.rules, observations, action_masks)
        check_genuine(self.rules, observations, masks)
        return self._job(observations, masks)

    def _job(self, observations: np.ndarray, masks: np.ndarray) -> Job:
        rows = len(observations)
        seeds = self._rng.integers(0, 1 << 63, rows).astype(np.uint64)
        return Job(
            self._compiled, observations, masks, seeds, 0, rows, 0, self._worlds, np.empty(rows, np.int64),
            np.empty((0, masks.shape[1])),
        )  # fmt: skip

    def _choose(self, job: Job, plan: Any) -> None:
        parts = self._threads if job.stop - job.start > 1 else 1

        def choose(part: int, parts: int) -> None:
            self._decide(job, self._plan_part(plan, part), self._workspaces[part : part + 1], part, parts)

        share(choose, parts)
        missing = np.flatnonzero(job.out[job.start : job.stop] == NO_ACTION)
        if len(missing):
            raise ValueError(f"no deal of the unseen cards agrees with observation {job.start + missing[0]}")

    def _examine(self, job: Job, plan: Any, also: Move | None) -> Examined:
        """Value the moves of a job's first row, and `also`, in each world, (1,) where nothing is hidden."""
        count, is_open = self._list(job, plan, self._workspaces)
        listing = self._workspaces["listing"]
        was_cut = bool(listing["is_cut"][0])
        if also is not None:
            count = add_move(listing["moves"][0], count, also)
        margins = np.empty((1 if is_open else self._worlds, count))
        if not self._value(job, plan, self._workspaces, margins):
            raise ValueError("no deal of the unseen cards agrees with the observation")
        return Examined(listing["moves"][0, :count].copy(), margins, np.zeros(count), was_cut)


class Examiner(Sampler):
    """A sampler that can show the value of each move in each world."""

    @in_turn
    def examine(self, observation: np.ndarray, action_mask: np.ndarray, also: Move | None = None) -> Examined:
        """Value the moves of one decision in each world.

        Where captures are optional, moves that are no better than others are left out, and of very many captures all
        but the best; `was_cut` then says whether the latter happened. `also` is a legal move that must not be left out.
        `observation` is (433 or more,) int8, `action_mask` (105,) int8.
        """
        return self._examine(self._ask(np.asarray(observation)[None], np.asarray(action_mask)[None]), self._plan, also)
