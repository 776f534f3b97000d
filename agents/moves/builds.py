"""Moves where cards are built (B): captures with or without a build, and builds made, raised or joined.

As with other optional captures, interchangeable cards are listed once (`captures`), and only the best of very many
moves are kept. Two more heuristic cuts: with a high goal, a capture always includes the build of the card's value; and
of the cards of a rank, a build gets those that are worth most.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from krypenv.agents.moves.captures import write_captures, write_unions
from krypenv.agents.moves.prices import POINT, TRAIL, cost_of_takes, mulle_price, worth_of_build
from krypenv.agents.moves.record import keep_best, write_move
from krypenv.cards import NO_CARD, NUM_RANKS
from krypenv.kernels.builds import buildable, copies_in, held_values, loose_sums, own_builds
from krypenv.kernels.compiled import NIBBLE, bit_index, hand_value_of, table_value_of
from krypenv.runtime.jit import kernel, other_kernel

LAID = 0.5  # share of what a build would win that counts when it is laid
MULLE_RISK = 0.7  # share of a mulle that trailing a card costs if the next hand is known to have the copy
_ONE: Any = np.int64(1)


@other_kernel
def list_builds(compiled: np.record, game: np.record, card: int, start: int, listing: np.record) -> int:
    """Write the moves of a card that are not cut to `.moves` from `start` on, with their costs; return where they end.

    Call `prepare_table` first.
    """
    seat, is_pending = np.int64(game.seat), game.pending != NO_CARD
    own, held = own_builds(game, seat), held_values(compiled, game, seat, NO_CARD if is_pending else card)
    broken = own & ~held
    if is_pending and game.build_value != 0:
        return _list_lays(compiled, game, card, broken, np.int64(game.build_value), start, listing)
    sums = loose_sums(compiled, game)
    end = _list_captures(compiled, game, card, broken, sums, start, listing)
    if listing.least != 0:
        return end
    if own == 0:  # B5
        write_move(listing.moves, end, card, np.int64(0), np.int64(0), np.int64(0))
        listing.moves[end].cost = _cost_of_trail(compiled, game, card, listing.prices)
        end += 1
    first = end
    values = np.int64(buildable(compiled, game, card, held, own, sums))
    while values != 0:
        value = bit_index(values & -values)
        values &= values - 1
        end = _list_lays(compiled, game, card, broken, np.int64(value), end, listing)
    return keep_best(first, end, np.int64(-1), listing)


@kernel
def _cost_of_trail(compiled: np.record, game: np.record, card: int, prices: np.ndarray) -> int:
    """Compute the cost of trailing a card, in thousandths of a point."""
    cost = TRAIL * prices[card]
    seat = game.seat + 1
    if seat == compiled.players:
        seat = 0
    if game.hand_kinds[seat] >> card & 1:
        cost += MULLE_RISK * POINT * mulle_price(compiled, card)
    return int(cost)


@kernel
def _list_captures(
    compiled: np.record, game: np.record, card: int, broken: int, sums: int, start: int, listing: np.record
) -> int:
    """Write the captures of a card; `sums` are `loose_sums`.

    `broken` has the values of promises that no card left in the hand fulfils: only moves that capture those builds are
    legal (B5).
    """
    moves, value = listing.moves, hand_value_of(compiled, card)
    if broken & ~(_ONE << value) != 0:
        return start
    end = start
    if sums >> value & 1:
        end = write_captures(compiled, game, card, end, listing)
    takes_build = game.builds >> value & 1 != 0
    if takes_build and listing.least == 0:
        write_move(moves, end, card, np.int64(0), np.int64(0), np.int64(0))
        moves[end].cost, moves[end].taken = 0, value
        end += 1
    loose = end
    if takes_build:
        both = compiled.lead_sign > 0 and broken == 0
        for at in range(start, loose):
            if both and moves[at].ranks != 0:
                moves[end] = moves[at]
                end += 1
            moves[at].taken = value
    for at in range(start, end):
        moves[at].cost -= np.int64(
            POINT * (listing.prices[card] + _gain_of_build(compiled, game, moves[at], listing.prices))
        )
        if moves[at].ranks == game.table_ranks and game.builds & ~(_ONE << moves[at].taken) == 0:
            moves[at].cost += listing.sweep
    return end


@kernel
def _gain_of_build(compiled: np.record, game: np.record, move: np.record, prices: np.ndarray) -> float:
    """Price the build that a capture takes, and a mulle with one of its cards (G2)."""
    if move.taken == 0:
        return 0.0
    worth = worth_of_build(game, np.int64(move.taken), prices)
    if compiled.mulle_by_value and copies_in(game, move.taken, move.card) > 0 and move.once >> move.card & 1 == 0:
        worth += mulle_price(compiled, move.card)
    return worth


@kernel
def _list_lays(
    compiled: np.record, game: np.record, card: int, broken: int, value: int, start: int, listing: np.record
) -> int:
    """Write the ways to make, join or raise a build of a value with a card (B2 to B4).

    `broken` has the values of promises that no card left in the hand fulfils: only raising those builds is legal (B5).
    """
    moves, least, table_value = listing.moves, listing.least, table_value_of(compiled, card)
    end = start
    if broken == 0:
        if least == 0 and table_value == value and game.builds >> value & 1:
            write_move(moves, end, card, np.int64(0), np.int64(0), np.int64(0))
            end += 1
        own_rank = _ONE << NIBBLE * (card % NUM_RANKS)
        end = write_unions(compiled, game, card, _ONE << value, own_rank, end, listing)
    raised = value - table_value
    singles = np.int64(game.builds & ~game.multiple_builds)
    if raised > 0 and singles >> raised & 1 and broken & ~(_ONE << raised) == 0:
        first = end
        if least == 0:
            write_move(moves, end, card, np.int64(0), np.int64(0), np.int64(0))
            end += 1
        end = write_unions(compiled, game, card, _ONE << value, 0, end, listing)
        for at in range(first, end):
            moves[at].taken = raised
    if end == start and least != 0:
        raise ValueError("no build contains what was laid together")
    copies = np.int64(game.hand_kinds[game.seat]) & compiled.value_kinds[value]  # that are held beside the card
    if game.pending == NO_CARD and game.hands[game.seat, card] == 1:
        copies &= ~(_ONE << card)
    for at in range(start, end):
        moves[at].build = value
        moves[at].cost = -np.int64(POINT * LAID * _worth_laid(compiled, game, moves[at], copies, listing.prices))
    return keep_best(start, end, np.int64(-1), listing)


@kernel
def _worth_laid(compiled: np.record, game: np.record, move: np.record, copies: int, prices: np.ndarray) -> float:
    """Price the build that a move lays, with a mulle by one of `copies`, bits of kinds (G2)."""
    value = np.int64(move.build)
    worth = prices[move.card] - np.float64(cost_of_takes(compiled, move, prices)) / POINT
    for other in (value, np.int64(move.taken)):
        if other != 0 and game.builds >> other & 1:
            worth += worth_of_build(game, other, prices)
    if compiled.mulle_by_value:
        if move.once >> move.card & 1:  # it takes nothing yet
            worth -= mulle_price(compiled, move.card)
        inside = move.once | _ONE << move.card
        best = 0.0
        while copies != 0:
            kind = bit_index(copies & -copies)
            copies &= copies - 1
            if inside >> kind & 1 or copies_in(game, value, kind) > 0 or copies_in(game, move.taken, kind) > 0:
                best = max(best, abs(mulle_price(compiled, kind)))
        worth -= compiled.lead_sign * best
    return worth
