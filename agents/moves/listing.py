"""The moves of a decision, and their order.

Where captures must be made, every capture of kinds is a move, and captures are maximal (R7 to R10). Where they are
optional, see `captures`; where cards are built, `builds`. Captures and sweeps of a table are cached, since a search
visits the same tables many times.
"""

from __future__ import annotations

import numpy as np

from krypenv.agents.moves.builds import list_builds
from krypenv.agents.moves.captures import list_optional, prepare_table, write_choices
from krypenv.agents.moves.prices import POINT, TRAIL, cost_of_takes
from krypenv.agents.moves.record import KNOWN_CAPTURES, KNOWN_SIZE, copies_taken, swap_moves, write_move
from krypenv.cards import NO_CARD, NUM_RANKS
from krypenv.kernels.captures import captures_of, find_captures, find_sweep_values
from krypenv.kernels.compiled import NIBBLE, bit_index, fits, hand_value_of, kinds_of_values, sum_of
from krypenv.kernels.scoring import cost_of, is_void, sweeps_of
from krypenv.runtime.jit import kernel, other_kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_HASH_SHIFT = np.uint64(64 - (KNOWN_SIZE.bit_length() - 1))


@kernel
def list_moves(compiled: np.record, game: np.record, start: int, listing: np.record) -> int:
    """Write all legal moves of the seat to act to `.moves` from `start` on; return where they end (R7-R10).

    While a capture is being chosen, these are the captures that contain what was taken so far. Optional captures that
    are no better than others, or not among the best of very many, are left out. Raises OverflowError if there is no
    room.
    """
    listing.first = 0
    if compiled.optional:
        prepare_table(compiled, game, listing)
    end = start
    plays = np.int64(game.legal_plays)
    if game.pending != NO_CARD:
        plays = np.int64(1) << np.int64(game.pending)
    while plays != 0:
        card = bit_index(plays & -plays)
        plays &= plays - 1
        if not compiled.optional:
            end = _list_maximal(compiled, game, card, end, listing)
        elif compiled.building:
            end = list_builds(compiled, game, card, end, listing)
        else:
            end = list_optional(compiled, game, card, end, listing)
    return end


@kernel
def _list_maximal(compiled: np.record, game: np.record, card: int, start: int, listing: np.record) -> int:
    """Write a move for each capture of kinds by a card, from `start` on; return where they end."""
    scratch = listing.scratch
    table = np.int64(game.table_ranks)
    if compiled.chooses_value:
        count = captures_of(compiled, card, table, scratch)
    else:
        count = _cached_captures(compiled, np.int64(hand_value_of(compiled, card)), table, listing)
    if count == 0:
        write_move(listing.moves, start, card, np.int64(0), np.int64(0), np.int64(0))
        return start + 1
    end = start
    for at in range(count):
        capture = scratch.captures[at]
        if game.pending == NO_CARD or fits(game.taken_ranks, capture):
            end = write_choices(compiled, game, card, capture, end, listing)
    return end


@kernel
def known_sweeps(compiled: np.record, ranks: int, listing: np.record) -> int:
    """Find the values that sweep a table of packed ranks, as bits, with a cache."""
    entry = listing.known[np.int64(np.uint64(ranks) * _GOLDEN >> _HASH_SHIFT)]
    if entry.table != ranks:
        entry.table = ranks
        entry.sweeps = find_sweep_values(compiled, ranks, sum_of(compiled, ranks), listing.scratch)
    return int(entry.sweeps)


@kernel
def _cached_captures(compiled: np.record, value: int, ranks: int, listing: np.record) -> int:
    """Find the maximal captures of a value with a cache; write them to `scratch.captures`, and return their number."""
    query = ranks | value << NIBBLE * NUM_RANKS
    entry = listing.known[np.int64(np.uint64(query) * _GOLDEN >> _HASH_SHIFT)]
    captures = listing.scratch.captures
    if entry.query == query:
        count = np.int64(entry.count)
        for at in range(count):
            captures[at] = entry.captures[at]
        return int(count)
    count = find_captures(compiled, value, ranks, listing.scratch)
    if count <= KNOWN_CAPTURES:
        entry.query = query
        entry.count = count
        for at in range(count):
            entry.captures[at] = captures[at]
    return count


@kernel
def order_moves(compiled: np.record, game: np.record, start: int, end: int, listing: np.record) -> None:
    """Move ordering: sort moves by immediate cost, points and own sweeps less a sweep that the next seat must make.

    Under rules beyond the main game's, the cost includes mulles and the prices of cards and spades, but no reply of
    the next seat.
    """
    moves = listing.moves
    if compiled.is_main:
        seat = game.seat + 1
        if seat == compiled.players:
            seat = 0
        for at in range(start, end):
            moves[at].cost = _cost_of(compiled, game, moves[at], game.hand_kinds[seat], listing)
    elif not compiled.optional:  # costs of optional captures are listed with them
        _write_costs(compiled, game, start, end, listing)
    for at in range(start + 1, end):
        place = at
        while place > start and moves[place - 1].cost > moves[place].cost:
            swap_moves(listing, place - 1, place)
            place -= 1


@kernel
def _cost_of(compiled: np.record, game: np.record, move: np.record, next_hand: int, listing: np.record) -> int:
    """Compute the immediate cost of a move: points and own sweeps, less a sweep that the next hand must make.

    A sweep counts twice: one seat pays for it and another one is paid.
    """
    card, ranks = move.card, move.ranks
    left = np.int64(game.table_ranks) - ranks
    points = np.int64(0)
    if ranks == 0:
        left += np.int64(1) << NIBBLE * (card % NUM_RANKS)
    else:
        points += compiled.card_points[card]
        kinds = move.once & compiled.point_kinds
        while kinds != 0:
            kind = bit_index(kinds & -kinds)
            kinds &= kinds - 1
            points += compiled.card_points[kind] * copies_taken(move, kind)
    if left == 0:
        return cost_of(compiled, points, 2, 0)
    is_set_up = kinds_of_values(compiled, known_sweeps(compiled, left, listing)) & next_hand != 0
    return cost_of(compiled, points, 0, 2 * np.int64(is_set_up))


@other_kernel
def _write_costs(compiled: np.record, game: np.record, start: int, end: int, listing: np.record) -> None:
    """Write the immediate costs of moves under rules beyond the main game's, in thousandths of a point."""
    prices, void = listing.prices, is_void(compiled, game)
    for at in range(start, end):
        move = listing.moves[at]
        card = np.int64(move.card)
        if move.ranks == 0:
            move.cost = int(TRAIL * prices[card])
            continue
        cost = cost_of_takes(compiled, move, prices) - np.int64(POINT * prices[card])
        if move.ranks == game.table_ranks and not void:
            sweeps = sweeps_of(compiled, card, np.int64(game.table_ranks), copies_taken(move, card))
            cost += POINT * compiled.lead_sign * compiled.sweep_points * sweeps
        move.cost = cost
