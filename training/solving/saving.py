"""Strategies as files: a folder that holds one names an agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from krypenv.agents.solved import FORMAT, KIND, STRATEGY, Strategy, keys_of, load_strategy
from krypenv.inputs.artifacts import write_artifact
from krypenv.observation import VERSION
from krypenv.rules import Rules
from krypenv.training.runs import Header, open_run
from krypenv.training.runs.tasks import writing_to
from krypenv.training.solving.growing import grow
from krypenv.training.solving.policies import policies_of
from krypenv.training.solving.solving import FILES, Solved, evaluate, solve_trees, with_policies


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
    write_artifact(Path(folder) / STRATEGY, KIND, FORMAT, strategy._asdict(), facts)
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
