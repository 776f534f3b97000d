"""The pairs of hands that two seats may hold when a deal begins, one after another."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from krypenv.cards import NUM_KINDS
from krypenv.kernels.compiled import bit_index
from krypenv.runtime.jit import kernel
from krypenv.training.research.exact.between_deals import MOST_KINDS


class Pairs(NamedTuple):
    """A pair of hands, and what there is to hold; the places are those of the kinds that are not all seen."""

    places: np.ndarray  # (1,) int64: how many are in use
    kinds: np.ndarray  # (MOST_KINDS,) int64: the kind at each place
    limits: np.ndarray  # (MOST_KINDS,) int64: copies that seat 0 may hold
    rest: np.ndarray  # (MOST_KINDS,) int64: copies that it leaves to seat 1
    own: np.ndarray  # (MOST_KINDS,) int64: the hand of seat 0
    other: np.ndarray  # (MOST_KINDS,) int64: the hand of seat 1
    packed: np.ndarray  # (2,) int64: both hands, two bits for each place


def make_pairs() -> Pairs:
    """Return room for a pair of hands."""
    kinds, limits, rest, own, other = np.zeros((5, MOST_KINDS), np.int64)
    return Pairs(np.zeros(1, np.int64), kinds, limits, rest, own, other, np.zeros(2, np.int64))


@kernel
def first_pair(compiled: np.record, game: np.record, pairs: Pairs) -> bool:
    """Give the seats of a game at the beginning of a deal the first hands they may hold; return whether there are any.

    What each seat has not swept in this deal rules cards out (R10).
    """
    count = pairs.places[0] = list_unseen(compiled, game, pairs.kinds, pairs.limits)
    if not first_hand(pairs.limits, count, np.int64(game.hand_size[0]), pairs.own):
        return False
    return _settle_pair(compiled, game, pairs, _hold_own(compiled, game, pairs))


@kernel
def next_pair(compiled: np.record, game: np.record, pairs: Pairs) -> bool:
    """Give the seats the next hands that they may hold; return whether there are any."""
    return _settle_pair(compiled, game, pairs, next_hand(pairs.rest, pairs.places[0], pairs.other))


@kernel
def ways_to_deal(pairs: Pairs) -> float:
    """Return how many sets of cards make a pair of hands."""
    count = pairs.places[0]
    return ways(pairs.limits, pairs.own, count) * ways(pairs.rest, pairs.other, count)


@kernel
def _hold_own(compiled: np.record, game: np.record, pairs: Pairs) -> bool:
    """Give seat 0 its hand; return whether it may hold that, and what is left makes a hand for seat 1, the first."""
    count = pairs.places[0]
    for place in range(count):
        pairs.rest[place] = pairs.limits[place] - pairs.own[place]
    pairs.packed[0] = hold(game, 0, pairs.kinds, count, pairs.own)
    return can_hold(compiled, game, 0) and first_hand(pairs.rest, count, np.int64(game.hand_size[1]), pairs.other)


@kernel
def _settle_pair(compiled: np.record, game: np.record, pairs: Pairs, found: bool) -> bool:
    """Give seat 1 its hand, or go on to a pair that both may hold; `found`: whether there is a hand for seat 1."""
    count = pairs.places[0]
    while True:
        while found:
            pairs.packed[1] = hold(game, 1, pairs.kinds, count, pairs.other)
            if can_hold(compiled, game, 1):
                return True
            found = next_hand(pairs.rest, count, pairs.other)
        if not next_hand(pairs.limits, count, pairs.own):
            return False
        found = _hold_own(compiled, game, pairs)


@kernel
def next_hand(limits: np.ndarray, kinds: int, hand: np.ndarray) -> bool:
    """Turn a hand, counts by place, into the next one of its size within the limits; return whether there is one."""
    carried = 0
    for place in range(kinds):
        if carried > 0 and hand[place] < limits[place]:
            hand[place] += 1
            carried -= 1
            for low in range(place):
                hand[low] = min(carried, limits[low])
                carried -= hand[low]
            return True
        carried += hand[place]
    return False


@kernel
def first_hand(limits: np.ndarray, kinds: int, size: int, hand: np.ndarray) -> bool:
    """Write the first hand of some size within the limits; return whether there is one."""
    for place in range(kinds):
        hand[place] = min(size, limits[place])
        size -= hand[place]
    return size == 0


@kernel
def list_unseen(compiled: np.record, game: np.record, kinds: np.ndarray, limits: np.ndarray) -> int:
    """Write the kinds of which not all copies have been seen, and how many are left; return how many kinds."""
    count = 0
    for kind in range(NUM_KINDS):
        copies = np.int64(compiled.deck_counts[kind]) - np.int64(game.seen[kind])
        if copies > 0:
            kinds[count], limits[count] = kind, copies
            count += 1
    return count


@kernel
def can_hold(compiled: np.record, game: np.record, seat: int) -> bool:
    """Return whether a seat may hold its hand, by what it has not swept in this deal (R10)."""
    kinds = np.int64(game.hand_kinds[seat])
    while kinds != 0:
        bit = kinds & -kinds
        kinds ^= bit
        if game.cannot_hold[seat] >> compiled.class_of[bit_index(bit)] & 1:
            return False
    return True


@kernel
def ways(limits: np.ndarray, hand: np.ndarray, kinds: int) -> float:
    """Return how many sets of cards make a hand."""
    product = 1.0
    for place in range(kinds):
        for step in range(hand[place]):
            product *= (limits[place] - step) / (step + 1)
    return product


@kernel
def hold(game: np.record, seat: int, kinds: np.ndarray, count: int, hand: np.ndarray) -> int:
    """Give a seat a hand; return it packed, two bits a place."""
    code = np.int64(0)
    game.hand_kinds[seat] = 0
    for place in range(count):
        kind = kinds[place]
        game.hands[seat, kind] = hand[place]
        code |= np.int64(hand[place]) << 2 * place
        if hand[place] > 0:
            game.hand_kinds[seat] |= np.int64(1) << kind
    return int(code)
