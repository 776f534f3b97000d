"""An agent as a behaviour strategy: what it does in each information set, asked once for each."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv import agents
from krypenv.agents import Agent
from krypenv.features import observation_for
from krypenv.rules import Rules
from krypenv.training.evaluation.matches.mixed_table import legal_answer
from krypenv.training.solving.deal_tree import Forest

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
AT_ONCE = 4096  # decisions that an agent is asked at once


def policy_of(spec: str | Agent, rules: Rules, forest: Forest, seat: int, seeds: int = 1) -> FloatArray:
    """Return the probabilities of an agent's choices on a seat, (choices,); choices of the other seat get 0.

    An agent with a method `probabilities` is asked for them; one that is given as an object must have it. Any other is
    made anew for each of `seeds` seeds, and the probabilities are the shares of them; one that remembers is made anew
    for each question, and asked its own earlier decisions in this deal first.

    Raises ValueError for an agent that can't be made, and `Fault`, one too, for one that answers with no legal action.
    """
    policy = np.zeros(len(forest.actions))
    owner = owners_of(forest)
    agent = agents.make_known(spec, rules) if isinstance(spec, str) else spec
    if not isinstance(spec, str) or hasattr(agent, "probabilities"):
        return _told_by(agent, rules, forest, owner, seat)
    for seed in range(seeds):
        agent = agents.make_known(spec, rules, seed)
        remembers = getattr(agent, "remembers", True)
        for path in _paths(forest, owner, seat):
            for start in range(0, len(path), AT_ONCE):
                asked = path[start : start + AT_ONCE]
                if remembers:
                    agent = agents.make_known(spec, rules, seed)
                    for earlier in asked.T[:-1]:
                        _ask(agent, rules, forest, earlier)
                np.add.at(policy, _ask(agent, rules, forest, asked[:, -1]), 1 / seeds)
    return policy


def owners_of(forest: Forest) -> IntArray:
    """Return the information set of each choice, (choices,)."""
    return np.repeat(np.arange(len(forest.seat)), np.diff(forest.choice))


def _told_by(agent: Any, rules: Rules, forest: Forest, owner: IntArray, seat: int) -> FloatArray:
    """Return the policy that an agent tells."""
    policy = np.zeros(len(forest.actions))
    own = np.flatnonzero(forest.seat == seat)
    for start in range(0, len(own), AT_ONCE):
        infosets = own[start : start + AT_ONCE]
        masks = _masks(rules, forest, infosets)
        told = agent.probabilities(observation_for(agent, rules, forest.seen[infosets], masks), masks)
        choices = np.flatnonzero(np.isin(owner, infosets))
        policy[choices] = told[np.searchsorted(infosets, owner[choices]), forest.actions[choices]]
    return policy


def _masks(rules: Rules, forest: Forest, infosets: IntArray) -> npt.NDArray[np.int8]:
    """Return the action masks of some information sets."""
    first, stop = forest.choice[infosets], forest.choice[infosets + 1]
    masks = np.zeros((len(infosets), rules.num_actions), np.int8)
    for at in range((stop - first).max()):
        has = first + at < stop
        masks[has, forest.actions[first[has] + at]] = 1
    return masks


def _ask(agent: Agent, rules: Rules, forest: Forest, infosets: IntArray) -> IntArray:
    """Return the choices that an agent makes in some information sets."""
    first, stop = forest.choice[infosets], forest.choice[infosets + 1]
    actions = legal_answer(agent, forest.seen[infosets], _masks(rules, forest, infosets))
    places = first.copy()
    for _ in range((stop - first).max() - 1):
        places += forest.actions[places] != actions
    return places


def _paths(forest: Forest, owner: IntArray, seat: int) -> list[IntArray]:
    """Return a seat's information sets, each with those before it in the deal: (count, length) for each length."""
    path = np.flatnonzero(forest.seat == seat)[:, None]
    paths = []
    while len(path):
        before = forest.before[path[:, 0]]
        if (before < 0).any():
            paths.append(path[before < 0])
        path = np.column_stack([owner[before[before >= 0]], path[before >= 0]])
    return paths
