"""Hands that are sampled more than once in a decision between two players, as kernels: each is valued once.

With few cards hidden, many worlds differ in nothing but the order of the stock.
"""

from __future__ import annotations

import numpy as np

from krypenv.kernels.compiled import bit_index
from krypenv.runtime.jit import handle, kernel, records

SLOTS = 1 << 10  # hands remembered; a new one takes the place of an old one, which costs time and nothing else
MOST_VALUES = 16  # moves whose values are remembered
_GOLDEN, _TWICE = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(64 - (SLOTS.bit_length() - 1))

HAND = np.dtype(
    [
        ("once", np.int64),  # bits of the kinds in the hand
        ("twice", np.int64),  # bits of those of which there are two
        ("decision", np.int64),  # in which it was met
        ("is_weighed", np.bool_),  # whether `log` is known
        ("is_valued", np.bool_),  # whether `values` are known
        ("log", np.float64),  # log likelihood of the opponent's plays with it
        ("values", np.float64, (MOST_VALUES,)),  # the margins of the root's moves against it
    ],
    align=True,
)
REPEATS = np.dtype([("decision", np.int64), ("hands", HAND, (SLOTS,))], align=True)


def make_repeats(threads: int = 1) -> np.ndarray:
    """Return fresh scratch for some threads, (threads,) of `REPEATS`."""
    return handle(records(REPEATS, threads))


@kernel
def slot_of(game: np.record, seat: int, repeats: np.record) -> int:
    """Return the slot of a seat's hand in `repeats.hands`; if the hand is new in this decision, nothing is known."""
    once, twice = np.int64(game.hand_kinds[seat]), np.int64(0)
    left = once
    while left != 0:
        bit = left & -left
        left ^= bit
        if game.hands[seat, bit_index(bit)] > 1:
            twice |= bit
    slot = np.int64((np.uint64(once) * _GOLDEN + np.uint64(twice) * _TWICE) >> _SHIFT)
    hand = repeats.hands[slot]
    if hand.once != once or hand.twice != twice or hand.decision != repeats.decision:
        hand.once, hand.twice, hand.decision = once, twice, repeats.decision
        hand.is_weighed, hand.is_valued = False, False
    return slot
