"""Equilibria of small games, best responses to policies, and losses of policies to an equilibrium.

A game is solved deal by deal, from the last one back: the values of a deal are the leaf values of the deal before it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from krypenv.agents import Agent
from krypenv.agents.solved import (
    FORMAT as STRATEGY_FORMAT,
    KIND as STRATEGY_KIND,
    STRATEGY,
    Strategy,
    keys_of,
    load_strategy,
)
from krypenv.inputs.artifacts import encode_artifact, read_artifact, write_artifact
from krypenv.observation import VERSION
from krypenv.rules import Rules
from krypenv.runtime.threads import count_threads, share
from krypenv.training.runs import Header, Run, Task, open_run
from krypenv.training.runs.tasks import writing_to
from krypenv.training.solving.deal_tree import Forest
from krypenv.training.solving.equilibrium import Solution, Work, evaluate_deals, respond_to_deals, solve_deals
from krypenv.training.solving.growing import FloatArray, Trees, grow
from krypenv.training.solving.policies import owners_of, policies_of

KIND, FORMAT = "solved deals", 1
FILES = "solved-deals-*.safetensors"  # kept by a run until the whole game is solved
KEPT = ("policy", "values")


@dataclass
class Solved:
    """A game with a policy for each seat, and the best responses to it."""

    trees: Trees
    solutions: list[Solution]  # one for each deal number

    @property
    def value(self) -> float:
        """The expected margin of seat 0."""
        return float(self.trees.chances @ self.solutions[0].values)

    @property
    def best(self) -> tuple[float, float]:
        """The own margin of each seat if it plays a best response to the other's policy."""
        own, other = self.solutions[0].best @ self.trees.chances
        return float(own), float(other)

    @property
    def gains(self) -> tuple[float, float]:
        """Points that each seat gains by a best response instead of its own policy."""
        return self.best[0] - self.value, self.best[1] + self.value

    @property
    def exploitability(self) -> float:
        """Mean gain of a best response over both seats, in points; 0 for an equilibrium."""
        return sum(self.best) / 2


def solve(rules: Rules, gap: float = 1e-4, most: int = 20_000, threads: int = 0, sees: bool = False) -> Solved:
    """Compute an equilibrium of a two-player game.

    Args:
        gap: exploitability to reach, in points.
        most: most iterations for a deal.
        threads: threads, 0 for all processors; the result does not depend on them.
        sees: whether to keep the observations, which `save` and `look` need.

    Raises ValueError for rules that can't be solved.
    """
    return solve_trees(grow(rules, sees=sees), gap, most, threads)


def solve_trees(
    trees: Trees, gap: float = 1e-4, most: int = 20_000, threads: int = 0, run: Run | None = None
) -> Solved:
    """Compute an equilibrium of a game given as trees; see `solve`.

    A run keeps solved deals, for the same game, gap and iterations; these are not solved again. Raises ValueError for
    files of the run that are torn or of another game.
    """
    solutions: list[Solution] = []
    for number, forest in reversed(list(enumerate(trees.forests))):
        to_come = solutions[0].values if solutions else trees.ending
        arguments = (forest, to_come, 2 * gap / len(trees.forests), most, threads)
        solutions.insert(0, _solve_kept(run, number + 1, *arguments) if run else _solve_forest(*arguments))
    return respond(Solved(trees, solutions), threads)


def _solve_forest(forest: Forest, to_come: FloatArray, gap: float, most: int, threads: int) -> Solution:
    """Compute an equilibrium of the deals with one number; `to_come` holds the values of the next deals."""
    solution = blank(forest)
    run_kernel(solve_deals, forest, threads, to_come, gap, most, solution)
    return solution


def _solve_kept(run: Run, number: int, forest: Forest, *arguments: Any) -> Solution:
    """Read the solution of a forest from the run's file, after `_solve_forest` where the run lacks it."""

    def encode() -> bytes:
        solution = _solve_forest(forest, *arguments)
        return encode_artifact(KIND, FORMAT, {name: getattr(solution, name) for name in KEPT}, {})

    path = run.folder / FILES.replace("*", str(number))
    run.do_all([Task(f"deals {number}", encode, file=path.name)])
    arrays, _ = read_artifact(path, KIND, FORMAT)
    solution = blank(forest)
    for name in KEPT:
        room = getattr(solution, name)
        if arrays[name].shape != room.shape:
            raise ValueError(f"{path} belongs to other trees than this version grows; remove it")
        room[:] = arrays[name]
    return solution


def respond(solved: Solved, threads: int = 0) -> Solved:
    """Add best responses to a policy and their margins to the object, and return it."""
    best = np.array([solved.trees.ending, -solved.trees.ending])
    for forest, solution in zip(reversed(solved.trees.forests), reversed(solved.solutions), strict=True):
        for seat in range(2):
            run_kernel(respond_to_deals, forest, threads, best[seat], seat, solution)
        best = solution.best
    return solved


def measure(agent: str | Agent, rules: Rules, seeds: int = 1, threads: int = 0, trees: Trees | None = None) -> Solved:
    """Compute an agent's policy on both seats, its value, and the exact best responses to it.

    Args:
        agent: an agent's name with its options, or an agent with a method `probabilities`.
        rules: the game.
        seeds: number of seeds for a named agent; its probabilities are the shares of their choices.
        threads: threads, 0 for all processors.
        trees: those of `grow_for_agents` or `grow_late`; by default the former are grown.

    Raises ValueError for rules that can't be solved, for an agent that can't be made, and for an illegal choice.
    """
    trees = trees or grow_for_agents(rules)
    return respond(evaluate(with_policies(trees, policies_of(agent, trees, seeds)), threads), threads)


def evaluate(solved: Solved, threads: int = 0) -> Solved:
    """Add the values of the policies in each deal to the object, and return it."""
    to_come = solved.trees.ending
    for forest, solution in zip(reversed(solved.trees.forests), reversed(solved.solutions), strict=True):
        run_kernel(evaluate_deals, forest, threads, to_come, 0, solution)
        to_come = solution.values
    return solved


def lost_to_equilibrium(equilibrium: Solved, solved: Solved, threads: int = 0) -> float:
    """Compute the mean loss of policies to an equilibrium of the same trees over both seats, in points a game."""
    leads = []
    for seat in range(2):
        mixed = []
        for forest, own, other in zip(equilibrium.trees.forests, solved.solutions, equilibrium.solutions, strict=True):
            is_own = forest.seat[owners_of(forest)] == seat
            mixed.append(np.where(is_own, own.policy, other.policy))
        leads.append(evaluate(with_policies(equilibrium.trees, mixed), threads).value)
    return (leads[1] - leads[0]) / 2


def spread_of(solved: Solved) -> float:
    """Compute the standard deviation of the margin of a game between the two policies, in points."""
    trees, mean, square = solved.trees, solved.trees.ending, solved.trees.ending**2
    for forest, solution in zip(reversed(trees.forests), reversed(solved.solutions), strict=True):
        gain, after = forest.gain, np.append(mean, 0.0)[forest.follower]  # which is -1 where the game is over
        moment = blank(forest)._replace(policy=solution.policy)
        run_kernel(evaluate_deals, forest._replace(gain=gain**2 + 2 * gain * after), 1, square, 0, moment)
        mean, square = solution.values, moment.values
    return math.sqrt(max(float(trees.chances @ square) - solved.value**2, 0.0))


def grow_for_agents(rules: Rules) -> Trees:
    """Grow the trees for `measure`: their information sets distinguish all that an agent may see."""
    return grow(rules, keeps_all=True, keeps_points=True, sees=True)


def with_policies(trees: Trees, policies: Sequence[FloatArray]) -> Solved:
    """Wrap trees with the probabilities of both seats' choices, (choices,) for the deals of each number."""
    solutions = [blank(forest) for forest in trees.forests]
    for solution, policy in zip(solutions, policies, strict=True):
        solution.policy[:] = policy
    return Solved(trees, solutions)


def blank(forest: Forest) -> Solution:
    """Allocate the solution of a forest."""
    count = len(forest.starts) - 1
    return Solution(
        np.zeros(len(forest.actions)), np.zeros(count), np.zeros((2, count)), np.zeros(len(forest.seat), np.int16)
    )


def run_kernel(kernel: Any, forest: Forest, threads: int, *arguments: Any) -> Work:
    """Run a kernel over the deals of a forest, on several threads, and return its work arrays."""
    nodes, choices = len(forest.infoset), np.zeros((5, len(forest.actions)))
    work = Work(np.zeros(len(forest.gain)), np.zeros(nodes), np.zeros((2, nodes)), *choices)
    share(lambda part, parts: kernel(forest, *arguments, work, part, parts), count_threads(threads))
    return work


# ---------------------------------------------------------------------- strategies as files: a folder names an agent


def solve_into(
    folder: str | Path, rules: Rules, gap: float = 1e-4, most: int = 20_000, threads: int = 0, **facts: Any
) -> Solved:
    """Solve a game, save the strategy in a folder, and return the solution; the arguments are those of `solve`.

    After a kill the same call resumes with the deals not yet solved. Raises ValueError as `solve` does, and if the
    folder belongs to another solve, or another run is writing to it.
    """
    identity = {"rules": str(rules), "gap": gap, "iterations": most, "observation_version": VERSION}
    with open_run(Path(folder), Header("solve", identity, facts)) as run:
        solved = solve_trees(grow(rules, sees=True), gap, most, threads, run)
        _write(folder, solved, False, facts)
        for path in run.folder.glob(FILES):
            path.unlink()
    return solved


def save(folder: str | Path, solved: Solved, best_response: bool = False, **facts: Any) -> Path:
    """Write the policy of a solved game, or best responses to an agent's policy, as a folder that names an agent.

    The trees must have been grown with observations: by `solve` with `sees`, or by `measure`, which best responses
    need. Raises ValueError if another run is writing to the folder.
    """
    with writing_to(Path(folder)):
        return _write(folder, solved, best_response, facts)


def _write(folder: str | Path, solved: Solved, best_response: bool, facts: dict[str, Any]) -> Path:
    rules, forests = solved.trees.rules, solved.trees.forests
    policies = [solution.policy for solution in solved.solutions]
    if best_response:
        facts, policies = {**facts, "points": True}, [np.zeros(len(forest.actions)) for forest in forests]
        for forest, policy, solution in zip(forests, policies, solved.solutions, strict=True):
            policy[forest.choice[:-1] + solution.response] = 1.0
    keys = np.concatenate([keys_of(rules, forest.seen, best_response) for forest in forests])
    sizes = np.concatenate([np.diff(forest.choice) for forest in forests])
    order, places = (np.lexsort(rows.T[::-1]) for rows in (keys, np.repeat(keys, sizes, axis=0)))
    strategy = Strategy(
        keys=keys[order],
        first=np.concatenate([[0], np.cumsum(sizes[order])]),
        actions=np.concatenate([forest.actions for forest in forests])[places],
        probabilities=np.concatenate(policies)[places],
    )
    facts = {"value": solved.value, "exploitability": max(solved.exploitability, 0.0), **facts}
    facts = {"rules": str(rules), "observation_version": VERSION, **facts}
    write_artifact(Path(folder) / STRATEGY, STRATEGY_KIND, STRATEGY_FORMAT, strategy._asdict(), facts)
    return Path(folder)


def load(folder: str | Path) -> Solved:
    """Read a game and its equilibrium from a folder of `save` or `solve_into`, and compute the values of its deals.

    Raises ValueError for a folder that holds none, or best responses to an agent.
    """
    _, facts = load_strategy(folder)
    if facts.get("points"):
        raise ValueError(
            f"{folder} holds best responses to an agent, which tell nothing of beliefs; name the folder of an "
            "equilibrium, as krypenv solve --out writes it"
        )
    rules = Rules.parse(facts["rules"])
    trees = grow(rules, sees=True)
    return evaluate(with_policies(trees, policies_of(str(folder), trees)), 1)
