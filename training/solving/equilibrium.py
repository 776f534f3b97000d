"""Equilibria and best responses of deals, as kernels over their trees.

Regrets are those of predictive CFR+ (Farina, Kroer and Sandholm 2021) with alternating updates; the average strategy
weights iterations by their square. A deal in which nothing is hidden is solved by minimax instead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from krypenv.runtime.jit import kernel
from krypenv.training.solving.deal_tree import Forest

CHECK_EVERY = 25  # iterations between two computations of the exploitability


class Solution(NamedTuple):
    """The solution of the S deals of a forest. Values are expected margins of seat 0."""

    policy: np.ndarray  # (choices,) float64: probabilities; the average strategy
    values: np.ndarray  # (S,) float64: value of the average strategies
    best: np.ndarray  # (2, S) float64: own margin of each seat that plays a best response to the policy
    response: np.ndarray  # (infosets,) int16: a best response, as an index into the choices


class Work(NamedTuple):
    """Work arrays of the kernels: each deal has its own part, so all threads share one instance."""

    leaf: np.ndarray  # (leaves,) float64: expected margin of seat 0
    value: np.ndarray  # (nodes,) float64: expected margin of seat 0
    reach: np.ndarray  # (2, nodes) float64: reach probability by the own plays, and by the other seat and chance
    regret: np.ndarray  # (choices,) float64
    change: np.ndarray  # (choices,) float64: regret of the last iteration
    current: np.ndarray  # (choices,) float64: the strategies of this iteration
    total: np.ndarray  # (choices,) float64: the average strategy, not yet normalized
    margin: np.ndarray  # (choices,) float64: margin of the responder's choices, weighted by their reach


@kernel
def value_of(child: int, work: Work) -> float:
    """Read the value of a node, or of -1 - leaf."""
    return work.value[child] if child >= 0 else work.leaf[-1 - child]


@kernel
def value_of_root(forest: Forest, at: int, work: Work) -> float:
    """Compute the mean value over the hands of a deal."""
    total = 0.0
    for hand in range(forest.starts[at].hands, forest.starts[at + 1].hands):
        total += forest.chance[hand] * value_of(forest.first[hand], work)
    return total


@kernel
def expected_value(forest: Forest, node: int, policy: np.ndarray, work: Work) -> float:
    """Compute the value of a node under a policy, given those of its children."""
    start, value = forest.choice[forest.infoset[node]], 0.0
    for choice in range(start, forest.choice[forest.infoset[node] + 1]):
        value += policy[choice] * value_of(forest.children[forest.edge[node] + choice - start], work)
    return value


@kernel
def evaluate_policy(forest: Forest, at: int, policy: np.ndarray, work: Work) -> float:
    """Compute the value of each node of a deal under a policy; return the value of the deal."""
    for node in range(forest.starts[at + 1].nodes - 1, forest.starts[at].nodes - 1, -1):
        work.value[node] = expected_value(forest, node, policy, work)
    return value_of_root(forest, at, work)


@kernel
def push_reach(forest: Forest, at: int, policy: np.ndarray, seat: int, work: Work) -> None:
    """Compute the reach probabilities of each node of a deal: of a seat's own plays, and of all other ones."""
    for hand in range(forest.starts[at].hands, forest.starts[at + 1].hands):
        node = forest.first[hand]
        if node >= 0:
            work.reach[0, node], work.reach[1, node] = 1.0, forest.chance[hand]
    for node in range(forest.starts[at].nodes, forest.starts[at + 1].nodes):
        infoset = forest.infoset[node]
        is_own, start = forest.seat[infoset] == seat, forest.choice[infoset]
        for choice in range(start, forest.choice[infoset + 1]):
            child = forest.children[forest.edge[node] + choice - start]
            if child >= 0:
                work.reach[0, child] = work.reach[0, node] * (policy[choice] if is_own else 1.0)
                work.reach[1, child] = work.reach[1, node] * (1.0 if is_own else policy[choice])


@kernel
def respond(forest: Forest, at: int, policy: np.ndarray, seat: int, work: Work, response: np.ndarray) -> float:
    """Compute a seat's best response to the other's policy, written into `response`, and return its expected margin.

    `work.leaf` are margins of seat 0 if the seat plays a best response from there on.
    """
    push_reach(forest, at, policy, seat, work)
    begin, stop = forest.starts[at].nodes, forest.starts[at + 1].nodes
    sign = 1.0 if seat == 0 else -1.0
    work.margin[forest.choice[forest.starts[at].infosets] : forest.choice[forest.starts[at + 1].infosets]] = 0.0
    while stop > begin:  # all nodes of an information set have the same depth
        depth, end = forest.depth[forest.infoset[forest.order[stop - 1]]], stop
        while stop > begin and forest.depth[forest.infoset[forest.order[stop - 1]]] == depth:
            stop -= 1
            node = forest.order[stop]
            infoset = forest.infoset[node]
            if forest.seat[infoset] == seat:
                start = forest.choice[infoset]
                for choice in range(start, forest.choice[infoset + 1]):
                    value = value_of(forest.children[forest.edge[node] + choice - start], work)
                    work.margin[choice] += sign * work.reach[1, node] * value
            else:
                work.value[node] = expected_value(forest, node, policy, work)
        for place in range(stop, end):
            node = forest.order[place]
            infoset = forest.infoset[node]
            if forest.seat[infoset] == seat:
                best = start = forest.choice[infoset]
                for choice in range(start + 1, forest.choice[infoset + 1]):
                    if work.margin[choice] > work.margin[best]:
                        best = choice
                response[infoset] = best - start
                work.value[node] = value_of(forest.children[forest.edge[node] + best - start], work)
    return sign * value_of_root(forest, at, work)


@kernel
def normalize(weights: np.ndarray, start: int, stop: int, policy: np.ndarray) -> None:
    """Normalize the weights of an information set's choices to probabilities, uniform if all are 0."""
    total = 0.0
    for choice in range(start, stop):
        total += weights[choice]
    for choice in range(start, stop):
        policy[choice] = weights[choice] / total if total > 0.0 else 1.0 / (stop - start)


@kernel
def match_regrets(forest: Forest, at: int, seat: int, work: Work) -> None:
    """Update a seat's cumulative regrets, and its next strategy, in proportion to the predicted regrets."""
    for infoset in range(forest.starts[at].infosets, forest.starts[at + 1].infosets):
        if forest.seat[infoset] == seat:
            start, stop = forest.choice[infoset], forest.choice[infoset + 1]
            for choice in range(start, stop):
                work.regret[choice] = max(work.regret[choice] + work.change[choice], 0.0)
                work.current[choice] = max(work.regret[choice] + work.change[choice], 0.0)
            normalize(work.current, start, stop, work.current)


@kernel
def learn(forest: Forest, at: int, seat: int, weight: float, work: Work) -> None:
    """Compute a seat's instantaneous regrets against the other's current strategy, and add to its average strategy.

    The average strategy of an information set is weighted by the seat's own reach probability. The cards of one capture
    may be named in several orders, so several paths may lead to one information set.
    """
    push_reach(forest, at, work.current, seat, work)
    evaluate_policy(forest, at, work.current, work)
    sign = 1.0 if seat == 0 else -1.0
    work.change[forest.choice[forest.starts[at].infosets] : forest.choice[forest.starts[at + 1].infosets]] = 0.0
    for node in range(forest.starts[at].nodes, forest.starts[at + 1].nodes):
        infoset = forest.infoset[node]
        if forest.seat[infoset] == seat:
            start, other = forest.choice[infoset], sign * work.reach[1, node]
            for choice in range(start, forest.choice[infoset + 1]):
                value = value_of(forest.children[forest.edge[node] + choice - start], work)
                work.change[choice] += other * (value - work.value[node])
                if forest.arrives[node]:
                    work.total[choice] += weight * work.reach[0, node] * work.current[choice]


@kernel
def solve_open(forest: Forest, at: int, work: Work, policy: np.ndarray) -> None:
    """Compute a minimax strategy of a deal in which nothing is hidden."""
    for node in range(forest.starts[at + 1].nodes - 1, forest.starts[at].nodes - 1, -1):
        infoset = forest.infoset[node]
        sign = 1.0 if forest.seat[infoset] == 0 else -1.0
        chosen = start = forest.choice[infoset]
        best = -np.inf
        for choice in range(start, forest.choice[infoset + 1]):
            policy[choice] = 0.0
            value = sign * value_of(forest.children[forest.edge[node] + choice - start], work)
            if value > best:
                best, chosen = value, choice
        policy[chosen] = 1.0
        work.value[node] = sign * best


@kernel
def load_leaves(forest: Forest, at: int, to_come: np.ndarray, sign: float, work: Work) -> None:
    """Compute the expected margin of seat 0 at each leaf: its gain, and `sign` times the value of the next deal."""
    for leaf in range(forest.starts[at].leaves, forest.starts[at + 1].leaves):
        follower = forest.follower[leaf]
        work.leaf[leaf] = forest.gain[leaf] + (sign * to_come[follower] if follower >= 0 else 0.0)


@kernel
def solve_deal(forest: Forest, at: int, gap: float, most: int, work: Work, solution: Solution) -> None:
    """Solve one deal until a best response gains at most `gap` on it, or for `most` iterations."""
    nodes = forest.starts[at + 1].nodes - forest.starts[at].nodes
    if nodes == forest.starts[at + 1].infosets - forest.starts[at].infosets:
        solve_open(forest, at, work, solution.policy)
        return
    for seat in range(2):
        match_regrets(forest, at, seat, work)
    for done in range(1, most + 1):
        for seat in range(2):
            learn(forest, at, seat, float(done) ** 2, work)
            match_regrets(forest, at, seat, work)
        if done % CHECK_EVERY == 0 or done == most:
            for infoset in range(forest.starts[at].infosets, forest.starts[at + 1].infosets):
                normalize(work.total, forest.choice[infoset], forest.choice[infoset + 1], solution.policy)
            gained = 0.0
            for seat in range(2):
                gained += respond(forest, at, solution.policy, seat, work, solution.response)
            if gained <= gap:
                return


# ---------------------------------------------------------------------- every `parts`-th deal of a forest
# `to_come` are the values of the next deals.


@kernel
def solve_deals(
    forest: Forest, to_come: np.ndarray, gap: float, most: int, solution: Solution, work: Work, part: int, parts: int
) -> None:
    """Compute an equilibrium of the deals, and its values."""
    for at in range(part, len(forest.starts) - 1, parts):
        load_leaves(forest, at, to_come, 1.0, work)
        solve_deal(forest, at, gap, most, work, solution)
        solution.values[at] = evaluate_policy(forest, at, solution.policy, work)


@kernel
def evaluate_deals(
    forest: Forest, to_come: np.ndarray, seat: int, solution: Solution, work: Work, part: int, parts: int
) -> None:
    """Compute the value of a policy in the deals, and the value and a seat's reach probabilities of each node."""
    for at in range(part, len(forest.starts) - 1, parts):
        load_leaves(forest, at, to_come, 1.0, work)
        solution.values[at] = evaluate_policy(forest, at, solution.policy, work)
        push_reach(forest, at, solution.policy, seat, work)


@kernel
def respond_to_deals(
    forest: Forest, to_come: np.ndarray, seat: int, solution: Solution, work: Work, part: int, parts: int
) -> None:
    """Compute a seat's best responses to a policy in the deals, and their margins; `to_come` is from its view."""
    for at in range(part, len(forest.starts) - 1, parts):
        load_leaves(forest, at, to_come, 1.0 if seat == 0 else -1.0, work)
        solution.best[seat, at] = respond(forest, at, solution.policy, seat, work, solution.response)
