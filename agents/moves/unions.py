"""Unions: sets of table cards, packed by rank, that are made of groups of one value (R7, B2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from krypenv.agents.moves.cuts import MANY_STEPS, STEPS_OF_NODE, keep_best
from krypenv.agents.moves.kinds import write_choices
from krypenv.agents.moves.prices import cost_of_takes
from krypenv.agents.moves.space import MOST_UNIONS, UNION_SLOTS
from krypenv.kernels.compiled import fits
from krypenv.kernels.unions import find_union, next_union, start_unions
from krypenv.runtime.jit import kernel, trailing_zeros

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_SLOT_SHIFT = np.uint64(64 - (UNION_SLOTS.bit_length() - 1))


@kernel
def write_captures(
    compiled: np.record, game: np.record, card: int, least: int, most: int, start: int, listing: np.record
) -> int:
    """Write the captures of a card that contain `least` and lie within `most`, packed ranks, the best of them."""
    count = np.int64(0)
    listing.sets += 1
    choice = np.int64(compiled.hand_choice[card])
    while choice != 0:
        value = trailing_zeros(choice)
        choice &= choice - 1
        count = find_unions(compiled, value, least, most, count, listing)
    if count == 0 and least != 0:
        listing.unions[0] = find_one(compiled, np.int64(compiled.hand_choice[card]), least, most, listing.scratch)
        if listing.unions[0] == 0:
            raise ValueError("no capture contains what was taken")
        count += 1
    end = write_unions(compiled, game, card, count, np.int64(0), least, start, listing)
    for at in range(start, end):
        listing.moves[at].cost = cost_of_takes(compiled, listing.moves[at], listing.prices)
    return keep_best(start, end, np.int64(game.table_ranks), listing)


@kernel
def write_unions(
    compiled: np.record,
    game: np.record,
    card: int,
    count: int,
    own_rank: int,
    least: int,
    start: int,
    listing: np.record,
) -> int:
    """Write the moves of a card for the first `count` unions, without the card's `own_rank`, packed, if it is in them.

    A union that is nothing else has no move.
    """
    end = start
    for at in range(count):
        if end - start > MANY_STEPS * listing.keep:
            listing.is_cut = True
            break
        union = listing.unions[at] - own_rank
        if union != 0:
            end = write_choices(compiled, game, card, union, least, end, listing)
    return end


@kernel
def find_unions(compiled: np.record, value: int, least: int, most: int, count: int, listing: np.record) -> int:
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


@kernel
def find_one(compiled: np.record, choice: int, least: int, most: int, scratch: np.record) -> int:
    """Return some union for one of the values in `choice`, bits, that contains `least` and lies within `most`, or 0."""
    union: Any = np.int64(0)
    while choice != 0 and union == 0:
        union = np.int64(find_union(compiled, trailing_zeros(choice), least, most, scratch))
        choice &= choice - 1
    return union
