"""Partners: what two of one kind gain over two strangers, and how a pair's game differs from each for itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from krypenv import agents
from krypenv.agents import Agent
from krypenv.features import want_history
from krypenv.observation import LAYOUT
from krypenv.rules import Rules
from krypenv.training.evaluation.matches.margins import interval
from krypenv.training.lab.chunks import Change, by_deal, chunk_tasks, instead, match_tasks, strong_agent, watch
from krypenv.training.lab.comparison import LABEL
from krypenv.training.lab.habits import Int8Array
from krypenv.training.lab.intervals import amounts, bars, cells, figures_of, intervals_in, points
from krypenv.training.lab.studying import Answer, Setup, Study, Task

STRANGERS = {  # and what pictures call them
    "search(worlds=10, plies=2)": "the small search",
    "tactician(shed=True)": "the tactician",
    "greedy": "greedy",
}
PAIRS = {  # what is measured, and how pictures say it
    "one {}": "the agent and {}",
    "two of {}": "two of {}",
    "one less half of two, {}": "the agent and {}, without half of what two of them lose",
    "each for itself, {}": "{} with nobody for a partner",
}


class ByPlace:
    """Plays as one agent in the first seats of all sides and as another in the later ones."""

    def __init__(self, first: Agent, later: Agent) -> None:
        self.name, self.rules, self.agents = f"{first.name} and {later.name}", first.rules, (first, later)
        self.needs_history = want_history(self.agents)

    def act(self, observations: Int8Array, action_masks: Int8Array) -> npt.NDArray[np.int64]:
        """Return an action for each row, (B,) int64."""
        dealer = observations[:, LAYOUT["dealer"]].argmax(axis=1)  # places to the left, where the last seat deals
        is_later = (self.rules.players - 1 - dealer) % self.rules.players >= self.rules.num_teams
        actions = np.zeros(len(observations), np.int64)
        for agent, rows in zip(self.agents, (~is_later, is_later), strict=True):
            if rows.any():
                actions[rows] = agent.act(observations[rows], action_masks[rows])
        return actions


def with_partner(other: str, is_first: bool, agent: str, rules: Rules, seed: int) -> Agent:
    """Return an agent whose partner is another one; a change of an agent for `match_tasks`."""
    made = [agents.make_known(name, rules, seed + at) for at, name in enumerate((other, agent))]
    return ByPlace(*made) if is_first else ByPlace(*reversed(made))


def changes(stranger: str) -> dict[str, Change]:
    """Return the pairs that meet a pair of the agent: with a stranger on either seat, and two of the stranger."""
    return {
        f"{stranger} in its first seat": partial(with_partner, stranger, True),
        f"{stranger} in its second seat": partial(with_partner, stranger, False),
        f"two of {stranger}": instead(stranger),
    }


def alone(setup: Setup) -> Setup:
    """Return the setup of the same table with each for itself."""
    rules = dataclasses.replace(setup.rules, teams=None)
    return dataclasses.replace(setup, rules=rules, agent=strong_agent(rules))


def count_sweeps(rules: str, agent: str, first: int, deals: int, seed: int) -> list[int]:
    """Return by deal the sweeps of all seats, with the agent in each of them."""
    sweeps = np.zeros(deals, np.int64)
    for engine, _, _, ended, _ in watch(rules, agent, first, deals, seed):
        sweeps[ended] = engine.final_sweeps[ended].sum(axis=1)
    return sweeps.tolist()


def tasks(setup: Setup) -> list[Task]:
    """Return the matches of all pairs, and the same strangers at a table with each for itself."""
    found = [
        *chunk_tasks("sweeps in pairs", setup, count_sweeps),
        *chunk_tasks("sweeps alone", alone(setup), count_sweeps),
    ]
    for stranger in STRANGERS:
        found += [task for name, change in changes(stranger).items() for task in match_tasks(name, setup, change)]
        found += match_tasks(f"{stranger} alone", alone(setup), instead(stranger))
    return found


def answer(setup: Setup, results: dict[str, Any]) -> Answer:
    """Tell what a pair of strangers loses beyond what its weaker member costs."""
    margins, lost = {}, {}
    for stranger in STRANGERS:
        first, second, both = (np.array(by_deal(results, name, setup)) for name in changes(stranger))
        mixed = (first + second) / 2
        margins[f"one {stranger}"], margins[f"two of {stranger}"] = interval(mixed), interval(both)
        lost[stranger] = mixed - both / 2
        margins[f"one less half of two, {stranger}"] = interval(lost[stranger])
        margins[f"each for itself, {stranger}"] = interval(by_deal(results, f"{stranger} alone", setup))
    sweeps = {name: interval(by_deal(results, f"sweeps {name}", setup)) for name in ("in pairs", "alone")}
    told = ", ".join(f"{each} with {name}" for name, each in zip(lost, points(*lost.values()), strict=True))
    sentence = (
        f"Over the mean of the two pairs of one kind, a pair of the agent and a stranger has a margin of {told}. "
        f"Pairs make {sweeps['in pairs'][0]:.1f} sweeps a game, single players {sweeps['alone'][0]:.1f}."
    )
    rows = [(name, *cells(each)) for name, each in margins.items()]
    rows += [(f"sweeps a game {name}", *amounts(each)) for name, each in sweeps.items()]
    figures = figures_of({**margins, **{f"sweeps {name}": each for name, each in sweeps.items()}})
    return Answer(sentence, ("what", "margin", "95% interval"), rows, figures, draw_of(figures))


def draw_of(figures: Mapping[str, Any]) -> Callable[[Axes], None]:
    """Return what draws the margins of all pairs, named in words."""
    found = intervals_in(figures)
    told = {
        say.format(words): found[key.format(name)]
        for name, words in STRANGERS.items()
        for key, say in PAIRS.items()
        if key.format(name) in found
    }
    return bars(told, LABEL)


STUDY = Study(
    "partners", "What do partners gain by being of one kind?", tasks, answer, deals=2000, players=(4,), teams=2
)
