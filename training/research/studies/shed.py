"""Shedding: should aces and high cards leave the hand early or late?"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from krypenv.cards import NUM_KINDS, NUM_RANKS
from krypenv.families.bounds import capture_values
from krypenv.rules import Rules
from krypenv.training.lab.comparison import comparison_of_habits
from krypenv.training.lab.habits import BoolArray, Habit, Int8Array, creeping, first_of
from krypenv.training.lab.intervals import Samples, points

_ACES = np.arange(NUM_KINDS) % NUM_RANKS == 0


def _values(rules: Rules) -> npt.NDArray[np.int64]:
    return np.array([min(values) for values in capture_values(rules)[0]], np.int64)


def high_first(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """If a card creeps, it is the highest that can."""
    return first_of(creeping(rules, observations, masks), -_values(rules), masks)


def low_first(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """If a card creeps, it is the lowest that can."""
    return first_of(creeping(rules, observations, masks), _values(rules), masks)


def aces_first(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """If a card creeps, it is an ace where one can."""
    return first_of(creeping(rules, observations, masks), ~_ACES, masks)


def aces_last(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """If a card creeps, it is no ace where another one can."""
    return first_of(creeping(rules, observations, masks), _ACES, masks)


def neutral_first(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """If a card creeps, it is a low one without points (2 to 7) where one can."""
    return first_of(creeping(rules, observations, masks), ~_neutral(rules), masks)


def neutral_last(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """If a card creeps, it is no low one without points (2 to 7) where another one can."""
    return first_of(creeping(rules, observations, masks), _neutral(rules), masks)


def _neutral(rules: Rules) -> BoolArray:
    neutral: BoolArray = (rules.card_points == 0) & (_values(rules) <= 7)
    return neutral


HABITS: dict[str, Habit] = {
    "creep the highest card": high_first,
    "creep the lowest card": low_first,
    "creep aces first": aces_first,
    "creep aces last": aces_last,
    "creep low cards without points first": neutral_first,
    "creep low cards without points last": neutral_last,
}


def sentence(margins: Samples) -> str:
    """Compare the first of each two rules with the second."""
    high, aces, kept = points(
        margins["creep the highest card"] - margins["creep the lowest card"],
        margins["creep aces first"] - margins["creep aces last"],
        margins["creep low cards without points last"] - margins["creep low cards without points first"],
    )
    return (
        f"Creeping the highest card is worth {high} against the lowest, aces first {aces} against "
        f"aces last, and keeping low cards without points {kept} against giving them away first."
    )


STUDY = comparison_of_habits("shed", "Should high cards and aces leave the hand early or late?", HABITS, sentence)
