"""Unions: sets of table cards, packed by rank, that are made of groups of one value (R7, B2)."""

from __future__ import annotations

import numpy as np

from krypenv.agents.moves.kinds import keep_cheapest, write_choices
from krypenv.agents.moves.space import MANY_STEPS, MOST_UNIONS, STEPS_OF_NODE, UNION_SLOTS
from krypenv.cards import NO_CARD
from krypenv.kernels.compiled import fits
from krypenv.kernels.unions import find_union, next_union, start_unions
from krypenv.runtime.jit import kernel, trailing_zeros

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_SLOT_SHIFT = np.uint64(64 - (UNION_SLOTS.bit_length() - 1))


@kernel
def write_captures(compiled: np.record, game: np.record, card: int, most: int, start: int, listing: np.record) -> int:
    """Write the best captures of a card that contain what was taken so far and lie within `most`, packed ranks."""
    end = write_unions(compiled, game, card, np.int64(compiled.hand_choice[card]), 0, most, start, listing)
    if end == start and game.pending != NO_CARD and game.taken_ranks != 0:
        raise ValueError("no capture contains what was taken")
    return keep_cheapest(compiled, start, end, np.int64(game.table_ranks), listing)


@kernel
def write_unions(
    compiled: np.record, game: np.record, card: int, choice: int, own: int, most: int, start: int, listing: np.record
) -> int:
    """Write a move for each choice of table cards within `most` that contains what was taken so far.

    With `own`, the rank of the card itself, packed, or 0, they are unions of groups of one of the values in `choice`,
    as bits. If none is found within a limit of steps, some one is written, so that a play that was begun has a move.
    """
    taken = np.int64(game.taken_ranks if game.pending != NO_CARD else 0)
    least, most = taken + own, most + own
    count, values = np.int64(0), np.int64(choice)
    listing.sets += 1
    while values != 0:
        count = _find_unions(compiled, trailing_zeros(values), least, most, count, listing)
        values &= values - 1
    while count == 0 and taken != 0 and choice != 0:
        listing.unions[0] = find_union(compiled, trailing_zeros(choice), least, most, listing.scratch)
        count += listing.unions[0] != 0
        choice &= choice - 1
    end = start
    for at in range(count):
        if end - start > MANY_STEPS * listing.keep:
            listing.is_cut = True
            break
        if listing.unions[at] != own:
            end = write_choices(compiled, game, card, listing.unions[at] - own, end, listing)
    return end


@kernel
def _find_unions(compiled: np.record, value: int, least: int, most: int, count: int, listing: np.record) -> int:
    """Add the unions of groups of one value within `most` that contain `least` and are not yet listed.

    Takes a limited number of steps. Returns how many unions are listed.
    """
    walk, steps = listing.scratch.walk, 0
    start_unions(compiled, value, np.int64(0), most, True, walk)
    while True:
        union = np.int64(next_union(walk))
        if union == 0:
            break
        steps += 1
        if steps > MANY_STEPS * listing.keep or count == MOST_UNIONS:
            listing.is_cut = True
            break
        if fits(least, union) and _is_new(union, listing):
            listing.unions[count] = union
            count += 1
    listing.nodes += steps // STEPS_OF_NODE
    return count


@kernel
def _is_new(ranks: int, listing: np.record) -> bool:
    """Add a multiset to the set of those found; return whether it was not there."""
    place = np.int64(np.uint64(ranks) * _GOLDEN >> _SLOT_SHIFT)
    while listing.set_number[place] == listing.sets:
        if listing.union_set[place] == ranks:
            return False
        place = (place + 1) & (UNION_SLOTS - 1)
    listing.union_set[place] = ranks
    listing.set_number[place] = listing.sets
    return True
