"""Habits by name: what guides and rulebooks advise, and the opposite of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.cards import ACE, DIAMONDS, KING, NUM_KINDS, NUM_RANKS, SPADES, TEN, card_of
from krypenv.families.bounds import capture_values
from krypenv.observation import LAYOUT
from krypenv.rules import Rules
from krypenv.training.lab.habits import (
    BoolArray,
    Habit,
    Int8Array,
    capturing,
    cards_left,
    column,
    creeping,
    first_of,
    only_plays,
    tables_left,
)

Cards = Callable[[Rules, Int8Array, Int8Array], npt.NDArray[Any]]  # of each card that may be played, (B, 52) or (52,)

RANKS, SUITS = np.arange(NUM_KINDS) % NUM_RANKS + 1, np.arange(NUM_KINDS) // NUM_RANKS
STORAN = LAYOUT["table"].start + card_of(TEN, DIAMONDS)


def plays_only(cards: Cards) -> Habit:
    """Return the habit of playing some cards alone, where one of them can be played."""
    return lambda rules, observations, masks: only_plays(cards(rules, observations, masks), masks)


def plays_first(order: Cards, among: Cards) -> Habit:
    """Return the habit of playing, of some cards, one that comes first in an order; other cards are free."""
    return lambda *seen: first_of(among(*seen), order(*seen), seen[2])


def minus(order: Cards) -> Cards:
    """Return an order turned round."""
    return lambda *seen: -order(*seen).astype(np.int64)


def playable(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """Return which cards may be played, (B, 52)."""
    return masks[:, :NUM_KINDS] > 0


def chance(rules: Rules, observations: Int8Array, masks: Int8Array) -> Int8Array:
    """Return the chance that the next seat sweeps what each card leaves, (B, 52), as the features block has it."""
    return column(rules, observations, masks, "chance")


def least_points(rules: Rules, observations: Int8Array, masks: Int8Array) -> Int8Array:
    """Return the fewest points that each card takes in, (B, 52)."""
    return column(rules, observations, masks, "least_points")


def hand_values(rules: Rules, *_: Int8Array) -> npt.NDArray[np.int64]:
    """Return the value with which each card captures, (52,)."""
    return np.array([min(values) for values in capture_values(rules)[0]], np.int64)


def aces(*_: Any) -> BoolArray:
    """Return which cards are aces, (52,)."""
    return RANKS == ACE


def low_and_free(rules: Rules, *_: Int8Array) -> BoolArray:
    """Return which cards are low (2 to 7) and have no points, (52,)."""
    return (rules.card_points == 0) & (hand_values(rules) <= 7)


def captures_up_to(limit: int) -> Habit:
    """Return the habit of capturing for so many points at most, where a card can creep."""

    def cards(*seen: Any) -> BoolArray:
        creeps = creeping(*seen)
        return creeps | (least_points(*seen) <= limit) | ~creeps.any(axis=1, keepdims=True)

    return plays_only(cards)


def in_last_deal(most: int, cards: Cards) -> Habit:
    """Return the habit of playing some cards alone in the last deal, with so many cards in hand at most."""

    def late(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
        last = observations[:, LAYOUT["deals_left"]] == 0
        is_late = last & (observations[:, LAYOUT["hand_size"]][:, :1] <= most)
        return cards(rules, observations, masks) | ~is_late

    return plays_only(late)


def free_capture_beside_spade(takes: bool) -> Habit:
    """Return the habit of making, or of leaving, captures without points while a spade lies on the table."""

    def cards(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
        lies = observations[:, LAYOUT["table"]][:, SUITS == SPADES].max(axis=1, keepdims=True) > 0
        free = capturing(rules, observations, masks) & (least_points(rules, observations, masks) == 0)
        return ~lies | (free == takes)

    return plays_only(cards)


def beside_storan(fouls: bool) -> Habit:
    """Return the habit of creeping an ace or a king, or of never doing so, while a ten of diamonds lies there."""

    def cards(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
        foul = creeping(rules, observations, masks) & np.isin(RANKS, (ACE, KING))
        return (foul == fouls) | (observations[:, [STORAN]] == 0)

    return plays_only(cards)


def leaves_two(*seen: Any) -> BoolArray:
    """Return which cards leave two cards on the table, (B, 52)."""
    return cards_left(*seen) == 2


def leaves_single(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """Return which cards leave a single card on the table that is no picture, (B, 52)."""
    found = np.zeros((len(masks), NUM_KINDS), np.bool_)
    rows, cards, tables = tables_left(rules, observations, masks)
    found[rows, cards] = (tables.sum(axis=1) == 1) & (tables[:, RANKS <= TEN].sum(axis=1) == 1)
    return found


HABITS: dict[str, Habit] = {
    "creep whenever possible": plays_only(creeping),
    "capture whenever possible": plays_only(capturing),
    **{f"pays {limit} at most for a capture": captures_up_to(limit) for limit in (0, 1, 2, 3, 4, 6)},
    "creep the highest card": plays_first(minus(hand_values), creeping),
    "creep the lowest card": plays_first(hand_values, creeping),
    "creep aces first": plays_first(minus(aces), creeping),
    "creep aces last": plays_first(aces, creeping),
    "creep low cards without points first": plays_first(minus(low_and_free), creeping),
    "creep low cards without points last": plays_first(low_and_free, creeping),
    "seeks the last capture with two cards": in_last_deal(2, capturing),
    "avoids the last capture with two cards": in_last_deal(2, creeping),
    "captures whenever it can in the last deal": in_last_deal(NUM_KINDS, capturing),
    "creeps whenever it can in the last deal": in_last_deal(NUM_KINDS, creeping),
    "never sets up a sweep if it can": plays_first(chance, playable),
    "sets up whenever it can": plays_first(minus(chance), playable),
    "capture the fewest points": plays_first(least_points, capturing),
    "capture the most points": plays_first(minus(least_points), capturing),
    "capture the fewest cards": plays_first(minus(cards_left), capturing),
    "capture the most cards": plays_first(cards_left, capturing),
    "take a neutral card while a spade lies there": free_capture_beside_spade(True),
    "take no neutral card while a spade lies there": free_capture_beside_spade(False),
    "creep an ace or king beside a ten of diamonds": beside_storan(True),
    "creep no ace or king beside a ten of diamonds": beside_storan(False),
    "leave two cards if it can": plays_first(minus(leaves_two), playable),
    "never leave two cards if it can": plays_first(leaves_two, playable),
    "leave a single card but a picture": plays_first(minus(leaves_single), playable),
    "leave no single card but a picture": plays_first(leaves_single, playable),
}
