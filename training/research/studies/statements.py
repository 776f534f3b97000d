"""What the guide and the rulebooks say of strategy: pairs of ways to play, of which the first is said to be better."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from krypenv.cards import ACE, DIAMONDS, KING, NUM_KINDS, NUM_RANKS, SPADES, TEN, card_of
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
from krypenv.training.research.studies import creep, last, memory, setups, shed

_RANKS, _SUITS = np.arange(NUM_KINDS) % NUM_RANKS + 1, np.arange(NUM_KINDS) // NUM_RANKS
_LOW = np.arange(NUM_KINDS) % NUM_RANKS < 10  # all but pictures
_STORAN = LAYOUT["table"].start + card_of(TEN, DIAMONDS)


def least_points(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """If a card captures, it is one that takes the fewest points."""
    return first_of(capturing(rules, observations, masks), column(rules, observations, masks, "least_points"), masks)


def most_points(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """If a card captures, it is one that takes the most points."""
    return first_of(capturing(rules, observations, masks), -column(rules, observations, masks, "least_points"), masks)


def fewest_cards(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """If a card captures, it is one that takes the fewest cards."""
    return first_of(capturing(rules, observations, masks), -cards_left(rules, observations, masks), masks)


def most_cards(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """If a card captures, it is one that takes the most cards."""
    return first_of(capturing(rules, observations, masks), cards_left(rules, observations, masks), masks)


def fouls_storan(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """While the ten of diamonds lies on the table, creep an ace or a king where one can creep."""
    fouls = creeping(rules, observations, masks) & np.isin(_RANKS, (ACE, KING))
    return only_while_storan(fouls, observations, masks)


def spares_storan(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """While the ten of diamonds lies on the table, creep no ace and no king where there is another play."""
    legal = masks[:, :NUM_KINDS] > 0
    fouls = creeping(rules, observations, masks) & np.isin(_RANKS, (ACE, KING))
    return only_while_storan(legal & ~fouls, observations, masks)


def takes_neutral(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """While a spade lies on the table, capture without taking points where a card can."""
    return only_plays(~_spade_lies(observations) | _neutral(rules, observations, masks), masks)


def leaves_spade(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """While a spade lies on the table, don't capture without taking points where there is another play."""
    return only_plays(~_spade_lies(observations) | ~_neutral(rules, observations, masks), masks)


def _neutral(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    return capturing(rules, observations, masks) & (column(rules, observations, masks, "least_points") == 0)


def _spade_lies(observations: Int8Array) -> BoolArray:
    lies: BoolArray = observations[:, LAYOUT["table"]][:, _SUITS == SPADES].max(axis=1, keepdims=True) > 0
    return lies


def only_while_storan(plays: BoolArray, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """Allow some plays alone, (B, 52), in rows in which the ten of diamonds lies on the table."""
    return only_plays(plays | (observations[:, [_STORAN]] == 0), masks)


def leaves_two(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """Leave two cards on the table where a play does."""
    return first_of(masks[:, :NUM_KINDS] > 0, cards_left(rules, observations, masks) != 2, masks)


def never_leaves_two(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """Leave one, three or more cards on the table where a play does."""
    return first_of(masks[:, :NUM_KINDS] > 0, cards_left(rules, observations, masks) == 2, masks)


def leaves_single(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """Leave one card on the table that is no picture, where a play does."""
    return first_of(masks[:, :NUM_KINDS] > 0, ~_is_single(rules, observations, masks), masks)


def never_leaves_single(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """Leave a picture, nothing, or more than one card, where a play does."""
    return first_of(masks[:, :NUM_KINDS] > 0, _is_single(rules, observations, masks), masks)


def _is_single(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    found = np.zeros((len(masks), NUM_KINDS), np.bool_)
    rows, cards, tables = tables_left(rules, observations, masks)
    found[rows, cards] = (tables.sum(axis=1) == 1) & (tables[:, _LOW].sum(axis=1) == 1)
    return found


HABITS: dict[str, Habit] = {
    **creep.HABITS,
    **shed.HABITS,
    **last.HABITS,
    **setups.HABITS,
    "capture the fewest points": least_points,
    "capture the most points": most_points,
    "capture the fewest cards": fewest_cards,
    "capture the most cards": most_cards,
    "take a neutral card while a spade lies there": takes_neutral,
    "take no neutral card while a spade lies there": leaves_spade,
    "creep an ace or king beside a ten of diamonds": fouls_storan,
    "creep no ace or king beside a ten of diamonds": spares_storan,
    "leave two cards if it can": leaves_two,
    "never leave two cards if it can": never_leaves_two,
    "leave a single card but a picture": leaves_single,
    "leave no single card but a picture": never_leaves_single,
}
UNCHANGED = "as it likes"
LEADER = "leads"
GUIDE, RULEBOOKS = "guide", "rulebooks"  # who says it


@dataclass(frozen=True)
class Statement:
    """What is said of two ways to play: the first is better than the second. Each pair is there once."""

    words: str
    does: str  # a habit, a memory, or UNCHANGED
    rather: str
    source: str


STATEMENTS = (
    Statement("set up sweeps: never doing so is worse than to choose",
              UNCHANGED, "never sets up a sweep if it can", GUIDE),
    Statement("but with a reason: always doing so is worse too", UNCHANGED, "sets up whenever it can", GUIDE),
    Statement("leave no single card but a picture, rather than one",
              "leave no single card but a picture", "leave a single card but a picture", GUIDE),
    Statement("choosing is better than to leave none", UNCHANGED, "leave no single card but a picture", GUIDE),
    Statement("creeping on principle is worse than to choose", UNCHANGED, "creep whenever possible", GUIDE),
    Statement("capturing on principle is worse than to choose", UNCHANGED, "capture whenever possible", GUIDE),
    Statement("never paying for a capture is worse than to choose", UNCHANGED, "pays 0 at most for a capture", GUIDE),
    Statement("pay up to two points rather than none",
              "pays 2 at most for a capture", "pays 0 at most for a capture", GUIDE),
    Statement("choosing is better than up to two points", UNCHANGED, "pays 2 at most for a capture", GUIDE),
    Statement("creep the highest card rather than the lowest",
              "creep the highest card", "creep the lowest card", GUIDE),
    Statement("choosing is better than the highest", UNCHANGED, "creep the highest card", GUIDE),
    Statement("keep low cards without points rather than give them away",
              "creep low cards without points last", "creep low cards without points first", GUIDE),
    Statement("choosing is better than to keep them", UNCHANGED, "creep low cards without points last", GUIDE),
    Statement("make the cheapest capture rather than the dearest",
              "capture the fewest points", "capture the most points", GUIDE),
    Statement("choosing is better than the cheapest", UNCHANGED, "capture the fewest points", GUIDE),
    Statement("remember the cards", memory.WHOLE, memory.NOTHING, GUIDE),
    Statement("begin with aces and pictures", memory.HIGH_ALONE, memory.NOTHING, GUIDE),
    Statement("no rule for the last deal: capturing is worse than to choose",
              UNCHANGED, "captures whenever it can in the last deal", GUIDE),
    Statement("no rule for the last deal: creeping is worse than to choose",
              UNCHANGED, "creeps whenever it can in the last deal", GUIDE),
    Statement("count out the hands of the last deal", UNCHANGED, memory.WHOLE, GUIDE),
    Statement("lead rather than deal", LEADER, UNCHANGED, GUIDE),
    Statement("avoid taking in scoring cards rather than capture on principle",
              "pays 0 at most for a capture", "capture whenever possible", RULEBOOKS),
    Statement("get rid of aces early rather than late", "creep aces first", "creep aces last", RULEBOOKS),
    Statement("choosing is better than aces early", UNCHANGED, "creep aces first", RULEBOOKS),
    Statement("use what the sweeps of the left-hand opponent reveal", memory.WHOLE, memory.NEXT_REVEALS, RULEBOOKS),
    Statement("keep your captures tiny rather than large",
              "capture the fewest cards", "capture the most cards", RULEBOOKS),
    Statement("choosing is better than tiny captures", UNCHANGED, "capture the fewest cards", RULEBOOKS),
    Statement("take a neutral card rather than leave a spade", "take a neutral card while a spade lies there",
              "take no neutral card while a spade lies there", RULEBOOKS),
    Statement("choosing is better than to take it", UNCHANGED,
              "take a neutral card while a spade lies there", RULEBOOKS),
    Statement("foul a table with a ten of diamonds rather than spare it",
              "creep an ace or king beside a ten of diamonds", "creep no ace or king beside a ten of diamonds",
              RULEBOOKS),
    Statement("choosing is better than to foul it", UNCHANGED,
              "creep an ace or king beside a ten of diamonds", RULEBOOKS),
    Statement("aim for the very last capture rather than avoid it",
              "seeks the last capture with two cards", "avoids the last capture with two cards", RULEBOOKS),
    Statement("choosing is better than to aim for it", UNCHANGED, "seeks the last capture with two cards", RULEBOOKS),
    Statement("leave no two cards rather than two",
              "never leave two cards if it can", "leave two cards if it can", RULEBOOKS),
    Statement("choosing is better than to leave no two", UNCHANGED, "never leave two cards if it can", RULEBOOKS),
    Statement("remember the aces", memory.ACES, memory.NOTHING, RULEBOOKS),
    Statement("remember the tens of diamonds", memory.STORAN, memory.NOTHING, RULEBOOKS),
)  # fmt: skip
