"""What the tactician thinks of a decision's moves, before any world is searched, where captures are optional.

A few worlds hold few of the cards that a next seat can make a mulle with, or sweep with. The tactician counts over all
cards that it may hold (`krypenv.agents.replies`). Its judgement therefore joins what the worlds say.
"""

from __future__ import annotations

import numpy as np

from krypenv.agents.moves.record import copies_taken, is_mulle
from krypenv.agents.replies import look_at_replies, worth_of_rest
from krypenv.agents.search.judging import judge_building
from krypenv.cards import NO_CARD, NUM_KINDS
from krypenv.kernels.gains import price_of
from krypenv.kernels.outlook import look
from krypenv.runtime.jit import kernel, rare_kernel

PRIOR_WORLDS = 10.0  # worlds that the tactician's judgement counts as
# Points behind the best move, by this judgement, at which a move is left out; and where cards are built.
FAR_BEHIND, FAR_BEHIND_BUILDING = 1.5, 4.0


@rare_kernel
def judge_moves(
    compiled: np.record,
    observation: np.ndarray,
    end: int,
    listing: np.record,
    worlds: np.record,
    judging: np.record,
    tally: np.record,
) -> None:
    """Begin the totals of the first `end` moves with what the tactician sees them behind the best one.

    Moves that are far behind get minus infinity: they are pruned.
    """
    totals = tally.totals
    if compiled.building:
        judge_building(compiled, observation, end, True, listing, worlds, judging, tally)
    else:
        look(compiled, observation, judging.feature_scratch)
        look_at_replies(compiled, observation, judging.feature_scratch, judging.replies)
        for at in range(end):
            totals[at] = _worth_of(compiled, observation, listing.moves[at], worlds, judging, listing.scratch)
    best, far = totals[0], FAR_BEHIND_BUILDING if compiled.building else FAR_BEHIND
    for at in range(end):
        best = max(best, totals[at])
    for at in range(end):
        behind = best - totals[at]
        totals[at] = -np.inf if behind > far else -PRIOR_WORLDS * behind


@kernel
def _worth_of(
    compiled: np.record,
    observation: np.ndarray,
    move: np.record,
    worlds: np.record,
    judging: np.record,
    scratch: np.record,
) -> float:
    """Return what the tactician thinks that a move wins now, and what of what it leaves."""
    game, feature_scratch, replies = worlds.root, judging.feature_scratch, judging.replies
    card = np.int64(move.card)
    gain = 0.0
    for kind in range(NUM_KINDS):
        taken = copies_taken(move, kind)
        replies.left[kind] = game.table[kind] - taken
        if taken > 0:
            gain += taken * price_of(compiled, kind, feature_scratch.asked)
    if move.ranks == 0:
        replies.left[card] += 1
    else:
        gain += price_of(compiled, card, feature_scratch.asked)
        if move.ranks == game.table_ranks and feature_scratch.sweeps_count:
            gain -= compiled.lead_sign * compiled.sweep_points
        if is_mulle(move):
            gain -= compiled.lead_sign * compiled.mulle_points
    played = card if game.pending == NO_CARD else np.int64(NO_CARD)
    return gain + worth_of_rest(compiled, observation, played, move.ranks != 0, feature_scratch, replies, scratch)
