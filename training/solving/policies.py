"""An agent as a behaviour strategy: its choice probabilities in every information set of a seat."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from krypenv import agents
from krypenv.agents import Agent
from krypenv.features import observation_for
from krypenv.rules import Rules
from krypenv.training.evaluation.matches.mixed_table import ask
from krypenv.training.solving.deal_tree import Forest
from krypenv.training.solving.growing import FloatArray, IntArray, Trees

BATCH = 4096  # decisions in one call of an agent


def policies_of(spec: str | Agent, trees: Trees, seeds: int = 1) -> list[FloatArray]:
    """Compute the probabilities of an agent's choices on both seats, (choices,) for the deals of each number.

    An agent's method `probabilities` is used if the agent draws by it; an agent given as an object must have it. Any
    other agent is made with each of `seeds` seeds, and the probabilities are the shares of their choices. An agent that
    remembers is made anew for each decision, and first replays its earlier decisions of the deal. In trees that begin
    within a deal an agent sees no plays.

    Raises ValueError for an agent that can't be made, and `Fault`, one too, for an illegal action.
    """
    agent = agents.make_known(spec, trees.rules) if isinstance(spec, str) else spec
    size = None if trees.begins_deal else trees.rules.observation_size
    forests = [forest._replace(seen=np.ascontiguousarray(forest.seen[:, :size])) for forest in trees.forests]
    if isinstance(spec, str) and not (hasattr(agent, "probabilities") and getattr(agent, "draws", True)):
        return [_observed_policy(spec, trees.rules, forest, seeds) for forest in forests]
    return [_stated_policy(agent, trees.rules, forest) for forest in forests]


def _observed_policy(spec: str, rules: Rules, forest: Forest, seeds: int) -> FloatArray:
    """Estimate an agent's policy by the shares of its choices with several seeds."""
    policy = np.zeros(len(forest.actions))
    for seat, seed in product(range(2), range(seeds)):
        agent = agents.make_known(spec, rules, seed)
        remembers = getattr(agent, "remembers", True)
        for path in _paths(forest, seat):
            for batch in _batches(path):
                if remembers:
                    agent = agents.make_known(spec, rules, seed)
                for infosets in batch.T if remembers else batch.T[-1:]:
                    choices = _choices(rules, forest, infosets)
                    actions, _, _ = ask(agent, forest.seen[infosets], (choices >= 0).astype(np.int8), forfeits=False)
                np.add.at(policy, choices[np.arange(len(batch)), actions], 1 / seeds)
    return policy


def _stated_policy(agent: Any, rules: Rules, forest: Forest) -> FloatArray:
    """Read an agent's policy from its method `probabilities`."""
    policy = np.zeros(len(forest.actions))
    for infosets in _batches(np.arange(len(forest.seat))):
        choices = _choices(rules, forest, infosets)
        is_legal = choices >= 0
        masks = is_legal.astype(np.int8)
        probabilities = agent.probabilities(observation_for(agent, rules, forest.seen[infosets], masks), masks)
        policy[choices[is_legal]] = probabilities[is_legal]
    return policy


def _batches(decisions: IntArray) -> list[IntArray]:
    """Split decisions into batches for one call of an agent each."""
    return [decisions[start : start + BATCH] for start in range(0, len(decisions), BATCH)]


def _choices(rules: Rules, forest: Forest, infosets: IntArray) -> IntArray:
    """Find the choice that each action is in some information sets, (B, A), -1 for illegal actions."""
    first, stop = forest.choice[infosets], forest.choice[infosets + 1]
    choices = np.full((len(infosets), rules.num_actions), -1)
    for at in range((stop - first).max()):
        has = first + at < stop
        choices[has, forest.actions[first[has] + at]] = first[has] + at
    return choices


def owners_of(forest: Forest) -> IntArray:
    """Map each choice to its information set, (choices,)."""
    return np.repeat(np.arange(len(forest.seat)), np.diff(forest.choice))


def _paths(forest: Forest, seat: int) -> list[IntArray]:
    """List the paths of a seat's information sets through a deal: an array (paths, length) for each length."""
    path, owners = np.flatnonzero(forest.seat == seat)[:, None], owners_of(forest)
    paths = []
    while len(path):
        before = forest.before[path[:, 0]]
        if (before < 0).any():
            paths.append(path[before < 0])
        path = np.column_stack([owners[before[before >= 0]], path[before >= 0]])
    return paths
