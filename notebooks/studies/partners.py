"""What do partners gain by being of one kind?

A pair of the agent meets pairs with a stranger in one seat, and pairs of two strangers. Without any understanding
between partners, one stranger loses half of what two lose.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv import Rules, agents
from krypenv.features import want_history
from krypenv.observation import LAYOUT
from krypenv.training import lab

STRANGERS = ("search(worlds=10, plies=2)", "tactician(shed=True)", "greedy")


class ByPlace:
    """Plays as one agent in the first seats of all sides and as another in the later ones."""

    def __init__(self, first: agents.Agent, later: agents.Agent) -> None:
        self.name, self.rules, self.agents = f"{first.name} and {later.name}", first.rules, (first, later)
        self.needs_history = want_history(self.agents)

    def act(self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
        """Return an action for each row, (B,) int64."""
        dealer = observations[:, LAYOUT["dealer"]].argmax(axis=1)  # places to the left, where the last seat deals
        is_later = (self.rules.players - 1 - dealer) % self.rules.players >= self.rules.num_teams
        actions = np.zeros(len(observations), np.int64)
        for agent, rows in zip(self.agents, (~is_later, is_later), strict=True):
            if rows.any():
                actions[rows] = agent.act(observations[rows], action_masks[rows])
        return actions


def with_partner(other: str, is_first: bool, agent: str, rules: Rules, seed: int) -> ByPlace:
    """Return an agent whose partner is another one, which sits first or second; a change of an agent."""
    made = [agents.make_known(name, rules, seed + at) for at, name in enumerate((other, agent))]
    return ByPlace(*made) if is_first else ByPlace(*reversed(made))


def changes(stranger: str) -> dict[str, lab.Change]:
    """Return the pairs that meet a pair of the agent."""
    return {
        f"{stranger} in its first seat": partial(with_partner, stranger, True),
        f"{stranger} in its second seat": partial(with_partner, stranger, False),
        f"two of {stranger}": lab.instead(stranger),
    }


def alone(setup: lab.Setup) -> lab.Setup:
    """Return the setup of the same table with each for itself."""
    rules = replace(setup.rules, teams=None)
    return replace(setup, rules=rules, agent=lab.strong_agent(rules))


def count_sweeps(rules: str, agent: str, first: int, deals: int, seed: int) -> list[int]:
    """Return by deal the sweeps of all seats, with the agent in each of them."""
    sweeps = np.zeros(deals, np.int64)
    for engine, _, _, ended, _ in lab.watch(rules, agent, first, deals, seed):
        sweeps[ended] = engine.final_sweeps[ended].sum(axis=1)
    return sweeps.tolist()


def tasks(setup: lab.Setup) -> list[lab.Task]:
    """Return the matches of all pairs, and those of the strangers at a table with each for itself."""
    if not setup.rules.teams:
        raise ValueError("partners play in teams; give rules such as 'krypkasino players=4 teams=2'")
    found = lab.chunk_tasks("sweeps a game in pairs", setup, count_sweeps)
    found += lab.chunk_tasks("sweeps a game alone", alone(setup), count_sweeps)
    for stranger in STRANGERS:
        for name, change in changes(stranger).items():
            found += lab.match_tasks(name, setup, change)
        found += lab.match_tasks(f"{stranger} alone", alone(setup), lab.instead(stranger))
    return found


def answer(setup: lab.Setup, results: dict[str, Any]) -> lab.Answer:
    """Return what a pair of strangers loses beyond what its members cost."""
    margins = {}
    for stranger in STRANGERS:
        first, second, both = (np.array(lab.by_deal(results, name, setup)) for name in changes(stranger))
        mixed = (first + second) / 2
        margins[f"one {stranger}"], margins[f"two of {stranger}"] = mixed, both
        margins[f"one less half of two, {stranger}"] = mixed - both / 2
        margins[f"each for itself, {stranger}"] = np.array(lab.by_deal(results, f"{stranger} alone", setup))
    sweeps = {name: lab.interval(lab.by_deal(results, name, setup)) for name in ("sweeps a game in pairs",)}
    sweeps["sweeps a game alone"] = lab.interval(lab.by_deal(results, "sweeps a game alone", alone(setup)))
    return lab.Answer({**lab.effects_of(margins), **lab.figures_of(sweeps)})


QUESTION = "What do partners gain by being of one kind?"
STUDY = lab.Study("partners", QUESTION, tasks, answer, deals=2000, rules="krypkasino players=4 teams=2")

if __name__ == "__main__":
    lab.main(STUDY)
