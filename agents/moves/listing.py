"""The moves of a decision, and their order."""

from __future__ import annotations

import numpy as np

from krypenv.agents.moves.builds import list_builds
from krypenv.agents.moves.maximal import known_sweeps, list_maximal
from krypenv.agents.moves.optional import list_optional, look_at_table
from krypenv.agents.moves.prices import POINT, TRAIL, cost_of_takes
from krypenv.agents.moves.record import copies_taken, swap_moves
from krypenv.cards import NO_CARD, NUM_RANKS
from krypenv.kernels.compiled import NIBBLE, bit_index, kinds_of_values
from krypenv.kernels.scoring import cost_of, is_void, sweeps_of
from krypenv.runtime.jit import kernel, other_kernel


@kernel
def list_moves(compiled: np.record, game: np.record, start: int, listing: np.record) -> int:
    """Write all legal moves of the seat to act to `.moves` from `start` on; return where they end (R7-R10).

    While a capture is being chosen, they are the captures that contain what was taken so far. Where captures are
    optional, those are left out that are no better than others, or not among the best of very many
    (`krypenv.agents.moves.optional`). Raises OverflowError if they don't fit.
    """
    listing.first = 0
    if compiled.optional:
        look_at_table(compiled, game, listing)
    end = start
    plays = np.int64(game.legal_plays)
    if game.pending != NO_CARD:
        plays = np.int64(1) << np.int64(game.pending)
    while plays != 0:
        bit = plays & -plays
        plays ^= bit
        end = _list_card(compiled, game, bit_index(bit), end, listing)
    return end


@kernel
def _list_card(compiled: np.record, game: np.record, card: int, start: int, listing: np.record) -> int:
    """Write the moves of a card of the hand, or what the pending one may still do."""
    if not compiled.optional:
        return list_maximal(compiled, game, card, start, listing)
    if compiled.building:
        return list_builds(compiled, game, card, start, listing)
    return list_optional(compiled, game, card, start, listing)


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
            swap_moves(moves, place - 1, place)
            place -= 1


@kernel
def _cost_of(compiled: np.record, game: np.record, move: np.record, next_hand: int, listing: np.record) -> int:
    """Return the immediate cost of a move: points and own sweeps, less a sweep that the next hand must make.

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
            bit = kinds & -kinds
            kinds ^= bit
            points += compiled.card_points[bit_index(bit)] * (1 + np.int64(move.twice & bit != 0))
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
