"""Measures of a game and its equilibrium: size, spread, and what mixing and sight of the other hand are worth."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from krypenv.runtime.jit import kernel
from krypenv.training.solving.deal_tree import CHOICES, INFOSETS, LEAVES, NODES, Forest
from krypenv.training.solving.equilibrium import Solution, evaluate_deals
from krypenv.training.solving.growing import FloatArray, IntArray, Trees
from krypenv.training.solving.policies import owners_of
from krypenv.training.solving.solving import Solved, respond, run_kernel, solve_trees, with_policies

Shown = Callable[[IntArray], IntArray]  # what is seen of hands, (hands,) packed: equal numbers look alike


class Size(NamedTuple):
    """The size of a game; a decision without a choice is a history and an information set too."""

    histories: float  # sequences of chance's deals and of plays that lead to a decision or to the end
    terminals: float  # those that end the game
    infosets: tuple[float, float]  # information sets of each seat: its hand, and all that is public
    deals: int  # public positions in which a deal begins, as far as they matter for what is to come


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
    return Size(histories, terminals, (own, other), sum(map(len, trees.roots)))


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


def worth_of_mixing(solved: Solved) -> float:
    """Return the exploitability of the policies if each decision takes its likeliest choice, in points a game."""
    policies = []
    for forest, solution in zip(solved.trees.forests, solved.solutions, strict=True):
        pure, owners = np.zeros(len(solution.policy)), owners_of(forest)
        if len(owners):
            best = np.maximum.reduceat(solution.policy, forest.choice[:-1])
            likeliest = np.flatnonzero(solution.policy == best[owners])
            pure[likeliest[np.unique(owners[likeliest], return_index=True)[1]]] = 1.0
        policies.append(pure)
    return respond(with_policies(solved.trees, policies), 1).exploitability


def whole_hand(hands: IntArray) -> IntArray:
    """Show all cards of a hand."""
    return hands


def lowest_card(hands: IntArray) -> IntArray:
    """Show the first kind of a hand, in the order of suits and ranks."""
    lowest: IntArray = np.log2(hands & -hands).astype(np.int64) // 2  # two bits a kind
    return lowest


def worth_of_sight(solved: Solved, shown: Shown = whole_hand, gap: float = 1e-4) -> float:
    """Return the points a game that a seat gains if it sees something of the other hand, on average over both seats.

    The other seat knows that it is seen, and both play an equilibrium of that game.
    """
    gained = [
        (1 - 2 * seat) * (solve_trees(with_sight(solved.trees, seat, shown), gap, threads=1).value - solved.value)
        for seat in range(2)
    ]
    return sum(gained) / 2


def with_sight(trees: Trees, seat: int, shown: Shown) -> Trees:
    """Return the trees of the game in which a seat sees something of the other hand as it is dealt."""
    return dataclasses.replace(trees, forests=[_with_sight(forest, seat, shown) for forest in trees.forests])


def _with_sight(forest: Forest, seat: int, shown: Shown) -> Forest:
    """Return a forest in which a seat's information sets are told apart by what it sees of the other hand."""
    begins = np.flatnonzero(forest.first >= 0)
    pair = begins[np.searchsorted(forest.first[begins], np.arange(len(forest.infoset)), "right") - 1]
    seen = np.where(forest.seat[forest.infoset] == seat, shown(forest.dealt[pair, 1 - seat]), 0)
    pairs, infoset = np.unique(np.column_stack([forest.infoset, seen]), axis=0, return_inverse=True)
    old, infoset = pairs[:, 0], infoset.reshape(-1)
    sizes = np.diff(forest.choice)[old]
    choice = np.concatenate([[0], np.cumsum(sizes)])
    within = np.arange(choice[-1]) - np.repeat(choice[:-1], sizes)
    starts = forest.starts.copy()
    starts[:, INFOSETS] = np.searchsorted(old, forest.starts[:, INFOSETS])
    starts[:, CHOICES] = choice[starts[:, INFOSETS]]
    changed = forest._replace(
        starts=starts, infoset=infoset.astype(np.int32), seat=forest.seat[old], choice=choice,
        before=np.full(len(old), -1), plays=forest.plays[old],
        actions=forest.actions[np.repeat(forest.choice[old], sizes) + within],
        arrives=np.zeros(len(forest.infoset), np.bool_), seen=forest.seen[:0],
    )  # fmt: skip
    last = np.full((len(forest.infoset), 2), -1)
    follow_choices(changed, last)
    own = last[np.arange(len(last)), changed.seat[changed.infoset]]
    _, first = np.unique(np.column_stack([changed.infoset, own]), axis=0, return_index=True)
    changed.arrives[first] = True
    return changed


@kernel
def follow_choices(forest: Forest, last: np.ndarray) -> None:
    """Write for each node the last choice of each seat in its deal, or -1: (nodes, 2) int64, which begins at -1."""
    for node in range(len(last)):
        infoset = forest.infoset[node]
        start = forest.choice[infoset]
        for each in range(forest.choice[infoset + 1] - start):
            child = forest.children[forest.edge[node] + each]
            if child >= 0:
                last[child, 0], last[child, 1] = last[node, 0], last[node, 1]
                last[child, forest.seat[infoset]] = start + each
