"""Leaf values: what searches expect to come after the end of a deal."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from krypenv.cards import NUM_KINDS, NUM_RANKS, NUM_SUITS
from krypenv.kernels.compiled import NEVER, bit_index, classes_of_values, compile_rules
from krypenv.kernels.deals import leader_of
from krypenv.kernels.gains import price_of
from krypenv.kernels.outlook import chance_of_hit, majority_prices
from krypenv.kernels.scoring import highest_score, lead_over, sum_over, sweep_gain
from krypenv.rules import Rules
from krypenv.runtime.jit import for_kernels, kernel, other_kernel
from krypenv.state import State

LEADERS_SHARE = 0.6  # of what the table is worth at a fair price, won by who leads the next deal
MOST_SWEPT = 8  # cards on a table that the leader is expected to sweep with some chance, where nobody must
# Cards are won several at a time. The difference between two sides' piles therefore spreads more than if each card fell
# to either by the toss of a coin, which would make these 1.
SPADES_SPREAD, CARDS_SPREAD = 1.3, 3.0


def expect_margins(rules: Rules, state: State, sides: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Estimate a side's margin from the rest of each game whose deal has just ended, (B,).

    `state` is (B,) of `GAME` with the next hands dealt, and `sides` is (B,) ints. It is 0 after the last deal.
    """
    margins = np.zeros(len(state))
    _expect_rows(compile_rules(rules), state, for_kernels(np.asarray(sides), np.int64), margins)
    return margins


@kernel
def _expect_rows(compiled: np.ndarray, games: np.ndarray, sides: np.ndarray, margins: np.ndarray) -> None:
    for row in range(len(margins)):
        if games[row].deal_number > 1:
            margins[row] = expected_margin(compiled[0], games[row], games[row].deal_number - 1, sides[row])


@kernel
def sweep_chance(compiled: np.record, game: np.record, number: int) -> float:
    """Compute the probability that the leader's hand in the deal after the first `number` sweeps the table."""
    ranks = classes_of_values(compiled, np.int64(game.sweep_values))
    if ranks == 0:
        return 0.0
    hits = np.int64(0)
    while ranks != 0:
        rank = bit_index(ranks & -ranks)
        ranks &= ranks - 1
        for suit in range(NUM_SUITS):
            kind = suit * NUM_RANKS + rank
            hits += compiled.deck_counts[kind] - game.seen[kind]
    drawn = np.int64(0)
    for at in range(compiled.deal_start[number], compiled.deal_start[number + 1]):
        drawn += compiled.destination[at] == 0
    return chance_of_hit(hits, compiled.deck_size - compiled.deal_start[number], drawn)


@kernel
def expected_margin(compiled: np.record, game: np.record, number: int, side: int) -> float:
    """Estimate a side's margin from what comes after the first `number` deals.

    Games like Krypkasino: the sweep that the next leader may have to make (R9, R12), times its probability.
    """
    if not compiled.is_main:
        return _margin_of_any(compiled, game, number, side)
    return sweep_gain(compiled, leader_of(compiled, game), side) * sweep_chance(compiled, game, number)


@other_kernel
def _margin_of_any(compiled: np.record, game: np.record, number: int, side: int) -> float:
    """Estimate a side's margin under rules beyond the main game's; see `expected_margin`.

    The leader of the next deal wins a share of the table (`LEADERS_SHARE`), and sweeps if its hand can and such a sweep
    counts (F5). Majorities are those that the piles make likely.
    """
    margin = majority_margin(compiled, game, side)
    leader = leader_of(compiled, game)
    if compiled.optional:
        worth = 0.0
        card_price, spade_price = majority_prices(compiled, game.cards_won, game.spades_won, leader % compiled.teams)
        for kind in range(NUM_KINDS):
            if game.table[kind] > 0:
                worth += game.table[kind] * max(price_of(compiled, kind, card_price, spade_price), 0.0)
        own = leader % compiled.teams == side
        margin += LEADERS_SHARE * (worth if own else -worth / (compiled.teams - 1))
    counts = compiled.last_deal_sweeps or number + 1 < compiled.num_deals
    if counts and highest_score(compiled, game) < compiled.sweep_limit and may_sweep(compiled, game):
        margin += sweep_gain(compiled, leader, side) * sweep_chance(compiled, game, number)
    return margin


@kernel
def may_sweep(compiled: np.record, game: np.record) -> bool:
    """Check whether a sweep by the next leader is likely: forced, or wanted and the table not large."""
    if not compiled.optional or compiled.forced_sweep:
        return True
    return compiled.lead_sign < 0 and np.sum(game.table) <= MOST_SWEPT


@kernel
def majority_margin(compiled: np.record, game: np.record, side: int) -> float:
    """Estimate a side's margin from majorities (K5, F3, O1) if cards not yet won fall at random."""
    if not compiled.counts_piles:
        return 0.0
    spades_left, cards_left = np.int64(compiled.num_spades), np.int64(compiled.deck_size)
    for seat in range(compiled.players):
        spades_left -= game.spades_won[seat]
        cards_left -= game.cards_won[seat]
    spades, cards = game.spades_won, game.cards_won
    own, total = 0.0, 0.0
    for team in range(compiled.teams):
        points = 0.0
        if compiled.most_spades_points != 0:
            points += compiled.most_spades_points * _chance_of_most(compiled, spades, team, spades_left, SPADES_SPREAD)
        if compiled.most_cards_points != 0:
            points += compiled.most_cards_points * _chance_of_most(compiled, cards, team, cards_left, CARDS_SPREAD)
        if compiled.spades_above < NEVER:
            points += _expected_above(compiled, game, team, spades_left)
        total += points
        if team == side:
            own = points
    return lead_over(compiled, own, (total - own) / (compiled.teams - 1))


@kernel
def _chance_of_most(compiled: np.record, won: np.ndarray, side: int, left: int, spread: float) -> float:
    """Estimate the chance that a side will have won most cards, as if it had to beat each other side independently.

    The difference of two sides changes by a normal amount, of variance `spread` for each card that falls to either.
    """
    own = sum_over(compiled, won, side)
    chance = 1.0
    for other in range(compiled.teams):
        if other == side:
            continue
        lead = own - sum_over(compiled, won, other)
        if lead > left:
            continue
        if lead <= -left:
            return 0.0
        # of two sides, the lead at the end is odd or even
        least = 0.5 if compiled.teams > 2 else np.float64((lead + left + 1) % 2)
        chance *= normal_below((lead - least) / np.sqrt(spread * 2 * left / compiled.teams))
    return chance


@kernel
def _expected_above(compiled: np.record, game: np.record, side: int, left: int) -> float:
    """Estimate the points for spades above a number (O1)."""
    mean = sum_over(compiled, game.spades_won, side) + left / compiled.teams - compiled.spades_above
    if left == 0:
        return max(mean, 0.0)
    deviation = np.sqrt(SPADES_SPREAD * left * (1 - 1 / compiled.teams) / compiled.teams)
    z = mean / deviation
    return mean * normal_below(z) + deviation * math.exp(-z * z / 2) / math.sqrt(2 * math.pi)


@kernel
def normal_below(z: float) -> float:
    """Compute the chance that a standard normal variable is below `z`."""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))
