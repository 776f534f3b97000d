"""Creep or capture: how many points may a capture cost before creeping is better?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from krypenv.rules import Rules
from krypenv.training.evaluation.matches.margins import interval
from krypenv.training.lab.chunks import by_deal, match_tasks
from krypenv.training.lab.habits import (
    BoolArray,
    Habit,
    Int8Array,
    capturing,
    column,
    creeping,
    only_plays,
    values_of,
    with_habit,
)
from krypenv.training.lab.intervals import cells, figures_of, intervals_in, points
from krypenv.training.lab.strong_positions import (
    CARD,
    PICTURE,
    Position,
    TriedPlay,
    position_tasks,
    positions_of,
)
from krypenv.training.lab.studying import Answer, Setup, Study, Task

LIMITS = (0, 1, 2, 3, 4, 6)  # points
COSTS = (0, 1, 2, 3)  # points of a capture; the last stands for more, too
COLUMNS = 3  # of panels
WIDEST = 15  # points; cases with wider intervals are not drawn, but for the first
Case = Callable[[Position, TriedPlay], bool]  # of a position and its best capture
CASES: dict[str, Case] = {
    "in general": lambda position, play: True,
    "two cards in hand": lambda position, play: position.hand == 2,
    "three or four cards in hand": lambda position, play: 3 <= position.hand <= 4,
    "more cards in hand": lambda position, play: position.hand > 4,
    "it leaves one card": lambda position, play: play.leaves in (PICTURE, CARD),
    "it leaves more": lambda position, play: play.leaves not in (PICTURE, CARD),
}


def creep_always(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """Allow only cards that creep."""
    return only_plays(creeping(rules, observations, masks), masks)


def capture_always(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """Allow only cards that capture."""
    return only_plays(capturing(rules, observations, masks), masks)


def capture_up_to(limit: int, rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """Where a card can creep, allow captures of so many points at most."""
    creeps = creeping(rules, observations, masks)
    cheap = column(rules, observations, masks, "least_points") <= limit
    return only_plays(creeps | cheap | ~creeps.any(axis=1, keepdims=True), masks)


HABITS: dict[str, Habit] = {
    "creep whenever possible": creep_always,
    "capture whenever possible": capture_always,
    **{f"pays {limit} at most for a capture": partial(capture_up_to, limit) for limit in LIMITS},
}


def tasks(setup: Setup) -> list[Task]:
    """Return the matches of the agent with each habit against the agent without, and the positions."""
    matches = [task for name, habit in HABITS.items() for task in match_tasks(name, setup, with_habit(habit))]
    return [*matches, *position_tasks(setup)]


def differences(positions: list[Position], case: Case) -> dict[int, list[float]]:
    """Return by the points that the best capture takes how much better it did than the best creeping card."""
    found: dict[int, list[float]] = {cost: [] for cost in COSTS}
    for position in positions:
        capture, creep = position.best(lambda play: not play.creeps), position.best(lambda play: play.creeps)
        if capture and creep and case(position, capture):
            found[min(capture.points, COSTS[-1])].append(capture.margin - creep.margin)
    return found


def answer(setup: Setup, results: dict[str, Any]) -> Answer:
    """Tell what each habit costs, and by how much capturing is better, by its price."""
    habits = {name: interval(by_deal(results, name, setup)) for name in HABITS}
    positions = positions_of(setup, results)
    cases = {name: differences(positions, case) for name, case in CASES.items()}
    prices = {_price(cost, name): interval(each) for name, found in cases.items() for cost, each in found.items()}
    by_price = {cost: each for cost, each in cases["in general"].items() if len(each) > 1}
    creeps, captures, *told = points(
        *(by_deal(results, f"{kind} whenever possible", setup) for kind in ("creep", "capture")), *by_price.values()
    )
    sentence = (
        f"A player that creeps whenever possible has a margin of {creeps}, and one "
        f"that captures whenever possible {captures}."
    )
    if by_price:
        worth = "; ".join(f"for {_points(cost)}, {each}" for cost, each in zip(by_price, told, strict=True))
        sentence += f" Where both are possible, the margin of capturing over creeping is, {worth}."

    rows = [(f"habit: {name}", "", *cells(each)) for name, each in habits.items()]
    for name, by_cost in cases.items():
        rows += [
            (f"capture rather than creep, for {_points(cost)}: {name}", f"{len(each):,}", *cells(interval(each)))
            for cost, each in by_cost.items()
        ]
    figures = figures_of({**habits, **prices})
    return Answer(sentence, ("what", "positions", "margin", "95% interval"), rows, figures, draw_of(figures))


def draw_of(figures: Mapping[str, Any]) -> Callable[[Axes], None]:
    """Return what draws by how much capturing is better than creeping, by its price: a panel for each case."""
    found = intervals_in(figures)
    panels = {
        name: [(cost, *found[_price(cost, name)]) for cost in COSTS if _price(cost, name) in found] for name in CASES
    }
    drawn = {
        name: np.array(each)
        for at, (name, each) in enumerate(panels.items())
        if each and (at == 0 or all(high - low < WIDEST for *_, low, high in each))
    }

    def draw(axes: Axes) -> None:
        figure = axes.get_figure()
        assert isinstance(figure, Figure)
        axes.remove()
        columns = max(min(len(drawn), COLUMNS), 1)
        grid = figure.subplots(max(-(-len(drawn) // columns), 1), columns, sharex=True, sharey=True, squeeze=False)
        for panel, (name, each) in zip(grid.flat, drawn.items(), strict=False):
            cost, mean, low, high = each.T
            panel.errorbar(cost, mean, yerr=[mean - low, high - mean], fmt="o-", capsize=4, color="#2f5d8a")
            panel.axhline(0, color="black", linewidth=0.8)
            panel.set_title(name, fontsize=11)
            panel.tick_params(labelbottom=True)
            panel.set_xticks(COSTS, [*map(str, COSTS[:-1]), f"{COSTS[-1]}+"])
        for panel in list(grid.flat)[len(drawn) :]:
            panel.remove()
        figure.supxlabel("points that the best capture takes", fontsize=11)
        figure.supylabel("points by which it is better than to creep", fontsize=11)

    return draw


def _price(cost: int, name: str) -> str:
    return f"{_points(cost)}: {name}"


def _points(cost: int) -> str:
    return f"{cost} point{'s' * (cost != 1)}{' or more' * (cost == COSTS[-1])}"


STUDY = Study(
    "creep", "How many points may a capture cost before creeping is better?", tasks, answer, deals=5000, needs=values_of
)
