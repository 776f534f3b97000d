"""What a capture gains: of the captures that an action can still lead to, the ones worth most now (K2, R7).

A capture is worth its points, a sweep and a mulle, and for the majorities a fair price for each spade and card
(`krypenv.kernels.outlook`). Whoever plays for few points looks for the one that costs least. There may be very many
optional captures, so a search examines CAPTURE_BUDGET of them for each action and finds the best of those.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from krypenv.cards import NUM_KINDS, NUM_RANKS, NUM_SUITS, SPADES, STOP, TAKE
from krypenv.kernels.captures import captures_of, find_sweep_values
from krypenv.kernels.compiled import NIBBLE, fits, highest, sum_of
from krypenv.kernels.unions import find_union, next_union, start_unions
from krypenv.runtime.jit import kernel, trailing_zeros
from krypenv.state import MAX_COPIES

CAPTURE_BUDGET = 256
MOST_KEPT = 12
_ONE = np.int64(1)

GAINS = np.dtype(
    [
        ("forced", np.int8, (NUM_KINDS,)),  # copies that the capture must contain
        ("free", np.int8, (NUM_KINDS,)),  # copies that it may contain beside them
        ("ordered", np.int8, (NUM_RANKS, MAX_COPIES)),  # the kinds of the free cards of a rank, the best first
        ("worth", np.float64, (NUM_RANKS, MAX_COPIES + 1)),  # of the first so many of them
        ("least", np.int64),  # the former, packed
        ("most", np.int64),  # both, packed
        ("start", np.float64),  # what the forced cards and the card played are worth
        ("card_price", np.float64),  # what a card is worth on the way to the majority, and a spade
        ("spade_price", np.float64),
        ("prices", np.float64, (NUM_KINDS,)),  # what the cards of the table are worth
        ("copy_price", np.float64),  # what a copy of the card played counts beside that (G2)
        ("nothing", np.float64),  # what it is worth to take no loose card
        ("clears", np.bool_),  # whether a capture of all loose cards is a sweep
        ("counts_mulle", np.bool_),  # whether the card played may make a mulle
        ("budget", np.int64),  # captures to examine, at most
        ("wanted", np.int64),  # how many of the best to keep, MOST_KEPT at most
        ("kept", np.int64),  # how many there are
        ("captures", np.int64, (MOST_KEPT,)),  # the best ones found, packed, the best first
        ("values", np.float64, (MOST_KEPT,)),  # and what they are worth
        ("chosen", np.int8, (NUM_KINDS,)),  # the cards of one of them
    ],
    align=True,
)


@kernel
def price_of(compiled: np.record, card: int, card_price: float, spade_price: float) -> float:
    """Price a card that is won: its points and its share of the majorities (K5), negative for a low goal."""
    price = compiled.card_points[card] + card_price
    if card >= SPADES * NUM_RANKS:
        price += spade_price
    return -compiled.lead_sign * price


@kernel
def find_best(
    compiled: np.record, card: int, action: int, table: np.ndarray, taken: np.ndarray, gains: np.record
) -> int:
    """Prepare a search: write the forced and the free cards after an action into `gains`; return the table, packed.

    `table` and `taken` are (52,) counts. An action plays the card, takes a kind or stops.
    """
    first = np.int64(0)
    if action == STOP:
        first = np.int64(NUM_KINDS)
    elif action >= TAKE and compiled.optional:  # in ascending order
        first = np.int64(action - TAKE)
    gains.least, gains.most = np.int64(0), np.int64(0)
    ranks: Any = np.int64(0)
    gains.copy_price, gains.nothing, gains.clears = 0.0, 0.0, True
    gains.start = price_of(compiled, card, gains.card_price, gains.spade_price)
    if compiled.mulle_by_value and gains.counts_mulle:
        gains.copy_price = -np.float64(compiled.lead_sign * compiled.mulle_value[card])
    for kind in range(NUM_KINDS):
        shift = NIBBLE * (kind % NUM_RANKS)
        forced = np.int64(taken[kind] + (action - TAKE == kind))
        free = np.int64(table[kind]) - forced if kind >= first else np.int64(0)
        gains.forced[kind], gains.free[kind] = forced, free
        gains.least += forced << shift
        gains.most += forced + free << shift
        if table[kind]:
            ranks += np.int64(table[kind]) << shift
            gains.prices[kind] = price_of(compiled, kind, gains.card_price, gains.spade_price)
            if kind == card:
                gains.prices[kind] += gains.copy_price
            gains.start += forced * gains.prices[kind]
    for rank in range(NUM_RANKS):
        _add_up(rank, gains)
    return ranks


@kernel
def _add_up(rank: int, gains: np.record) -> None:
    """Sort the free cards of a rank, the best first; `worth[n]` is then the sum of the best n."""
    ordered, worth = gains.ordered[rank], gains.worth[rank]
    count = 0
    for suit in range(NUM_SUITS):
        kind = suit * NUM_RANKS + rank
        for _ in range(gains.free[kind]):
            at = count
            while at > 0 and gains.prices[ordered[at - 1]] < gains.prices[kind]:
                ordered[at] = ordered[at - 1]
                at -= 1
            ordered[at] = kind
            count += 1
    worth[0] = 0.0
    for at in range(count):
        worth[at + 1] = worth[at] + gains.prices[ordered[at]]


@kernel
def search_best(compiled: np.record, card: int, ranks: int, counts: bool, gains: np.record, scratch: np.record) -> None:
    """List the captures worth most in `gains`; 0 stands for taking nothing, where that is possible.

    `ranks` is the table, packed. `counts` says whether a sweep would count.
    """
    gains.kept = 0
    sweep = -compiled.lead_sign * compiled.sweep_points * np.float64(counts and gains.clears)
    if not compiled.optional:
        _weigh_maximal(compiled, card, ranks, sweep, gains, scratch)
        return
    choice = compiled.hand_choice[card]
    if compiled.forced_sweep and find_sweep_values(compiled, ranks, sum_of(compiled, ranks), scratch) & choice != 0:
        _keep_better(compiled, card, ranks, ranks, sweep, gains)
        return
    if gains.least == 0:
        _keep(gains, np.int64(0), gains.nothing)
    while choice != 0:
        value = trailing_zeros(np.int64(choice))
        choice &= choice - 1
        _weigh_unions(compiled, card, value, ranks, sweep, gains, scratch)


@kernel
def _weigh_maximal(
    compiled: np.record, card: int, ranks: int, sweep: float, gains: np.record, scratch: np.record
) -> None:
    """Weigh all captures where they are maximal, and must be made (R7)."""
    count = captures_of(compiled, card, ranks, scratch)
    if count == 0:
        _keep(gains, np.int64(0), 0.0)
    for at in range(count):
        capture = np.int64(scratch.captures[at])
        if fits(gains.least, capture):
            _keep_better(compiled, card, capture, ranks, sweep, gains)


@kernel
def _weigh_unions(
    compiled: np.record, card: int, value: int, ranks: int, sweep: float, gains: np.record, scratch: np.record
) -> None:
    """Weigh unions of groups of a value: one that contains the forced cards, and those that contain it."""
    begun = np.int64(0)
    if gains.least != 0:
        begun = np.int64(find_union(compiled, value, np.int64(gains.least), np.int64(gains.most), scratch))
        if begun == 0:
            return
        _keep_better(compiled, card, begun, ranks, sweep, gains)
    start_unions(compiled, value, begun, np.int64(gains.most), False, scratch.walk)
    for _ in range(gains.budget - 1):
        union = np.int64(next_union(scratch.walk))
        if union == 0:
            return
        _keep_better(compiled, card, union, ranks, sweep, gains)


@kernel
def _keep_better(compiled: np.record, card: int, capture: int, ranks: int, sweep: float, gains: np.record) -> None:
    """Keep a capture if it is one of those worth most so far."""
    gain = gains.start
    left = capture - gains.least
    while left != 0:
        rank = highest(left)
        count = left >> NIBBLE * rank & 15
        left -= count << NIBBLE * rank
        gain += gains.worth[rank, count]
    if capture == ranks:
        gain += sweep
    if gains.counts_mulle and is_own_copy(capture, card, gains):
        gain += -compiled.lead_sign * compiled.mulle_points
        if takes_copy(compiled, capture, card, gains):  # the copy, not the best card of the rank
            gain += gains.prices[card] - gains.worth[card % NUM_RANKS, 1]
    _keep(gains, capture, gain)


@kernel
def _keep(gains: np.record, capture: int, gain: float) -> None:
    """Put a capture among the best ones, in order, unless it is there or worth less than all of them."""
    for at in range(gains.kept):
        if gains.captures[at] == capture:
            return
    if gains.kept < gains.wanted:
        gains.kept += 1
    elif gain <= gains.values[gains.kept - 1]:
        return
    at = gains.kept - 1
    while at > 0 and gains.values[at - 1] < gain:
        gains.captures[at], gains.values[at] = gains.captures[at - 1], gains.values[at - 1]
        at -= 1
    gains.captures[at], gains.values[at] = capture, gain


@kernel
def is_own_copy(capture: int, card: int, gains: np.record) -> bool:
    """Check whether a capture of one card of the card's rank can be its identical copy (M2)."""
    is_one = capture == _ONE << NIBBLE * (card % NUM_RANKS)
    return is_one and (gains.forced[card] > 0 or (gains.least == 0 and gains.free[card] > 0))


@kernel
def takes_copy(compiled: np.record, capture: int, card: int, gains: np.record) -> bool:
    """Check whether a capture of one free card should be a mulle: it can be one, and a mulle wins points."""
    is_worth_it = compiled.mulle_points > 0 and compiled.lead_sign < 0
    return is_worth_it and gains.least == 0 and is_own_copy(capture, card, gains)


@kernel
def choose_cards(compiled: np.record, card: int, capture: int, gains: np.record) -> None:
    """Write the cards of a capture, packed, into `gains.chosen`: the forced ones, and the best of each rank.

    For a mulle, that is the identical copy if it is worth anything (M2).
    """
    for kind in range(NUM_KINDS):
        gains.chosen[kind] = gains.forced[kind]
    left = capture - gains.least
    if capture == 0:
        return
    if takes_copy(compiled, capture, card, gains):
        gains.chosen[card] = 1
        return
    while left != 0:
        rank = highest(left)
        count = left >> NIBBLE * rank & 15
        left -= count << NIBBLE * rank
        for at in range(count):
            gains.chosen[gains.ordered[rank, at]] += 1
