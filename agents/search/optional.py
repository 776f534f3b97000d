"""Moves where captures are optional (K2), as kernels: which of the many are worth a look.

A card takes nothing, or a union of groups of one of its hand values. Two things bring the choices of kinds for a union
down, and neither changes what best play is worth.

Cards of one rank are *alike* if they differ in nothing that these rules count: points, being a spade where piles count,
and being set aside. On the table only ranks decide what may be captured, so to exchange two such cards changes nothing
that comes after. Of those alike, the lowest kinds are taken. Where the identical copy of a table card matters (M2, R11)
and is still to be played, that card is like no other.

Of two cards of one rank that differ only in points, or only in being a spade, or in both in the same direction, the one
that is worth more is the one to take, or for a low goal the one that is worth less. Say that best play goes on in some
way after the worse one was taken. After the better one the side can go on in the same way, with the two cards
exchanged. Where it takes the card that was left, the piles come out the same; where the other side takes it, the side
has the better card, and the other the worse one. Majorities can only gain by that. The argument needs two sides, and
that points do nothing but count: where a number of them makes sweeps void or ends the session (F5, F6), cards of
different points are not compared. With more than two sides this is a cut.

A further cut: where a card has more captures than `listing.keep`, the best of them by what they win at once
are kept, at a fair price, and a sweep. Where there are very many, they are the best of
those that a search for unions finds in a number of steps. `listing.is_cut` then says so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from krypenv.agents.search.moves import POINT, TRAIL, cost_of_takes, fair_price, keep_best, write_move
from krypenv.agents.search.workspace import MOST_UNIONS, OPTIONAL_CAPTURES, OPTIONAL_SIZE, UNION_SLOTS
from krypenv.cards import NO_CARD, NUM_KINDS, NUM_RANKS, NUM_SUITS, SPADES
from krypenv.kernels.compiled import NEVER, NIBBLE, bit_index, fits, highest, support
from krypenv.kernels.scoring import is_void
from krypenv.kernels.unions import NO_LIMIT, is_coverable, list_groups
from krypenv.runtime.jit import kernel, rare_kernel, trailing_zeros
from krypenv.state import mix

# A search for unions takes MANY_STEPS steps for each capture that is kept, and tries as many choices of kinds, at most.
MANY_STEPS = 40
MANY_CHOICES = 1000  # of kinds for one union; of more, the best go on to the next rank
STEPS_OF_NODE = 16  # so many steps count as a node
_ONE: Any = np.int64(1)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_SLOT_MASK = np.uint64(OPTIONAL_SIZE - 1)
_SLOT_SHIFT = np.uint64(64 - (UNION_SLOTS.bit_length() - 1))


@rare_kernel
def list_optional(compiled: np.record, game: np.record, start: int, listing: np.record) -> int:
    """Write the moves of the seat to act that are worth a look to `.moves` from `start` on; return where they end.

    While a capture is being chosen, they are what it can still become. Their costs are written too. Raises
    OverflowError if they don't fit.
    """
    sweep = np.int64(POINT * compiled.lead_sign * compiled.sweep_points * np.int64(not is_void(compiled, game)))
    if game.pending != NO_CARD:
        return _list_pending(compiled, game, sweep, start, listing)
    read_table(compiled, game, listing)
    end = start
    plays = np.int64(game.legal_plays)
    while plays != 0:
        bit = plays & -plays
        plays ^= bit
        end = _list_card(compiled, game, bit_index(bit), sweep, end, listing)
    return end


@kernel
def copies_count(compiled: np.record) -> bool:
    """Return whether it matters that a card is taken with its identical copy (M2, G2, R11)."""
    by_copy: bool = compiled.mulle_points != 0 or compiled.identical_sweep != compiled.rank_sweep
    return by_copy or compiled.mulle_by_value


@kernel
def read_table(compiled: np.record, game: np.record, listing: np.record) -> None:
    """Write the key of a table, and its kinds whose identical copy matters and is still to be played."""
    key = mix(np.uint64(listing.keep))
    lone = np.int64(0)
    counts = copies_count(compiled)
    for kind in range(NUM_KINDS):
        if game.table[kind] > 0:
            key += np.uint64(game.table[kind]) * listing.table_keys[kind]
            if counts and compiled.deck_counts[kind] > game.seen[kind]:
                lone |= _ONE << kind
    listing.lone = lone
    listing.table_key = key + mix(np.uint64(lone))


@kernel
def _list_card(compiled: np.record, game: np.record, card: int, sweep: int, start: int, listing: np.record) -> int:
    """Write the moves of one card of the hand."""
    moves = listing.moves
    choice = np.int64(compiled.hand_choice[card])
    if compiled.forced_sweep and choice & game.sweep_values != 0:
        _whole_table(game, card, start, moves)
        moves[start].cost = sweep
        return start + 1
    write_move(moves, start, card, np.int64(0), np.int64(0), np.int64(0))
    price = np.int64(POINT * fair_price(compiled, card))
    moves[start].cost = price * TRAIL // POINT
    end = start + 1
    if compiled.group_values[support(game.table_ranks)] & choice == 0:
        return end
    own = card if copies_count(compiled) else NUM_KINDS
    query = listing.table_key + mix(np.uint64(choice) + np.uint64(own) * _GOLDEN)
    entry = listing.known_captures[np.int64(query & _SLOT_MASK)]
    if entry.query == query:
        for at in range(entry.count):
            known = entry.captures[at]
            write_move(moves, end, card, known.ranks, known.once, known.twice)
            moves[end].cost = known.cost
            end += 1
        listing.is_cut |= entry.is_cut
    else:
        end = _find_captures(compiled, game, card, end, listing)
    for at in range(start + 1, end):
        moves[at].cost -= price
        if moves[at].ranks == game.table_ranks:
            moves[at].cost += sweep
    return end


@kernel
def _find_captures(compiled: np.record, game: np.record, card: int, start: int, listing: np.record) -> int:
    """Find the captures of a card worth a look, and remember them; their costs leave out the card and a sweep."""
    moves = listing.moves
    was_cut = listing.is_cut
    listing.is_cut = False
    for kind in range(NUM_KINDS):
        listing.forced[kind] = 0
        listing.free[kind] = game.table[kind]
    end = write_captures(compiled, game, card, np.int64(0), game.table_ranks, start, listing)
    if end - start <= OPTIONAL_CAPTURES:
        own = card if copies_count(compiled) else NUM_KINDS
        choice = np.int64(compiled.hand_choice[card])
        query = listing.table_key + mix(np.uint64(choice) + np.uint64(own) * _GOLDEN)
        entry = listing.known_captures[np.int64(query & _SLOT_MASK)]
        entry.query, entry.count, entry.is_cut = query, end - start, listing.is_cut
        for at in range(end - start):
            entry.captures[at] = moves[start + at]
    listing.is_cut |= was_cut
    return end


@kernel
def _list_pending(compiled: np.record, game: np.record, sweep: int, start: int, listing: np.record) -> int:
    """Write what the pending card can still take, in ascending order of kind: all that was taken, and later kinds."""
    card, moves = np.int64(game.pending), listing.moves
    read_table(compiled, game, listing)
    most = leave_open(game, listing)
    price = np.int64(POINT * fair_price(compiled, card))
    end = start
    if game.taken_ranks == 0:
        write_move(moves, start, card, np.int64(0), np.int64(0), np.int64(0))
        moves[start].cost = price * TRAIL // POINT
        end += 1
    first = end
    end = write_captures(compiled, game, card, np.int64(game.taken_ranks), most, end, listing)
    for at in range(first, end):
        moves[at].cost -= price
        if moves[at].ranks == game.table_ranks:
            moves[at].cost += sweep
    return end


@kernel
def leave_open(game: np.record, listing: np.record) -> int:
    """Write what a play in the middle must take, and may take beside it, in ascending order; return both, packed."""
    last = np.int64(0)
    for kind in range(NUM_KINDS):
        if game.taken[kind] > 0:
            last = np.int64(kind)
    most = np.int64(game.taken_ranks)
    for kind in range(NUM_KINDS):
        free = np.int64(game.table[kind] - game.taken[kind]) if kind >= last else np.int64(0)
        listing.forced[kind] = game.taken[kind]
        listing.free[kind] = free
        most += free << NIBBLE * (kind % NUM_RANKS)
    return int(most)


@kernel
def _whole_table(game: np.record, card: int, at: int, moves: np.ndarray) -> None:
    """Write the move that takes all table cards."""
    once, twice = np.int64(0), np.int64(0)
    for kind in range(NUM_KINDS):
        once |= np.int64(game.table[kind] > 0) << kind
        twice |= np.int64(game.table[kind] > 1) << kind
    write_move(moves, at, card, np.int64(game.table_ranks), once, twice)


# ---------------------------------------------------------------------- unions of ranks


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
        listing.moves[at].cost = cost_of_takes(compiled, listing.moves[at])
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

    Goes depth first: of the highest rank that is left, takes a group with it, or leaves all its cards. Returns how many
    unions are listed.
    """
    lefts, mades, nexts = listing.lefts, listing.mades, listing.nexts
    left, made = most, np.int64(0)
    depth, steps = 0, 0
    at = np.int64(-1)
    while True:
        if at < 0:
            if left != 0 and compiled.group_values[support(left)] >> value & 1:
                at = compiled.group_start[value, highest(left)]
            elif depth == 0:
                listing.nodes += steps // STEPS_OF_NODE
                return count
            else:
                depth -= 1
                left, made, at = lefts[depth], mades[depth], nexts[depth]
        top = highest(left)
        stop = compiled.group_start[value, top + 1]
        while at < stop and not fits(compiled.groups[at], left):
            at += 1
        if at == stop:
            left &= (_ONE << NIBBLE * top) - 1
            at = np.int64(-1)
            continue
        steps += 1
        if steps > MANY_STEPS * listing.keep or count == MOST_UNIONS:
            listing.is_cut = True
            listing.nodes += steps // STEPS_OF_NODE
            return count
        lefts[depth], mades[depth], nexts[depth] = left, made, at + 1
        depth += 1
        made += compiled.groups[at]
        left -= compiled.groups[at]
        at = np.int64(-1)
        if fits(least, made) and _is_new(made, listing):
            listing.unions[count] = made
            count += 1


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
    while choice != 0:
        value = trailing_zeros(choice)
        choice &= choice - 1
        groups = list_groups(compiled, value, most, scratch)
        if groups > 0 and is_coverable(least, most, groups, NO_LIMIT, scratch):
            return int(scratch.union)
    return 0


# ---------------------------------------------------------------------- choices of kinds


@kernel
def write_choices(
    compiled: np.record, game: np.record, card: int, union: int, least: int, start: int, listing: np.record
) -> int:
    """Write a move for each choice of kinds for a union that no other choice is sure to equal or beat."""
    moves = listing.moves
    once, twice = np.int64(0), np.int64(0)
    if least != 0:
        for kind in range(NUM_KINDS):
            once |= np.int64(listing.forced[kind] > 0) << kind
            twice |= np.int64(listing.forced[kind] > 1) << kind
    write_move(moves, start, card, union, once, twice)
    end = start + 1
    left = union - least
    while left != 0:
        rank = highest(left)
        wanted = left >> NIBBLE * rank & 15
        left -= wanted << NIBBLE * rank
        end = _choose_kinds(compiled, card, rank, wanted, start, end, listing)
        if end - start > MANY_CHOICES:
            for at in range(start, end):
                listing.moves[at].cost = cost_of_takes(compiled, listing.moves[at])
            end = keep_best(start, end, np.int64(-1), listing)
    return end


@kernel
def _choose_kinds(
    compiled: np.record, card: int, rank: int, wanted: int, start: int, end: int, listing: np.record
) -> int:
    """Replace the moves from `start` to `end` by one for each choice of so many more cards of a rank."""
    moves, free, forced = listing.moves, listing.free, listing.forced
    first = end
    for packed in range(81):  # 0, 1 or 2 copies of each suit, as digits of base 3
        rest = packed
        count, once, twice = 0, np.int64(0), np.int64(0)
        fitting = True
        for suit in range(NUM_SUITS):
            kind = suit * NUM_RANKS + rank
            copies = rest % 3
            rest //= 3
            count += copies
            fitting &= copies <= free[kind]
            once |= np.int64(copies > 0) << kind
            twice |= np.int64(copies + forced[kind] > 1 and copies > 0) << kind
        if fitting and count == wanted and _is_undominated(compiled, card, rank, packed, listing):
            for at in range(start, first):
                move = moves[at]
                write_move(moves, end, move.card, move.ranks, move.once | once, move.twice | twice)
                end += 1
    for at in range(first, end):
        moves[start + at - first] = moves[at]
    return start + end - first


@kernel
def _is_undominated(compiled: np.record, card: int, rank: int, packed: int, listing: np.record) -> bool:
    """Return whether a choice takes no card of a rank while it leaves one that is at least as good to take.

    `packed` is the number of copies of each suit, as digits of base 3.
    """
    free = listing.free
    taken = packed
    for suit in range(NUM_SUITS):
        copies = taken % 3
        taken //= 3
        if copies > 0:
            others = packed
            for other in range(NUM_SUITS):
                held = others % 3
                others //= 3
                if other != suit and held < free[other * NUM_RANKS + rank]:
                    better, worse = other * NUM_RANKS + rank, suit * NUM_RANKS + rank
                    if is_better_taken(compiled, card, better, worse, listing.lone):
                        return False
    return True


@kernel
def is_better_taken(compiled: np.record, card: int, one: int, other: int, lone: int) -> bool:
    """Return whether a card of a rank is at least as good to take as another; of two that are alike the lower kind is.

    `lone` has the bits of the kinds that are like no other, beside the kind of the card played, as its copy matters.
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
