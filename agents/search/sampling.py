"""The loop over sampled worlds that `search`, `rollout`, `guided` and the oracles share, as kernels.

In each world (`worlds`) the margins of all open moves are added to their totals, and moves that are clearly behind are
pruned: successive elimination (Even-Dar, Mannor and Mansour 2006). An agent hands in three kernels, in the order in
which they are called (`make_loop`): before the first world, to draw each world, and to value the moves in it.

Where captures are optional, few sampled worlds contain the cards with which the next seat can make a mulle or a sweep.
The judgement is an expectation over all cards that it may hold (`krypenv.agents.judgement`), so it initializes the
totals, as a prior worth some worlds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from krypenv.agents.judgement import judge_moves
from krypenv.agents.moves.listing import list_moves, order_moves
from krypenv.agents.moves.making import leads_to, next_action
from krypenv.agents.moves.prices import set_prices
from krypenv.agents.moves.record import LARGE_ROOT_CAPTURES, LARGE_TABLE, MOST_SOLVED, ROOT_CAPTURES
from krypenv.agents.search.worlds import Job, begin, begin_decision
from krypenv.cards import NUM_KINDS
from krypenv.runtime.jit import kernel, other_kernel

FEWEST_WORLDS = 8  # after which moves may be pruned
NO_ACTION = -1  # where no world agrees with an observation
PRIOR_WORLDS = 10.0  # worlds that the judgement counts as
# Points behind the best move, by the judgement, at which a move is left out; and where cards are built.
FAR_BEHIND, FAR_BEHIND_BUILDING = 1.5, 4.0


class Loop(NamedTuple):
    """The kernels of an agent's loop over worlds."""

    decide_row: Any  # one decision, in a workspace
    decide_rows: Any  # every `parts`-th row of a job from its `part`-th one on
    value_worlds: Any  # the moves of one decision in each world, without pruning


def make_loop(prepare_moves: Any, draw_world: Any, value_moves: Any) -> Loop:
    """Make the kernels of a loop over worlds from an agent's own ones, which work on one decision.

    `plan` is the agent's:

    - `prepare_moves(job, plan, end, workspace)` may prune some of the first `end` moves, by a total of minus infinity.
    - `draw_world(job, plan, workspace)` draws the next world into `decision.world`, and returns its multiplicity, 0
      after the last world.
    - `value_moves(job, plan, end, workspace)` writes the margins of the open ones of the first `end` moves in
      `decision.world` to `tally.values`.
    """

    @kernel
    def decide_row(job: Job, plan: Any, workspace: np.record) -> None:
        """Write the action of the move with the highest mean margin over worlds; call `begin` first.

        Once all moves but one are pruned, no more worlds are drawn.
        """
        decision, tally = workspace.decision, workspace.tally
        end = list_choices(job.compiled[0], decision.root, decision.is_open, workspace.listing)
        if job.first == 0:
            tally.totals[:end] = 0.0
        prepare_moves(job, plan, end, workspace)
        if job.first == 0:
            begin_totals(job.compiled[0], job.observations[decision.row], end, workspace)
        while count_left(tally.totals, end) > 1:
            times = draw_world(job, plan, workspace)
            if times == 0:
                break
            value_moves(job, plan, end, workspace)
            add_values(end, times, plan.race, decision, tally)
        write_best(job, end, workspace)

    @kernel
    def decide_rows(job: Job, plan: Any, workspaces: np.ndarray, part: int, parts: int) -> None:
        for row in range(job.start + part, job.stop, parts):
            if begin(job, row, workspaces[0]):
                decide_row(job, plan, workspaces[0])

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

    return Loop(decide_row, decide_rows, value_worlds)


@kernel
def list_root(job: Job, plan: Any, workspaces: np.ndarray) -> tuple[int, bool]:
    """List the moves of the first row of a job; return their number, and whether it hides nothing."""
    workspace = workspaces[0]
    begin_decision(job, 0, workspace)
    is_open = workspace.decision.is_open
    return list_choices(job.compiled[0], workspace.decision.root, is_open, workspace.listing), is_open


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
        least = totals[best_of(totals, end)] - race * np.sqrt(decision.tried)
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
    job.out[decision.row] = next_action(decision.root, moves[best_of(tally.totals, end)])
    if len(job.values) > 0:
        mask, values = job.masks[decision.row], job.values[decision.row]
        for action in range(len(mask)):
            values[action] = -np.inf
            for at in range(end):
                if mask[action] and leads_to(job.compiled[0], decision.root, action, moves[at]):
                    values[action] = max(values[action], tally.totals[at] / max(decision.tried, 1))


@kernel
def best_of(values: np.ndarray, count: int) -> int:
    """Find the place of the highest of the first `count` values."""
    best = 0
    for at in range(1, count):
        if values[at] > values[best]:
            best = at
    return best


# ---------------------------------------------------------------------- candidates


@kernel
def list_choices(compiled: np.record, game: np.record, is_open: bool, listing: np.record) -> int:
    """List the moves of a decision; return their number.

    With optional captures, `listing.is_cut` says whether captures that might be better were left out. If nothing is
    hidden (`is_open`) in the last deal, all of them are listed where they are few.
    """
    if not compiled.is_main:
        set_prices(compiled, game, listing)
    if not compiled.optional:
        return list_moves(compiled, game, 0, listing)
    listing.is_cut = False
    if is_open and is_last(compiled, game) and not is_large(game):
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
    cards: Any = np.int64(0)
    for kind in range(NUM_KINDS):
        cards += game.table[kind]
    return bool(cards > LARGE_TABLE)


@kernel
def is_last(compiled: np.record, game: np.record) -> bool:
    """Check whether this is the last deal of two sides: with open hands, a game of perfect information."""
    return compiled.teams == 2 and game.next_card == compiled.deck_size


@kernel
def begin_totals(compiled: np.record, seen: np.ndarray, end: int, workspace: np.record) -> None:
    """Where captures are optional, initialize the totals of the first `end` moves with their heuristic deficits.

    They are 0 so far, or minus infinity for moves that are pruned.
    """
    decision = workspace.decision
    if compiled.optional and not decision.is_open:
        judge_moves(compiled, seen, decision.root, 0, end, True, workspace)
        _write_deficits(compiled, end, workspace.judging, workspace.tally.totals)


@other_kernel
def _write_deficits(compiled: np.record, end: int, judging: np.record, totals: np.ndarray) -> None:
    """Initialize totals with the deficits by the judgement, as if in `PRIOR_WORLDS` worlds; prune moves far behind."""
    best, far = -np.inf, FAR_BEHIND_BUILDING if compiled.building else FAR_BEHIND
    for at in range(end):
        if totals[at] > -np.inf:
            best = max(best, judging.judged[at].worth)
    for at in range(end):
        if totals[at] > -np.inf:
            behind = best - judging.judged[at].worth
            totals[at] = -np.inf if behind > far else -PRIOR_WORLDS * behind
