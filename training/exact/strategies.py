"""Strategies that leave the room as files: `save`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from krypenv.agents.solved import keys_of, save_strategy, strategy_of
from krypenv.training.exact.solving import Solved


def save(folder: str | Path, solved: Solved, best_response: bool = False, **facts: Any) -> Path:
    """Write the policy of a solved game, or the best responses to an agent's, as a folder that names an agent.

    The trees must have been grown with observations (`sees`), and those of `measure` tell points apart.
    """
    if best_response:
        facts["points"] = True
    keys, sizes, actions, policies = [], [], [], []
    rules = solved.trees.rules
    for forest, solution in zip(solved.trees.forests, solved.solutions, strict=True):
        keys.append(keys_of(rules, forest.seen, best_response))
        sizes.append(np.diff(forest.choice))
        actions.append(forest.actions)
        policy = solution.policy
        if best_response:
            policy = np.zeros(len(forest.actions))
            policy[forest.choice[:-1] + solution.response] = 1.0
        policies.append(policy)
    choice = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
    strategy = strategy_of(np.concatenate(keys), choice, np.concatenate(actions), np.concatenate(policies))
    return save_strategy(
        folder, strategy, rules, value=solved.value, exploitability=max(solved.exploitability, 0.0), **facts
    )
