"""What the worlds of a decision share, as kernels: hidden hands that are met twice, and what the own seat does next.

With few cards hidden, many worlds differ in nothing but the order of the stock. And what the own seat sees follows from
the actions since the decision, whatever the others hold.
"""

from __future__ import annotations

import numpy as np

from krypenv.kernels.compiled import bit_index
from krypenv.runtime.jit import handle, kernel, records

SLOTS = 1 << 10  # hands remembered; a new one takes the place of an old one, which costs time and nothing else
MOST_VALUES = 16  # moves whose values are remembered
NO_PATH = -1
MOST_PATH = 1 << 54  # a path from here on has no room for one action more
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
CHOICE = np.dtype(
    [
        ("path", np.int64),  # the actions since the decision, packed
        ("decision", np.int64),  # in which it was met
        ("action", np.int64),  # that the network chose there
    ],
    align=True,
)
REPEATS = np.dtype(
    [
        ("decision", np.int64),  # its number
        ("seat", np.int64),  # the seat to act there
        ("hands", HAND, (SLOTS,)),
        ("choices", CHOICE, (SLOTS,)),
    ],
    align=True,
)


def make_repeats(threads: int = 1) -> np.ndarray:
    """Return fresh scratch for some threads, (threads,) of `REPEATS`."""
    return handle(records(REPEATS, threads))


@kernel
def slot_of_hand(game: np.record, seat: int, repeats: np.record) -> int:
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


@kernel
def first_path(move: int) -> int:
    """Return the path of a move of the decision, by its number."""
    return move + 1 if move < 255 else NO_PATH


@kernel
def path_after(path: int, action: int) -> int:
    """Return a path with one action more, a byte each; NO_PATH if there is no room for it."""
    return path << 8 | action if 0 < path < MOST_PATH else NO_PATH


@kernel
def slot_of_path(path: int, seat: int, repeats: np.record) -> int:
    """Return the slot of a path in `repeats.choices`, emptied if it is of another decision; -1 for another seat."""
    if path == NO_PATH or seat != repeats.seat:
        return -1
    slot = np.int64(np.uint64(path) * _GOLDEN >> _SHIFT)
    choice = repeats.choices[slot]
    if choice.decision != repeats.decision:
        choice.decision, choice.path = repeats.decision, NO_PATH
    return slot
