"""Sight: what it is worth to see some of the cards in the other hands."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from krypenv.agents.base import format_spec, options_of, parse_spec
from krypenv.agents.oracle import OracleCards
from krypenv.kernels.compiled import TABLE, compile_rules
from krypenv.rules import Rules
from krypenv.training.evaluation.matches.margins import Interval, interval
from krypenv.training.lab.chunks import by_deal, instead, match_tasks
from krypenv.training.lab.intervals import figures_of, points, rows_of
from krypenv.training.lab.studying import Answer, Setup, Study, Task


def numbers(rules: Rules) -> list[int]:
    """Return the numbers of cards to be seen: none up to the hand that is dealt last, and the largest one."""
    compiled = compile_rules(rules)[0]
    starts = compiled["deal_start"][: compiled["num_deals"] + 1]
    dealt = [compiled["destination"][start:stop] for start, stop in itertools.pairwise(starts)]
    hands = [int(np.bincount(places[places != TABLE]).max()) for places in dealt]
    return sorted({*range(hands[-1] + 1), max(hands)})


def seer(agent: str, number: int) -> str:
    """Return who sees so many cards of every other hand: a search, with the options of the agent if it is one."""
    options: dict[str, Any] = {}
    with contextlib.suppress(ValueError):  # of folders
        name, given = parse_spec(agent)
        if name == "search":
            options = {key: value for key, value in given.items() if key in options_of(OracleCards)}
    return format_spec("oracle-cards", {"cards": number, **options})


def label(number: int) -> str:
    """Return a number of cards in words."""
    return f"sees {number} {'card' if number == 1 else 'cards'}"


def tasks(setup: Setup) -> list[Task]:
    """Return a match for each number of cards that are seen."""
    return [
        task for number in numbers(setup.rules)
        for task in match_tasks(label(number), setup, instead(seer(setup.agent, number)))
    ]  # fmt: skip


def answer(setup: Setup, results: dict[str, Any]) -> Answer:
    """Tell the margin with each number of cards, and what they add to seeing none."""
    found = {number: np.array(by_deal(results, label(number), setup)) for number in numbers(setup.rules)}
    none, *some = found
    gains = {number: found[number] - found[none] for number in some}
    each = [f"{gain} for {number}" for number, gain in zip(gains, points(*gains.values()), strict=True)]
    sentence = (
        f"Seeing cards of every other hand adds to the margin of a search over {setup.agent}, by their number: "
        f"{', '.join(each)}."
    )
    margins = {label(number): margin for number, margin in found.items()}
    added = {f"{label(number)}, over none": gain for number, gain in gains.items()}
    intervals = {name: interval(margin) for name, margin in {**margins, **added}.items()}
    return Answer(
        sentence, ("what", "margin", "95% interval"), rows_of({**margins, **added}), figures_of(intervals),
        draw_of({number: interval(margin) for number, margin in found.items()}, setup.agent),
    )  # fmt: skip


def draw_of(margins: Mapping[int, Interval], agent: str) -> Callable[[Axes], None]:
    """Return what draws the margins by the number of cards that are seen."""

    def draw(axes: Axes) -> None:
        means = np.array(list(margins.values()))
        errors = [means[:, 0] - means[:, 1], means[:, 2] - means[:, 0]]
        axes.errorbar(list(margins), means[:, 0], yerr=errors, marker="o", capsize=4, color="#6b8fb5")
        axes.axhline(0, color="black", linewidth=0.8)
        axes.set_xticks(list(margins))
        axes.set_xlabel("cards seen of every other hand")
        axes.set_ylabel(f"points a game over {agent}")

    return draw


STUDY = Study(
    "sight", "What is it worth to see cards of the other hands?", tasks, answer, deals=300, players=(2, 3, 4, 5, 6),
    any_rules=True,
)  # fmt: skip
