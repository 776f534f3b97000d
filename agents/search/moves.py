"""Moves of a search, as kernels over records of `krypenv.agents.search.scratch.MOVE`."""

from __future__ import annotations

import numpy as np

from krypenv.runtime.jit import kernel


@kernel
def write_move(moves: np.ndarray, at: int, card: int, ranks: int, once: int, twice: int) -> None:
    """Write one move."""
    if at >= len(moves):
        raise OverflowError("more moves on one line of a search than there is room for")
    move = moves[at]
    move.card = card
    move.ranks = ranks
    move.once = once
    move.twice = twice


@kernel
def swap_moves(moves: np.ndarray, one: int, other: int) -> None:
    """Swap two moves."""
    first, second = moves[one], moves[other]
    first.card, second.card = second.card, first.card
    first.ranks, second.ranks = second.ranks, first.ranks
    first.once, second.once = second.once, first.once
    first.twice, second.twice = second.twice, first.twice
    first.cost, second.cost = second.cost, first.cost


@kernel
def copies_taken(move: np.record, kind: int) -> int:
    """Return how many cards of a kind a move takes."""
    return (move.once >> kind & 1) + (move.twice >> kind & 1)
