"""Set-ups: which tables does the next player sweep, what are they worth, how many points change hands by sweeps?"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from krypenv.cards import NO_CARD
from krypenv.rules import Rules
from krypenv.training.evaluation.matches.margins import interval, share_interval
from krypenv.training.lab.chunks import by_deal, chunk_tasks, match_tasks, watch
from krypenv.training.lab.habits import BoolArray, Habit, Int8Array, column, only_plays, values_of, with_habit
from krypenv.training.lab.intervals import cells, figures_of, percents, points
from krypenv.training.lab.strong_positions import EMPTY, TABLES, kinds_of_tables, position_tasks, positions_of
from krypenv.training.lab.studying import Answer, Setup, Study, Task

KINDS = {at: name for at, name in enumerate(TABLES) if at != EMPTY}


def never_sets_up(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """Allow only cards with the lowest chance that the next seat sweeps what they leave, of those that don't sweep."""
    return _by_chance(rules, observations, masks, 1)


def always_sets_up(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """Allow only cards with the highest chance that the next seat sweeps what they leave."""
    return _by_chance(rules, observations, masks, -1)


def _by_chance(rules: Rules, observations: Int8Array, masks: Int8Array, sign: int) -> BoolArray:
    chance = column(rules, observations, masks, "chance").astype(np.int64)
    place = np.where(masks[:, : chance.shape[1]] > 0, sign * chance, 1000)
    return only_plays(place == place.min(axis=1, keepdims=True), masks)


HABITS: dict[str, Habit] = {"never sets up a sweep if it can": never_sets_up, "sets up whenever it can": always_sets_up}


def count_sweeps(rules: str, agent: str, first: int, deals: int, seed: int) -> list[list[list[int]]]:
    """Return by deal and kind of table how often it was left, how often swept, and with how many sweeps."""
    found = np.zeros((deals, len(TABLES), 3), np.int64)
    left = np.full(deals, -1)  # the kind of table that the last play left, -1 before the first play of a deal
    for engine, rows, before, _, _ in watch(rules, agent, first, deals, seed):
        state = engine.state
        is_whole = state.pending[rows] == NO_CARD
        complete, numbers = rows[is_whole], before.deal_number[is_whole]
        known = complete[left[complete] >= 0]
        sweeps = state.last_sweep[known]
        np.add.at(found, (known, left[known]), np.stack([np.ones_like(sweeps), sweeps > 0, sweeps], axis=1))
        left[complete] = kinds_of_tables(state.table[complete], state.table_sum[complete])
        left[complete[state.deal_number[complete] != numbers]] = -1  # cards were dealt, and may have been set aside
    result: list[list[list[int]]] = found.tolist()
    return result


def tasks(setup: Setup) -> list[Task]:
    """Return games to watch, positions, and the matches of the agent with each habit."""
    matches = [task for name, habit in HABITS.items() for task in match_tasks(name, setup, with_habit(habit))]
    return [*chunk_tasks("sweeps", setup, count_sweeps), *position_tasks(setup), *matches]


def answer(setup: Setup, results: dict[str, Any]) -> Answer:
    """Tell how often each kind of table is swept, and how much better than another play it is to leave it."""
    found = np.array(by_deal(results, "sweeps", setup), float)  # (deals, tables, 3)
    swept = {name: share_interval(found[:, at, 1], found[:, at, 0]) for at, name in KINDS.items()}
    differences: dict[str, list[float]] = {name: [] for name in KINDS.values()}
    for position in positions_of(setup, results):
        for at, name in KINDS.items():
            this = position.best(lambda play, at=at: play.leaves == at)  # type: ignore[misc]
            other = position.best(lambda play, at=at: play.leaves != at)  # type: ignore[misc]
            if this and other:
                differences[name].append(this.margin - other.margin)
    worth = {name: interval(each) for name, each in differences.items()}
    habits = {name: interval(by_deal(results, name, setup)) for name in HABITS}
    landed = share_interval(found[:, 1:, 1].sum(axis=1), found[:, 1:, 0].sum(axis=1))
    moved = interval(found[:, 1:, 2].sum(axis=1) * setup.rules.sweep_points)
    (never,) = points(by_deal(results, "never sets up a sweep if it can", setup))
    sentence = (
        f"With {setup.agent} in every seat, the next play sweeps {landed[0]:.1%} ({landed[1]:.1%} to {landed[2]:.1%}) "
        f"of the tables that have cards. {moved[0]:.1f} points a game ({moved[1]:.1f} to {moved[2]:.1f}) change "
        f"hands by sweeps; the cards hold {setup.rules.total_points}. A player that never sets up a sweep if it can "
        f"avoid it has a margin of {never}."
    )
    rows = [
        (f"leave {name}", f"{found[:, at, 0].mean():.1f}", *map("\n".join, (percents(swept[name]), cells(worth[name]))))
        for at, name in KINDS.items()
    ]  # fmt: skip
    rows += [(f"habit: {name}", "", "", "\n".join(cells(each))) for name, each in habits.items()]

    def draw(axes: Axes) -> None:
        names = [name for name, each in swept.items() if np.isfinite(each).all()]
        if names:
            means = 100 * np.array([swept[name] for name in names])
            errors = [means[:, 0] - means[:, 1], means[:, 2] - means[:, 0]]
            axes.barh(names, means[:, 0], xerr=errors, capsize=4, color="#6b8fb5")
        axes.invert_yaxis()
        axes.set_xlabel("percent of the tables left that the next play sweeps")

    shares = {f"swept: {name}": each for name, each in swept.items()}
    worths = {f"worth leaving: {name}": each for name, each in worth.items()}
    return Answer(
        sentence,
        ("what", "times a game", "swept", "margin over other plays"),
        rows,
        figures_of({**shares, **worths, **habits, "moved by sweeps": moved, "swept": landed}),
        draw,
    )


STUDY = Study(
    "setups", "Which tables are worth leaving to the next player?", tasks, answer, deals=5000, needs=values_of
)
