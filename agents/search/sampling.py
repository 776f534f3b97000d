"""Decisions by sampled worlds, as kernels: their candidates, the worlds that agree with an observation, and the loop.

`search`, `rollout` and `guided` share one loop, `decide_row`: in each world, the margins of all open moves are added to
their totals. How an agent values moves in a world is a kernel of its own, which it hands to `make_decide_row`. Some
also prepare moves, or draw worlds, in ways of their own.

Where captures are optional, few sampled worlds contain the cards with which the next seat can make a mulle or a sweep.
The judgement is an expectation over all cards that it may hold (`krypenv.agents.judgement`), so it initializes the
totals, as a prior worth some worlds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from krypenv.agents.judgement.decision import has_choice, look_around
from krypenv.agents.judgement.judge import judge_moves
from krypenv.agents.moves.listing import list_moves, order_moves
from krypenv.agents.moves.making import leads_to, next_action
from krypenv.agents.moves.prices import set_prices
from krypenv.agents.moves.space import LARGE_ROOT_CAPTURES, LARGE_TABLE, MOST_SOLVED, ROOT_CAPTURES
from krypenv.agents.workspace import Workspace
from krypenv.cards import NUM_KINDS
from krypenv.kernels.play import prepare
from krypenv.runtime.jit import kernel, other_kernel
from krypenv.state import mix, seed_game
from krypenv.worlds.hidden import deal_hidden

# Moves are pruned after this many worlds, and not before.
FEWEST_WORLDS = 8
NO_ACTION = -1  # where no world agrees with an observation
PRIOR_WORLDS = 10.0  # worlds that the judgement counts as
# Points behind the best move, by the judgement, at which a move is left out; and where cards are built.
FAR_BEHIND, FAR_BEHIND_BUILDING = 1.5, 4.0


class Job(NamedTuple):
    """Decisions, the worlds to sample for each, and the arrays for the answers."""

    compiled: np.ndarray  # (1,) compiled rules
    model: np.ndarray  # (1,) of `MODEL`
    observations: np.ndarray  # (B, >= 433) int8
    masks: np.ndarray  # (B, A) int8
    seeds: np.ndarray  # (B,) uint64
    start: int  # the first row to decide
    stop: int  # the row after the last one
    first: int  # number of the first world; if not 0, a thread has one row and continues from its scratch
    worlds: int
    out: np.ndarray  # (B,) int64: the actions, NO_ACTION where no world agrees with what is seen
    values: np.ndarray  # (B, A) float64, or (0, A) if not requested: see `Sampler.action_values`


# ---------------------------------------------------------------------- the loop


@kernel
def prepare_moves(job: Job, plan: Any, row: int, end: int, part: int, workspace: Workspace) -> None:
    """Prepare the first `end` moves before the first world: a hook for agents, which does nothing here.

    `plan` is the agent's, and `part` the number of its thread. A move is pruned by a total of minus infinity.
    """


@kernel
def draw_world(job: Job, plan: Any, row: int, part: int, workspace: Workspace) -> int:
    """Draw the next world into `worlds.game`; return how often it counts, 0 after the last one."""
    return int(next_world(job, row, True, workspace.worlds[0], workspace.listing[0].scratch))


def make_decide_row(value_moves: Any, draw_world: Any = draw_world, prepare_moves: Any = prepare_moves) -> Any:
    """Return the kernel that decides one row, with an agent's own kernels.

    `value_moves(job, plan, end, part, workspace)` writes the margins of the open ones of the first `end` moves in
    `worlds.game` to `tally.values`.
    """

    @kernel
    def decide_row(job: Job, plan: Any, row: int, part: int, workspace: Workspace) -> None:
        """Write the action of the best move, by its mean margin over worlds, of a decision that was begun.

        Once all moves but one are pruned, no more worlds are drawn.
        """
        listing, worlds, tally = workspace.listing[0], workspace.worlds[0], workspace.tally[0]
        end = list_choices(job.compiled[0], worlds.root, worlds.is_open, listing)
        if job.first == 0:
            tally.totals[:end] = 0.0
        prepare_moves(job, plan, row, end, part, workspace)
        if job.first == 0:
            begin_totals(job.compiled[0], job.observations[row], end, workspace)
        while count_open(tally.totals, end) > 1:
            times = draw_world(job, plan, row, part, workspace)
            if times == 0:
                break
            value_moves(job, plan, end, part, workspace)
            add_values(end, times, plan.race, worlds, tally)
        write_best(job, row, end, listing, worlds, tally)

    return decide_row


def make_decide_rows(decide_row: Any) -> Any:
    """Return the kernel that decides every `parts`-th row of a job from its `part`-th one on, by one for each row."""

    @kernel
    def decide_rows(job: Job, plan: Any, workspace: Workspace, part: int, parts: int) -> None:
        for row in range(job.start + part, job.stop, parts):
            if begin(job, row, workspace.worlds[0], workspace.listing[0].scratch):
                decide_row(job, plan, row, part, workspace)

    return decide_rows


@kernel
def list_root(job: Job, workspace: Workspace) -> tuple[int, bool]:
    """List the moves of the first row of a job; return their number, and whether it hides nothing."""
    listing, worlds = workspace.listing[0], workspace.worlds[0]
    begin_worlds(job, 0, worlds, listing.scratch)
    return list_choices(job.compiled[0], worlds.root, worlds.is_open, listing), worlds.is_open


def make_value_worlds(value_moves: Any, draw_world: Any = draw_world, prepare_moves: Any = prepare_moves) -> Any:
    """Return the kernel that values the moves of a decision in each world, with the kernels of `make_decide_row`."""

    @kernel
    def value_worlds(job: Job, plan: Any, workspace: Workspace, margins: np.ndarray) -> bool:
        """Write what the moves are worth in each world into `margins`, (worlds, K) float64; prune none of them.

        The moves are the K first ones, listed by `list_root`. Returns whether the worlds agree with what is seen.
        """
        worlds, tally = workspace.worlds[0], workspace.tally[0]
        count, end = margins.shape
        worlds.end = count
        prepare_moves(job, plan, 0, end, 0, workspace)
        tally.totals[:end] = 0.0
        for world in range(count):
            if draw_world(job, plan, 0, 0, workspace) == 0:
                break
            value_moves(job, plan, end, 0, workspace)
            for at in range(end):
                margins[world, at] = tally.values[at]
        return bool(worlds.agrees)

    return value_worlds


@kernel
def begin(job: Job, row: int, worlds: np.record, scratch: np.record) -> bool:
    """Set up a decision in the scratch; return whether there is a choice. If there is none, write the answer."""
    if not has_choice(job.masks[row]):
        job.out[row] = np.argmax(job.masks[row])
        return False
    begin_worlds(job, row, worlds, scratch)
    return True


@kernel
def count_open(totals: np.ndarray, end: int) -> int:
    """Return how many of the first `end` moves are not pruned."""
    count = 0
    for at in range(end):
        count += totals[at] > -np.inf
    return count


@kernel
def add_values(end: int, times: int, race: float, worlds: np.record, tally: np.record) -> None:
    """Add the margins of the first `end` moves in a world to their totals, `times` times, and prune those behind.

    That is, moves whose mean over n worlds is `race` / sqrt(n) points behind that of the best one: more worlds hardly
    matter then. The totals of pruned moves become minus infinity.
    """
    totals = tally.totals
    for at in range(end):
        totals[at] += times * tally.values[at]
    worlds.tried += times
    if worlds.tried >= FEWEST_WORLDS:
        least = totals[best_of(totals, end)] - race * np.sqrt(worlds.tried)
        for at in range(end):
            if totals[at] < least:
                totals[at] = -np.inf


@kernel
def write_best(job: Job, row: int, end: int, listing: np.record, worlds: np.record, tally: np.record) -> None:
    """Write the action that begins or continues the move with the highest total, and if requested, all values."""
    if not worlds.agrees:
        job.out[row] = NO_ACTION
        return
    job.out[row] = next_action(worlds.root, listing.moves[best_of(tally.totals, end)])
    if len(job.values) > 0:
        value_actions(job.compiled[0], listing, worlds, tally, end, job.masks[row], job.values[row])


@kernel
def value_actions(
    compiled: np.record,
    listing: np.record,
    worlds: np.record,
    tally: np.record,
    end: int,
    mask: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write the mean margin of the best move behind each action into `out`, (A,) float64, else minus infinity."""
    for action in range(len(mask)):
        out[action] = -np.inf
        for at in range(end):
            if mask[action] and leads_to(compiled, worlds.root, action, listing.moves[at]):
                out[action] = max(out[action], tally.totals[at] / max(worlds.tried, 1))


@kernel
def best_of(values: np.ndarray, count: int) -> int:
    """Return the place of the highest of the first `count` values."""
    best = 0
    for at in range(1, count):
        if values[at] > values[best]:
            best = at
    return best


# ---------------------------------------------------------------------- candidates


@kernel
def list_choices(compiled: np.record, game: np.record, is_open: bool, listing: np.record) -> int:
    """List the moves of a decision from the start of `.moves`; return their number. `is_open`: nothing is hidden.

    With optional captures, `listing.is_cut` says whether captures were left out that might be better.
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
    """Return whether there is a large table."""
    cards: Any = np.int64(0)
    for kind in range(NUM_KINDS):
        cards += game.table[kind]
    return bool(cards > LARGE_TABLE)


@kernel
def is_last(compiled: np.record, game: np.record) -> bool:
    """Return whether this is the last deal of two sides: with open hands, a game of perfect information."""
    return compiled.teams == 2 and game.next_card == compiled.deck_size


@kernel
def begin_totals(compiled: np.record, seen: np.ndarray, end: int, workspace: Workspace) -> None:
    """Where captures are optional, initialize the totals of the first `end` moves of the root with their deficits.

    They are 0 so far, or minus infinity for moves that are pruned.
    """
    worlds, judging = workspace.worlds[0], workspace.judging[0]
    if compiled.optional and not worlds.is_open:
        judge_moves(compiled, seen, worlds.root, 0, end, True, workspace.listing[0], judging)
        _write_deficits(compiled, end, judging, workspace.tally[0].totals)


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


# ---------------------------------------------------------------------- worlds


@kernel
def begin_worlds(job: Job, row: int, worlds: np.record, scratch: np.record) -> None:
    """Set up a decision in the scratch, and the range of worlds to sample."""
    worlds.is_open = look_around(job.compiled[0], job.observations[row], worlds, scratch)
    worlds.world, worlds.end = job.first, job.first + job.worlds
    if job.first == 0:
        worlds.tried = 0
    worlds.agrees = True


@kernel
def next_world(job: Job, row: int, whole: bool, worlds: np.record, scratch: np.record) -> bool:
    """Draw the next world of a decision into `worlds.game`; return False after the last one.

    Unless `whole`, the stock is left unshuffled. If no world agrees with the observation, it returns False too, and
    `worlds.agrees` is False.
    """
    if worlds.world == worlds.end or not worlds.agrees:
        return False
    worlds.seed = world_seed(job.seeds[row], worlds.world)
    worlds.world += 1
    worlds.game = worlds.root
    worlds.agrees = complete(job.compiled[0], job.observations[row], worlds.seed, whole, worlds.game, worlds, scratch)
    return worlds.agrees


@kernel
def complete(
    compiled: np.record,
    seen: np.ndarray,
    seed: np.uint64,
    whole: bool,
    game: np.record,
    worlds: np.record,
    scratch: np.record,
) -> bool:
    """Complete a game that `read_public` has written, sampled uniformly among those that agree with `seen`.

    Unless `whole`, the stock is left unshuffled. Returns whether there is such a game.
    """
    seed_game(game, seed)
    if not deal_hidden(compiled, game, seen, whole, worlds.owner, worlds.pool):
        return False
    prepare(compiled, game, scratch)
    return True


@kernel
def world_seed(seed: np.uint64, world: int) -> np.uint64:
    """Return the seed of one of the worlds of a decision."""
    return mix(seed + np.uint64(world))
