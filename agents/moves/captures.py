"""Captures as moves: where they are optional (K2), which of them are cut; and which cards of a rank each one takes.

Where captures are optional, a card takes nothing, or a union of groups of one of its hand values. One heuristic cut
sets `listing.is_cut`: of more than `listing.keep` captures by a card, those of least cost are kept, and a sweep. The
search for unions has a step limit, so of very many captures some are never considered. Two exact reductions limit the
choices of kinds for a union; where captures must be made, all choices are listed.

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
"""

from __future__ import annotations

from typing import Any

import numpy as np

from krypenv.agents.moves.prices import POINT, TRAIL, cost_of_takes
from krypenv.agents.moves.record import (
    MANY_CHOICES,
    MANY_STEPS,
    MOST_UNIONS,
    OPTIONAL_CAPTURES,
    OPTIONAL_SIZE,
    STEPS_OF_NODE,
    bits_of_counts,
    keep_best,
    write_move,
)  # fmt: skip
from krypenv.cards import NO_CARD, NUM_KINDS, NUM_RANKS, NUM_SUITS, SPADES
from krypenv.kernels.compiled import NEVER, NIBBLE, fits, highest, support
from krypenv.kernels.scoring import is_void
from krypenv.kernels.unions import find_union, next_union, start_unions
from krypenv.runtime.jit import kernel, other_kernel, trailing_zeros
from krypenv.state import mix

_ONE: Any = np.int64(1)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_SLOT_MASK = np.uint64(OPTIONAL_SIZE - 1)


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
        is_new = fits(least, union)
        for at in range(count):
            is_new &= listing.unions[at] != union
        if is_new:
            listing.unions[count] = union
            count += 1
    listing.nodes += steps // STEPS_OF_NODE
    return count


# ---------------------------------------------------------------------- which cards of a rank


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
