"""Equilibria and best responses of deals, as kernels over their trees.

Regrets are those of predictive CFR+ (Farina, Kroer and Sandholm 2021) with alternating updates; the average strategy
weights iterations by their square. A deal in which nothing is hidden is solved by minimax instead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from krypenv.runtime.jit import kernel
from krypenv.training.solving.deal_tree import CHOICES, HANDS, INFOSETS, LEAVES, NODES, Forest

CHECK_EVERY = 25  # iterations between two looks at how far an equilibrium is


class Solution(NamedTuple):
    """What is known of the deals of a forest; S of them. Values are margins of seat 0 to come."""

    policy: np.ndarray  # (choices,) float64: probabilities; the average strategy
    values: np.ndarray  # (S,) float64: value of the average strategies
    best: np.ndarray  # (2, S) float64: own margin of each seat that plays a best response to the policy
    response: np.ndarray  # (infosets,) int16: a best response, as a place among the choices


class Work(NamedTuple):
    """Room for one thread."""

    leaf: np.ndarray  # (leaves,) float64: the margin of seat 0 that each leads to
    value: np.ndarray  # (nodes,) float64
    reach: np.ndarray  # (2, nodes) float64: of the own plays, and of those of the other seat and of chance
    order: np.ndarray  # (nodes,) int64: by depth
    regret: np.ndarray  # (choices,) float64
    change: np.ndarray  # (choices,) float64: of the last iteration
    current: np.ndarray  # (choices,) float64: the strategies of this iteration
    total: np.ndarray  # (choices,) float64: the average strategy, not yet normalized
    places: np.ndarray  # (MOST_LENGTH + 2,) int64: for sorting


@kernel
def value_of_child(child: int, first_node: int, first_leaf: int, work: Work) -> float:
    """Return the value of a child, which is a node or -1 - leaf."""
    return work.value[child - first_node] if child >= 0 else work.leaf[-1 - child - first_leaf]


@kernel
def push_reach(forest: Forest, at: int, policy: np.ndarray, first_choice: int, seat: int, work: Work) -> None:
    """Write for each node of a deal how likely its history is: by the plays of a seat, and by all else."""
    begin, end = forest.starts[at, NODES], forest.starts[at + 1, NODES]
    for hand in range(forest.starts[at, HANDS], forest.starts[at + 1, HANDS]):
        node = forest.first[hand]
        if node >= 0:
            work.reach[0, node - begin] = 1.0
            work.reach[1, node - begin] = forest.chance[hand]
    for node in range(begin, end):
        infoset = forest.infoset[node]
        is_own = forest.seat[infoset] == seat
        own, other = work.reach[0, node - begin], work.reach[1, node - begin]
        start = forest.choice[infoset]
        for each in range(forest.choice[infoset + 1] - start):
            child = forest.children[forest.edge[node] + each]
            if child >= 0:
                probability = policy[start - first_choice + each]
                work.reach[0, child - begin] = own * probability if is_own else own
                work.reach[1, child - begin] = other if is_own else other * probability


@kernel
def value_of_root(forest: Forest, at: int, work: Work) -> float:
    """Return the mean value over the hands of a deal."""
    total = 0.0
    for hand in range(forest.starts[at, HANDS], forest.starts[at + 1, HANDS]):
        total += forest.chance[hand] * value_of_child(
            forest.first[hand], forest.starts[at, NODES], forest.starts[at, LEAVES], work
        )
    return total


@kernel
def evaluate_policy(forest: Forest, at: int, policy: np.ndarray, first_choice: int, work: Work) -> float:
    """Write the value of each node under a policy; return that of the deal."""
    begin, leaves = forest.starts[at, NODES], forest.starts[at, LEAVES]
    for node in range(forest.starts[at + 1, NODES] - 1, begin - 1, -1):
        infoset = forest.infoset[node]
        start = forest.choice[infoset]
        value = 0.0
        for each in range(forest.choice[infoset + 1] - start):
            child = forest.children[forest.edge[node] + each]
            value += policy[start - first_choice + each] * value_of_child(child, begin, leaves, work)
        work.value[node - begin] = value
    return value_of_root(forest, at, work)


@kernel
def order_by_depth(forest: Forest, at: int, work: Work) -> None:
    """Write the nodes of a deal in the order of their depth."""
    begin, end, places = forest.starts[at, NODES], forest.starts[at + 1, NODES], work.places
    for each in range(len(places)):
        places[each] = 0
    for node in range(begin, end):
        places[forest.depth[node] + 1] += 1
    for each in range(1, len(places)):
        places[each] += places[each - 1]
    for node in range(begin, end):
        depth = forest.depth[node]
        work.order[places[depth]] = node
        places[depth] += 1


@kernel
def respond(
    forest: Forest, at: int, policy: np.ndarray, first_choice: int, seat: int, work: Work, response: np.ndarray
) -> float:
    """Write a seat's best response to the other's policy into `response`; return its margin.

    `work.change` is overwritten. `work.leaf` are margins of seat 0 if the seat plays a best response from there on.
    """
    push_reach(forest, at, policy, first_choice, seat, work)
    begin, leaves = forest.starts[at, NODES], forest.starts[at, LEAVES]
    sign = 1.0 if seat == 0 else -1.0
    for each in range(forest.starts[at + 1, CHOICES] - forest.starts[at, CHOICES]):
        work.change[each] = 0.0
    order_by_depth(forest, at, work)
    stop = forest.starts[at + 1, NODES] - begin
    while stop > 0:
        depth = forest.depth[work.order[stop - 1]]
        start = stop
        while start > 0 and forest.depth[work.order[start - 1]] == depth:
            start -= 1
            node = work.order[start]
            infoset = forest.infoset[node]
            if forest.seat[infoset] == seat:
                own = forest.choice[infoset]
                for each in range(forest.choice[infoset + 1] - own):
                    child = forest.children[forest.edge[node] + each]
                    work.change[own - first_choice + each] += (
                        sign * work.reach[1, node - begin] * value_of_child(child, begin, leaves, work)
                    )
        for place in range(start, stop):
            node = work.order[place]
            infoset = forest.infoset[node]
            own = forest.choice[infoset]
            count = forest.choice[infoset + 1] - own
            if forest.seat[infoset] == seat:
                best = 0
                for each in range(1, count):
                    if work.change[own - first_choice + each] > work.change[own - first_choice + best]:
                        best = each
                response[infoset] = best
                child = forest.children[forest.edge[node] + best]
                work.value[node - begin] = value_of_child(child, begin, leaves, work)
            else:
                value = 0.0
                for each in range(count):
                    child = forest.children[forest.edge[node] + each]
                    value += policy[own - first_choice + each] * value_of_child(child, begin, leaves, work)
                work.value[node - begin] = value
        stop = start
    return sign * value_of_root(forest, at, work)


@kernel
def match_regrets(forest: Forest, at: int, seat: int, first_choice: int, work: Work) -> None:
    """Write a seat's strategies of this iteration: in proportion to the regrets that are predicted."""
    for infoset in range(forest.starts[at, INFOSETS], forest.starts[at + 1, INFOSETS]):
        if forest.seat[infoset] != seat:
            continue
        start, stop = forest.choice[infoset] - first_choice, forest.choice[infoset + 1] - first_choice
        total = 0.0
        for each in range(start, stop):
            work.current[each] = max(work.regret[each] + work.change[each], 0.0)
            total += work.current[each]
        for each in range(start, stop):
            work.current[each] = work.current[each] / total if total > 0.0 else 1.0 / (stop - start)


@kernel
def learn(forest: Forest, at: int, seat: int, first_choice: int, weight: float, work: Work) -> None:
    """Update a seat's regrets against the other's strategies, and its average strategy."""
    push_reach(forest, at, work.current, first_choice, seat, work)
    evaluate_policy(forest, at, work.current, first_choice, work)
    begin, leaves = forest.starts[at, NODES], forest.starts[at, LEAVES]
    sign = 1.0 if seat == 0 else -1.0
    for infoset in range(forest.starts[at, INFOSETS], forest.starts[at + 1, INFOSETS]):
        if forest.seat[infoset] == seat:
            for each in range(forest.choice[infoset], forest.choice[infoset + 1]):
                work.change[each - first_choice] = 0.0
    for node in range(begin, forest.starts[at + 1, NODES]):
        infoset = forest.infoset[node]
        if forest.seat[infoset] != seat:
            continue
        start = forest.choice[infoset]
        other = sign * work.reach[1, node - begin]
        value = work.value[node - begin]
        for each in range(forest.choice[infoset + 1] - start):
            child = forest.children[forest.edge[node] + each]
            work.change[start - first_choice + each] += other * (value_of_child(child, begin, leaves, work) - value)
    for infoset in range(forest.starts[at, INFOSETS], forest.starts[at + 1, INFOSETS]):
        if forest.seat[infoset] == seat:
            for each in range(forest.choice[infoset] - first_choice, forest.choice[infoset + 1] - first_choice):
                work.regret[each] = max(work.regret[each] + work.change[each], 0.0)
    average(forest, at, seat, first_choice, weight, work)


@kernel
def average(forest: Forest, at: int, seat: int, first_choice: int, weight: float, work: Work) -> None:
    """Add a seat's strategies to its average, each information set by how likely the seat's own plays make it.

    The cards of one capture may be named in several orders, so several ways may lead there.
    """
    begin = forest.starts[at, NODES]
    for node in range(begin, forest.starts[at + 1, NODES]):
        infoset = forest.infoset[node]
        if forest.seat[infoset] != seat or not forest.arrives[node]:
            continue
        own = weight * work.reach[0, node - begin]
        for each in range(forest.choice[infoset] - first_choice, forest.choice[infoset + 1] - first_choice):
            work.total[each] += own * work.current[each]


@kernel
def normalize(forest: Forest, at: int, first_choice: int, work: Work, policy: np.ndarray) -> None:
    """Write the average strategies as probabilities; even ones where a seat never comes by its own plays."""
    for infoset in range(forest.starts[at, INFOSETS], forest.starts[at + 1, INFOSETS]):
        start, stop = forest.choice[infoset] - first_choice, forest.choice[infoset + 1] - first_choice
        total = 0.0
        for each in range(start, stop):
            total += work.total[each]
        for each in range(start, stop):
            policy[each + first_choice] = work.total[each] / total if total > 0.0 else 1.0 / (stop - start)


@kernel
def solve_open(forest: Forest, at: int, work: Work, policy: np.ndarray) -> None:
    """Write a minimax strategy of a deal in which nothing is hidden."""
    begin, leaves = forest.starts[at, NODES], forest.starts[at, LEAVES]
    for node in range(forest.starts[at + 1, NODES] - 1, begin - 1, -1):
        infoset = forest.infoset[node]
        start = forest.choice[infoset]
        sign = 1.0 if forest.seat[infoset] == 0 else -1.0
        best, chosen = -np.inf, 0
        for each in range(forest.choice[infoset + 1] - start):
            child = forest.children[forest.edge[node] + each]
            policy[start + each] = 0.0
            value = sign * value_of_child(child, begin, leaves, work)
            if value > best:
                best, chosen = value, each
        policy[start + chosen] = 1.0
        work.value[node - begin] = sign * best


@kernel
def load_leaves(forest: Forest, at: int, to_come: np.ndarray, sign: float, work: Work) -> None:
    """Write the margin of seat 0 that each leaf leads to, given `sign` times what each next deal is worth."""
    begin = forest.starts[at, LEAVES]
    for leaf in range(begin, forest.starts[at + 1, LEAVES]):
        follower = forest.follower[leaf]
        work.leaf[leaf - begin] = forest.gain[leaf] + (sign * to_come[follower] if follower >= 0 else 0.0)


@kernel
def solve_deal(
    forest: Forest, at: int, to_come: np.ndarray, gap: float, most: int, work: Work, solution: Solution
) -> None:
    """Solve one deal until a best response gains at most `gap` on it, or for `most` iterations."""
    load_leaves(forest, at, to_come, 1.0, work)
    first = forest.starts[at, CHOICES]
    count = forest.starts[at + 1, CHOICES] - first
    nodes = forest.starts[at + 1, NODES] - forest.starts[at, NODES]
    if nodes == forest.starts[at + 1, INFOSETS] - forest.starts[at, INFOSETS]:
        solve_open(forest, at, work, solution.policy)
        solution.values[at] = value_of_root(forest, at, work)
        return
    for each in range(count):
        work.regret[each] = work.change[each] = work.total[each] = 0.0
    for seat in range(2):
        match_regrets(forest, at, seat, first, work)
    done = 0
    while done < most:
        for seat in range(2):
            learn(forest, at, seat, first, (done + 1.0) ** 2, work)
            match_regrets(forest, at, seat, first, work)
        done += 1
        if done % CHECK_EVERY == 0 or done == most:
            normalize(forest, at, first, work, solution.policy)
            for each in range(count):
                work.current[each] = work.change[each]
            policy = solution.policy[first : first + count]
            gained = 0.0
            for seat in range(2):
                gained += respond(forest, at, policy, first, seat, work, solution.response)
            for each in range(count):
                work.change[each] = work.current[each]
            if gained <= gap:
                break
            for seat in range(2):
                match_regrets(forest, at, seat, first, work)
    solution.values[at] = evaluate_policy(forest, at, solution.policy[first : first + count], first, work)


@kernel
def evaluate_deals(forest: Forest, to_come: np.ndarray, solution: Solution, work: Work, part: int, parts: int) -> None:
    """Write the value of a policy in every `parts`-th deal of a forest; `to_come`: of the next ones."""
    for at in range(part, len(forest.starts) - 1, parts):
        load_leaves(forest, at, to_come, 1.0, work)
        first, stop = forest.starts[at, CHOICES], forest.starts[at + 1, CHOICES]
        solution.values[at] = evaluate_policy(forest, at, solution.policy[first:stop], first, work)


@kernel
def look_at_deal(forest: Forest, at: int, to_come: np.ndarray, policy: np.ndarray, seat: int, work: Work) -> None:
    """Write the value of each node of a deal under a policy, and how likely a seat's plays and all else make it."""
    load_leaves(forest, at, to_come, 1.0, work)
    first, stop = forest.starts[at, CHOICES], forest.starts[at + 1, CHOICES]
    evaluate_policy(forest, at, policy[first:stop], first, work)
    push_reach(forest, at, policy[first:stop], first, seat, work)


@kernel
def solve_deals(
    forest: Forest, to_come: np.ndarray, gap: float, most: int, solution: Solution, work: Work, part: int, parts: int
) -> None:
    """Solve every `parts`-th deal of a forest; `to_come` are the values of the next deals."""
    for at in range(part, len(forest.starts) - 1, parts):
        solve_deal(forest, at, to_come, gap, most, work, solution)


@kernel
def respond_to_deals(
    forest: Forest, to_come: np.ndarray, solution: Solution, seat: int, work: Work, part: int, parts: int
) -> None:
    """Find a seat's best responses to a policy in every `parts`-th deal; `to_come`: of the next ones."""
    sign = 1.0 if seat == 0 else -1.0
    for at in range(part, len(forest.starts) - 1, parts):
        load_leaves(forest, at, to_come, sign, work)
        first, stop = forest.starts[at, CHOICES], forest.starts[at + 1, CHOICES]
        policy = solution.policy[first:stop]
        solution.best[seat, at] = respond(forest, at, policy, first, seat, work, solution.response)
