"""What a search with open hands loses to an equilibrium, with uniform beliefs and with exact ones.

A search weighs the hands that the other seat may hold, and values what it does with each of them as if all hands lay
open from then on. With uniform beliefs it makes two mistakes: how it weighs them, and that it sees them (strategy
fusion). With the beliefs that follow from the other seat's equilibrium, by Bayes' rule, it makes the second alone.
"""

from __future__ import annotations

import numpy as np

from krypenv.training.research.exact.deal_tree import HANDS, Forest
from krypenv.training.research.exact.solving import FloatArray, Solved

BELIEFS = ("uniform", "exact")
TIE = 1e-9  # points


def lost_to_equilibrium(solved: Solved, beliefs: str) -> float:
    """Return the points a game that a search with open hands loses to an equilibrium, on average over both seats.

    It plays the first of the moves that it values most. After the deal it expects what the equilibrium does.
    """
    found = [_margin(solved, seat, beliefs) for seat in range(2)]
    return (solved.value - found[0] + found[1] - solved.value) / 2


def _margin(solved: Solved, seat: int, beliefs: str) -> float:
    """Return the margin of seat 0 where one seat searches and the other one plays the equilibrium."""
    to_come = expected = np.zeros(0)
    for forest, solution in zip(reversed(solved.trees.forests), reversed(solved.solutions), strict=True):
        values = node_values(forest, leaf_values(forest, expected))
        weights = reach(forest, solution.policy, seat, beliefs == "exact")
        policy = replaced(forest, solution.policy, seat, values, weights)
        to_come = deal_values(forest, policy, leaf_values(forest, to_come))
        expected = solution.values
    return float(solved.trees.chances @ to_come)


def leaf_values(forest: Forest, to_come: FloatArray) -> FloatArray:
    """Return the margin of seat 0 that each leaf leads to, (leaves,), where deals that follow are worth `to_come`."""
    goes_on = forest.follower >= 0
    values = forest.gain.copy()
    values[goes_on] += to_come[forest.follower[goes_on]]
    return values


def children_of(forest: Forest, node: int) -> tuple[slice, np.ndarray]:
    """Return the choices of a node and its children."""
    infoset = forest.infoset[node]
    choices = slice(int(forest.choice[infoset]), int(forest.choice[infoset + 1]))
    first = forest.edge[node]
    return choices, forest.children[first : first + choices.stop - choices.start]


def node_values(forest: Forest, leaves: FloatArray, policy: FloatArray | None = None) -> FloatArray:
    """Return the margin of seat 0 at each node under a policy; without one by minimax, as if all hands lay open.

    The leaves follow in reverse, so that children index the result.
    """
    values = np.concatenate([np.zeros(len(forest.infoset)), leaves[::-1]])
    for node in range(len(forest.infoset) - 1, -1, -1):
        choices, children = children_of(forest, node)
        if policy is not None:
            values[node] = policy[choices] @ values[children]
        else:
            values[node] = (values[children].max, values[children].min)[forest.seat[forest.infoset[node]]]()
    return values


def reach(forest: Forest, policy: FloatArray, seat: int, is_exact: bool) -> FloatArray:
    """Return the weight of each node in a seat's belief, (nodes,): by chance, and if exact by the other's policy."""
    weights = np.zeros(len(forest.infoset))
    begins = forest.first >= 0
    weights[forest.first[begins]] = forest.chance[begins]
    for node in range(len(weights)):
        choices, children = children_of(forest, node)
        is_weighed = is_exact and forest.seat[forest.infoset[node]] != seat
        for child, probability in zip(children, policy[choices], strict=True):
            if child >= 0:
                weights[child] = weights[node] * (probability if is_weighed else 1.0)
    return weights


def replaced(forest: Forest, policy: FloatArray, seat: int, values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return a policy with a seat's decisions replaced: the best by some values of nodes, weighted by its belief."""
    worth, plain = np.zeros((2, len(policy)))
    possible = np.zeros(len(forest.seat))
    sign = 1 - 2 * seat
    for node, infoset in enumerate(forest.infoset):
        if forest.seat[infoset] == seat:
            choices, children = children_of(forest, node)
            worth[choices] += sign * weights[node] * values[children]
            plain[choices] += sign * values[children]
            possible[infoset] += weights[node]
    found = policy.copy()
    for infoset in np.flatnonzero(forest.seat == seat):
        choices = slice(int(forest.choice[infoset]), int(forest.choice[infoset + 1]))
        here = worth[choices] / possible[infoset] if possible[infoset] else plain[choices]  # never comes: all alike
        found[choices] = 0.0
        found[choices.start + int((here > here.max() - TIE).argmax())] = 1.0
    return found


def deal_values(forest: Forest, policy: FloatArray, leaves: FloatArray) -> FloatArray:
    """Return the margin of seat 0 in each deal of a forest under a policy, (S,)."""
    values = node_values(forest, leaves, policy)[forest.first] * forest.chance
    return np.add.reduceat(values, forest.starts[:-1, HANDS])
