"""The candidates of a decision: the moves of the root that are tried in every world, and the totals they start with.

Where captures are optional, a few worlds hold few of the cards with which a next seat can make a mulle or a sweep. The
judgement counts over all cards that it may hold (`krypenv.agents.judgement`), so the totals start with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from krypenv.agents.judgement.judge import judge_moves
from krypenv.agents.moves.cuts import LARGE_ROOT_CAPTURES, LARGE_TABLE, MOST_SOLVED, ROOT_CAPTURES
from krypenv.agents.moves.listing import list_moves, order_moves
from krypenv.agents.moves.prices import set_prices
from krypenv.agents.search.sampling import Job
from krypenv.cards import NUM_KINDS
from krypenv.runtime.jit import kernel, other_kernel

PRIOR_WORLDS = 10.0  # worlds that the judgement counts as
# Points behind the best move, by the judgement, at which a move is left out; and where cards are built.
FAR_BEHIND, FAR_BEHIND_BUILDING = 1.5, 4.0


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
    """Return whether this is the last deal of two sides, which open hands tell everything of."""
    return compiled.teams == 2 and game.next_card == compiled.deck_size


@kernel
def begin_moves(job: Job, row: int, listing: np.record, worlds: np.record, judging: np.record, tally: np.record) -> int:
    """List the moves of a decision that was begun, and before its first world initialise their totals.

    Returns the number of moves.
    """
    end = list_choices(job.compiled[0], worlds.root, worlds.is_open, listing)
    if job.first == 0:
        tally.totals[:end] = 0.0
        begin_totals(job.compiled[0], job.observations[row], end, listing, worlds, judging, tally.totals)
    return int(end)


@kernel
def begin_totals(
    compiled: np.record,
    seen: np.ndarray,
    end: int,
    listing: np.record,
    worlds: np.record,
    judging: np.record,
    totals: np.ndarray,
) -> None:
    """Where captures are optional, initialise the totals of the first `end` moves of the root with their deficits.

    They are 0 so far, or minus infinity for moves that are pruned.
    """
    if compiled.optional and not worlds.is_open:
        judge_moves(compiled, seen, worlds.root, 0, end, True, listing, judging)
        _write_deficits(compiled, end, judging, totals)


@other_kernel
def _write_deficits(compiled: np.record, end: int, judging: np.record, totals: np.ndarray) -> None:
    """Initialise totals with the deficits by the judgement, as if in `PRIOR_WORLDS` worlds; prune moves far behind."""
    best, far = -np.inf, FAR_BEHIND_BUILDING if compiled.building else FAR_BEHIND
    for at in range(end):
        if totals[at] > -np.inf:
            best = max(best, judging.judged[at].worth)
    for at in range(end):
        if totals[at] > -np.inf:
            behind = best - judging.judged[at].worth
            totals[at] = -np.inf if behind > far else -PRIOR_WORLDS * behind
