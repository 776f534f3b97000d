"""What a search loses to an equilibrium, by each of its causes: its beliefs, the open hands, the value after a deal.

A search weighs the hands that the other seat may hold, and values each of its moves with each of them. With uniform
beliefs all hands count alike that may be dealt; exact ones follow from the other seat's equilibrium by Bayes' rule.
The continuation is open if values are those of minimax, as if all hands lay open from then on (strategy fusion), or
that of the equilibrium if both seats play it from then on. After the deal the search expects what the equilibrium does,
or the leaf value of the agent `search`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from krypenv.agents.search.horizon import expect_margins
from krypenv.runtime.jit import kernel
from krypenv.training.solving.deal_tree import Forest
from krypenv.training.solving.growing import FloatArray
from krypenv.training.solving.policies import owners_of
from krypenv.training.solving.solving import Solved, lost_to_equilibrium, with_policies

EQUILIBRIUM = "equilibrium"
BELIEFS, CONTINUATIONS, LEAVES = ("uniform", "exact"), ("open", EQUILIBRIUM), (EQUILIBRIUM, "search")
TIE = 1e-9  # points


class Way(NamedTuple):
    """How a search values moves, by the names above."""

    beliefs: str = "uniform"
    continuation: str = "open"
    leaf: str = EQUILIBRIUM


CAUSES = {
    "uniform/open": Way(),
    "exact/open": Way(beliefs="exact"),
    "uniform/equilibrium": Way(continuation=EQUILIBRIUM),
    "leaf of search": Way(leaf="search"),
}


def lost_by(solved: Solved, way: Way, threads: int = 0) -> float:
    """Return the points a game that a search loses to an equilibrium, on average over both seats.

    Raises ValueError as `searched` does.
    """
    return lost_to_equilibrium(solved, searched(solved, way), threads)


def searched(solved: Solved, way: Way) -> Solved:
    """Return the policies of a search in both seats of a solved game; equally good moves are equally likely.

    Raises ValueError for an unknown name in `way`.
    """
    for name, known in zip(way, (BELIEFS, CONTINUATIONS, LEAVES), strict=True):
        if name not in known:
            raise ValueError(f"a search values moves by {' or '.join(known)}, not {name!r}")
    trees, policies = solved.trees, []
    for number, (forest, solution) in enumerate(zip(trees.forests, solved.solutions, strict=True)):
        if number + 1 == len(trees.forests):
            to_come = trees.ending
        elif way.leaf == EQUILIBRIUM:
            to_come = solved.solutions[number + 1].values
        else:
            roots = trees.roots[number + 1]
            to_come = expect_margins(trees.rules, roots, np.zeros(len(roots), np.int64))
        continuation = solution.policy if way.continuation == EQUILIBRIUM else None
        values = node_values(forest, leaf_values(forest, to_come), continuation)
        policy = solution.policy
        for seat in range(2):
            weights = reach(forest, solution.policy, seat, way.beliefs == "exact")
            policy = replaced(forest, policy, seat, values, weights)
        policies.append(policy)
    return with_policies(trees, policies)


def leaf_values(forest: Forest, to_come: FloatArray) -> FloatArray:
    """Return the margin of seat 0 that each leaf leads to, (leaves,), where deals that follow are worth `to_come`."""
    goes_on = forest.follower >= 0
    values = forest.gain.copy()
    values[goes_on] += to_come[forest.follower[goes_on]]
    return values


def node_values(forest: Forest, leaves: FloatArray, policy: FloatArray | None = None) -> FloatArray:
    """Return the margin of seat 0 at each node under a policy; without one by minimax, as if all hands lay open.

    The leaves follow in reverse, so that children index the result.
    """
    values = np.concatenate([np.zeros(len(forest.infoset)), leaves[::-1]])
    if policy is None:
        _back_up_open(forest, values)
    else:
        _back_up(forest, policy, values)
    return values


@kernel
def _back_up(forest: Forest, policy: np.ndarray, values: np.ndarray) -> None:
    """Write the values of nodes under a policy; those of the leaves are there."""
    for node in range(len(forest.infoset) - 1, -1, -1):
        start, stop = forest.choice[forest.infoset[node]], forest.choice[forest.infoset[node] + 1]
        values[node] = 0.0
        for each in range(stop - start):
            values[node] += policy[start + each] * values[forest.children[forest.edge[node] + each]]


@kernel
def _back_up_open(forest: Forest, values: np.ndarray) -> None:
    """Write the values of nodes by minimax; those of the leaves are there."""
    for node in range(len(forest.infoset) - 1, -1, -1):
        infoset, first = forest.infoset[node], forest.edge[node]
        best = values[forest.children[first]]
        for each in range(1, forest.choice[infoset + 1] - forest.choice[infoset]):
            value = values[forest.children[first + each]]
            best = max(best, value) if forest.seat[infoset] == 0 else min(best, value)
        values[node] = best


def reach(forest: Forest, policy: FloatArray, seat: int, is_exact: bool) -> FloatArray:
    """Return the weight of each node in a seat's belief, (nodes,): by chance, and if exact by the other's policy."""
    weights = np.zeros(len(forest.infoset))
    begins = forest.first >= 0
    weights[forest.first[begins]] = forest.chance[begins]
    _push_weights(forest, policy, 1 - seat if is_exact else -1, weights)
    return weights


@kernel
def _push_weights(forest: Forest, policy: np.ndarray, weighed: int, weights: np.ndarray) -> None:
    """Write the weights of nodes, those of first ones are there: by the plays of a seat, by none's if it is -1."""
    for node in range(len(weights)):
        infoset = forest.infoset[node]
        start = forest.choice[infoset]
        for each in range(forest.choice[infoset + 1] - start):
            child = forest.children[forest.edge[node] + each]
            if child >= 0:
                weights[child] = weights[node] * (policy[start + each] if forest.seat[infoset] == weighed else 1.0)


def replaced(forest: Forest, policy: FloatArray, seat: int, values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return a policy with a seat's decisions replaced: the best by some values of nodes, weighted by its belief.

    Equally good choices are equally likely. Where the belief excludes all nodes of an information set, they count
    alike.
    """
    total = np.bincount(forest.infoset, weights, len(forest.seat))[forest.infoset]
    shares = np.divide(weights, total, out=np.ones(len(weights)), where=total > 0)
    worth, owner = np.zeros(len(policy)), owners_of(forest)
    _add_worth(forest, (1 - 2 * seat) * shares, values, worth)
    is_best = worth > np.maximum.reduceat(worth, forest.choice[:-1])[owner] - TIE
    chosen = is_best / np.add.reduceat(is_best, forest.choice[:-1], dtype=np.int64)[owner]
    found: FloatArray = np.where(forest.seat[owner] == seat, chosen, policy)
    return found


@kernel
def _add_worth(forest: Forest, shares: np.ndarray, values: np.ndarray, worth: np.ndarray) -> None:
    """Add what each choice is worth in each node, times the node's share, to `worth`, (choices,)."""
    for node in range(len(forest.infoset)):
        start = forest.choice[forest.infoset[node]]
        for each in range(forest.choice[forest.infoset[node] + 1] - start):
            worth[start + each] += shares[node] * values[forest.children[forest.edge[node] + each]]
