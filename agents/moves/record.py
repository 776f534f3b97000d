"""Records of moves."""

from __future__ import annotations

from typing import Any

import numpy as np

from krypenv.cards import NUM_KINDS, NUM_RANKS
from krypenv.kernels.compiled import NIBBLE
from krypenv.runtime.jit import kernel

MOVE = np.dtype(
    [
        ("card", np.int32),  # the kind played
        ("build", np.int16),  # value of the build that it makes, raises or joins, else 0 (B2 to B4)
        ("taken", np.int16),  # value of the build that it captures or raises, else 0
        ("ranks", np.int64),  # the ranks of the loose cards that it takes or builds with, packed
        ("once", np.int64),  # bits of the kinds of which it takes a copy or two
        ("twice", np.int64),  # bits of the kinds of which it takes two
        # the immediate cost (`order_moves`), in points, or under rules beyond the main game's in thousandths of one;
        # the cheapest move is searched first
        ("cost", np.int64),
    ],
    align=True,
)


@kernel
def write_move(moves: np.ndarray, at: int, card: int, ranks: int, once: int, twice: int) -> None:
    """Write one move."""
    if at >= len(moves):
        raise OverflowError("more moves on one line of a search than there is room for")
    move = moves[at]
    move.card = card
    move.build, move.taken = 0, 0
    move.ranks = ranks
    move.once = once
    move.twice = twice


@kernel
def swap_moves(moves: np.ndarray, one: int, other: int) -> None:
    """Swap two moves."""
    first, second = moves[one], moves[other]
    first.card, second.card = second.card, first.card
    first.build, second.build = second.build, first.build
    first.taken, second.taken = second.taken, first.taken
    first.ranks, second.ranks = second.ranks, first.ranks
    first.once, second.once = second.once, first.once
    first.twice, second.twice = second.twice, first.twice
    first.cost, second.cost = second.cost, first.cost


@kernel
def bits_of_counts(counts: np.ndarray) -> tuple[int, int]:
    """Return the kinds of which there is a card or two, and those of which there are two, as bits; (52,) counts."""
    once: Any = np.int64(0)
    twice: Any = np.int64(0)
    for kind in range(NUM_KINDS):
        once |= np.int64(counts[kind] > 0) << kind
        twice |= np.int64(counts[kind] > 1) << kind
    return once, twice


@kernel
def copies_taken(move: np.record, kind: int) -> int:
    """Return how many cards of a kind a move takes."""
    return (move.once >> kind & 1) + (move.twice >> kind & 1)


@kernel
def trails(move: np.record) -> bool:
    """Return whether a move takes nothing and builds nothing: its card stays on the table."""
    is_alone: bool = move.ranks == 0 and move.taken == 0 and move.build == 0
    return is_alone


@kernel
def is_mulle(move: np.record) -> bool:
    """Return whether a move takes one card, the identical copy of the card played (M2)."""
    is_one: bool = move.ranks == np.int64(1) << NIBBLE * (move.card % NUM_RANKS)
    return is_one and move.once == np.int64(1) << move.card
