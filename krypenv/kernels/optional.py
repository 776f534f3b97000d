"""Optional captures (K2), as kernels: which table cards may be taken next, and when to stop.

A capture is a union of groups of one hand value. Its cards are taken in ascending order of kind, so each is reached by
one sequence of actions. A take is legal if the cards taken so far, this one and later kinds alone can complete a
union.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from krypenv.cards import NUM_KINDS, NUM_RANKS
from krypenv.families.bounds import FIRST_LONER
from krypenv.kernels.compiled import NIBBLE, highest
from krypenv.kernels.unions import NO_LIMIT, is_coverable, is_union, list_groups
from krypenv.runtime.jit import kernel, leading_zeros, trailing_zeros
from krypenv.state import MAY_STOP

_SUMS = (1 << FIRST_LONER) - 1  # bits of the sums that groups of several cards can have
_ONE: Any = np.int64(1)


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
    """Find the kinds, as bits, that may follow those taken so far in ascending order."""
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
    """Add to the legal takes the kinds that may follow, and stopping, for unions of groups of one value.

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
    good_ranks = np.int64(0)  # what may be taken of one suit may be taken of each lower one
    while free != 0:
        kind = last_kind(free)
        bit = _ONE << kind
        free ^= bit
        rank = kind % NUM_RANKS
        most += np.int64(game.table[kind] - game.taken[kind]) << NIBBLE * rank
        if game.legal_takes & bit == 0 and good_ranks >> rank & 1 == 0:
            if compiled.lowest_value[rank] > value:
                continue
            if num_groups < 0:
                num_groups = list_groups(compiled, value, table, scratch)
            if not is_coverable(begun + (_ONE << NIBBLE * rank), most, num_groups, NO_LIMIT, scratch):
                continue
        good_ranks |= _ONE << rank
        game.legal_takes |= bit


@kernel
def last_kind(kinds: int) -> int:
    """Find the highest of some kinds, given as bits; there must be one."""
    return 63 - leading_zeros(np.int64(kinds))


@kernel
def is_of_value(compiled: np.record, ranks: int, value: int) -> bool:
    """Check whether all cards of a multiset have one table value and no other."""
    while ranks != 0:
        rank = highest(ranks)
        ranks &= (_ONE << NIBBLE * rank) - 1
        if compiled.table_choice[rank] != _ONE << value:
            return False
    return True


@kernel
def sums_of(compiled: np.record, ranks: int) -> int:
    """Find the sums, as bits, that a multiset of ranks can have, up to the largest that a group can have."""
    sums: Any = _ONE
    while ranks != 0:
        rank = highest(ranks)
        ranks -= _ONE << NIBBLE * rank
        sums = add_value(sums, compiled.table_choice[rank])
    return sums


@kernel
def add_value(sums: int, choice: int) -> int:
    """Find the sums that arise if one of some values is added to one of some sums, all as bits."""
    more: Any = np.int64(0)
    while choice != 0:
        more |= sums << trailing_zeros(np.int64(choice))
        choice &= choice - 1
    return more & _SUMS


@kernel
def takes_within_group(compiled: np.record, values: int, sums: int, free: int, game: np.record) -> int:
    """Find the kinds, as bits, that can begin the rest of a group of which cards with one of some sums are taken.

    The other cards of the rest are of higher kinds. `values` are the hand values that the group may have, as bits, and
    `free` the kinds that are left to take.
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
