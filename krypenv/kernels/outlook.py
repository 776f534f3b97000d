"""What the seat to act can expect of the next one: which cards it may hold, and whether the deal ends."""

from __future__ import annotations

from typing import Any

import numpy as np

from krypenv.cards import NO_CARD, NUM_KINDS, NUM_RANKS, NUM_SUITS
from krypenv.families.bounds import LILLAN, STORAN
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
    rank_on_table,
)
from krypenv.kernels.gains import GAINS, MOST_LOOKS
from krypenv.observation import LAYOUT
from krypenv.runtime.jit import handle, kernel, other_kernel, records

# The lead in cards and in spades changes by about this much, times the square root of those left (greedy's games).
CARDS_SPREAD, SPADES_SPREAD = 1.5, 1.15
_TABLE, _SEEN, _PENDING, _TAKEN = (LAYOUT[n].start for n in ("table", "seen", "pending", "taken"))
_HAND_SIZE, _CAPTURER, _DEALER, _POINTS_WON = (
    LAYOUT[n].start for n in ("hand_size", "last_capturer", "dealer", "points")
)
_CANNOT_HOLD, _DEALS_LEFT = (LAYOUT[n].start for n in ("cannot_hold", "deals_left"))
FEATURE_SCRATCH = np.dtype(
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


def make_feature_scratch(threads: int = 1) -> np.ndarray:
    """Return scratch for some threads, (threads,) of `FEATURE_SCRATCH`: what all actions of a decision share."""
    return handle(records(FEATURE_SCRATCH, threads))


@kernel
def look(compiled: np.record, observation: np.ndarray, feature_scratch: np.record) -> None:
    """Read what the consequences of all actions depend on from an observation, (>= 433,) int8, of the seat to act."""
    pending = False
    for kind in range(NUM_KINDS):
        feature_scratch.forced[kind] = observation[_TAKEN + kind]
        pending |= observation[_PENDING + kind] != 0
    feature_scratch.card = NO_CARD
    feature_scratch.ranks, feature_scratch.total, feature_scratch.taken_ranks = 0, 0, 0
    for rank in range(NUM_RANKS):
        count = np.int64(0)
        for suit in range(NUM_SUITS):
            count += observation[_TABLE + suit * NUM_RANKS + rank]
        feature_scratch.ranks += count << NIBBLE * rank
        feature_scratch.total += count * rank_on_table(compiled, rank)
    if pending:
        for kind in range(NUM_KINDS):
            feature_scratch.taken_ranks += np.int64(observation[_TAKEN + kind]) << NIBBLE * (kind % NUM_RANKS)
            if observation[_PENDING + kind]:
                feature_scratch.card = kind

    own = np.int64(observation[_HAND_SIZE]) - (feature_scratch.card == NO_CARD)
    others = np.int64(0)
    for place in range(1, compiled.players):
        others += observation[_HAND_SIZE + place]
    feature_scratch.deal_ends = own + others == 0
    feature_scratch.game_ends = own + others == 0 and observation[_DEALS_LEFT] == 0
    drawn = np.int64(observation[_HAND_SIZE + 1])
    if (
        feature_scratch.deal_ends and not feature_scratch.game_ends and observation[_DEALER]
    ):  # the seat to the left leads the next deal
        number = compiled.num_deals - observation[_DEALS_LEFT]
        for at in range(compiled.deal_start[number], compiled.deal_start[number + 1]):
            drawn += compiled.destination[at] == 0
    feature_scratch.drawn = drawn
    pool = np.int64(0)
    for rank in range(NUM_RANKS):
        count = np.int64(0)
        if feature_scratch.deal_ends or not observation[_CANNOT_HOLD + rank]:
            for suit in range(NUM_SUITS):
                kind = suit * NUM_RANKS + rank
                count += compiled.deck_counts[kind] - observation[_SEEN + kind]
        feature_scratch.unseen[rank] = count
        pool += count
    feature_scratch.pool = pool
    if not compiled.is_main:
        _look_any(compiled, observation, feature_scratch)


@other_kernel
def _look_any(compiled: np.record, observation: np.ndarray, feature_scratch: np.record) -> None:
    """Read what only some rules need: what a card and a spade are worth on the way to their points (K5, O1)...

    ... whether a sweep would count (F5), and lillan and storan by themselves (F1).
    """
    feature_scratch.sweeps_count = _do_sweeps_count(compiled, observation)
    gains = feature_scratch.gains
    gains.counts_mulle, gains.looks = True, MOST_LOOKS
    gains.card_price, gains.spade_price = 0.0, 0.0
    if compiled.counts_piles:
        _price_majorities(compiled, observation, gains)
    for at in range(NUM_RANKS, NUM_CLASSES):
        feature_scratch.unseen[at] = 0
    if compiled.has_special:
        feature_scratch.pool = _part_special(compiled, observation, feature_scratch, feature_scratch.pool)


@kernel
def _price_majorities(compiled: np.record, observation: np.ndarray, gains: np.record) -> None:
    """Write what a card and a spade are worth now, in points of margin, beside one that either side may win later."""
    own, other, won = count_piles(compiled, observation, compiled.blocks[CARDS_WON])
    gains.card_price = price_of_cards(compiled, own, other, won)
    own, other, won = count_piles(compiled, observation, compiled.blocks[SPADES_WON])
    gains.spade_price = price_of_spades(compiled, own, other, won)


@kernel
def price_of_cards(compiled: np.record, own: int, other: int, won: int) -> float:
    """Return what a card is worth on the way to most cards (K5), where two sides and all have won so many."""
    return _price_of_lead(np.float64(compiled.most_cards_points), own, other, compiled.deck_size - won, CARDS_SPREAD)


@kernel
def price_of_spades(compiled: np.record, own: int, other: int, won: int) -> float:
    """Return what a spade is worth beside that, on the way to most spades (K5), or above a number of them (O1)."""
    left = compiled.num_spades - won
    price = _price_of_lead(np.float64(compiled.most_spades_points), own, other, left, SPADES_SPREAD)
    if compiled.spades_above != NEVER:
        price += _chance_above(compiled, own, left) / 2 + _chance_above(compiled, other, left) / 2
    return price


@kernel
def count_piles(compiled: np.record, observation: np.ndarray, block: int) -> tuple[int, int, int]:
    """Return how many cards or spades, told by a block, the own side has won, the best other one, and all together."""
    own, best, total = np.int64(0), np.int64(0), np.int64(0)
    for side in range(compiled.teams):
        count = np.int64(0)
        for place in range(compiled.players):
            if compiled.relative_team[place] == side:
                count += observation[block + place]
        total += count
        if side == 0:
            own = count
        else:
            best = max(best, count)
    return own, best, total


@kernel
def _price_of_lead(points: float, own: int, other: int, left: int, spread: float) -> float:
    """Return what one card more is worth for a majority; the lead at the end is about normal, and may be decided."""
    if points == 0.0 or left == 0 or abs(own - other) > left:
        return 0.0
    deviation = spread * np.sqrt(np.float64(left))
    lead = (own - other) / deviation
    return points * 2.0 * np.exp(-lead * lead / 2.0) / (deviation * np.sqrt(2.0 * np.pi))


@kernel
def _chance_above(compiled: np.record, own: int, left: int) -> float:
    """Return the chance that a side's next spade is one of those that bring a point (O1)."""
    wanted = compiled.spades_above - own - left / compiled.teams
    deviation = SPADES_SPREAD * np.sqrt(np.float64(left)) / 2.0 + 0.1
    return 1.0 / (1.0 + np.exp(1.7 * wanted / deviation))


@kernel
def _do_sweeps_count(compiled: np.record, observation: np.ndarray) -> bool:
    """Return whether a sweep would count now (F5)."""
    if not compiled.judges_sweeps:
        return True
    if not compiled.last_deal_sweeps and observation[_DEALS_LEFT] == 0:
        return False
    counted, totals = compiled.blocks[COUNTED_SWEEPS], compiled.blocks[TOTALS]
    fewest, best = np.int64(NEVER), np.int64(-NEVER)
    for side in range(compiled.teams):
        score, sweeps = np.int64(0), np.int64(0)
        for place in range(compiled.players):
            if compiled.relative_team[place] == side:
                score += observation[_POINTS_WON + place]
                sweeps += observation[counted + place]
                if compiled.blocks[MULLE_SCORES]:
                    score += observation[compiled.blocks[MULLE_SCORES] + place]
                if totals:
                    score += observation[totals + place]
        fewest = min(fewest, sweeps)
        best = max(best, score + compiled.sweep_points * sweeps)
    if compiled.sweeps_cancel:
        best -= compiled.sweep_points * fewest
    return best < compiled.sweep_limit


@kernel
def _part_special(compiled: np.record, observation: np.ndarray, feature_scratch: np.record, pool: int) -> int:
    """Count lillan and storan by themselves where they have values of their own (F1); return the pool's size."""
    block = compiled.blocks[SPECIAL]
    for at in range(NUM_CLASSES - NUM_RANKS):
        kind = LILLAN if at == 0 else STORAN
        rank = kind % NUM_RANKS
        feature_scratch.unseen[NUM_RANKS + at] = 0
        if compiled.class_of[kind] == rank:
            continue
        left: Any = np.int64(compiled.deck_counts[kind] - observation[_SEEN + kind])
        free = feature_scratch.deal_ends or not observation[_CANNOT_HOLD + rank]
        if free:
            feature_scratch.unseen[rank] -= left
            pool -= left
        if feature_scratch.deal_ends or block == 0 or not observation[block + at]:
            feature_scratch.unseen[NUM_RANKS + at] = left
            pool += left
    return pool


@kernel
def chance_of_sweep(compiled: np.record, feature_scratch: np.record, values: int) -> float:
    """Return the chance that the next seat holds a card with one of some hand values, given as bits."""
    classes = classes_of_values(compiled, values)
    hits = np.int64(0)
    while classes != 0:
        bit = classes & -classes
        classes ^= bit
        hits += feature_scratch.unseen[bit_index(bit)]
    return chance_of_hit(hits, feature_scratch.pool, feature_scratch.drawn)


@kernel
def chance_of_hit(hits: int, pool: int, drawn: int) -> float:
    """Return the chance that at least one of `hits` cards is among those drawn from their pool (hypergeometric)."""
    if hits == 0:
        return 0.0
    missed = 1.0
    for draw in range(drawn):
        missed *= max(pool - hits - draw, 0) / max(pool - draw, 1)
    return 1.0 - missed
