"""Set-ups: which tables does the next player sweep, how often, and how many points change hands by sweeps?"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from krypenv import agents
from krypenv.cards import NO_CARD, NUM_KINDS, NUM_RANKS, PICTURES
from krypenv.engine import Engine
from krypenv.rules import Rules
from krypenv.training.evaluation.deals import deal_seeds
from krypenv.training.studies.play import by_deal, chunk_tasks
from krypenv.training.studies.study import Answer, Setup, Study, Task

EMPTY, PICTURE, CARD, PAIR, SUM_14, MORE = range(6)
TABLES = ("an empty table", "a picture", "one other card", "two cards", "a sum of 14", "anything else")
_PICTURE_RANKS = np.isin(np.arange(NUM_KINDS) % NUM_RANKS + 1, PICTURES)


def kinds_of_tables(tables: npt.NDArray[np.int8], sums: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return what kind of table each is, (B,), from counts, (B, 52), and the sums of their table values, (B,)."""
    counts = tables.sum(axis=1)
    found = np.select(
        [counts == 0, (counts == 1) & tables[:, _PICTURE_RANKS].any(axis=1), counts == 1, sums == 14, counts == 2],
        [EMPTY, PICTURE, CARD, SUM_14, PAIR],
        MORE,
    )
    return found


def play_deals(rules: str, agent: str, first: int, deals: int, seed: int) -> list[list[list[int]]]:
    """Return by deal and kind of table how often it was left, how often swept, and with how many sweeps."""
    game = Rules.parse(rules)
    engine = Engine(game, deals, deal_seeds(seed, first + deals)[first:])
    player = agents.make_known(agent, game, int(np.random.SeedSequence([seed, first]).generate_state(1)[0]))
    found = np.zeros((deals, len(TABLES), 3), np.int64)
    left = np.full(deals, -1)  # the kind of table that the last play left, -1 before the first play of a deal
    rows = np.arange(deals)
    while len(rows):
        numbers = engine.state.deal_number[rows].copy()
        engine.step(player.act(engine.observation[rows], engine.action_mask[rows]), rows)
        rows, numbers = rows[~engine.finished[rows]], numbers[~engine.finished[rows]]
        state = engine.state
        complete = rows[state.pending[rows] == NO_CARD]
        known = complete[left[complete] >= 0]
        sweeps = state.last_sweep[known]
        np.add.at(found, (known, left[known]), np.stack([np.ones_like(sweeps), sweeps > 0, sweeps], axis=1))
        left[complete] = kinds_of_tables(state.table[complete], state.table_sum[complete])
        left[rows[state.deal_number[rows] != numbers]] = -1  # cards were dealt, and may have been put aside
    result: list[list[list[int]]] = found.tolist()
    return result


def tasks(setup: Setup) -> list[Task]:
    """Return chunks of deals in which the agent plays every seat."""
    return chunk_tasks("deals", setup, play_deals)


def answer(setup: Setup, results: dict[str, Any]) -> Answer:
    """Tell how often each kind of table was swept."""
    found = np.array(by_deal(results, "deals", setup), float)  # (deals, tables, 3)
    every = found.sum(axis=0)
    intervals = {name: ratio_interval(found[:, at, 1], found[:, at, 0]) for at, name in enumerate(TABLES)}
    sweeps = found[:, 1:, 2].sum(axis=1).mean() * setup.rules.sweep_points
    landed = ratio_interval(found[:, 1:, 1].sum(axis=1), found[:, 1:, 0].sum(axis=1))
    sentence = (
        f"Of the tables that are left with cards {landed[0]:.0%} ({landed[1]:.0%} to {landed[2]:.0%}) are swept "
        f"by the next play, and {sweeps:.0f} points a game change hands by sweeps, where the cards have "
        f"{setup.rules.total_points}."
    )
    rows = [
        (name, f"{every[at, 0] / len(found):.1f}", _percent(intervals[name][0]),
         f"{_percent(intervals[name][1])} to {_percent(intervals[name][2])}")
        for at, name in enumerate(TABLES)
        if at != EMPTY
    ]  # fmt: skip

    def draw(axes: Axes) -> None:
        names = [name for at, name in enumerate(TABLES) if at != EMPTY and every[at, 0]]
        means = np.array([intervals[name] for name in names])
        axes.bar(names, means[:, 0], yerr=[means[:, 0] - means[:, 1], means[:, 2] - means[:, 0]], capsize=4)
        axes.set_ylabel("share that the next play sweeps")

    figures = {
        name: dict(zip(("swept", "low", "high"), each, strict=True))
        for name, each in intervals.items()
        if np.isfinite(each).all()
    }
    return Answer(sentence, ("what is left", "times a game", "swept", "95% interval"), rows, figures, draw)


def ratio_interval(hits: npt.NDArray[np.float64], times: npt.NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the ratio of two sums over deals and its 95% interval, by the delta method; nan where there were none."""
    total = times.sum()
    if not total:
        return float("nan"), float("nan"), float("nan")
    ratio = hits.sum() / total
    error = np.sqrt(((hits - ratio * times) ** 2).sum()) / total
    return float(ratio), float(max(ratio - 1.96 * error, 0)), float(min(ratio + 1.96 * error, 1))


def _percent(share: float) -> str:
    return f"{share:.1%}" if np.isfinite(share) else "-"


STUDY = Study("setups", "Which tables does the next player sweep?", tasks, answer, deals=5000)
