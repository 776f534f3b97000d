"""Moves where captures are optional (K2), and which of them are cut.

A card takes nothing, or a union of groups of one of its hand values. Two exact reductions limit the choices of kinds
for a union: they don't change the value of optimal play (`krypenv.agents.moves.kinds`).

One heuristic cut sets `listing.is_cut`: of more than `listing.keep` captures by a card, those of least cost are kept,
and a sweep. The search for unions has a step limit, so of very many captures some are never considered.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from krypenv.agents.moves.kinds import copies_count, keep_cheapest, write_choices
from krypenv.agents.moves.prices import POINT, TRAIL
from krypenv.agents.moves.record import (
    MANY_STEPS,
    MOST_UNIONS,
    OPTIONAL_CAPTURES,
    OPTIONAL_SIZE,
    STEPS_OF_NODE,
    UNION_SLOTS,
    bits_of_counts,
    write_move,
)  # fmt: skip
from krypenv.cards import NO_CARD, NUM_KINDS, NUM_RANKS
from krypenv.kernels.compiled import NIBBLE, fits, support
from krypenv.kernels.scoring import is_void
from krypenv.kernels.unions import find_union, next_union, start_unions
from krypenv.runtime.jit import kernel, other_kernel, trailing_zeros
from krypenv.state import mix

_ONE: Any = np.int64(1)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_SLOT_MASK = np.uint64(OPTIONAL_SIZE - 1)
_SLOT_SHIFT = np.uint64(64 - (UNION_SLOTS.bit_length() - 1))


@other_kernel
def prepare_table(compiled: np.record, game: np.record, listing: np.record) -> None:
    """Prepare what the moves of all cards share: what was taken and may be, the cost of a sweep, the table's key."""
    least, most, first = np.int64(0), np.int64(game.table_ranks), NUM_KINDS
    if game.pending != NO_CARD and game.taken_ranks != 0:
        least = most = np.int64(game.taken_ranks)
        while first == NUM_KINDS or game.taken[first] == 0:  # kinds are taken in ascending order
            first -= 1
            most += np.int64(game.table[first] - game.taken[first]) << NIBBLE * (first % NUM_RANKS)
    listing.least, listing.most, listing.first = least, most, first % NUM_KINDS
    listing.sweep = POINT * compiled.lead_sign * compiled.sweep_points * np.int64(not is_void(compiled, game))
    key = mix(np.uint64(listing.keep) + listing.price_key)
    lone = np.int64(0)
    counts = copies_count(compiled)
    for kind in range(NUM_KINDS):
        if game.table[kind] > 0:
            key += np.uint64(game.table[kind]) * listing.table_keys[kind]
            if counts and compiled.deck_counts[kind] > game.seen[kind]:
                lone |= _ONE << kind
    listing.lone = lone
    listing.table_key = key + mix(np.uint64(lone))


@other_kernel
def list_optional(compiled: np.record, game: np.record, card: int, start: int, listing: np.record) -> int:
    """Write the moves of a card that are not cut to `.moves` from `start` on, with their costs; return where they end.

    Call `prepare_table` first.
    """
    moves, is_pending, choice = listing.moves, game.pending != NO_CARD, np.int64(compiled.hand_choice[card])
    if compiled.forced_sweep and not is_pending and choice & game.sweep_values != 0:
        once, twice = bits_of_counts(game.table)
        write_move(moves, start, card, np.int64(game.table_ranks), once, twice)
        moves[start].cost = listing.sweep
        return start + 1
    price = np.int64(POINT * listing.prices[card])
    first = start
    if listing.least == 0:
        write_move(moves, start, card, np.int64(0), np.int64(0), np.int64(0))
        moves[start].cost = price * TRAIL // POINT
        first += 1
    end = first
    if is_pending:
        end = write_captures(compiled, game, card, end, listing)
    elif compiled.group_values[support(game.table_ranks)] & choice != 0:
        end = _cached_optional(compiled, game, card, end, listing)
    for at in range(first, end):
        moves[at].cost -= price
        if moves[at].ranks == game.table_ranks:
            moves[at].cost += listing.sweep
    return end


@kernel
def _cached_optional(compiled: np.record, game: np.record, card: int, start: int, listing: np.record) -> int:
    """Write the captures of a card that are not cut, with a cache; costs leave out the card and a sweep."""
    moves, own = listing.moves, card if copies_count(compiled) else NUM_KINDS
    query = listing.table_key + mix(np.uint64(compiled.hand_choice[card]) + np.uint64(own) * _GOLDEN)
    entry = listing.known_captures[np.int64(query & _SLOT_MASK)]
    if entry.query == query:
        for at in range(entry.count):
            known = entry.captures[at]
            write_move(moves, start + at, card, known.ranks, known.once, known.twice)
            moves[start + at].cost = known.cost
        listing.is_cut |= entry.is_cut
        return start + int(entry.count)
    was_cut = listing.is_cut
    listing.is_cut = False
    end = write_captures(compiled, game, card, start, listing)
    if end - start <= OPTIONAL_CAPTURES:
        entry.query, entry.count, entry.is_cut = query, end - start, listing.is_cut
        for at in range(end - start):
            entry.captures[at] = moves[start + at]
    listing.is_cut |= was_cut
    return end


@kernel
def write_captures(compiled: np.record, game: np.record, card: int, start: int, listing: np.record) -> int:
    """Write the best captures of a card that contain what was taken so far."""
    end = write_unions(compiled, game, card, np.int64(compiled.hand_choice[card]), 0, start, listing)
    if end == start and listing.least != 0:
        raise ValueError("no capture contains what was taken")
    return keep_cheapest(compiled, start, end, np.int64(game.table_ranks), listing)


@kernel
def write_unions(
    compiled: np.record, game: np.record, card: int, choice: int, own: int, start: int, listing: np.record
) -> int:
    """Write a move for each choice of table cards that contains what was taken so far.

    With `own`, the rank of the card itself, packed, or 0, they are unions of groups of one of the values in `choice`,
    as bits. If the search finds none within its step limit, any one is written, so that a play in progress has a move.
    """
    least, most = np.int64(listing.least + own), np.int64(listing.most + own)
    count, values = np.int64(0), np.int64(choice)
    listing.sets += 1
    while values != 0:
        count = _find_unions(compiled, trailing_zeros(values), least, most, count, listing)
        values &= values - 1
    while count == 0 and listing.least != 0 and choice != 0:
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
    """Add a union to the hash set; return whether it is new."""
    place = np.int64(np.uint64(ranks) * _GOLDEN >> _SLOT_SHIFT)
    while listing.set_number[place] == listing.sets:
        if listing.union_set[place] == ranks:
            return False
        place = (place + 1) & (UNION_SLOTS - 1)
    listing.union_set[place] = ranks
    listing.set_number[place] = listing.sets
    return True
