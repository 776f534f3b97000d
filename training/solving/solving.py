"""Solve a small game exactly, and find best responses to a policy, deal by deal from the last one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.agents import Agent
from krypenv.rules import Rules
from krypenv.runtime.threads import count_threads, share
from krypenv.training.runs import Run
from krypenv.training.solving import deal_tree as tree
from krypenv.training.solving.asking import owners_of, policy_of
from krypenv.training.solving.deal_tree import MOST_LENGTH, Forest
from krypenv.training.solving.equilibrium import Solution, Work, evaluate_deals, respond_to_deals, solve_deals
from krypenv.training.solving.growing import Trees, grow
from krypenv.training.solving.resuming import solve_in_stretches

FloatArray = npt.NDArray[np.float64]


@dataclass
class Solved:
    """A game with a policy for each seat, and the best responses to it."""

    trees: Trees
    solutions: list[Solution]  # of the deals of each number

    @property
    def value(self) -> float:
        """The margin that seat 0 can expect."""
        return float(self.trees.chances @ self.solutions[0].values)

    @property
    def best(self) -> tuple[float, float]:
        """The margin of each seat, its own, if it plays a best response to the other's policy."""
        own, other = self.solutions[0].best @ self.trees.chances
        return float(own), float(other)

    @property
    def exploitability(self) -> float:
        """Points that a best response gains on the policy, the mean of both seats; 0 for an equilibrium."""
        return sum(self.best) / 2


def solve(
    rules: Rules, gap: float = 1e-4, most: int = 20_000, threads: int = 0, sees: bool = False, run: Run | None = None
) -> Solved:
    """Return an equilibrium of a two-player game.

    Args:
        gap: exploitability to reach, in points.
        most: iterations for a deal, at most.
        threads: threads, 0 for all processors; the result does not depend on them.
        sees: whether to keep the observations, which a strategy is saved by.
        run: keeps solved deals, for the same game, gap and iterations; those that it has already are not solved again.

    Raises ValueError for rules that can't be solved, and what `solve_in_stretches` raises.
    """
    return solve_trees(grow(rules, sees=sees), gap, most, threads, run)


def solve_trees(
    trees: Trees, gap: float = 1e-4, most: int = 20_000, threads: int = 0, run: Run | None = None
) -> Solved:
    """Return an equilibrium of a game that is given as trees; see `solve`."""
    solutions: list[Solution] = []
    for number, forest in reversed(list(enumerate(trees.forests))):
        solution = blank(forest)
        to_come = solutions[0].values if solutions else trees.ending
        gap_here, deals = 2 * gap / len(trees.forests), len(forest.starts) - 1
        work = partial(run_kernel, solve_deals, forest, threads, to_come, gap_here, most, solution)
        if run:
            solve_in_stretches(run, number, forest, solution, work, threads)
        else:
            work(0, deals)
        solutions.insert(0, solution)
    return respond(Solved(trees, solutions), threads)


def respond(solved: Solved, threads: int = 0) -> Solved:
    """Find best responses to a policy, and what they win; return the same object."""
    best = np.array([solved.trees.ending, -solved.trees.ending])
    for forest, solution in zip(reversed(solved.trees.forests), reversed(solved.solutions), strict=True):
        for seat in range(2):
            run_kernel(respond_to_deals, forest, threads, best[seat], solution, seat)
        best = solution.best
    return solved


def measure(spec: str | Agent, rules: Rules, seeds: int = 1, threads: int = 0, trees: Trees | None = None) -> Solved:
    """Return an agent's policy on both seats, and the best responses to it; `trees` are those of `grow_for_agents`.

    Raises what `policy_of` raises, and ValueError for rules that can't be solved.
    """
    trees = trees or grow_for_agents(rules)
    policies = [
        policy_of(spec, rules, forest, 0, seeds) + policy_of(spec, rules, forest, 1, seeds) for forest in trees.forests
    ]
    return respond(with_policies(trees, policies), threads)


def evaluate(solved: Solved, threads: int = 0) -> Solved:
    """Find what the policies are worth in each deal; return the same object."""
    to_come = solved.trees.ending
    for forest, solution in zip(reversed(solved.trees.forests), reversed(solved.solutions), strict=True):
        run_kernel(evaluate_deals, forest, threads, to_come, solution)
        to_come = solution.values
    return solved


def lost_to_equilibrium(perfect: Solved, solved: Solved, threads: int = 0) -> float:
    """Return the points a game that policies lose to an equilibrium of the same trees, on average over both seats."""
    leads = []
    for seat in range(2):
        mixed = []
        for forest, own, other in zip(perfect.trees.forests, solved.solutions, perfect.solutions, strict=True):
            is_own = forest.seat[owners_of(forest)] == seat
            mixed.append(np.where(is_own, own.policy, other.policy))
        leads.append(evaluate(with_policies(perfect.trees, mixed), threads).value)
    return (leads[1] - leads[0]) / 2


def grow_for_agents(rules: Rules) -> Trees:
    """Return the trees in which agents can be asked: all that an agent may look at tells decisions apart."""
    return grow(rules, keeps_all=True, keeps_points=True, sees=True)


def with_policies(trees: Trees, policies: Sequence[FloatArray]) -> Solved:
    """Return a game with the probabilities of both seats' choices in the deals of each number, (choices,)."""
    solutions = [blank(forest) for forest in trees.forests]
    for solution, policy in zip(solutions, policies, strict=True):
        solution.policy[:] = policy
    return Solved(trees, solutions)


def blank(forest: Forest) -> Solution:
    """Return room for the solution of a forest."""
    count = len(forest.starts) - 1
    return Solution(
        np.zeros(len(forest.actions)), np.zeros(count), np.zeros((2, count)), np.zeros(len(forest.seat), np.int16),
        np.zeros(count, np.int64),
    )  # fmt: skip


def run_kernel(kernel: Any, forest: Forest, threads: int, to_come: FloatArray, *rest: Any) -> None:
    """Run a kernel over the deals of a forest, on several threads."""
    threads = count_threads(threads)
    works = [work_for(forest) for _ in range(threads)]
    share(lambda part, parts: kernel(forest, to_come, *rest, works[part], part, parts), threads)


def work_for(forest: Forest) -> Work:
    """Return room for the largest deal of a forest."""
    sizes = np.diff(forest.starts, axis=0).max(axis=0)
    nodes, choices = int(sizes[tree.NODES]), int(sizes[tree.CHOICES])
    regret, change, current, total = np.zeros((4, choices))
    return Work(
        np.zeros(int(sizes[tree.LEAVES])), np.zeros(nodes), np.zeros((2, nodes)), np.zeros(nodes, np.int64), regret,
        change, current, total, np.zeros(MOST_LENGTH + 2, np.int64),
    )  # fmt: skip
