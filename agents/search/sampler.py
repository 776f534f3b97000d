"""The base of the agents that sample worlds: their loop over worlds, as kernels, their budget, threads and time limit.

In each world (`worlds`) the margins of all open moves are added to their totals, and moves that are clearly behind are
pruned: successive elimination (Even-Dar, Mannor and Mansour 2006). An agent hands in kernels (`make_loop`): for before
the first world, to draw each world, and to value the moves in it.

Where captures are optional, few sampled worlds contain the cards with which the next seat can make a mulle or a sweep.
The judgement is an expectation over all cards that it may hold (`krypenv.agents.judgement`), so it initializes the
totals, as a prior worth some worlds.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from krypenv.agents.base import BaseAgent, IntArray, check_seed
from krypenv.agents.judgement import judge_moves
from krypenv.agents.moves.listing import list_moves, order_moves
from krypenv.agents.moves.making import leads_to, next_action
from krypenv.agents.moves.prices import set_prices
from krypenv.agents.moves.record import LARGE_ROOT_CAPTURES, LARGE_TABLE, MOST_SOLVED, ROOT_CAPTURES, add_move
from krypenv.agents.search.worlds import Job, begin, begin_decision
from krypenv.agents.workspace import make_workspaces
from krypenv.game.moves import Move
from krypenv.kernels.compiled import compile_rules
from krypenv.kernels.decision_checks import check_decisions
from krypenv.rules import Rules
from krypenv.runtime.jit import kernel, other_kernel
from krypenv.runtime.threads import Lock, count_threads, in_turn, share
from krypenv.worlds.determinize import check_genuine

FEWEST_WORLDS = 8  # after which moves may be pruned
NO_ACTION = -1  # where no world agrees with an observation
PRIOR_WORLDS = 10.0  # worlds that the judgement counts as
# Points behind the best move, by the judgement, at which a move is left out; and where cards are built.
FAR_BEHIND, FAR_BEHIND_BUILDING = 1.5, 4.0
BATCH = 5  # worlds after which the clock is read
MOST_SHARED = 20_000_000  # worlds that all threads keep at once, each in 16 to 56 bytes
MANY_WORLDS = 10  # with this many for a decision, an agent takes longer than to play deals out


class Loop(NamedTuple):
    """The kernels of an agent's loop over worlds."""

    decide_rows: Any
    list_root: Any
    value_worlds: Any


@kernel
def reveal_nothing(job: Job, plan: Any, workspace: np.record) -> None:
    """Leave the information set of a decision as its observation shows it."""


def make_loop(prepare_moves: Any, draw_world: Any, value_moves: Any, reveal: Any = reveal_nothing) -> Loop:
    """Make the kernels of a loop over worlds from an agent's own ones, which work on one decision.

    `plan` is the agent's:

    - `reveal(job, plan, workspace)` may add to the information set what an agent that cheats sees.
    - `prepare_moves(job, plan, end, workspace)` may prune some of the first `end` moves, by a total of minus infinity.
    - `draw_world(job, plan, workspace)` draws the next world into `decision.world`, and returns its multiplicity, 0
      after the last world.
    - `value_moves(job, plan, end, workspace)` writes the margins of the open ones of the first `end` moves in
      `decision.world` to `tally.values`.
    """

    @kernel
    def decide_rows(job: Job, plan: Any, workspaces: np.ndarray, part: int, parts: int) -> None:
        """Write the action of the move with the highest mean margin, for every `parts`-th row from `part` on.

        Once all moves but one are pruned, no more worlds are drawn.
        """
        compiled, workspace = job.compiled[0], workspaces[0]
        decision, totals = workspace.decision, workspace.tally.totals
        for row in range(job.start + part, job.stop, parts):
            if not begin(job, row, workspace):
                continue
            reveal(job, plan, workspace)
            end = list_choices(compiled, workspace)
            if job.first == 0:
                totals[:end] = 0.0
            prepare_moves(job, plan, end, workspace)
            if job.first == 0 and compiled.optional and not decision.is_open:
                begin_totals(compiled, job.observations[row], end, workspace)
            while count_left(totals, end) > 1:
                times = draw_world(job, plan, workspace)
                if times == 0:
                    break
                value_moves(job, plan, end, workspace)
                add_values(end, times, plan.race, decision, workspace.tally)
            write_best(job, end, workspace)

    @kernel
    def list_root(job: Job, plan: Any, workspaces: np.ndarray) -> tuple[int, bool]:
        """List the moves of the first row of a job; return their number, and whether it hides nothing."""
        begin_decision(job, 0, workspaces[0])
        reveal(job, plan, workspaces[0])
        return list_choices(job.compiled[0], workspaces[0]), workspaces[0].decision.is_open

    @kernel
    def value_worlds(job: Job, plan: Any, workspaces: np.ndarray, margins: np.ndarray) -> bool:
        """Write the values of the moves in each world to `margins`, (worlds, K) float64; prune none of them.

        The moves are the first K, listed by `list_root`. Returns whether the worlds agree with the observation.
        """
        workspace = workspaces[0]
        decision, tally = workspace.decision, workspace.tally
        count, end = margins.shape
        decision.end = count
        prepare_moves(job, plan, end, workspace)
        tally.totals[:end] = 0.0
        for world in range(count):
            if draw_world(job, plan, workspace) == 0:
                break
            value_moves(job, plan, end, workspace)
            for at in range(end):
                margins[world, at] = tally.values[at]
        return bool(decision.agrees)

    return Loop(decide_rows, list_root, value_worlds)


@kernel
def count_left(totals: np.ndarray, end: int) -> int:
    """Count the moves left among the first `end`: those that are not pruned."""
    count = 0
    for at in range(end):
        count += totals[at] > -np.inf
    return count


@kernel
def add_values(end: int, times: int, race: float, decision: np.record, tally: np.record) -> None:
    """Add the margins of the first `end` moves in a world to their totals, `times` times, and prune moves.

    A move is pruned if its mean over n worlds is `race` / sqrt(n) points behind the best one. Its total becomes minus
    infinity.
    """
    totals = tally.totals
    for at in range(end):
        totals[at] += times * tally.values[at]
    decision.tried += times
    if decision.tried >= FEWEST_WORLDS:
        least = totals[np.argmax(totals[:end])] - race * np.sqrt(decision.tried)
        for at in range(end):
            if totals[at] < least:
                totals[at] = -np.inf


@kernel
def write_best(job: Job, end: int, workspace: np.record) -> None:
    """Write the action that begins or continues the move with the highest total, and if requested, all values."""
    decision, tally, moves = workspace.decision, workspace.tally, workspace.listing.moves
    if not decision.agrees:
        job.out[decision.row] = NO_ACTION
        return
    job.out[decision.row] = next_action(decision.root, moves[np.argmax(tally.totals[:end])])
    if len(job.values) > 0:
        mask, values = job.masks[decision.row], job.values[decision.row]
        for action in range(len(mask)):
            values[action] = -np.inf
            for at in range(end):
                if mask[action] and leads_to(job.compiled[0], decision.root, action, moves[at]):
                    values[action] = max(values[action], tally.totals[at] / max(decision.tried, 1))


# ---------------------------------------------------------------------- candidates


@kernel
def list_choices(compiled: np.record, workspace: np.record) -> int:
    """List the moves of a decision; return their number.

    With optional captures, `listing.is_cut` says whether captures that might be better were left out. If nothing is
    hidden in the last deal, all of them are listed where they are few.
    """
    game, listing = workspace.decision.root, workspace.listing
    if not compiled.is_main:
        set_prices(compiled, game, listing)
    if not compiled.optional:
        return list_moves(compiled, game, 0, listing)
    listing.is_cut = False
    if workspace.decision.is_open and is_last(compiled, game) and not is_large(game):
        listing.keep = MOST_SOLVED
        end = list_moves(compiled, game, 0, listing)
        if not listing.is_cut and end <= MOST_SOLVED:
            order_moves(compiled, game, 0, end, listing)
            return end
    listing.keep = LARGE_ROOT_CAPTURES if is_large(game) else ROOT_CAPTURES
    listing.is_cut = False
    end = list_moves(compiled, game, 0, listing)
    order_moves(compiled, game, 0, end, listing)
    return end


@kernel
def is_large(game: np.record) -> bool:
    """Check whether the table is large."""
    return bool(np.sum(game.table) > LARGE_TABLE)


@kernel
def is_last(compiled: np.record, game: np.record) -> bool:
    """Check whether this is the last deal of two sides: with open hands, a game of perfect information."""
    return compiled.teams == 2 and game.next_card == compiled.deck_size


@other_kernel
def begin_totals(compiled: np.record, seen: np.ndarray, end: int, workspace: np.record) -> None:
    """Initialize totals with the deficits by the judgement, as if in `PRIOR_WORLDS` worlds; prune moves far behind.

    They are 0 so far, or minus infinity for moves that are pruned.
    """
    totals, judged = workspace.tally.totals, workspace.judging.judged
    judge_moves(compiled, seen, workspace.decision.root, 0, end, True, workspace)
    best, far = -np.inf, FAR_BEHIND_BUILDING if compiled.building else FAR_BEHIND
    for at in range(end):
        if totals[at] > -np.inf:
            best = max(best, judged[at].worth)
    for at in range(end):
        if totals[at] > -np.inf:
            behind = best - judged[at].worth
            totals[at] = -np.inf if behind > far else -PRIOR_WORLDS * behind


# ---------------------------------------------------------------------- agents


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
    _loop: Loop
    _plan: Any  # what the kernels of the loop share
    _whole = False  # whether lines go beyond the deal

    def __init__(self, rules: Rules, seed: int, worlds: int, ms: float = 0.0, threads: int = 1) -> None:
        self.rules, self.lock = rules, Lock()
        self._worlds, self._ms = worlds, ms
        self.is_quick = worlds < MANY_WORLDS
        self._threads = count_threads(threads)
        self._compiled, self._workspaces = compile_rules(rules), make_workspaces(self._threads)
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

    def _ask(self, observations: np.ndarray, action_masks: np.ndarray) -> Job:
        """Make the job of some decisions, with a seed for each; raises ValueError for an invalid decision."""
        observations, masks = check_decisions(self.rules, observations, action_masks)
        check_genuine(self.rules, observations, masks)
        return self._job(observations, masks)

    def _job(self, observations: np.ndarray, masks: np.ndarray) -> Job:
        rows = len(observations)
        seeds = self._rng.integers(0, 1 << 63, rows).astype(np.uint64)
        return Job(
            self._compiled, observations, masks, seeds, 0, rows, 0, self._worlds, self._whole,
            np.empty(rows, np.int64), np.empty((0, masks.shape[1])),
        )  # fmt: skip

    def _choose(self, job: Job, plan: Any) -> None:
        parts = self._threads if job.stop - job.start > 1 else 1

        def choose(part: int, parts: int) -> None:
            self._loop.decide_rows(job, self._plan_part(plan, part), self._workspaces[part : part + 1], part, parts)

        share(choose, parts)
        missing = np.flatnonzero(job.out[job.start : job.stop] == NO_ACTION)
        if len(missing):
            raise ValueError(f"no deal of the unseen cards agrees with observation {job.start + missing[0]}")

    def _examine(self, job: Job, plan: Any, also: Move | None) -> Examined:
        """Value the moves of a job's first row, and `also`, in each world, (1,) where nothing is hidden."""
        count, is_open = self._loop.list_root(job, plan, self._workspaces)
        listing = self._workspaces["listing"]
        was_cut = bool(listing["is_cut"][0])
        if also is not None:
            count = add_move(listing["moves"][0], count, also)
        margins = np.empty((1 if is_open else self._worlds, count))
        if not self._loop.value_worlds(job, plan, self._workspaces, margins):
            raise ValueError("no deal of the unseen cards agrees with the observation")
        return Examined(listing["moves"][0, :count].copy(), margins, np.zeros(count), was_cut)


class Examiner(Sampler):
    """A sampler that can show the values of actions, and of each move in each world."""

    @in_turn
    def action_values(self, observations: np.ndarray, action_masks: np.ndarray) -> npt.NDArray[np.float64]:
        """Compute the agent's value of each action, (B, A) float64, in points.

        For `search` and `rollout` it is the mean margin over the worlds, leaf value included. `guided` adds a term for
        the network's prior: see `Guided`. The value is minus infinity for illegal and pruned actions, and 0 if there is
        no choice. `ms` is ignored.
        """
        job = self._ask(observations, action_masks)
        job = job._replace(values=np.where(job.masks > 0, 0.0, -np.inf))
        self._choose(job, self._plan_of(job))
        return job.values

    @in_turn
    def examine(self, observation: np.ndarray, action_mask: np.ndarray, also: Move | None = None) -> Examined:
        """Value the moves of one decision in each world.

        Where captures are optional, moves that are no better than others are left out, and of very many captures all
        but the best; `was_cut` then says whether the latter happened. `also` is a legal move that must not be left out.
        `observation` is (433 or more,) int8, `action_mask` (105,) int8.
        """
        return self._examine(self._ask(np.asarray(observation)[None], np.asarray(action_mask)[None]), self._plan, also)
