"""Moves of a search and what they win, as kernels over records of `krypenv.agents.search.workspace.MOVE`."""

from __future__ import annotations

import numpy as np

from krypenv.cards import NUM_RANKS, SPADES
from krypenv.kernels.compiled import NEVER, NIBBLE, bit_index
from krypenv.runtime.jit import kernel

POINT = 1000  # costs of moves are in thousandths of a point
TRAIL = 500  # what a card that trails costs, in thousandths of its price


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
def copies_taken(move: np.record, kind: int) -> int:
    """Return how many cards of a kind a move takes."""
    return (move.once >> kind & 1) + (move.twice >> kind & 1)


@kernel
def fair_price(compiled: np.record, card: int) -> float:
    """Return what winning a card is worth: its points, and its share of the majorities (K5); bad for a low goal.

    Who leads by half of the cards, or spades, has the majority, so half of them are worth all its points. That holds
    for a whole game, whatever the piles are.
    """
    price = compiled.card_points[card] + 2 * compiled.most_cards_points / compiled.deck_size
    if card >= SPADES * NUM_RANKS:
        price += 2 * compiled.most_spades_points / max(compiled.num_spades, 1) + (compiled.spades_above < NEVER) / 2
    return -compiled.lead_sign * price


@kernel
def is_mulle(move: np.record) -> bool:
    """Return whether a move takes one card, the identical copy of the card played (M2)."""
    is_one: bool = move.ranks == np.int64(1) << NIBBLE * (move.card % NUM_RANKS)
    return is_one and move.once == np.int64(1) << move.card


@kernel
def cost_of_takes(compiled: np.record, move: np.record) -> int:
    """Return what the cards that a move takes, and a mulle, cost at once, in thousandths of a point."""
    worth = 0.0
    kinds = np.int64(move.once)
    while kinds != 0:
        bit = kinds & -kinds
        kinds ^= bit
        worth += fair_price(compiled, bit_index(bit)) * (1 + np.int64(move.twice & bit != 0))
    if is_mulle(move):
        worth -= compiled.lead_sign * compiled.mulle_points
    if compiled.mulle_by_value and move.once >> move.card & 1:
        worth -= compiled.lead_sign * compiled.mulle_value[move.card]
    return -int(POINT * worth)


@kernel
def keep_best(start: int, end: int, table: int, listing: np.record) -> int:
    """Bring the best moves, `listing.keep` at most, and a sweep to the front; return where they end."""
    moves, keep = listing.moves, listing.keep
    if end - start <= keep:
        return end
    listing.is_cut = True
    for place in range(start, start + keep):
        best = place
        for at in range(place, end):
            if moves[at].ranks == table or (moves[best].ranks != table and moves[at].cost < moves[best].cost):
                best = at
        if best != place:
            swap_moves(moves, place, best)
    return start + keep
