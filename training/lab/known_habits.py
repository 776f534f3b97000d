"""Habits by name: what guides and rulebooks advise, and the opposite of each."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.cards import ACE, DIAMONDS, KING, NUM_KINDS, NUM_RANKS, SPADES, TEN, card_of
from krypenv.families.bounds import capture_values
from krypenv.observation import LAYOUT
from krypenv.rules import Rules
from krypenv.training.lab.habits import (
    BoolArray,
    Cards,
    Habit,
    Int8Array,
    capturing,
    column,
    creeping,
    plays_first,
    plays_only,
    tables_left,
)

RANKS, SUITS = np.arange(NUM_KINDS) % NUM_RANKS + 1, np.arange(NUM_KINDS) // NUM_RANKS
STORAN = np.arange(NUM_KINDS) == card_of(TEN, DIAMONDS)

chance = partial(column, name="chance")  # that the next seat sweeps what a card leaves
least_points = partial(column, name="least_points")  # that a card takes in


def minus(order: Cards) -> Cards:
    """Return an order turned round."""
    return lambda *seen: -order(*seen).astype(np.int64)


def no(cards: Cards) -> Cards:
    """Return all cards but some."""
    return lambda *seen: ~cards(*seen)


def hand_values(rules: Rules, *_: Int8Array) -> npt.NDArray[np.int64]:
    """Return the value with which each card captures, (52,)."""
    return np.array([min(values) for values in capture_values(rules)[0]], np.int64)


def aces(*_: Any) -> BoolArray:
    """Return which cards are aces, (52,)."""
    return RANKS == ACE


def low_and_free(rules: Rules, *_: Int8Array) -> BoolArray:
    """Return which cards are low (2 to 7) and have no points, (52,)."""
    return (rules.card_points == 0) & (hand_values(rules) <= 7)


def free_captures(*seen: Any) -> BoolArray:
    """Return which cards capture and take in no point, (B, 52)."""
    return capturing(*seen) & (least_points(*seen) == 0)


def fouls(*seen: Any) -> BoolArray:
    """Return which cards creep and are aces or kings, (B, 52)."""
    return creeping(*seen) & np.isin(RANKS, (ACE, KING))


def cards_left(*seen: Any) -> npt.NDArray[np.int64]:
    """Return how many cards each card leaves on the table, (B, 52)."""
    left: npt.NDArray[np.int64] = tables_left(*seen).sum(axis=2)
    return left


def leaves_two(*seen: Any) -> BoolArray:
    """Return which cards leave two cards on the table, (B, 52)."""
    return cards_left(*seen) == 2


def leaves_single(*seen: Any) -> BoolArray:
    """Return which cards leave a single card on the table that is no picture, (B, 52)."""
    left = tables_left(*seen)
    single: BoolArray = (left.sum(axis=2) == 1) & (left[:, :, RANKS <= TEN].sum(axis=2) == 1)
    return single


def captures_up_to(limit: int) -> Habit:
    """Return the habit of capturing for so many points at most, where a card can creep."""

    def cards(*seen: Any) -> BoolArray:
        creeps = creeping(*seen)
        return creeps | (least_points(*seen) <= limit) | ~creeps.any(axis=1, keepdims=True)

    return plays_only(cards)


def while_one_lies(kinds: BoolArray, cards: Cards) -> Habit:
    """Return the habit of playing some cards alone while one of some kinds lies on the table."""

    def allowed(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
        lies = observations[:, LAYOUT["table"]][:, kinds].any(axis=1, keepdims=True)
        return cards(rules, observations, masks) | ~lies

    return plays_only(allowed)


def in_last_deal(most: int, cards: Cards) -> Habit:
    """Return the habit of playing some cards alone in the last deal, with so many cards in hand at most."""

    def allowed(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
        last = observations[:, LAYOUT["deals_left"]] == 0
        is_late = last & (observations[:, LAYOUT["hand_size"]][:, :1] <= most)
        return cards(rules, observations, masks) | ~is_late

    return plays_only(allowed)


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
    "never sets up a sweep if it can": plays_first(chance),
    "sets up whenever it can": plays_first(minus(chance)),
    "capture the fewest points": plays_first(least_points, capturing),
    "capture the most points": plays_first(minus(least_points), capturing),
    "capture the fewest cards": plays_first(minus(cards_left), capturing),
    "capture the most cards": plays_first(cards_left, capturing),
    "take a neutral card while a spade lies there": while_one_lies(SUITS == SPADES, free_captures),
    "take no neutral card while a spade lies there": while_one_lies(SUITS == SPADES, no(free_captures)),
    "creep an ace or king beside a ten of diamonds": while_one_lies(STORAN, fouls),
    "creep no ace or king beside a ten of diamonds": while_one_lies(STORAN, no(fouls)),
    "leave two cards if it can": plays_first(minus(leaves_two)),
    "never leave two cards if it can": plays_first(leaves_two),
    "leave a single card but a picture": plays_first(minus(leaves_single)),
    "leave no single card but a picture": plays_first(leaves_single),
}
