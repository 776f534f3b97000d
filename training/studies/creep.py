"""Creep or capture: how many points may a capture cost before creeping is better?"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from krypenv.rules import Rules
from krypenv.training.evaluation.matches import confidence_interval
from krypenv.training.studies.play import BoolArray, Habit, by_deal, column, habit_tasks, only_plays, told
from krypenv.training.studies.study import Answer, Setup, Study, Task

LIMITS = (0, 1, 2, 3, 4, 6)  # points


def creep_always(rules: Rules, observations: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]) -> BoolArray:
    """Allow only cards that creep."""
    return only_plays(column(rules, observations, masks, "creeps") > 0, masks)


def capture_always(rules: Rules, observations: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]) -> BoolArray:
    """Allow only cards that capture."""
    return only_plays(column(rules, observations, masks, "creeps") == 0, masks)


def capture_up_to(
    limit: int, rules: Rules, observations: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]
) -> BoolArray:
    """Where a card can creep, allow captures of so many points at most."""
    creeps = column(rules, observations, masks, "creeps") > 0
    cheap = column(rules, observations, masks, "least_points") <= limit
    legal_creeps = (creeps & (masks[:, : creeps.shape[1]] > 0)).any(axis=1, keepdims=True)
    return only_plays(creeps | cheap | ~legal_creeps, masks)


HABITS: dict[str, Habit] = {
    "creep whenever possible": creep_always,
    "capture whenever possible": capture_always,
    **{f"capture for {limit} points at most": partial(capture_up_to, limit) for limit in LIMITS},
}


def tasks(setup: Setup) -> list[Task]:
    """Return the matches of the agent with each habit against the agent without."""
    return habit_tasks(HABITS, setup)


def answer(setup: Setup, results: dict[str, Any]) -> Answer:
    """Tell what each habit costs."""
    margins = {name: np.array(by_deal(results, name, setup)) for name in HABITS}
    intervals = {name: confidence_interval(each) for name, each in margins.items()}
    harmless = [limit for limit in LIMITS if intervals[f"capture for {limit} points at most"][2] >= 0]
    always = intervals["creep whenever possible"]
    limits = (
        f"never paying more than {min(harmless)} points costs nothing that can be told"
        if harmless
        else f"even a limit of {max(LIMITS)} points costs something"
    )
    sentence = (
        f"A player that creeps whenever possible loses {-always[0]:.1f} points a game ({-always[2]:.1f} to "
        f"{-always[1]:.1f}); {limits}."
    )

    def draw(axes: Axes) -> None:
        means = [intervals[f"capture for {limit} points at most"] for limit in LIMITS]
        axes.errorbar(
            LIMITS, [mean for mean, _, _ in means],
            yerr=np.array([(mean - low, high - mean) for mean, low, high in means]).T, fmt="o-", capsize=4,
        )  # fmt: skip
        axes.axhline(0, color="black", linewidth=0.8)
        axes.set_xlabel("most points that a capture may cost where a card could creep")
        axes.set_ylabel("points a game against the same player without the limit")

    return Answer(
        sentence,
        ("habit", "margin", "95% interval"),
        [(name, *told(each)) for name, each in margins.items()],
        {name: {"mean": mean, "low": low, "high": high} for name, (mean, low, high) in intervals.items()},
        draw,
    )


STUDY = Study(
    "creep", "How many points may a capture cost before creeping is better?", tasks, answer, deals=2000, players=(2, 4)
)
