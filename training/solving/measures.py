"""How large a game is, and how far its margins spread between two policies."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from krypenv.training.solving.deal_tree import INFOSETS, LEAVES, NODES, Forest
from krypenv.training.solving.equilibrium import Solution, evaluate_deals
from krypenv.training.solving.growing import FloatArray, Trees
from krypenv.training.solving.solving import Solved, run_kernel


class Size(NamedTuple):
    """The size of a game; a decision without a choice is a history and an information set too."""

    histories: float  # sequences of chance's deals and of plays that lead to a decision or to the end
    terminals: float  # those that end the game
    infosets: tuple[float, float]  # information sets of each seat: its hand, and all that is public


def size_of(trees: Trees) -> Size:
    """Return the size of a game whose trees were grown with `keeps_all`.

    A deal that several histories lead to is stored once and counted for each of them. The order in which the cards of a
    capture are named is no part of an information set.
    """
    after = np.zeros((0, 4))
    for forest in reversed(trees.forests):
        deals = len(forest.starts) - 1
        counts = np.zeros((deals, 4))  # histories, terminals, information sets of each seat
        deal_of_leaf = np.repeat(np.arange(deals), np.diff(forest.starts[:, LEAVES]))
        deal_of_infoset = np.repeat(np.arange(deals), np.diff(forest.starts[:, INFOSETS]))
        goes_on = forest.follower >= 0
        counts[:, 1] = np.bincount(deal_of_leaf[~goes_on], minlength=deals)
        counts[:, 0] = np.diff(forest.starts[:, NODES]) + counts[:, 1]
        for seat in range(2):
            counts[:, 2 + seat] = np.bincount(deal_of_infoset[forest.seat == seat], minlength=deals)
        is_first = np.zeros(len(forest.public))  # of its public history: all ends of one have the same information sets
        is_first[np.unique(forest.public, return_index=True)[1]] = 1.0
        for column in range(4):
            found = after[forest.follower[goes_on], column] * (is_first[goes_on] if column > 1 else 1.0)
            counts[:, column] += np.bincount(deal_of_leaf[goes_on], found, minlength=deals)
        after = counts
    histories, terminals, own, other = after.sum(axis=0).tolist()
    return Size(histories, terminals, (own, other))


def spread_of(solved: Solved) -> float:
    """Return the standard deviation of the margin of a game between the two policies, in points."""
    mean = square = np.zeros(0)
    for forest, solution in zip(reversed(solved.trees.forests), reversed(solved.solutions), strict=True):
        goes_on = forest.follower >= 0
        after = np.zeros(len(forest.gain))
        after[goes_on] = mean[forest.follower[goes_on]]
        squared = forest._replace(gain=forest.gain**2 + 2 * forest.gain * after)
        mean, square = _values(forest, solution, mean), _values(squared, solution, square)
    chances = solved.trees.chances
    variance = float(chances @ square) - float(chances @ mean) ** 2
    return math.sqrt(max(variance, 0.0))


def _values(forest: Forest, solution: Solution, to_come: FloatArray) -> FloatArray:
    """Return the value of a policy in each deal of a forest, (S,)."""
    found = solution._replace(values=np.zeros(len(solution.values)))
    run_kernel(evaluate_deals, forest, 1, to_come, found)
    return found.values
