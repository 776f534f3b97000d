"""What a solved game tells besides its value: its spread, and what sight of cards, mixing and memory are worth.

A forgetful seat knows its hand, the cards on the table and set aside, the counts of both piles and the plays of the
deal, so positions in which a deal can begin share information sets. How likely each position is depends on the seat's
own earlier plays: a game of imperfect recall, but of perfect recall within a deal. Play is improved deal by deal.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from krypenv.cards import NUM_KINDS
from krypenv.kernels.compiled import compile_rules
from krypenv.rules import Rules
from krypenv.runtime.jit import kernel
from krypenv.state import State
from krypenv.training.solving.beliefs import leaf_values, reach
from krypenv.training.solving.deal_tree import CHOICES, HANDS, INFOSETS, NODES, Forest
from krypenv.training.solving.equilibrium import Solution, evaluate_deals
from krypenv.training.solving.growing import FloatArray, Trees
from krypenv.training.solving.policies import owners_of
from krypenv.training.solving.solving import Solved, blank, respond, run_kernel, solve_trees

IntArray = npt.NDArray[np.int64]
Shown = Callable[[IntArray], IntArray]  # what is seen of hands, (hands,) packed: equal numbers look alike
SLIP = 1e-7  # chance that an own decision is random: weighs positions that the seat's own plays exclude
RISE = 1e-9  # points: a smaller improvement ends the search
_WORDS = np.random.default_rng(0).integers(1 << 62, size=4 * NUM_KINDS) | 1  # of a hash


def whole_hand(hands: IntArray) -> IntArray:
    """Show all cards of a hand."""
    return hands


def lowest_card(hands: IntArray) -> IntArray:
    """Show the first kind of a hand, in the order of suits and ranks."""
    lowest: IntArray = np.log2(hands & -hands).astype(np.int64) // 2  # two bits a kind
    return lowest


def spread_of(solved: Solved) -> float:
    """Return the standard deviation of the margin of a game between the two policies."""
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


def worth_of_sight(solved: Solved, shown: Shown = whole_hand, gap: float = 1e-4) -> float:
    """Return the points a game that a seat gains if it sees something of the other hand, on average over both seats.

    The other seat knows that it is seen, and both play an equilibrium of that game.
    """
    gained = [
        (1 - 2 * seat) * (solve_trees(with_sight(solved.trees, seat, shown), gap, threads=1).value - solved.value)
        for seat in range(2)
    ]
    return sum(gained) / 2


def worth_of_mixing(solved: Solved) -> float:
    """Return the exploitability of the policies without chance: each decision takes its likeliest choice."""
    solutions = []
    for forest, solution in zip(solved.trees.forests, solved.solutions, strict=True):
        pure, owner = blank(forest), owners_of(forest)
        if len(owner):
            best = np.maximum.reduceat(solution.policy, forest.choice[:-1])
            likeliest = np.flatnonzero(solution.policy == best[owner])
            pure.policy[likeliest[np.unique(owner[likeliest], return_index=True)[1]]] = 1.0
        solutions.append(pure)
    return respond(Solved(solved.trees, solutions), 1).exploitability


def with_sight(trees: Trees, seat: int, shown: Shown) -> Trees:
    """Return the trees of the game in which a seat sees something of the other hand as it is dealt."""
    return dataclasses.replace(trees, forests=[_told_apart(forest, seat, shown) for forest in trees.forests])


def _told_apart(forest: Forest, seat: int, shown: Shown) -> Forest:
    """Return a forest in which a seat's information sets are told apart by what it sees of the other hand."""
    begins = np.flatnonzero(forest.first >= 0)
    pair = begins[np.searchsorted(forest.first[begins], np.arange(len(forest.infoset)), "right") - 1]
    told = np.where(forest.seat[forest.infoset] == seat, shown(forest.dealt[pair, 1 - seat]), 0)
    pairs, infoset = np.unique(np.column_stack([forest.infoset, told]), axis=0, return_inverse=True)
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


# ---------------------------------------------------------------------- memory


class Merged(NamedTuple):
    """A forest for players that forget: information sets that look alike to them are one *class*."""

    forest: Forest
    classes: IntArray  # (infosets,)
    choice: IntArray  # (classes + 1,) the first choice of each class
    place: IntArray  # (choices,) which choice of its class each choice is
    order: IntArray  # (nodes,) by depth
    deal: IntArray  # (nodes,) the deal of each


def worth_of_memory(solved: Solved) -> float:
    """Return the points a game that memory of earlier deals is worth to a seat, on average over both seats.

    The other seat plays the equilibrium, against which a best response wins what the equilibrium does. The worth is
    never negative. It is an upper bound, as `without_memory` finds a local optimum; exact where that is global.
    """
    return sum(solved.best[seat] - without_memory(solved, seat) for seat in range(2)) / 2


def without_memory(solved: Solved, seat: int) -> float:
    """Return the margin of a seat, its own, that forgets earlier deals and plays well against an equilibrium.

    From the last deal to the first, its decisions in the deals of one number become a best response, given those of all
    others, until the margin no longer rises. The search starts from the equilibrium, averaged over what the seat can't
    tell apart, and from even chances; the better result counts.
    """
    trees = solved.trees
    merged = [merge(trees.rules, *each) for each in zip(trees.forests, trees.roots, strict=True)]
    policies = [solution.policy for solution in solved.solutions]
    weights = [nodes for _, nodes in _forward(trees, merged, policies)]
    averaged = [_averaged(*each, seat) for each in zip(merged, policies, weights, strict=True)]
    even = [_slipped(*each, seat, 1.0) for each in zip(merged, policies, strict=True)]
    return max(_improved(trees, merged, start, seat) for start in (averaged, even))


def merge(rules: Rules, forest: Forest, roots: State) -> Merged:
    """Return a forest with its information sets merged; `roots`, (S,) of `GAME`, are where its deals begin."""
    _, classes = np.unique(codes_of(rules, forest, roots), return_inverse=True)
    classes = classes.reshape(-1)
    sizes = np.zeros(classes.max(initial=-1) + 1, np.int64)
    sizes[classes] = np.diff(forest.choice)
    choice = np.concatenate([[0], np.cumsum(sizes)])
    owner = owners_of(forest)
    place = choice[classes[owner]] + np.arange(len(owner)) - forest.choice[owner]
    deal = _places(forest.starts[:, NODES], len(forest.infoset))
    return Merged(forest, classes, choice, place, np.argsort(forest.depth, kind="stable"), deal)


def codes_of(rules: Rules, forest: Forest, roots: State) -> IntArray:
    """Return a hash of what a seat that forgets knows in each information set, (infosets,)."""
    kinds = np.flatnonzero(rules.deck_counts)
    nodes = np.unique(forest.infoset, return_index=True)[1]
    deals = _places(forest.starts[:, INFOSETS], len(forest.seat))
    begins = np.flatnonzero(forest.first >= 0)
    pairs = begins[np.searchsorted(forest.first[begins], nodes, "right") - 1]
    packed = forest.dealt[pairs, forest.seat]
    is_unseen = rules.deck_counts[kinds] > roots.seen[:, kinds]
    shifts = 2 * (np.cumsum(is_unseen, axis=1) - 1)
    hand = np.where(is_unseen[deals], packed[:, None] >> np.maximum(shifts[deals], 0) & 3, 0)
    compiled = compile_rules(rules)[0]
    numbers = [roots.cards_won, roots.spades_won]
    if compiled["judges_sweeps"] or compiled["sweeps_cancel"] or compiled["threshold_at_once"]:  # then points decide
        numbers += [roots.points, roots.sweeps, roots.void_sweeps, roots.mulles, roots.bonus]
    known = np.column_stack([roots.table[:, kinds], roots.set_aside[:, kinds], *numbers])
    facts = np.column_stack([hand, known[deals], forest.plays]).astype(np.int64)
    codes: IntArray = facts @ _WORDS[: facts.shape[1]]
    return codes


def _places(starts: IntArray, count: int) -> IntArray:
    """Return in which part each of so many things lies, (count,); `starts`: where the parts begin, and the end."""
    return np.searchsorted(starts, np.arange(count), "right") - 1


def _forward(trees: Trees, merged: list[Merged], policies: list[FloatArray]) -> list[tuple[FloatArray, FloatArray]]:
    """Return how likely each deal and each node is, (S,) and (nodes,), by the deals of each number."""
    found = []
    reached = trees.chances
    for at, (each, policy) in enumerate(zip(merged, policies, strict=True)):
        forest = each.forest
        chances = forest.chance * reached[_places(forest.starts[:, HANDS], len(forest.first))]
        nodes, leaves = np.zeros(len(forest.infoset)), np.zeros(len(forest.gain))
        plays = forest.first >= 0
        nodes[forest.first[plays]] = chances[plays]
        leaves[-1 - forest.first[~plays]] = chances[~plays]
        _pass_on(forest, policy, nodes, leaves)
        found.append((reached, nodes))
        if at + 1 < len(merged):
            goes_on = forest.follower >= 0
            reached = np.zeros(len(trees.roots[at + 1]))
            np.add.at(reached, forest.follower[goes_on], leaves[goes_on])
    return found


@kernel
def _pass_on(forest: Forest, policy: np.ndarray, nodes: np.ndarray, leaves: np.ndarray) -> None:
    """Write how likely nodes and leaves are under a policy; those that begin a deal are there."""
    for node in range(len(nodes)):
        start = forest.choice[forest.infoset[node]]
        for each in range(forest.choice[forest.infoset[node] + 1] - start):
            child = forest.children[forest.edge[node] + each]
            weight = nodes[node] * policy[start + each]
            if child >= 0:
                nodes[child] = weight
            else:
                leaves[-1 - child] = weight


def _averaged(merged: Merged, policy: FloatArray, nodes: FloatArray, seat: int) -> FloatArray:
    """Return a policy with that of a seat averaged over each class, by how likely its nodes are, (nodes,)."""
    forest, owner = merged.forest, owners_of(merged.forest)
    weights = np.bincount(forest.infoset, nodes, len(forest.seat)) + 1e-30  # where a seat never comes, all count alike
    total = np.bincount(merged.classes, weights, len(merged.choice) - 1)
    shares = (weights / total[merged.classes])[owner]
    mean = np.bincount(merged.place, shares * policy, merged.choice[-1])
    return np.where(forest.seat[owner] == seat, mean[merged.place], policy)


def _slipped(merged: Merged, policy: FloatArray, seat: int, slip: float) -> FloatArray:
    """Return a policy in which a seat's decisions are random with some probability."""
    forest, owner = merged.forest, owners_of(merged.forest)
    even = 1 / np.diff(forest.choice)[owner]
    return np.where(forest.seat[owner] == seat, policy + slip * (even - policy), policy)


def _improved(trees: Trees, merged: list[Merged], policies: list[FloatArray], seat: int) -> float:
    """Return the own margin of a seat that responds deal by deal, from policies of both seats to begin with."""
    best = -np.inf
    while True:
        slipped = [_slipped(*each, seat, SLIP) for each in zip(merged, policies, strict=True)]
        reached = [deals for deals, _ in _forward(trees, merged, slipped)]
        to_come = trees.ending
        responses: list[FloatArray] = []
        for each, policy, deals in zip(reversed(merged), reversed(policies), reversed(reached), strict=True):
            to_come, response = _respond(each, policy, deals, to_come, seat)
            responses.insert(0, response)
        margin = (1 - 2 * seat) * float(trees.chances @ to_come)
        if margin <= best + RISE:
            return max(margin, best)
        best, policies = margin, responses


def _respond(
    merged: Merged, policy: FloatArray, deals: FloatArray, to_come: FloatArray, seat: int
) -> tuple[FloatArray, FloatArray]:
    """Return what deals are worth to seat 0 if a seat responds to a policy without telling them apart, and how.

    Both seats' policy is returned, (choices,). `deals`, (S,), is how likely each is.
    """
    forest = merged.forest
    values = np.concatenate([np.zeros(len(forest.infoset)), leaf_values(forest, to_come)[::-1]])
    weights = (1 - 2 * seat) * reach(forest, policy, seat, True) * deals[merged.deal]
    response = policy.copy()
    _respond_in_classes(merged, seat, weights, response, values, np.zeros(merged.choice[-1]))
    return np.add.reduceat(values[forest.first] * forest.chance, forest.starts[:-1, HANDS]), response


@kernel
def _respond_in_classes(
    merged: Merged, seat: int, weights: np.ndarray, policy: np.ndarray, values: np.ndarray, worth: np.ndarray
) -> None:
    """Write a seat's best responses into a policy, and the values of nodes; those of the leaves are there.

    `worth`, (choices of classes,), begins at 0.
    """
    forest, order, place = merged.forest, merged.order, merged.place
    stop = len(order)
    while stop > 0:
        start = stop
        while start > 0 and forest.depth[order[start - 1]] == forest.depth[order[stop - 1]]:
            start -= 1
            node = order[start]
            infoset = forest.infoset[node]
            if forest.seat[infoset] == seat:
                own = forest.choice[infoset]
                for each in range(forest.choice[infoset + 1] - own):
                    worth[place[own + each]] += weights[node] * values[forest.children[forest.edge[node] + each]]
        for at in range(start, stop):
            node = order[at]
            infoset = forest.infoset[node]
            own = forest.choice[infoset]
            count = forest.choice[infoset + 1] - own
            if forest.seat[infoset] == seat:
                best = 0
                for each in range(1, count):
                    if worth[place[own + each]] > worth[place[own + best]]:
                        best = each
                for each in range(count):
                    policy[own + each] = 1.0 if each == best else 0.0
            values[node] = 0.0
            for each in range(count):
                values[node] += policy[own + each] * values[forest.children[forest.edge[node] + each]]
        stop = start
