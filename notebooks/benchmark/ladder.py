"""The ladder: five games of one API, from six cards to two packs, and how a policy is graded on each of them.

On the small rungs a policy's exploitability is computed exactly: what a best response wins from it. On the full ones it
is the margin over `search(worlds=30)` in duplicate deals, with luck taken out. All figures are points a game.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from krypenv import Rules, agents
from krypenv.adapters import PolicyFunction
from krypenv.training import lab
from krypenv.training.solving import Trees, grow_for_agents, measure

YARDSTICK, DEALS_SEED = "search(worlds=30)", 65
Array = npt.NDArray[Any]
Probabilities = Callable[[Array, Array], Array]


class Rung(NamedTuple):
    """A game of the ladder."""

    name: str
    rules: Rules
    is_solved: bool  # whether exploitability is computed; else the margin over the yardstick is measured


LADDER = {
    rung.name: rung
    for rung in (
        Rung("mini-sweep", Rules.preset("mini-sweep"), True),
        Rung("mini-hidden", Rules.preset("mini-hidden"), True),
        Rung("mini-count", Rules.preset("mini-count"), True),
        Rung("one-pack", Rules.preset("krypkasino", players=2, packs=1, short_last_deal=True), False),
        Rung("krypkasino", Rules.preset("krypkasino", players=2), False),
    )
}


class Policy(PolicyFunction):
    """A learner's policy as an agent: the best action in matches, its probabilities where it is graded exactly.

    `choose` takes (B, N) int8 observations that end with the features block, and (B, A) int8 masks, and returns
    probabilities or other values that are not negative, (B, A); those of illegal actions are ignored.
    """

    draws = True  # in exact grading its probabilities count

    def __init__(self, choose: Probabilities, rules: Rules, name: str = "learner") -> None:
        super().__init__(choose, rules, name, features=True)

    def probabilities(self, observations: Array, action_masks: Array) -> Array:
        """Compute the probabilities of the legal actions, (B, A)."""
        weights = np.where(action_masks == 1, np.asarray(self.fn(observations, action_masks), np.float64), 0)
        total = weights.sum(axis=1, keepdims=True)
        uniform = action_masks / action_masks.sum(axis=1, keepdims=True)
        return np.where(total > 0, weights / np.where(total > 0, total, 1), uniform)


class Unfit(ValueError):
    """Raised by a learner that can't play a rung, with the reason, which stands in the table."""


class Tables(NamedTuple):
    """A policy in tables of the learner's own, which measures its exploitability itself."""

    exploitability: Callable[[], float]


@functools.cache
def trees_of(name: str) -> Trees:
    """Grow the trees of a solved rung, once in each process."""
    return grow_for_agents(LADDER[name].rules)


def grade(policy: Any, rung: Rung, deals: int) -> list[float]:
    """Grade a policy: a function as `Policy` takes it, an agent, an agent's name, or `Tables`.

    Returns its exploitability, one exact figure where less is better, or its margins over the yardstick by deal, where
    more is better. All policies play the same `deals`.
    """
    if isinstance(policy, Tables):
        return [policy.exploitability()]
    agent = policy if isinstance(policy, str) or hasattr(policy, "act") else Policy(policy, rung.rules)
    if rung.is_solved:
        seeds = 2 if agent == YARDSTICK else 8  # of an agent of the package, which may draw
        return [measure(agent, rung.rules, seeds, threads=1, trees=trees_of(rung.name)).exploitability]

    def player(yardstick: str, rules: Rules, seed: int) -> Any:
        return agents.make(agent, rules, seed) if isinstance(agent, str) else agent

    margins = lab.play_match(str(rung.rules), YARDSTICK, 0, deals, DEALS_SEED, player, luck="on").mean(axis=1)
    return [round(float(margin), 2) for margin in margins]
