"""Unions of groups, as kernels; and optional captures (K2): which table cards may be taken next, and when to stop.

A capture is a union of groups of one hand value. Its cards are taken in ascending order of kind, so each is reached by
one sequence of actions. A take is legal if some union contains all that is taken then, and otherwise only cards that
may still follow.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from krypenv.cards import NUM_KINDS, NUM_RANKS
from krypenv.families.bounds import FIRST_LONER
from krypenv.kernels.compiled import NIBBLE, bit_index, fits, highest, highest_beyond, support, total_of
from krypenv.runtime.jit import kernel, leading_zeros, rare_kernel, trailing_zeros
from krypenv.state import MAY_STOP

_SUMS = (1 << FIRST_LONER) - 1  # bits of the sums that groups of several cards can have
_ONE: Any = np.int64(1)

# A search for one union steps back FEW_NODES times without a memory. Then it remembers from what none can be completed.
# After MANY_NODES it begins anew, with the scarcest ranks first: slower at each step, and far fewer of them.
FEW_NODES = 64
MANY_NODES = 2048
NO_LIMIT = 1 << 62  # steps back of that search; who must sweep is looked for only so long (R10)
SWEEP_LIMIT = 1 << 15
MEMO = 1 << 15  # multisets remembered; a new one takes the place of an old one, which costs time and nothing else
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT: Any = np.uint64(64 - (MEMO.bit_length() - 1))


@kernel
def is_union(compiled: np.record, value: int, ranks: int, sweeps: bool, scratch: np.record) -> bool:
    """Return whether a multiset is exactly a union of groups of one value, trying groups of the highest rank left.

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
    """Do what `is_union` does with the groups listed, with a memory.

    Optional captures let tables grow without a bound. There a sweep that is not found within a limit of steps is none.
    """
    if not may_be_multiple(compiled, value, ranks):
        return False
    limit = SWEEP_LIMIT if sweeps and compiled.optional else NO_LIMIT
    return is_coverable(ranks, ranks, num_groups, limit, scratch)


@rare_kernel
def may_be_multiple(compiled: np.record, value: int, ranks: int) -> bool:
    """Return whether the sum of a multiset, by some choice of its cards' values, is a multiple of a value.

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
    """Return whether a union of the groups listed contains one multiset and is contained in another (K2).

    Goes for the highest rank of which cards are still missing, the groups with the highest ranks first.
    """
    spare = most - least  # what may be left over
    if least == 0:
        return True
    scratch.searches += 1
    left = most
    shift = NIBBLE * highest_beyond(left, spare)
    at = num_groups
    depth, nodes = 0, 0
    while True:
        if at > 0:
            at -= 1
            group = scratch.groups[at]
            if group >> shift & 15 != 0 and fits(group, left):
                rest = left - group
                if fits(rest, spare):
                    scratch.union = most - rest
                    return True
                if nodes <= FEW_NODES or not _is_hopeless(rest, scratch):
                    scratch.stack[depth] = left
                    scratch.index[depth] = at
                    depth += 1
                    left = rest
                    shift = NIBBLE * highest_beyond(left, spare)
                    at = num_groups
        elif depth == 0:
            return False
        else:
            nodes += 1
            if nodes > MANY_NODES:
                return _is_coverable_slowly(spare, most, num_groups, limit, scratch)
            _remember_hopeless(left, scratch)
            depth -= 1
            left = scratch.stack[depth]
            at = scratch.index[depth]
            shift = NIBBLE * highest_beyond(left, spare)


@rare_kernel
def _is_coverable_slowly(spare: int, most: int, num_groups: int, limit: int, scratch: np.record) -> bool:
    """Do what `is_coverable` does, but go for the missing rank whose cards fit the fewest groups."""
    left = most
    shift = _find_scarcest(left, spare, num_groups, scratch)
    at = num_groups
    depth, nodes = 0, 0
    while True:
        if shift >= 0 and at > 0:
            at -= 1
            group = scratch.groups[at]
            if group >> shift & 15 != 0 and fits(group, left):
                rest = left - group
                if fits(rest, spare):
                    scratch.union = most - rest
                    return True
                if not _is_hopeless(rest, scratch):
                    scratch.stack[depth] = left
                    scratch.index[depth] = at << 8 | shift
                    depth += 1
                    left = rest
                    shift = _find_scarcest(left, spare, num_groups, scratch)
                    at = num_groups
        elif depth == 0 or nodes == limit:
            return False
        else:
            nodes += 1
            _remember_hopeless(left, scratch)
            depth -= 1
            left = scratch.stack[depth]
            at = scratch.index[depth] >> 8
            shift = scratch.index[depth] & 255


@kernel
def _find_scarcest(left: int, spare: int, num_groups: int, scratch: np.record) -> int:
    """Return where in a packed multiset the missing rank is that the fewest groups hold; -1 if none holds one."""
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
    """Put the groups of a value that fit a table into `scratch.groups` and return their number."""
    left = support(table)
    count = 0
    while left != 0:
        bit = left & -left
        left ^= bit
        rank = bit_index(bit)
        for at in range(compiled.group_start[value, rank], compiled.group_start[value, rank + 1]):
            scratch.groups[count] = compiled.groups[at]  # a later hit overwrites a miss; there is room for one more
            count += fits(compiled.groups[at], table)
    return count


@kernel
def offer_unions(compiled: np.record, game: np.record, scratch: np.record) -> None:
    """Write which kinds the pending card may take next, and whether the play may stop with what it has taken (K2)."""
    choice = compiled.hand_choice[game.pending]
    free = left_to_take(game)
    if game.taken_ranks == 0:
        game.legal_takes = MAY_STOP | takes_within_group(compiled, choice, 1, free, game)
        return
    game.legal_takes = 0
    while choice != 0:
        value = trailing_zeros(np.int64(choice))
        choice &= choice - 1
        offer_value(compiled, game, value, game.taken_ranks, game.table_ranks, free, scratch)


@kernel
def left_to_take(game: np.record) -> int:
    """Return the kinds that may follow those taken so far in ascending order, as bits."""
    free = np.int64(0)
    for kind in range(NUM_KINDS):
        free |= np.int64(game.table[kind] > game.taken[kind]) << kind
    if game.taken_ranks == 0:
        return free
    last = np.int64(NUM_KINDS - 1)
    while game.taken[last] == 0:
        last -= 1
    return free & -(_ONE << last)


@kernel
def offer_value(
    compiled: np.record, game: np.record, value: int, begun: int, table: int, free: int, scratch: np.record
) -> None:
    """Add which of the kinds left to take may be taken, and stopping, for unions of groups of one value.

    `begun` is what the union holds already, packed and not empty, and `table` all that it may consist of.
    """
    sums = sums_of(compiled, begun)
    if is_union(compiled, value, begun, False, scratch):
        game.legal_takes |= MAY_STOP
        sums |= 1
    game.legal_takes |= takes_within_group(compiled, _ONE << value, sums, free, game)
    if is_of_value(compiled, begun, value):  # each card taken is a group, so the others must be groups too
        return
    num_groups = -1
    most = np.int64(begun)
    lowest_sum = total_of(compiled.lowest_value, begun)
    highest_sum = total_of(compiled.highest_value, begun)
    good_ranks = np.int64(0)  # what may be taken of one suit may be taken of each lower one
    while free != 0:
        kind = last_kind(free)
        bit = _ONE << kind
        free ^= bit
        rank = kind % NUM_RANKS
        count = np.int64(game.table[kind] - game.taken[kind])
        most += count << NIBBLE * rank
        highest_sum += count * compiled.highest_value[rank]
        if game.legal_takes & bit != 0:
            good_ranks |= _ONE << rank
            continue
        if compiled.lowest_value[rank] > value:
            continue
        if good_ranks >> rank & 1 == 0:
            fewest = (lowest_sum + compiled.lowest_value[rank] + value - 1) // value  # groups
            if fewest * value > highest_sum:
                continue
            if num_groups < 0:
                num_groups = list_groups(compiled, value, table, scratch)
            if not is_coverable(begun + (_ONE << NIBBLE * rank), most, num_groups, NO_LIMIT, scratch):
                continue
            good_ranks |= _ONE << rank
        game.legal_takes |= bit


@kernel
def last_kind(kinds: int) -> int:
    """Return the last of some kinds, as bits; there must be one."""
    return 63 - leading_zeros(np.int64(kinds))


@kernel
def is_of_value(compiled: np.record, ranks: int, value: int) -> bool:
    """Return whether all cards of a multiset have one table value and no other."""
    while ranks != 0:
        rank = highest(ranks)
        ranks &= (_ONE << NIBBLE * rank) - 1
        if compiled.table_choice[rank] != _ONE << value:
            return False
    return True


@kernel
def sums_of(compiled: np.record, ranks: int) -> int:
    """Return the sums that a multiset of ranks can have, as bits, as far as groups can have them."""
    sums: Any = _ONE
    while ranks != 0:
        rank = highest(ranks)
        ranks -= _ONE << NIBBLE * rank
        sums = add_value(sums, compiled.table_choice[rank])
    return sums


@kernel
def add_value(sums: int, choice: int) -> int:
    """Return the sums that arise if one of some values, as bits, is added to any of the sums, as bits."""
    more: Any = np.int64(0)
    while choice != 0:
        more |= sums << trailing_zeros(np.int64(choice))
        choice &= choice - 1
    return more & _SUMS


@kernel
def takes_within_group(compiled: np.record, values: int, sums: int, free: int, game: np.record) -> int:
    """Return the kinds, as bits, with which cards of one of some sums and any cards from there on make up a group.

    `values` are hand values as bits, `free` the kinds that are left to take.
    """
    legal: Any = np.int64(0)
    reached = np.int64(sums)  # with cards of the kinds seen so far, from the highest on
    while free != 0:
        kind = last_kind(free)
        bit = _ONE << kind
        free ^= bit
        choice = compiled.table_choice[kind % NUM_RANKS]
        for _ in range(game.table[kind] - game.taken[kind]):
            grown = add_value(reached, choice)
            if grown & values != 0 or (sums & 1 and choice & values != 0):
                legal |= bit
            reached |= grown
    return legal
