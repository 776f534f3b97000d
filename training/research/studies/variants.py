"""Variants: how house rules change where points come from, luck and skill, and the order of agents."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from krypenv.rules import Rules
from krypenv.training.evaluation.matches.margins import Interval, interval, leads_over_others
from krypenv.training.evaluation.matches.mixed_table import by_side
from krypenv.training.lab.chunks import by_deal, chunk_tasks, instead, match_tasks, watch
from krypenv.training.lab.intervals import Samples, figures_of
from krypenv.training.lab.studying import Answer, Setup, Study, Task

FIELD = "tactician(shed=True)"  # whom the others meet, and who plays where points are counted
SKILLED = "search(worlds=10, plies=0)"  # by whose margin skill is measured
LADDER = ("random", "greedy", SKILLED, "rollout(worlds=5)")
VARIANTS = {
    "main rulebook": "krypkasino",
    "six on the table (V1)": "krypkasino first_deal=six_table",
    "a point for the last capture (V2)": "krypkasino last_capture_points=1",
    "spades set aside (V3)": "krypkasino set_aside=spades",
    "second description": "howto",
    "second, no forced sweep (H5)": "howto forced_sweep=False",
    "second, storan without points (H5)": "howto storan_points=0",
    "second, one pack (H5)": "howto packs=1",
}
SURE = 1.645  # standard errors at which the better one is ahead with 95%


def setups(setup: Setup) -> dict[str, Setup]:
    """Return the setup of each variant that can be played with these numbers of players and teams."""
    found = {}
    for name, text in VARIANTS.items():
        try:
            rules = dataclasses.replace(Rules.parse(text), players=setup.rules.players, teams=setup.rules.teams)
        except ValueError:  # six_table and one pack are for two players
            continue
        found[name] = dataclasses.replace(setup, rules=rules, agent=FIELD)
    return found


def count_points(rules: str, agent: str, first: int, deals: int, seed: int) -> list[list[float]]:
    """Return by deal, with an agent in every seat: card points, points of sweeps, lead of the leader's side."""
    found = np.zeros((deals, 3))
    game = Rules.parse(rules)
    for engine, _, _, ended, _ in watch(rules, agent, first, deals, seed):
        found[ended, 0] = engine.final_points[ended].sum(axis=1)
        found[ended, 1] = game.sweep_points * engine.final_sweeps[ended].sum(axis=1)
        if len(ended):
            scores = by_side(engine.final_scores[ended].astype(np.int64), game.num_teams).astype(float)
            found[ended, 2] = leads_over_others(game, scores)[:, 0]
    return found.tolist()


def tasks(setup: Setup) -> list[Task]:
    """Return the games to count and the matches of each variant."""
    found: list[Task] = []
    for name, own in setups(setup).items():
        found += chunk_tasks(f"{name}: points", own, count_points)
        for agent in LADDER:
            found += match_tasks(f"{name}: {agent}", own, instead(agent))
    return found


def answer(setup: Setup, results: dict[str, Any]) -> Answer:
    """Tell for each variant the points by source, the spread of a game, and the ladder of agents."""
    rows: list[tuple[str, ...]] = []
    figures: dict[str, Any] = {}
    margins: dict[str, dict[str, Interval]] = {}
    better: dict[str, list[tuple[str, str]]] = {}
    for name, own in setups(setup).items():
        cards, sweeps, lead = np.array(by_deal(results, f"{name}: points", own)).T
        samples = {agent: np.array(by_deal(results, f"{name}: {agent}", own)) for agent in LADDER}
        margins[name] = {agent: interval(each) for agent, each in samples.items()}
        better[name] = _told_apart({**samples, FIELD: np.zeros(own.deals)})
        spread, skill = float(lead.std(ddof=1)), margins[name][SKILLED][0]
        games = (SURE * spread / skill) ** 2 if skill else None
        rows.append(
            (name, f"{sweeps.mean():.1f}", f"{spread:.1f}",
             *(f"{each[0]:+.1f}\n±{(each[2] - each[1]) / 2:.1f}" for each in margins[name].values()),
             f"{games:,.0f}" if games else "-")
        )  # fmt: skip
        figures[name] = {
            "cards": float(cards.mean()), "sweeps": float(sweeps.mean()), "spread": spread, "games": games,
            **figures_of(margins[name]),
        }  # fmt: skip
    usual = next(iter(better.values()))
    passed = {
        name: [f"{one} is ahead of {other}" for one, other in pairs if (other, one) in usual]
        for name, pairs in better.items()
    }
    changed = "; ".join(f"{name}: {', '.join(each)}" for name, each in passed.items() if each)
    most, least = (find(figures, key=lambda name: figures[name]["sweeps"]) for find in (max, min))
    sentence = (
        f"With {FIELD} in every seat, sweeps move {figures[least]['sweeps']:.0f} ({least}) to "
        f"{figures[most]['sweeps']:.0f} ({most}) points a game, and the standard deviation of a game is "
        f"{figures[least]['spread']:.0f} to {figures[most]['spread']:.0f}; "
        + (f"agents change places ({changed})." if changed else "no agent overtakes another significantly.")
    )
    return Answer(
        sentence, ("what", "sweeps", "spread", *(agent.partition("(")[0] for agent in LADDER), "games"), rows,
        {**figures, "better": {name: [list(pair) for pair in pairs] for name, pairs in better.items()}}, _draw(margins),
    )  # fmt: skip


def _told_apart(margins: Samples) -> list[tuple[str, str]]:
    """Return the pairs of agents of which the first is better for certain, by the same deals against the same agent."""
    return [(one, other) for one in margins for other in margins if interval(margins[one] - margins[other])[1] > 0]


def _draw(margins: dict[str, dict[str, Interval]]) -> Callable[[Axes], None]:
    def draw(axes: Axes) -> None:
        for at, agent in enumerate(LADDER):
            means = np.array([each[agent] for each in margins.values()])
            errors = [means[:, 0] - means[:, 1], means[:, 2] - means[:, 0]]
            axes.barh(np.arange(len(means)) + 0.2 * at, means[:, 0], 0.2, xerr=errors, capsize=2, label=agent)
        axes.set_yticks(np.arange(len(margins)) + 0.3, list(margins))
        axes.invert_yaxis()
        axes.axvline(0, color="black", linewidth=0.8)
        axes.set_xlabel(f"points a game against {FIELD}")
        axes.legend(fontsize=8)

    return draw


STUDY = Study("variants", "What do house rules change?", tasks, answer, deals=1000, fewest=2)
