"""What winning a card, a build or a move is worth, in points of margin, before any search."""

from __future__ import annotations

import numpy as np

from krypenv.agents.moves.record import is_mulle
from krypenv.cards import NO_CARD, NUM_KINDS, NUM_RANKS, SPADES
from krypenv.kernels.builds import copies_in, held_values
from krypenv.kernels.compiled import NEVER, bit_index, hand_value_of
from krypenv.runtime.jit import kernel

POINT = 1000  # costs of moves are in thousandths of a point
TRAIL = 500  # what a card that trails costs, in thousandths of its price
SAFE, OPEN = 0.9, 0.3  # of what a build wins: where the seat to move can't take it, and where it can


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
def mulle_price(compiled: np.record, card: int) -> float:
    """Return what a mulle with a card wins (G2, M2); bad for a low goal."""
    points = compiled.mulle_value[card] if compiled.mulle_by_value else compiled.mulle_points
    return -np.float64(compiled.lead_sign * points)


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
def worth_of_build(compiled: np.record, game: np.record, value: int) -> float:
    """Return what the cards of a build are worth."""
    worth = 0.0
    for kind in range(NUM_KINDS):
        copies = copies_in(game, value, kind)
        if copies > 0:
            worth += copies * fair_price(compiled, kind)
    return worth


@kernel
def worth_of_promise(compiled: np.record, game: np.record, value: int) -> float:
    """Return what a build wins for its owner: its cards, and the best of the owner's cards that can take it."""
    owner = np.int64(game.build_owner[value])
    best = 0.0
    for kind in range(NUM_KINDS):
        if game.hands[owner, kind] > 0 and hand_value_of(compiled, kind) == value:
            worth = fair_price(compiled, kind)
            if compiled.mulle_by_value and copies_in(game, value, kind) > 0:
                worth += mulle_price(compiled, kind)
            best = max(best, worth)
    return best + worth_of_build(compiled, game, value)


@kernel
def promised_margin(compiled: np.record, game: np.record, side: int) -> float:
    """Return the margin that a side can expect from builds whose owners are not to move, all hands open.

    The seat to move takes the best of what it can at once, and that is counted elsewhere.
    """
    margin = 0.0
    held = held_values(compiled, game, np.int64(game.seat), NO_CARD)
    left = np.int64(game.builds)
    while left != 0:
        value = bit_index(left & -left)
        left &= left - 1
        owner = np.int64(game.build_owner[value])
        if owner != game.seat:
            worth = worth_of_promise(compiled, game, value) * (OPEN if held >> value & 1 else SAFE)
            margin += worth if owner % compiled.teams == side else -worth / (compiled.teams - 1)
    return margin
