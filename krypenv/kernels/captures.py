"""Which captures a card may make (R7), as kernels over packed multisets of ranks.

Whether a set of table cards is a capture, and whether it is maximal, depends on its ranks alone. So captures are found
as multisets of ranks: unions of groups, each a multiset whose sum is the value of the card (`compiled.find_groups`).
Suits matter only in the choice between cards of one rank. If several maximal captures exist, the least and the most
copies of each rank in them decide which kinds are legal to take; sets of cards are never listed.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from krypenv.cards import NUM_RANKS, NUM_SUITS
from krypenv.families.bounds import MAX_FITTING, MAX_SUBSETS
from krypenv.kernels.compiled import (
    NIBBLE,
    NUM_VALUES,
    ONES,
    bit_index,
    fits,
    hand_value_of,
    support,
    takes_whole_ranks,
)
from krypenv.kernels.unions import MEMO, WALK, is_union, list_groups
from krypenv.runtime.jit import handle, kernel, other_kernel, records, trailing_zeros

# Scratch capacities. `Rules` refuses more than MAX_FITTING groups of a value and tables with more than MAX_SUBSETS
# sub-multisets of ranks (`krypenv.families.bounds`). A group or a take has at least one card, so a search path is no
# longer than the deck (104). No maximal capture contains another: along one rank each chain of sub-multisets has one
# at most, so there are at most half as many as sub-multisets.
MAX_DEPTH = 128
MAX_CAPTURES = MAX_SUBSETS // 2

# A search for maximal captures goes depth first and stops after MAX_NODES ends or steps back, enough for nearly every
# table. If that is not enough, each sub-multiset of the table, at most MAX_SUBSETS of them, is examined once with each
# group.
MAX_NODES = 2048
SCRATCH = np.dtype(
    [
        ("groups", np.int64, (MAX_FITTING + 1,)),  # groups that fit the table
        ("captures", np.int64, (2 * MAX_CAPTURES,)),  # the maximal captures found, packed; twice, for two values
        ("stack", np.int64, (MAX_DEPTH,)),  # multisets left, for the searches
        ("index", np.int64, (MAX_DEPTH,)),  # next group to try, for the searches
        ("reach", np.int64, (MAX_FITTING + 1,)),  # mask over the packed ranks of a group and all after it
        ("least", np.int64, (NUM_RANKS,)),  # least copies of a rank in the captures still possible
        ("most", np.int64, (NUM_RANKS,)),  # most copies of a rank in the captures still possible
        # sub-multisets of a table by number: the sum over the ranks of copies x stride
        ("stride", np.int64, (NUM_RANKS,)),
        ("shift", np.int64, (MAX_FITTING,)),  # the number of each group that fits
        ("unions", np.int8, (MAX_SUBSETS,)),  # bit 0: it is a union of groups; bit 1: it lies within a larger one
        # what `is_coverable` remembers
        ("union", np.int64),  # the union found
        ("searches", np.int64),  # searches so far
        ("hopeless", np.int64, (MEMO,)),  # multisets left from which no union can be completed
        ("known_in", np.int64, (MEMO,)),  # the search that found this
        ("ways", np.int64, (NUM_RANKS,)),  # groups that a card of a rank can be in
        ("walk", WALK),
    ]
)


class Spaces(threading.local):
    """This thread's scratch for kernels, by the number of parts that a call is split into."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self._dtype = dtype
        self._by_parts: dict[int, np.ndarray] = {}

    def borrow(self, parts: int = 1) -> np.ndarray:
        """Lend scratch for one call of a kernel, (parts,) records; the next call on this thread gets the same."""
        space = self._by_parts.get(parts)
        if space is None:
            space = self._by_parts[parts] = handle(records(self._dtype, parts))
        return space


borrow_scratch = Spaces(SCRATCH).borrow


@kernel
def find_sweep_values(compiled: np.record, ranks: int, total: int, scratch: np.record) -> int:
    """Find the hand values, as bits, that can take a whole table of these ranks and this sum (R9).

    If the search of a value gives up, the value counts as unable to sweep (`is_union`).
    """
    if ranks == 0:
        return 0
    present = support(ranks)
    left = compiled.divisors[total] & compiled.group_values[present]
    values = 0
    if total < NUM_VALUES and left >> total & 1:  # the whole table is one group, if all its ranks can be in groups
        whole = 1 << np.int64(total)
        left ^= whole
        if present & ~compiled.group_ranks[total] == 0:
            values = whole
    while left != 0:
        bit = left & -left
        left ^= bit
        if is_union(compiled, bit_index(bit), ranks, True, scratch):
            values |= bit
    return values


@kernel
def captures_of(compiled: np.record, card: int, table: int, scratch: np.record) -> int:
    """List all maximal captures of a card, by any of its hand values, in `scratch.captures`; return their number (R7).

    Optional captures are not listed (`krypenv.kernels.optional`).
    """
    count = find_captures(compiled, hand_value_of(compiled, card), table, scratch)
    if compiled.chooses_value:
        count = _add_captures(compiled, card, table, count, scratch)
    return count


@other_kernel
def _add_captures(compiled: np.record, card: int, table: int, count: int, scratch: np.record) -> int:
    """Add the maximal captures of a card's higher hand value, if it has two; drop those within another one (K2)."""
    choice = compiled.hand_choice[card]
    choice &= choice - 1
    if choice == 0:
        return count
    others = scratch.captures[MAX_CAPTURES:]
    for at in range(count):
        others[at] = scratch.captures[at]
    higher = find_captures(compiled, trailing_zeros(choice), table, scratch)
    kept = np.int64(0)
    for at in range(count):
        capture = others[at]
        if not _is_within(capture, scratch.captures, higher):
            others[kept] = capture
            kept += 1
    count = np.int64(0)
    for at in range(higher):
        capture = scratch.captures[at]
        if not _is_within(capture, others, kept):
            scratch.captures[count] = capture
            count += 1
    for at in range(kept):
        scratch.captures[count + at] = others[at]
    return count + kept


@kernel
def find_captures(compiled: np.record, value: int, table: int, scratch: np.record) -> int:
    """List all maximal captures of a hand value in `scratch.captures`; return their number (R7)."""
    if compiled.group_values[support(table)] >> value & 1 == 0:
        return 0
    count = list_groups(compiled, value, table, scratch)
    if count == 0:
        return 0
    if count == 1:
        group = scratch.groups[0]
        capture = group
        while fits(capture + group, table):
            capture += group
        scratch.captures[0] = capture
        return 1
    return _search_captures(table, count, scratch)


@kernel
def _is_within(ranks: int, captures: np.ndarray, count: int) -> bool:
    """Check whether any of the captures contains a multiset."""
    for at in range(count):
        if fits(ranks, captures[at]):
            return True
    return False


@kernel
def _search_captures(table: int, num_groups: int, scratch: np.record) -> int:
    """Try every way to pack groups, the fullest first, and keep the unions that no other contains."""
    scratch.reach[num_groups] = 0
    for at in range(num_groups - 1, -1, -1):
        group = scratch.groups[at]
        used = (group | group >> 1 | group >> 2 | group >> 3) & ONES
        scratch.reach[at] = scratch.reach[at + 1] | used * 15
    count = 0
    depth = 0
    nodes = 0
    left = table
    at = 0
    while True:
        nodes += 1
        if nodes > MAX_NODES:
            return search_subsets(table, num_groups, scratch)
        while at < num_groups:
            group = scratch.groups[at]
            if fits(group, left):
                scratch.stack[depth] = left
                scratch.index[depth] = at + 1
                depth += 1
                left -= group
            else:
                at += 1
        capture = table - left
        if not _is_within(capture, scratch.captures, count):
            kept = 0
            for other in range(count):
                if not fits(scratch.captures[other], capture):
                    scratch.captures[kept] = scratch.captures[other]
                    kept += 1
            scratch.captures[kept] = capture
            count = kept + 1
        while True:  # leave out the last group taken, unless a capture listed contains all that could follow
            if depth == 0:
                return count
            depth -= 1
            left = scratch.stack[depth]
            at = scratch.index[depth]
            if not _is_within(table - left + (left & scratch.reach[at]), scratch.captures, count):
                break


@kernel
def search_subsets(table: int, num_groups: int, scratch: np.record) -> int:
    """Find all maximal captures by looking at every sub-multiset of the table; return their number.

    A bit of `scratch.unions` marks those that are unions of the groups listed, another one those that lie within a
    larger union.
    """
    size, unions = np.int64(1), scratch.unions
    for rank in range(NUM_RANKS):
        scratch.stride[rank] = size
        size *= (table >> NIBBLE * rank & 15) + 1
    for at in range(num_groups):
        scratch.shift[at] = 0
        for rank in range(NUM_RANKS):
            scratch.shift[at] += (scratch.groups[at] >> NIBBLE * rank & 15) * scratch.stride[rank]
    for number in range(size):
        unions[number] = number == 0
    ranks = np.int64(0)
    for number in range(size):  # upwards, so that a union is marked before all that contain it
        if unions[number] != 0:
            for at in range(num_groups):
                if fits(scratch.groups[at], table - ranks):
                    unions[number + scratch.shift[at]] = 1
        ranks = _next_subset(ranks, table)
    rest = np.int64(0)
    for number in range(size - 1, -1, -1):  # downwards, from the whole table
        if unions[number] != 0:
            for rank in range(NUM_RANKS):
                if table - rest >> NIBBLE * rank & 15 != 0:
                    unions[number - scratch.stride[rank]] |= 2
        rest = _next_subset(rest, table)
    count = 0
    for number in range(size):
        if unions[number] == 1:
            scratch.captures[count] = ranks
            count += 1
        ranks = _next_subset(ranks, table)
    return count


@kernel
def _next_subset(ranks: int, table: int) -> int:
    """Find the sub-multiset of a table with the next number; after the last one comes the first."""
    for rank in range(NUM_RANKS):
        copies = table >> NIBBLE * rank & 15
        held = ranks >> NIBBLE * rank & 15
        if held < copies:
            return ranks + (np.int64(1) << NIBBLE * rank)
        ranks -= held << NIBBLE * rank
    return ranks


@kernel
def bound_captures(count: int, taken: int, scratch: np.record) -> None:
    """Write to `scratch` the least and most copies of each rank in the captures that contain all ranks taken."""
    for rank in range(NUM_RANKS):
        scratch.least[rank] = 15
        scratch.most[rank] = 0
    for at in range(count):
        capture = scratch.captures[at]
        if fits(taken, capture):
            for rank in range(NUM_RANKS):
                copies = capture >> NIBBLE * rank & 15
                scratch.least[rank] = min(scratch.least[rank], copies)
                scratch.most[rank] = max(scratch.most[rank], copies)


@kernel
def find_legal_takes(game: np.record, count: int, scratch: np.record) -> int:
    """Find the kinds, as bits, that the pending card may take next, given its captures by `captures_of` (R7).

    A kind is legal unless all captures still possible have the same number of copies of it; such a kind is taken when
    the play is completed. A capture with c cards of a rank has any c of them that contain those taken: of one kind at
    least `c - (table cards of the other kinds)` and at most `c - (taken cards of the other kinds)` copies. No bit means
    that a single capture is left: the play is complete.
    """
    takes = np.int64(0)
    if count == 0 or (count == 1 and takes_whole_ranks(scratch.captures[0], game.table_ranks)):
        return takes
    bound_captures(count, game.taken_ranks, scratch)
    for rank in range(NUM_RANKS):
        most = scratch.most[rank]
        rank_taken = game.taken_ranks >> NIBBLE * rank & 15
        if most > rank_taken:
            on_table = game.table_ranks >> NIBBLE * rank & 15
            for suit in range(NUM_SUITS):
                kind = suit * NUM_RANKS + rank
                copies, taken = np.int64(game.table[kind]), np.int64(game.taken[kind])
                fewest = max(taken, scratch.least[rank] - (on_table - copies))
                if min(copies, most - (rank_taken - taken)) > fewest:
                    takes |= np.int64(1) << kind
    return takes
