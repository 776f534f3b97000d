"""Studies that change one thing about a player and let it meet itself unchanged: what does each change cost?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from krypenv.rules import Rules
from krypenv.training.evaluation.matches.margins import interval
from krypenv.training.lab.chunks import Change, by_deal, match_tasks
from krypenv.training.lab.habits import Habit, values_of, with_habit
from krypenv.training.lab.intervals import Samples, bars, figures_of, points, rows_of
from krypenv.training.lab.studying import Answer, Setup, Study, Task

LABEL = "points a game against the same player unchanged"


def comparison(
    name: str,
    question: str,
    changes: Callable[[Rules], dict[str, Change]],
    sentence: Callable[[Samples], str],
    deals: int = 2000,
    **more: Any,
) -> Study:
    """Return a study of some changes, each in a duplicate match of the changed player against the unchanged one.

    `sentence` makes the answer from the margins by deal of each change. `more` goes to `Study`.
    """

    def tasks(setup: Setup) -> list[Task]:
        return [task for label, change in changes(setup.rules).items() for task in match_tasks(label, setup, change)]

    def answer(setup: Setup, results: dict[str, Any]) -> Answer:
        margins = {label: np.array(by_deal(results, label, setup)) for label in changes(setup.rules)}
        intervals = {label: interval(each) for label, each in margins.items()}
        return Answer(
            sentence(margins), ("what", "margin", "95% interval"), rows_of(margins), figures_of(intervals),
            bars(intervals, LABEL),
        )  # fmt: skip

    return Study(name, question, tasks, answer, deals, **more)


def comparison_of_habits(
    name: str, question: str, habits: Mapping[str, Habit], sentence: Callable[[Samples], str] | None = None
) -> Study:
    """Return a study of what habits cost a player that values its actions; `sentence` tells all margins by default."""
    changes = {label: with_habit(habit) for label, habit in habits.items()}
    return comparison(name, question, lambda rules: changes, sentence or tell_all, needs=values_of)


def tell_all(margins: Samples) -> str:
    """Return a sentence with each margin."""
    each = [f"{margin} for '{label}'" for label, margin in zip(margins, points(*margins.values()), strict=True)]
    return f"Margins over the same player without the habit: {', '.join(each)}."
