"""Cuts: how many moves are kept where there are very many."""

from __future__ import annotations

import numpy as np

from krypenv.agents.moves.record import swap_moves
from krypenv.runtime.jit import kernel

# A search for unions takes MANY_STEPS steps for each capture that is kept, and tries as many choices of kinds, at most.
MANY_STEPS = 40
MANY_CHOICES = 1000  # of kinds for one union; of more, the best go on to the next rank
STEPS_OF_NODE = 16  # so many steps count as a node
# Captures of a card that are listed: in a playout, by the judgement, at the root of a search and on its lines, and
# where more than LARGE_TABLE cards lie there.
PLAYOUT_CAPTURES, JUDGED_CAPTURES, ROOT_CAPTURES, LINE_CAPTURES = 3, 8, 24, 6
LARGE_TABLE, LARGE_ROOT_CAPTURES, LARGE_LINE_CAPTURES = 10, 6, 2
MOST_SOLVED = 200  # moves at the root of a last deal that is solved exactly, all captures included
MOST_JUDGED = 128  # moves of a decision that are judged, those that cost least at once


@kernel
def keep_best(start: int, end: int, table: int, listing: np.record) -> int:
    """Bring the best moves, `listing.keep` at most, and a sweep to the front; return where they end."""
    moves, keep = listing.moves, listing.keep
    if end - start <= keep:
        return end
    listing.is_cut = True
    for place in range(start, start + keep):
        best = place
        for at in range(place, end):
            if moves[at].ranks == table or (moves[best].ranks != table and moves[at].cost < moves[best].cost):
                best = at
        if best != place:
            swap_moves(moves, place, best)
    return start + keep
