"""Prices: the worth of winning a card, a build or a move, in points of margin, before any search."""

from __future__ import annotations

import numpy as np

from krypenv.agents.moves.record import copies_taken
from krypenv.cards import NO_CARD, NUM_KINDS
from krypenv.kernels.builds import copies_in, held_values
from krypenv.kernels.compiled import bit_index, hand_value_of
from krypenv.kernels.gains import price_of
from krypenv.kernels.outlook import majority_prices
from krypenv.kernels.scoring import is_mulle
from krypenv.runtime.jit import kernel
from krypenv.state import mix

PRICE_STEPS = 1 << 20  # of a point: the resolution of prices in the key of a cache
POINT = 1000  # costs of moves are in thousandths of a point
TRAIL = 500  # what a card that trails costs, in thousandths of its price
SAFE, OPEN = 0.9, 0.3  # of what a build wins: where the seat to move can't take it, and where it can


@kernel
def set_prices(compiled: np.record, game: np.record, listing: np.record) -> None:
    """Write the price of each kind for the seat to act, for all moves listed from here on."""
    card_price, spade_price = majority_prices(compiled, game.cards_won, game.spades_won, game.seat % compiled.teams)
    for kind in range(NUM_KINDS):
        listing.prices[kind] = price_of(compiled, kind, card_price, spade_price)
    key = np.uint64(np.int64(PRICE_STEPS * card_price))
    listing.price_key = mix(key + mix(np.uint64(np.int64(PRICE_STEPS * spade_price))))


@kernel
def mulle_price(compiled: np.record, card: int) -> float:
    """Price a mulle with a card (G2, M2); it is negative for a low goal."""
    points = compiled.mulle_value[card] if compiled.mulle_by_value else compiled.mulle_points
    return -np.float64(compiled.lead_sign * points)


@kernel
def cost_of_takes(compiled: np.record, move: np.record, prices: np.ndarray) -> int:
    """Compute the immediate cost of the cards that a move takes and of a mulle, in thousandths of a point."""
    worth = 0.0
    kinds = np.int64(move.once)
    while kinds != 0:
        kind = bit_index(kinds & -kinds)
        kinds &= kinds - 1
        worth += prices[kind] * copies_taken(move, kind)
    if is_mulle(move.card, move.ranks, copies_taken(move, move.card)):
        worth -= compiled.lead_sign * compiled.mulle_points
    if compiled.mulle_by_value and move.once >> move.card & 1:
        worth -= compiled.lead_sign * compiled.mulle_value[move.card]
    return -int(POINT * worth)


@kernel
def worth_of_build(game: np.record, value: int, prices: np.ndarray) -> float:
    """Sum the prices of the cards of a build."""
    worth = 0.0
    for kind in range(NUM_KINDS):
        copies = copies_in(game, value, kind)
        if copies > 0:
            worth += copies * prices[kind]
    return worth


@kernel
def worth_of_promise(compiled: np.record, game: np.record, value: int, prices: np.ndarray) -> float:
    """Price a build for its owner: its cards, and the best of the owner's cards that can take it."""
    owner = np.int64(game.build_owner[value])
    best = 0.0
    for kind in range(NUM_KINDS):
        if game.hands[owner, kind] > 0 and hand_value_of(compiled, kind) == value:
            worth = np.float64(prices[kind])
            if compiled.mulle_by_value and copies_in(game, value, kind) > 0:
                worth += mulle_price(compiled, kind)
            best = max(best, worth)
    return best + worth_of_build(game, value, prices)


@kernel
def promised_margin(compiled: np.record, game: np.record, side: int, prices: np.ndarray) -> float:
    """Estimate a side's margin from builds whose owners are not to move, all hands open.

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
            worth = worth_of_promise(compiled, game, value, prices) * (OPEN if held >> value & 1 else SAFE)
            margin += worth if owner % compiled.teams == side else -worth / (compiled.teams - 1)
    return margin
