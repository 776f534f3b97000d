"""What the seat to act can expect of the next one: which cards it may hold, and whether the deal ends."""

from __future__ import annotations

from typing import Any

import numpy as np

from krypenv.cards import NO_CARD, NUM_KINDS, NUM_RANKS, NUM_SUITS
from krypenv.families.bounds import LILLAN, STORAN
from krypenv.kernels.captures import Spaces
from krypenv.kernels.compiled import (
    CARDS_WON,
    COUNTED_SWEEPS,
    MULLE_SCORES,
    NEVER,
    NIBBLE,
    NUM_CLASSES,
    SPADES_WON,
    SPECIAL,
    TOTALS,
    bit_index,
    classes_of_values,
    table_value_of,
)
from krypenv.kernels.gains import CAPTURE_BUDGET, GAINS
from krypenv.kernels.scoring import sum_over
from krypenv.observation import LAYOUT
from krypenv.runtime.jit import kernel, other_kernel

# The lead in cards and in spades changes by about this much, times the square root of those left (greedy's games).
CARDS_SPREAD, SPADES_SPREAD = 1.5, 1.15
_TABLE, _SEEN, _PENDING, _TAKEN = (LAYOUT[n].start for n in ("table", "seen", "pending", "taken"))
_HAND_SIZE, _CAPTURER, _DEALER, _POINTS_WON = (
    LAYOUT[n].start for n in ("hand_size", "last_capturer", "dealer", "points")
)
_CANNOT_HOLD, _DEALS_LEFT = (LAYOUT[n].start for n in ("cannot_hold", "deals_left"))
OUTLOOK = np.dtype(
    [
        ("ranks", np.int64),  # the table as a packed multiset of ranks
        ("total", np.int64),  # and its sum
        ("card", np.int64),  # the card whose capture is being chosen, else NO_CARD
        ("taken_ranks", np.int64),  # what it has taken so far, packed
        ("drawn", np.int64),  # cards that the next seat will hold
        ("pool", np.int64),  # unseen cards that they come from
        ("deal_ends", np.bool_),  # this is the last play of the deal
        ("game_ends", np.bool_),  # this is the last play of the game
        ("unseen", np.int64, (NUM_CLASSES,)),  # the pool by class, which is mostly the rank
        ("forced", np.int8, (NUM_KINDS,)),  # copies that the capture must contain
        # what weighing found for an action:
        ("creeps", np.bool_),
        ("least_points", np.int64),
        ("points", np.int64),
        ("sweeps", np.int64),
        ("chance", np.float64),
        ("sweepers", np.int64),  # bits of the hand values that sweep what is left
        ("left", np.int64),  # what is left, packed
        ("capture", np.int64),  # what is taken, packed
        ("gain", np.float64),  # what an optional capture is worth now
        ("lays", np.bool_),  # the pending card makes a build, so it takes nothing (B2)
        ("built", np.int64),  # value of the build that is captured, else 0
        ("builds_left", np.int64),  # bits of the builds that stay
        ("sweeps_count", np.bool_),  # whether a sweep would count (F5)
        ("gains", GAINS),
    ],
    align=True,
)


borrow_outlook = Spaces(OUTLOOK).borrow  # what all actions of a decision share


@kernel
def read_outlook(compiled: np.record, seen: np.ndarray, outlook: np.record) -> None:
    """Read from an observation, (>= 433,) int8, of the seat to act what its actions share: table, unseen, turns."""
    pending = False
    for kind in range(NUM_KINDS):
        outlook.forced[kind] = seen[_TAKEN + kind]
        pending |= seen[_PENDING + kind] != 0
    outlook.card = NO_CARD
    outlook.ranks, outlook.total, outlook.taken_ranks = 0, 0, 0
    for rank in range(NUM_RANKS):
        count = np.int64(0)
        for suit in range(NUM_SUITS):
            count += seen[_TABLE + suit * NUM_RANKS + rank]
        outlook.ranks += count << NIBBLE * rank
        outlook.total += count * table_value_of(compiled, rank)
    if pending:
        for kind in range(NUM_KINDS):
            outlook.taken_ranks += np.int64(seen[_TAKEN + kind]) << NIBBLE * (kind % NUM_RANKS)
            if seen[_PENDING + kind]:
                outlook.card = kind

    own = np.int64(seen[_HAND_SIZE]) - (outlook.card == NO_CARD)
    others = np.int64(0)
    for place in range(1, compiled.players):
        others += seen[_HAND_SIZE + place]
    outlook.deal_ends = own + others == 0
    outlook.game_ends = own + others == 0 and seen[_DEALS_LEFT] == 0
    drawn = np.int64(seen[_HAND_SIZE + 1])
    if outlook.deal_ends and not outlook.game_ends and seen[_DEALER]:  # the seat to the left leads the next deal
        number = compiled.num_deals - seen[_DEALS_LEFT]
        for at in range(compiled.deal_start[number], compiled.deal_start[number + 1]):
            drawn += compiled.destination[at] == 0
    outlook.drawn = drawn
    pool = np.int64(0)
    for rank in range(NUM_RANKS):
        count = np.int64(0)
        if outlook.deal_ends or not seen[_CANNOT_HOLD + rank]:
            for suit in range(NUM_SUITS):
                kind = suit * NUM_RANKS + rank
                count += compiled.deck_counts[kind] - seen[_SEEN + kind]
        outlook.unseen[rank] = count
        pool += count
    outlook.pool = pool
    if not compiled.is_main:
        _read_extra(compiled, seen, outlook)


@other_kernel
def _read_extra(compiled: np.record, seen: np.ndarray, outlook: np.record) -> None:
    """Read what only some rules use: prices for majorities (K5, O1), void sweeps (F5), lillan and storan (F1)."""
    outlook.sweeps_count = _would_sweep_count(compiled, seen)
    gains = outlook.gains
    gains.counts_mulle, gains.budget = True, CAPTURE_BUDGET
    cards, spades = seen[compiled.blocks[CARDS_WON] :], seen[compiled.blocks[SPADES_WON] :]
    gains.card_price, gains.spade_price = majority_prices(compiled, cards, spades, 0)
    for at in range(NUM_RANKS, NUM_CLASSES):
        outlook.unseen[at] = 0
    if compiled.has_special:
        outlook.pool = _separate_special(compiled, seen, outlook, outlook.pool)


@kernel
def majority_prices(
    compiled: np.record, cards_won: np.ndarray, spades_won: np.ndarray, side: int
) -> tuple[float, float]:
    """Price a card on the way to a side's most cards (K5), and what a spade adds to that (K5, O1).

    That is in points of margin, beside a card that either side may win later: most where the seats' piles make sides
    about equal, and nothing once a majority is decided.
    """
    if not compiled.counts_piles:
        return 0.0, 0.0
    own, other, won = compare_piles(compiled, cards_won, side)
    left = compiled.deck_size - won
    card_price = _price_of_lead(np.float64(compiled.most_cards_points), own, other, left, CARDS_SPREAD)
    own, other, won = compare_piles(compiled, spades_won, side)
    left = compiled.num_spades - won
    spade_price = _price_of_lead(np.float64(compiled.most_spades_points), own, other, left, SPADES_SPREAD)
    if compiled.spades_above != NEVER:
        spade_price += _chance_above(compiled, own, left) / 2 + _chance_above(compiled, other, left) / 2
    return card_price, spade_price


@kernel
def compare_piles(compiled: np.record, piles: np.ndarray, side: int) -> tuple[int, int, int]:
    """Count the cards in the piles of a side, of the best other side, and of all sides together."""
    own: Any = np.int64(0)
    best: Any = np.int64(0)
    total: Any = np.int64(0)
    for team in range(compiled.teams):
        count = sum_over(compiled, piles, team)
        total += count
        if team == side:
            own = count
        else:
            best = max(best, count)
    return own, best, total


@kernel
def _price_of_lead(points: float, own: int, other: int, left: int, spread: float) -> float:
    """Price one card more for a majority: the final lead is about normal; 0.0 once the majority is decided."""
    if points == 0.0 or left == 0 or abs(own - other) > left:
        return 0.0
    deviation = spread * np.sqrt(np.float64(left))
    lead = (own - other) / deviation
    return points * 2.0 * np.exp(-lead * lead / 2.0) / (deviation * np.sqrt(2.0 * np.pi))


@kernel
def _chance_above(compiled: np.record, own: int, left: int) -> float:
    """Estimate the chance that a side's next spade is one of those that bring a point (O1)."""
    wanted = compiled.spades_above - own - left / compiled.teams
    deviation = SPADES_SPREAD * np.sqrt(np.float64(left)) / 2.0 + 0.1
    return 1.0 / (1.0 + np.exp(1.7 * wanted / deviation))


@kernel
def _would_sweep_count(compiled: np.record, seen: np.ndarray) -> bool:
    """Check whether a sweep would count now (F5)."""
    if not compiled.judges_sweeps:
        return True
    if not compiled.last_deal_sweeps and seen[_DEALS_LEFT] == 0:
        return False
    counted, totals = compiled.blocks[COUNTED_SWEEPS], compiled.blocks[TOTALS]
    fewest, best = np.int64(NEVER), np.int64(-NEVER)
    for side in range(compiled.teams):
        sweeps = sum_over(compiled, seen[counted:], side)
        score = sum_over(compiled, seen[_POINTS_WON:], side)
        if compiled.blocks[MULLE_SCORES]:
            score += sum_over(compiled, seen[compiled.blocks[MULLE_SCORES] :], side)
        if totals:
            score += sum_over(compiled, seen[totals:], side)
        fewest = min(fewest, sweeps)
        best = max(best, score + compiled.sweep_points * sweeps)
    if compiled.sweeps_cancel:
        best -= compiled.sweep_points * fewest
    return best < compiled.sweep_limit


@kernel
def _separate_special(compiled: np.record, seen: np.ndarray, outlook: np.record, pool: int) -> int:
    """Count lillan and storan by themselves where they have values of their own (F1); return the pool's size."""
    block = compiled.blocks[SPECIAL]
    for at in range(NUM_CLASSES - NUM_RANKS):
        kind = LILLAN if at == 0 else STORAN
        rank = kind % NUM_RANKS
        outlook.unseen[NUM_RANKS + at] = 0
        if compiled.class_of[kind] == rank:
            continue
        left: Any = np.int64(compiled.deck_counts[kind] - seen[_SEEN + kind])
        free = outlook.deal_ends or not seen[_CANNOT_HOLD + rank]
        if free:
            outlook.unseen[rank] -= left
            pool -= left
        if outlook.deal_ends or block == 0 or not seen[block + at]:
            outlook.unseen[NUM_RANKS + at] = left
            pool += left
    return pool


@kernel
def chance_of_sweep(compiled: np.record, outlook: np.record, values: int) -> float:
    """Compute the chance that the next seat holds a card with one of some hand values, given as bits."""
    classes = classes_of_values(compiled, values)
    hits = np.int64(0)
    while classes != 0:
        bit = classes & -classes
        classes ^= bit
        hits += outlook.unseen[bit_index(bit)]
    return chance_of_hit(hits, outlook.pool, outlook.drawn)


@kernel
def chance_of_hit(hits: int, pool: int, drawn: int) -> float:
    """Compute the chance that at least one of `hits` cards is among those drawn from their pool (hypergeometric)."""
    if hits == 0:
        return 0.0
    missed = 1.0
    for draw in range(drawn):
        missed *= max(pool - hits - draw, 0) / max(pool - draw, 1)
    return 1.0 - missed
