"""Unions of groups of one value, as kernels over packed multisets of ranks: to test, to find and to list them."""

from __future__ import annotations

from typing import Any

import numpy as np

from krypenv.cards import NUM_RANKS
from krypenv.families.bounds import MAX_FITTING
from krypenv.kernels.compiled import NIBBLE, bit_index, fits, highest, highest_beyond, support
from krypenv.runtime.jit import kernel, rare_kernel, trailing_zeros
from krypenv.state import MAX_DECK

_ONE: Any = np.int64(1)

# A search for one union steps back FEW_NODES times without a memory. Then it uses what it remembers: multisets left
# from which no union can be completed. After MANY_NODES it starts again with the scarcest ranks: slower at each step,
# and far fewer of them.
FEW_NODES = 64
MANY_NODES = 2048
NO_LIMIT = 1 << 62  # steps back after that; a search for who must sweep gives up after SWEEP_LIMIT (R10)
SWEEP_LIMIT = 1 << 15
MEMO = 1 << 15  # multisets remembered; a new one takes the place of an old one, which costs time and nothing else
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT: Any = np.uint64(64 - (MEMO.bit_length() - 1))

# A depth-first enumeration of unions (`next_union`). A group has a card at least, so no path is longer than the deck.
WALK = np.dtype(
    [
        ("groups", np.int64, (MAX_FITTING + 1,)),  # groups to add, those with the highest ranks first
        ("count", np.int64),
        ("repeats", np.bool_),  # whether all of them are tried again after each one
        ("made", np.int64),  # the union so far, packed
        ("left", np.int64),  # what may be added to it, packed
        ("at", np.int64),  # the next group to try
        ("depth", np.int64),
        ("mades", np.int64, (MAX_DECK,)),
        ("lefts", np.int64, (MAX_DECK,)),
        ("nexts", np.int64, (MAX_DECK,)),
    ]
)


@kernel
def is_union(compiled: np.record, value: int, ranks: int, sweeps: bool, scratch: np.record) -> bool:
    """Check whether a multiset is exactly a union of groups of one value, trying groups of the highest rank left.

    `sweeps` says that the multiset is a whole table, which somebody might sweep.
    """
    depth = 0
    nodes = 0
    top = highest(ranks)
    whole = ranks
    at = compiled.group_start[value, top]
    while True:
        if at < compiled.group_start[value, top + 1]:
            group = compiled.groups[at]
            at += 1
            if fits(group, ranks):
                if group == ranks:
                    return True
                scratch.stack[depth] = ranks
                scratch.index[depth] = at
                depth += 1
                ranks -= group
                top = highest(ranks)
                at = compiled.group_start[value, top]
        elif depth == 0:
            return False
        else:
            nodes += 1
            if nodes > FEW_NODES:
                num_groups = list_groups(compiled, value, whole, scratch)
                return _is_union_slowly(compiled, value, whole, num_groups, sweeps, scratch)
            depth -= 1
            ranks = scratch.stack[depth]
            at = scratch.index[depth]
            top = highest(ranks)


@rare_kernel
def _is_union_slowly(
    compiled: np.record, value: int, ranks: int, num_groups: int, sweeps: bool, scratch: np.record
) -> bool:
    """Check whether a multiset is a union of the groups listed, by the search that remembers failures.

    Optional captures let tables grow without a bound. There a sweep that the search gives up on is none.
    """
    if not may_be_multiple(compiled, value, ranks):
        return False
    limit = SWEEP_LIMIT if sweeps and compiled.optional else NO_LIMIT
    return is_coverable(ranks, ranks, num_groups, limit, scratch)


@rare_kernel
def may_be_multiple(compiled: np.record, value: int, ranks: int) -> bool:
    """Check whether the sum of a multiset, by some choice of its cards' values, is a multiple of a value.

    Choices that no group can hold are left out.
    """
    rests: Any = _ONE  # the sums of the cards so far, as bits, less multiples of the value
    while ranks != 0:
        rank = highest(ranks)
        ranks -= _ONE << NIBBLE * rank
        choice, more = compiled.table_choice[rank] & (_ONE << value + 1) - 1, np.int64(0)
        while choice != 0:
            rest = trailing_zeros(np.int64(choice)) % value
            choice &= choice - 1
            more |= rests << rest | rests >> value - rest
        rests = more & (_ONE << value) - 1
    return rests & 1 == 1


@rare_kernel
def is_coverable(least: int, most: int, num_groups: int, limit: int, scratch: np.record) -> bool:
    """Check whether a union of the groups listed contains one multiset and is contained in another (K2).

    Depth first: adds a group with the highest rank of which cards are missing, the groups with the highest ranks first.
    After MANY_NODES steps back it starts again, with the missing rank that the fewest groups hold, and gives up after
    `limit` more. Leaves the union in `scratch.union`.
    """
    spare = most - least  # what may be left over
    if least == 0:
        return True
    scratch.searches += 1
    left, at, depth, nodes = most, num_groups, 0, 0
    shift = _missing_rank(left, spare, num_groups, nodes, scratch)
    while True:
        if shift >= 0 and at > 0:
            at -= 1
            group = scratch.groups[at]
            if group >> shift & 15 != 0 and fits(group, left):
                rest = left - group
                if fits(rest, spare):
                    scratch.union = most - rest
                    return True
                if nodes <= FEW_NODES or not _is_hopeless(rest, scratch):
                    scratch.stack[depth] = left
                    scratch.index[depth] = at << 8 | shift
                    depth += 1
                    left, at = rest, num_groups
                    shift = _missing_rank(left, spare, num_groups, nodes, scratch)
        elif depth == 0 or nodes - MANY_NODES > limit:
            return False
        else:
            nodes += 1
            _remember_hopeless(left, scratch)
            depth -= 1
            left = scratch.stack[depth]
            at = scratch.index[depth] >> 8
            shift = scratch.index[depth] & 255
            if nodes == MANY_NODES + 1:
                left, at, depth = most, num_groups, 0
                shift = _missing_rank(left, spare, num_groups, nodes, scratch)


@kernel
def _missing_rank(left: int, spare: int, num_groups: int, nodes: int, scratch: np.record) -> int:
    """Choose the rank to look for next; return where it is in a packed multiset, or -1 if no group holds it."""
    if nodes <= MANY_NODES:
        return NIBBLE * highest_beyond(left, spare)
    return _find_scarcest(left, spare, num_groups, scratch)


@rare_kernel
def _find_scarcest(left: int, spare: int, num_groups: int, scratch: np.record) -> int:
    """Find where in a packed multiset the missing rank is that the fewest groups hold; -1 if none holds one."""
    for rank in range(NUM_RANKS):
        scratch.ways[rank] = 0
    for at in range(num_groups):
        group = scratch.groups[at]
        if fits(group, left):
            ranks = support(group)
            while ranks != 0:
                scratch.ways[trailing_zeros(np.int64(ranks))] += 1
                ranks &= ranks - 1
    scarcest, fewest = -1, num_groups + 1
    for rank in range(NUM_RANKS):
        is_missing = left >> NIBBLE * rank & 15 > spare >> NIBBLE * rank & 15
        if is_missing and scratch.ways[rank] < fewest:
            scarcest, fewest = NIBBLE * rank, scratch.ways[rank]
    return scarcest if fewest > 0 else -1


@kernel
def _remember_hopeless(ranks: int, scratch: np.record) -> None:
    place = _place_of(ranks)
    scratch.hopeless[place] = ranks
    scratch.known_in[place] = scratch.searches


@kernel
def _place_of(ranks: int) -> int:
    return np.int64(np.uint64(ranks) * _MIX >> _SHIFT)


@kernel
def _is_hopeless(ranks: int, scratch: np.record) -> bool:
    place = _place_of(ranks)
    return scratch.hopeless[place] == ranks and scratch.known_in[place] == scratch.searches


@kernel
def list_groups(compiled: np.record, value: int, table: int, scratch: np.record) -> int:
    """List the groups of a value that fit a table in `scratch.groups`; return their number."""
    left = support(table)
    count = 0
    while left != 0:
        bit = left & -left
        left ^= bit
        rank = bit_index(bit)
        for at in range(compiled.group_start[value, rank], compiled.group_start[value, rank + 1]):
            scratch.groups[count] = compiled.groups[
                at
            ]  # if it doesn't fit, the next one overwrites it; there is room for one more
            count += fits(compiled.groups[at], table)
    return count


@kernel
def find_union(compiled: np.record, value: int, least: int, most: int, scratch: np.record) -> int:
    """Find some union of groups of a value that contains a multiset and lies within another; 0 if there is none."""
    num_groups = list_groups(compiled, value, most, scratch)
    if num_groups > 0 and is_coverable(least, most, num_groups, NO_LIMIT, scratch):
        return int(scratch.union)
    return 0


@kernel
def start_unions(compiled: np.record, value: int, begun: int, most: int, repeats: bool, walk: np.record) -> None:
    """Start to enumerate the unions of groups of a value that contain `begun`, a union or 0, and lie within `most`.

    With `repeats`, of the groups with one highest rank the smallest multisets come first, and a union may come in
    several orders of its groups; without, the largest ones do, and each choice of groups comes once.
    """
    walk.made, walk.left, walk.repeats = begun, most - begun, repeats
    walk.at, walk.depth = 0, 0
    count = 0
    present = support(most - begun)
    for rank in range(NUM_RANKS - 1, -1, -1):
        if present >> rank & 1:
            first, end = compiled.group_start[value, rank], compiled.group_start[value, rank + 1]
            for number in range(end - first):
                group = compiled.groups[first + number if repeats else end - 1 - number]
                walk.groups[count] = group  # if it doesn't fit, the next one overwrites it; there is room for one more
                count += fits(group, walk.left)
    walk.count = count


@kernel
def next_union(walk: np.record) -> int:
    """Find the next union, depth first; 0 after the last one."""
    at, left = walk.at, walk.left
    while True:
        while at < walk.count and not fits(walk.groups[at], left):
            at += 1
        if at < walk.count:
            break
        if walk.depth == 0:
            return 0
        walk.depth -= 1
        left, walk.made, at = walk.lefts[walk.depth], walk.mades[walk.depth], walk.nexts[walk.depth]
    group = walk.groups[at]
    walk.lefts[walk.depth], walk.mades[walk.depth], walk.nexts[walk.depth] = left, walk.made, at + 1
    walk.depth += 1
    walk.left = (left & (_ONE << NIBBLE * (highest(group) + 1)) - 1) - group  # higher ranks are left out from here on
    made = np.int64(walk.made + group)
    walk.made = made
    walk.at = 0 if walk.repeats else at
    return made
