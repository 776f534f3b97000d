"""Habits by name: what guides and rulebooks advise, and the opposite of each."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from memory import RANKS, STORAN

from krypenv import Engine, Rules, determinize
from krypenv.cards import ACE, KING, NO_CARD, NUM_KINDS, NUM_RANKS, SPADES, TEN
from krypenv.families.bounds import capture_values
from krypenv.observation import LAYOUT
from krypenv.training import lab

BoolArray, Int8Array = npt.NDArray[np.bool_], npt.NDArray[np.int8]
IS_SPADE = np.arange(NUM_KINDS) // NUM_RANKS == SPADES

chance = partial(lab.column, name="chance")  # that the next seat sweeps what a card leaves
least_points = partial(lab.column, name="least_points")  # that a card takes in


def minus(order: Any) -> Any:
    """Return an order turned round."""
    return lambda *seen: -order(*seen).astype(np.int64)


def no(cards: Any) -> Any:
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


def capturing(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """Return which playable cards would capture, (B, 52)."""
    return ~lab.creeping(rules, observations, masks) & (masks[:, :NUM_KINDS] > 0)


def free_captures(*seen: Any) -> BoolArray:
    """Return which cards capture and take in no point, (B, 52)."""
    return capturing(*seen) & (least_points(*seen) == 0)


def fouls(*seen: Any) -> BoolArray:
    """Return which cards creep and are aces or kings, (B, 52)."""
    return lab.creeping(*seen) & np.isin(RANKS, (ACE, KING))


def tables_left(rules: Rules, observations: Int8Array, masks: Int8Array) -> Int8Array:
    """Return the table that each card leaves, (B, 52, 52); all -1 for cards that can't be played.

    Where a card can capture in several ways, it is what one of them leaves.
    """
    left = np.full((len(masks), NUM_KINDS, NUM_KINDS), -1, np.int8)
    rows, cards = np.nonzero(masks[:, :NUM_KINDS])
    if len(rows):
        engine = Engine.from_state(rules, determinize(observations, 0, rules), check=False).select(rows)
        engine.step(cards)
        while len(pending := np.flatnonzero(engine.state.pending != NO_CARD)):
            engine.step(engine.action_mask[pending].argmax(axis=1), pending)
        left[rows, cards] = engine.state.table
    return left


def cards_left(*seen: Any) -> npt.NDArray[np.int64]:
    """Return how many cards each card leaves on the table, (B, 52)."""
    return tables_left(*seen).sum(axis=2)


def leaves_two(*seen: Any) -> BoolArray:
    """Return which cards leave two cards on the table, (B, 52)."""
    return cards_left(*seen) == 2


def leaves_single(*seen: Any) -> BoolArray:
    """Return which cards leave a single card on the table that is no picture, (B, 52)."""
    left = tables_left(*seen)
    return (left.sum(axis=2) == 1) & (left[:, :, RANKS <= TEN].sum(axis=2) == 1)


def captures_up_to(limit: int) -> lab.Habit:
    """Return the habit of capturing for so many points at most, where a card can creep."""

    def cards(*seen: Any) -> BoolArray:
        creeps = lab.creeping(*seen)
        return creeps | (least_points(*seen) <= limit) | ~creeps.any(axis=1, keepdims=True)

    return lab.plays_only(cards)


def while_one_lies(kinds: BoolArray, cards: Any) -> lab.Habit:
    """Return the habit of playing some cards alone while one of some kinds lies on the table."""

    def allowed(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
        lies = observations[:, LAYOUT["table"]][:, kinds].any(axis=1, keepdims=True)
        return cards(rules, observations, masks) | ~lies

    return lab.plays_only(allowed)


def in_last_deal(most: int, cards: Any) -> lab.Habit:
    """Return the habit of playing some cards alone in the last deal, with so many cards in hand at most."""

    def allowed(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
        last = observations[:, LAYOUT["deals_left"]] == 0
        is_late = last & (observations[:, LAYOUT["hand_size"]][:, :1] <= most)
        return cards(rules, observations, masks) | ~is_late

    return lab.plays_only(allowed)


HABITS: dict[str, lab.Habit] = {
    "creep": lab.plays_only(lab.creeping),
    "capture": lab.plays_only(capturing),
    "pay 0 at most": captures_up_to(0),
    "pay 2 at most": captures_up_to(2),
    "creep the highest": lab.plays_first(minus(hand_values), lab.creeping),
    "creep the lowest": lab.plays_first(hand_values, lab.creeping),
    "creep aces first": lab.plays_first(minus(aces), lab.creeping),
    "creep aces last": lab.plays_first(aces, lab.creeping),
    "low cards first": lab.plays_first(minus(low_and_free), lab.creeping),
    "low cards last": lab.plays_first(low_and_free, lab.creeping),
    "seek the last capture": in_last_deal(2, capturing),
    "avoid the last capture": in_last_deal(2, lab.creeping),
    "capture in the last deal": in_last_deal(NUM_KINDS, capturing),
    "creep in the last deal": in_last_deal(NUM_KINDS, lab.creeping),
    "set up no sweep": lab.plays_first(chance),
    "set up sweeps": lab.plays_first(minus(chance)),
    "capture the cheapest": lab.plays_first(least_points, capturing),
    "capture the dearest": lab.plays_first(minus(least_points), capturing),
    "capture the fewest cards": lab.plays_first(minus(cards_left), capturing),
    "capture the most cards": lab.plays_first(cards_left, capturing),
    "take beside a spade": while_one_lies(IS_SPADE, free_captures),
    "leave beside a spade": while_one_lies(IS_SPADE, no(free_captures)),
    "foul a ten of diamonds": while_one_lies(STORAN, fouls),
    "spare a ten of diamonds": while_one_lies(STORAN, no(fouls)),
    "leave two cards": lab.plays_first(minus(leaves_two)),
    "leave no two cards": lab.plays_first(leaves_two),
    "leave a single card": lab.plays_first(minus(leaves_single)),
    "leave no single card": lab.plays_first(leaves_single),
}
