"""Which captures a card may make (R7), as kernels over packed multisets of ranks.

Whether a set of table cards is a capture, and whether it is maximal, depends on its ranks alone. So captures are found
as multisets of ranks, and suits matter only in the choice between cards of one rank. If several maximal captures exist,
the least and the most copies of each rank in them decide which kinds are legal to take; no list of sets of cards is
made.
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
        ("unions", np.int8, (MAX_SUBSETS,)),  # 1 for those that are unions of groups
        ("within", np.int8, (MAX_SUBSETS,)),  # 1 for those that are contained in a union
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
        """Return scratch for one call of a kernel, (parts,) records; the next call on this thread returns the same."""
        space = self._by_parts.get(parts)
        if space is None:
            space = self._by_parts[parts] = handle(records(self._dtype, parts))
        return space


borrow_scratch = Spaces(SCRATCH).borrow


@kernel
def find_sweep_values(compiled: np.record, ranks: int, total: int, scratch: np.record) -> int:
    """Return the hand values, as bits, that can take a whole table of these ranks and this sum (R9).

    A value whose search comes to its limit counts as one that can't (`is_union`).
    """
    if ranks == 0:
        return 0
    present = support(ranks)
    left = compiled.divisors[total] & compiled.group_values[present]
    found = 0
    if total < NUM_VALUES and left >> total & 1:  # the whole table is one group, if all its ranks can be in groups
        whole = 1 << np.int64(total)
        left ^= whole
        if present & ~compiled.group_ranks[total] == 0:
            found = whole
    while left != 0:
        bit = left & -left
        left ^= bit
        if is_union(compiled, bit_index(bit), ranks, True, scratch):
            found |= bit
    return found


@kernel
def captures_of(compiled: np.record, card: int, table: int, scratch: np.record) -> int:
    """Put all maximal captures of a card, by any of its hand values, into `scratch.captures`; return their number (R7).

    Optional captures are not listed (`krypenv.kernels.optional`).
    """
    count = find_captures(compiled, hand_value_of(compiled, card), table, scratch)
    if compiled.chooses_value:
        count = _add_captures(compiled, card, table, count, scratch)
    return count


@other_kernel
def _add_captures(compiled: np.record, card: int, table: int, count: int, scratch: np.record) -> int:
    """Add the maximal captures of a card's higher hand value, if it has two, to those of the lower one."""
    choice = compiled.hand_choice[card]
    choice &= choice - 1
    if choice == 0:
        return count
    for at in range(count):
        scratch.captures[MAX_CAPTURES + at] = scratch.captures[at]
    found = find_captures(compiled, trailing_zeros(choice), table, scratch)
    return _join_captures(found, count, scratch)


@kernel
def _join_captures(found: int, others: int, scratch: np.record) -> int:
    """Join two lists of maximal captures, the second one at MAX_CAPTURES: drop what lies within another (K2)."""
    kept = np.int64(0)
    for at in range(others):
        capture = scratch.captures[MAX_CAPTURES + at]
        if not _is_within(capture, scratch.captures, found):
            scratch.captures[MAX_CAPTURES + kept] = capture
            kept += 1
    count = np.int64(0)
    for at in range(found):
        capture = scratch.captures[at]
        if not _is_within(capture, scratch.captures[MAX_CAPTURES:], kept):
            scratch.captures[count] = capture
            count += 1
    for at in range(kept):
        scratch.captures[count + at] = scratch.captures[MAX_CAPTURES + at]
    return count + kept


@kernel
def find_captures(compiled: np.record, value: int, table: int, scratch: np.record) -> int:
    """Put all maximal captures of a hand value into `scratch.captures` and return their number (R7)."""
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
    """Return whether any of the captures contains a multiset."""
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
    found = 0
    depth = 0
    nodes = 0
    left = table
    at = 0
    while True:
        nodes += 1
        if nodes > MAX_NODES:
            return _pick_maximal(table, mark_unions(table, num_groups, scratch), scratch)
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
        if not _is_within(capture, scratch.captures, found):
            kept = 0
            for other in range(found):
                if not fits(scratch.captures[other], capture):
                    scratch.captures[kept] = scratch.captures[other]
                    kept += 1
            scratch.captures[kept] = capture
            found = kept + 1
        while True:  # leave out the last group taken, unless all that could follow is found already
            if depth == 0:
                return found
            depth -= 1
            left = scratch.stack[depth]
            at = scratch.index[depth]
            if not _is_within(table - left + (left & scratch.reach[at]), scratch.captures, found):
                break


@kernel
def mark_unions(table: int, num_groups: int, scratch: np.record) -> int:
    """Mark in `scratch.unions` which sub-multisets of a table are unions of the groups listed.

    Returns the number of sub-multisets. Goes upwards, so that a union is marked before all that contain it. Raises
    OverflowError for a table that is larger than `Rules` allows.
    """
    size = np.int64(1)
    for rank in range(NUM_RANKS):
        scratch.stride[rank] = size
        size *= (table >> NIBBLE * rank & 15) + 1
        if size > MAX_SUBSETS:
            raise OverflowError("a table has more choices of ranks than there is room for")
    for at in range(num_groups):
        scratch.shift[at] = _number_of(scratch.groups[at], scratch)
    for number in range(size):
        scratch.unions[number] = np.int8(number == 0)
    ranks = np.int64(0)
    for number in range(size):
        if scratch.unions[number] != 0:
            for at in range(num_groups):
                if fits(scratch.groups[at], table - ranks):
                    scratch.unions[number + scratch.shift[at]] = 1
        ranks = _next_subset(ranks, table)
    return size


@kernel
def _number_of(ranks: int, scratch: np.record) -> int:
    """Return the number of a sub-multiset."""
    number = np.int64(0)
    for rank in range(NUM_RANKS):
        number += (ranks >> NIBBLE * rank & 15) * scratch.stride[rank]
    return number


@kernel
def _next_subset(ranks: int, table: int) -> int:
    """Return the sub-multiset of a table with the next number; after the last one comes the first."""
    for rank in range(NUM_RANKS):
        copies = table >> NIBBLE * rank & 15
        held = ranks >> NIBBLE * rank & 15
        if held < copies:
            return ranks + (np.int64(1) << NIBBLE * rank)
        ranks -= held << NIBBLE * rank
    return ranks


@kernel
def _pick_maximal(table: int, size: int, scratch: np.record) -> int:
    """Put the marked unions that no other contains into `scratch.captures` and return their number."""
    within = scratch.within
    for number in range(size):
        within[number] = scratch.unions[number]
    for rank in range(NUM_RANKS):
        stride = scratch.stride[rank]
        copies = table >> NIBBLE * rank & 15
        for number in range(size - 1, -1, -1):
            if number // stride % (copies + 1) < copies:
                within[number] |= within[number + stride]
    found = 0
    ranks = np.int64(0)
    for number in range(size):
        if scratch.unions[number] != 0:
            is_maximal = True
            for rank in range(NUM_RANKS):
                if ranks >> NIBBLE * rank & 15 < table >> NIBBLE * rank & 15:
                    is_maximal &= within[number + scratch.stride[rank]] == 0
            if is_maximal:
                scratch.captures[found] = ranks
                found += 1
        ranks = _next_subset(ranks, table)
    return found


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
def find_takes(table: np.ndarray, table_ranks: int, taken: np.ndarray, taken_ranks: int, scratch: np.record) -> int:
    """Return the bits of the kinds that are legal to take, given the bounds of `bound_captures`.

    `table` and `taken` are (52,) counts. A kind is legal unless all captures still possible have the same number
    of copies of it. A capture with c cards of a rank has any c of them that contain those taken: of one kind at least
    `c - (table cards of the other kinds)` and at most `c - (taken cards of the other kinds)` copies. No bit means that
    a single capture is left.
    """
    takes = np.int64(0)
    for rank in range(NUM_RANKS):
        most = scratch.most[rank]
        rank_taken = taken_ranks >> NIBBLE * rank & 15
        if most > rank_taken:
            on_table = table_ranks >> NIBBLE * rank & 15
            for suit in range(NUM_SUITS):
                kind = suit * NUM_RANKS + rank
                copies, held = np.int64(table[kind]), np.int64(taken[kind])
                fewest = max(held, scratch.least[rank] - (on_table - copies))
                if min(copies, most - (rank_taken - held)) > fewest:
                    takes |= np.int64(1) << kind
    return takes


@kernel
def find_legal_takes(game: np.record, count: int, scratch: np.record) -> int:
    """Return the bits of the kinds that the pending card may take next, given its captures by `captures_of` (R7).

    No bit means that nothing is left to choose: the play is complete.
    """
    if count > 1 or (count == 1 and not takes_whole_ranks(scratch.captures[0], game.table_ranks)):
        bound_captures(count, game.taken_ranks, scratch)
        return find_takes(game.table, game.table_ranks, game.taken, game.taken_ranks, scratch)
    return np.int64(0)
