"""Which of the cards of a rank a move takes.

Cards of one rank are *alike* if they have the same points, are both spades or neither where piles count, and are both
set aside or neither. Only ranks decide what may be captured, so exchanging two such cards changes no later play. Of
cards alike, the lowest kinds are taken. A table card whose identical copy matters (M2, R11) and is still to be played
has no equal.

A card *dominates* another of its rank if it is at least as good to take in points and as a spade. Only undominated
choices are listed. Proof: take any line of play after the worse card was taken. After the better one, play the same
line with the two cards exchanged. If the own side later takes the card that was left, the piles are the same; if the
other side does, the own side has the better card and the other side the worse one, and majorities can only gain. This
needs two sides, so with more it is a heuristic cut. It also needs points that only count: where points make sweeps void
or end the session (F5, F6), cards of different points are not compared.

Where captures must be made, all choices are listed.
"""

from __future__ import annotations

import numpy as np

from krypenv.agents.moves.prices import cost_of_takes
from krypenv.agents.moves.record import MANY_CHOICES, bits_of_counts, keep_best, write_move
from krypenv.cards import NO_CARD, NUM_RANKS, NUM_SUITS, SPADES
from krypenv.kernels.compiled import NEVER, NIBBLE, highest
from krypenv.runtime.jit import kernel, other_kernel, trailing_zeros


@kernel
def write_choices(compiled: np.record, game: np.record, card: int, capture: int, start: int, listing: np.record) -> int:
    """Write a move for each choice of kinds for a capture, packed, that contains what was taken so far.

    Where captures are optional, dominated choices are left out.
    """
    moves, table, optional = listing.moves, np.int64(game.table_ranks), compiled.optional
    once, twice, left = np.int64(0), np.int64(0), np.int64(capture)
    if game.pending != NO_CARD:
        once, twice = bits_of_counts(game.taken)
        left -= game.taken_ranks
    write_move(moves, start, card, capture, once, twice)
    end = start + 1
    while left != 0:
        rank = highest(left) if optional else trailing_zeros(left) // NIBBLE
        wanted = left >> NIBBLE * rank & 15
        left -= wanted << NIBBLE * rank
        if (capture ^ table) >> NIBBLE * rank & 15 == 0:  # all cards of the rank
            once, twice = np.int64(0), np.int64(0)
            for suit in range(NUM_SUITS):
                kind = suit * NUM_RANKS + rank
                once |= np.int64(game.table[kind] > 0) << kind
                twice |= np.int64(game.table[kind] > 1) << kind
            for at in range(start, end):
                moves[at].once |= once
                moves[at].twice |= twice
            continue
        end = _split_kinds(compiled, game, card, rank, wanted, start, end, listing)
        if optional and end - start > MANY_CHOICES:
            end = keep_cheapest(compiled, start, end, np.int64(-1), listing)
    return end


@other_kernel
def keep_cheapest(compiled: np.record, start: int, end: int, table: int, listing: np.record) -> int:
    """Write the costs of moves by the cards that they take, and keep the best moves."""
    for at in range(start, end):
        listing.moves[at].cost = cost_of_takes(compiled, listing.moves[at], listing.prices)
    return keep_best(start, end, table, listing)


@kernel
def _split_kinds(
    compiled: np.record, game: np.record, card: int, rank: int, wanted: int, start: int, end: int, listing: np.record
) -> int:
    """Replace each move from `start` to `end` by one for each choice of `wanted` more cards of a rank."""
    moves, free, is_pending = listing.moves, listing.free, game.pending != NO_CARD
    for suit in range(NUM_SUITS):
        kind = suit * NUM_RANKS + rank
        free[kind] = game.table[kind] if kind >= listing.first else 0
        if is_pending and kind >= listing.first:
            free[kind] -= game.taken[kind]
    first = end
    for packed in range(81):  # 0, 1 or 2 copies of each suit, as digits of base 3
        rest, count, once, twice = packed, 0, np.int64(0), np.int64(0)
        fits = True
        for suit in range(NUM_SUITS):
            kind = suit * NUM_RANKS + rank
            copies = rest % 3
            rest //= 3
            listing.chosen[suit] = copies
            count += copies
            fits &= copies <= free[kind]
            has_one = is_pending and game.taken[kind] > 0
            once |= np.int64(copies > 0) << kind
            twice |= np.int64(copies + has_one > 1 and copies > 0) << kind
        if fits and count == wanted and not (compiled.optional and _is_dominated(compiled, card, rank, listing)):
            for at in range(start, first):
                move = moves[at]
                write_move(moves, end, move.card, move.ranks, move.once | once, move.twice | twice)
                end += 1
    for at in range(first, end):
        moves[start + at - first] = moves[at]
    return start + end - first


@kernel
def copies_count(compiled: np.record) -> bool:
    """Check whether it matters that a card is taken with its identical copy (M2, G2, R11)."""
    by_copy: bool = compiled.mulle_points != 0 or compiled.identical_sweep != compiled.rank_sweep
    return by_copy or compiled.mulle_by_value


@kernel
def _is_dominated(compiled: np.record, card: int, rank: int, listing: np.record) -> bool:
    """Check whether a choice takes a card of a rank and leaves one that is at least as good to take.

    `listing.chosen` has the copies of each suit that it takes.
    """
    for suit in range(NUM_SUITS):
        for other in range(NUM_SUITS):
            worse, better = suit * NUM_RANKS + rank, other * NUM_RANKS + rank
            leaves_better = suit != other and listing.chosen[other] < listing.free[better]
            if (
                listing.chosen[suit] > 0
                and leaves_better
                and is_better_taken(compiled, card, better, worse, listing.lone)
            ):
                return True
    return False


@kernel
def is_better_taken(compiled: np.record, card: int, one: int, other: int, lone: int) -> bool:
    """Check whether a card of a rank is at least as good to take as another; of two alike, the lower kind is.

    `lone` has the bits of the kinds whose copies matter, beside the kind of the card played.
    """
    if copies_count(compiled) and ((lone >> one | lone >> other) & 1 or card in (one, other)):
        return False
    if compiled.is_aside[one] != compiled.is_aside[other]:
        return False
    points = compiled.card_points[one] - compiled.card_points[other]
    if points != 0 and (compiled.sweep_limit < NEVER or (compiled.threshold_at_once and compiled.threshold < NEVER)):
        return False
    first_spade = SPADES * NUM_RANKS
    spades = np.int64(compiled.counts_piles) * (np.int64(one >= first_spade) - np.int64(other >= first_spade))
    points *= -compiled.lead_sign
    spades *= -compiled.lead_sign
    if points == 0 and spades == 0:
        return one < other
    return points >= 0 and spades >= 0
