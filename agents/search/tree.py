"""Moves within a deal, as kernels for searches: whole plays with their captures, until cards are dealt again."""

from __future__ import annotations

import numpy as np

from krypenv.agents.search.building import list_building
from krypenv.agents.search.moves import POINT, TRAIL, copies_taken, cost_of_takes, fair_price, swap_moves, write_move
from krypenv.agents.search.optional import list_optional
from krypenv.agents.search.workspace import KNOWN_CAPTURES, KNOWN_SIZE
from krypenv.cards import NO_CARD, NUM_KINDS, NUM_RANKS, NUM_SUITS
from krypenv.kernels.builds import limit_plays
from krypenv.kernels.captures import bound_captures, captures_of, find_captures, find_sweep_values
from krypenv.kernels.compiled import (
    NIBBLE,
    bit_index,
    fits,
    hand_value_of,
    kinds_of_values,
    sum_of,
    support,
    takes_whole_ranks,
)
from krypenv.kernels.completing import complete_building, complete_chosen, complete_play, count_capture, lay_down
from krypenv.kernels.play import GAME_OVER, allow_plays, end_play
from krypenv.kernels.scoring import cost_of, is_void, sweeps_of
from krypenv.runtime.jit import kernel, rare_kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_HASH_SHIFT = np.uint64(64 - (KNOWN_SIZE.bit_length() - 1))


@kernel
def list_moves(compiled: np.record, game: np.record, start: int, listing: np.record) -> int:
    """Write all legal moves of the seat to act to `.moves` from `start` on; return where they end (R7-R10).

    While a capture is being chosen, they are the captures that contain what was taken so far. Where captures are
    optional, those are left out that are no better than others, or not among the best of very many
    (`krypenv.agents.search.optional`). Raises OverflowError if they don't fit.
    """
    if compiled.building:
        return list_building(compiled, game, start, listing)
    if compiled.optional:
        return list_optional(compiled, game, start, listing)
    if game.pending != NO_CARD:
        return _list_captures(compiled, game, np.int64(game.pending), start, listing)
    end = start
    plays = np.int64(game.legal_plays)
    while plays != 0:
        bit = plays & -plays
        plays ^= bit
        end = _list_captures(compiled, game, bit_index(bit), end, listing)
    return end


@kernel
def _list_captures(compiled: np.record, game: np.record, card: int, start: int, listing: np.record) -> int:
    """Write the moves of one card, one for each capture of kinds."""
    scratch = listing.scratch
    table = np.int64(game.table_ranks)
    if compiled.chooses_value:
        count = captures_of(compiled, card, table, scratch)
    else:
        count = known_captures(compiled, np.int64(hand_value_of(compiled, card)), table, listing)
    if count == 0:
        write_move(listing.moves, start, card, np.int64(0), np.int64(0), np.int64(0))
        return start + 1
    end = start
    for at in range(count):
        capture = scratch.captures[at]
        if game.pending == NO_CARD or fits(game.taken_ranks, capture):
            end = _list_kinds(game, card, capture, listing.moves, end)
    return end


@kernel
def _list_kinds(game: np.record, card: int, capture: int, moves: np.ndarray, start: int) -> int:
    """Write a move for each choice of kinds that makes up the ranks of a capture and contains those taken so far."""
    write_move(moves, start, card, capture, np.int64(0), np.int64(0))
    end = start + 1
    ranks = support(capture)
    while ranks != 0:
        bit = ranks & -ranks
        ranks ^= bit
        rank = bit_index(bit)
        wanted = capture >> NIBBLE * rank & 15
        if wanted < game.table_ranks >> NIBBLE * rank & 15:
            end = _split_kinds(game, rank, wanted, moves, start, end)
        else:  # all cards of the rank
            once, twice = np.int64(0), np.int64(0)
            for suit in range(NUM_SUITS):
                kind = suit * NUM_RANKS + rank
                once |= np.int64(game.table[kind] > 0) << kind
                twice |= np.int64(game.table[kind] > 1) << kind
            for at in range(start, end):
                moves[at].once |= once
                moves[at].twice |= twice
    return end


@kernel
def _split_kinds(game: np.record, rank: int, wanted: int, moves: np.ndarray, start: int, end: int) -> int:
    """Replace the moves from `start` to `end` by one for each way to take some, not all, cards of a rank."""
    first = end
    choosing = game.pending != NO_CARD
    for packed in range(81):  # 0, 1 or 2 copies of each suit, as digits of base 3
        rest = packed
        count, once, twice = 0, np.int64(0), np.int64(0)
        fitting = True
        for suit in range(NUM_SUITS):
            kind = suit * NUM_RANKS + rank
            copies = rest % 3
            rest //= 3
            count += copies
            once |= np.int64(copies > 0) << kind
            twice |= np.int64(copies > 1) << kind
            fitting &= copies <= game.table[kind] and not (choosing and copies < game.taken[kind])
        if fitting and count == wanted:
            for at in range(start, first):
                move = moves[at]
                write_move(moves, end, move.card, move.ranks, move.once | once, move.twice | twice)
                end += 1
    for at in range(first, end):
        moves[start + at - first] = moves[at]
    return start + end - first


@kernel
def make_move(compiled: np.record, game: np.record, move: np.record, listing: np.record) -> int:
    """Carry out a whole play and return PLAYING, DEAL_OVER or GAME_OVER.

    When the deal is over, the cards of R6 are set aside and the next ones are not yet dealt.
    """
    if not compiled.is_main:
        return _make_further(compiled, game, move, listing)
    scratch = listing.scratch
    card = np.int64(move.card)
    if game.pending == NO_CARD:
        lay_down(game, card)
    if move.ranks != 0:
        scratch.captures[0] = move.ranks
        if not takes_whole_ranks(move.ranks, game.table_ranks):
            for kind in range(NUM_KINDS):
                game.taken[kind] = copies_taken(move, kind)
            bound_captures(1, move.ranks, scratch)
    complete_play(compiled, game, card, np.int64(move.ranks != 0), scratch)
    outcome = end_play(compiled, game)
    if outcome != GAME_OVER:
        allow_plays(compiled, game, known_sweeps(compiled, np.int64(game.table_ranks), listing))
    return outcome


@rare_kernel
def _make_further(compiled: np.record, game: np.record, move: np.record, listing: np.record) -> int:
    """Do what `make_move` does, where more counts than in the main game."""
    card = np.int64(move.card)
    if game.pending == NO_CARD:
        lay_down(game, card)
    for kind in range(NUM_KINDS):
        game.taken[kind] = copies_taken(move, kind)
    game.taken_ranks = move.ranks
    if compiled.building:
        game.build_value = move.build
        game.taken_builds = np.int64(move.taken != 0) << move.taken
        complete_building(compiled, game, card)
    else:
        seat, is_sweep_void = game.seat, is_void(compiled, game)
        complete_chosen(compiled, game, card)
        if move.ranks != 0:
            count_capture(compiled, game, seat, np.int64(move.ranks), is_sweep_void)
    outcome = end_play(compiled, game)
    if outcome != GAME_OVER:
        sweeps = np.int64(0)
        if compiled.forced_sweep or not compiled.optional:
            sweeps = known_sweeps(compiled, np.int64(game.table_ranks), listing)
        allow_plays(compiled, game, sweeps)
        if compiled.building:
            game.legal_builds = 0
            limit_plays(compiled, game)
    return outcome


@kernel
def known_sweeps(compiled: np.record, ranks: int, listing: np.record) -> int:
    """Do what `find_sweep_values` does, memoized: a search meets the same tables again and again."""
    entry = listing.known[np.int64(np.uint64(ranks) * _GOLDEN >> _HASH_SHIFT)]
    if entry.table != ranks:
        entry.table = ranks
        entry.sweeps = find_sweep_values(compiled, ranks, sum_of(compiled, ranks), listing.scratch)
    return np.int64(entry.sweeps)


@kernel
def known_captures(compiled: np.record, value: int, ranks: int, listing: np.record) -> int:
    """Do what `find_captures` does, memoized."""
    query = ranks | value << NIBBLE * NUM_RANKS
    entry = listing.known[np.int64(np.uint64(query) * _GOLDEN >> _HASH_SHIFT)]
    captures = listing.scratch.captures
    if entry.query == query:
        count = np.int64(entry.count)
        for at in range(count):
            captures[at] = entry.captures[at]
        return count
    count = find_captures(compiled, value, ranks, listing.scratch)
    if count <= KNOWN_CAPTURES:
        entry.query = query
        entry.count = count
        for at in range(count):
            entry.captures[at] = captures[at]
    return count


@kernel
def order_moves(compiled: np.record, game: np.record, start: int, end: int, listing: np.record) -> None:
    """Sort moves by what they cost at once: points and an own sweep, less a sweep that the next seat must make.

    Where more counts than in the main game, mulles and the fair price of cards and spades are in it, and what the next
    seat may do is not.
    """
    moves = listing.moves
    if not compiled.is_main:
        _order_further(compiled, game, start, end, moves)
        return
    seat = game.seat + 1
    if seat == compiled.players:
        seat = 0
    for at in range(start, end):
        moves[at].cost = _cost_of(compiled, game, moves[at], game.hand_kinds[seat], listing)
        place = at
        while place > start and moves[place - 1].cost > moves[place].cost:
            swap_moves(moves, place - 1, place)
            place -= 1


@kernel
def _cost_of(compiled: np.record, game: np.record, move: np.record, next_hand: int, listing: np.record) -> int:
    """Return what a move costs at once: points and an own sweep, less a sweep that the next hand must make.

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


@rare_kernel
def _order_further(compiled: np.record, game: np.record, start: int, end: int, moves: np.ndarray) -> None:
    """Do what `order_moves` does, where more counts than in the main game."""
    void = is_void(compiled, game)
    for at in range(start, end):
        if not compiled.optional:
            moves[at].cost = _cost_further(compiled, game, moves[at], void)
        place = at
        while place > start and moves[place - 1].cost > moves[place].cost:
            swap_moves(moves, place - 1, place)
            place -= 1


@kernel
def _cost_further(compiled: np.record, game: np.record, move: np.record, void: bool) -> int:
    """Return what a move costs at once, in thousandths of a point, at a fair price."""
    card = np.int64(move.card)
    if move.ranks == 0:
        return np.int64(TRAIL * fair_price(compiled, card))
    cost = cost_of_takes(compiled, move) - np.int64(POINT * fair_price(compiled, card))
    if move.ranks == game.table_ranks and not void:
        sweeps = sweeps_of(compiled, card, np.int64(game.table_ranks), copies_taken(move, card))
        cost += POINT * compiled.lead_sign * compiled.sweep_points * sweeps
    return cost
