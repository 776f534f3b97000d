"""Shedding: should aces and high cards leave the hand early or late?"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from krypenv.cards import NUM_KINDS, NUM_RANKS, NUM_SUITS
from krypenv.families.bounds import capture_values
from krypenv.rules import Rules
from krypenv.training.evaluation.matches import confidence_interval
from krypenv.training.studies.play import BoolArray, Habit, by_deal, column, habit_tasks, only_plays, told
from krypenv.training.studies.study import Answer, Setup, Study, Task

_ACES = np.arange(NUM_KINDS) % NUM_RANKS == 0


def _creep_only(
    rules: Rules, observations: npt.NDArray[np.int8], masks: npt.NDArray[np.int8], order: npt.NDArray[np.int64]
) -> BoolArray:
    """Of the cards that creep allow those that come first in an order, (52,) ints; captures are free."""
    creeps = (column(rules, observations, masks, "creeps") > 0) & (masks[:, :NUM_KINDS] > 0)
    first = np.where(creeps, order, np.iinfo(np.int64).max).min(axis=1, keepdims=True)
    return only_plays(~creeps | (order == first), masks)


def _values(rules: Rules) -> npt.NDArray[np.int64]:
    return np.tile(np.array(capture_values(rules)[0], np.int64), NUM_SUITS)


def high_first(rules: Rules, observations: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]) -> BoolArray:
    """If a card creeps, it is the highest that can."""
    return _creep_only(rules, observations, masks, -_values(rules))


def low_first(rules: Rules, observations: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]) -> BoolArray:
    """If a card creeps, it is the lowest that can."""
    return _creep_only(rules, observations, masks, _values(rules))


def aces_first(rules: Rules, observations: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]) -> BoolArray:
    """If a card creeps, it is an ace where one can."""
    return _creep_only(rules, observations, masks, (~_ACES).astype(np.int64))


def aces_last(rules: Rules, observations: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]) -> BoolArray:
    """If a card creeps, it is no ace where another one can."""
    return _creep_only(rules, observations, masks, _ACES.astype(np.int64))


HABITS: dict[str, Habit] = {
    "creep the highest card": high_first,
    "creep the lowest card": low_first,
    "creep aces first": aces_first,
    "creep aces last": aces_last,
}


def tasks(setup: Setup) -> list[Task]:
    """Return the matches of the agent with each habit against the agent without."""
    return habit_tasks(HABITS, setup)


def answer(setup: Setup, results: dict[str, Any]) -> Answer:
    """Tell what each habit costs."""
    margins = {name: np.array(by_deal(results, name, setup)) for name in HABITS}
    intervals = {name: confidence_interval(each) for name, each in margins.items()}
    mean, low, high = confidence_interval(margins["creep the highest card"] - margins["creep the lowest card"])
    sure = "better" if low > 0 else "worse" if high < 0 else "neither better nor worse, as far as can be told,"
    sentence = (
        f"To creep the highest card is {sure} than to creep the lowest: {mean:+.1f} points a game "
        f"({low:+.1f} to {high:+.1f}), and either rule loses against free choice what the table says."
    )

    def draw(axes: Axes) -> None:
        means = np.array(list(intervals.values()))
        axes.barh(list(intervals), means[:, 0], xerr=[means[:, 0] - means[:, 1], means[:, 2] - means[:, 0]], capsize=4)
        axes.axvline(0, color="black", linewidth=0.8)
        axes.invert_yaxis()
        axes.set_xlabel("points a game against the same player without the rule")

    return Answer(
        sentence,
        ("habit", "margin", "95% interval"),
        [(name, *told(each)) for name, each in margins.items()],
        {name: {"mean": mean, "low": low, "high": high} for name, (mean, low, high) in intervals.items()},
        draw,
    )


STUDY = Study("shed", "Should high cards and aces leave the hand early or late?", tasks, answer, deals=2000)
