"""DQN of Tianshou against a fixed opponent: the example `krypenv.training.examples.tianshou_dqn`."""

from __future__ import annotations

from typing import Any

from pace import frames_within, policy_of

from krypenv import Rules
from krypenv.training.examples import tianshou_dqn


def train(rules: Rules, seed: int, seconds: float, opponent: str = "tactician", rate: float = 1e-3) -> Any:
    """Return the greedy policy."""

    def run(frames: int) -> Any:
        settings = tianshou_dqn.DQNSettings(rules=str(rules), opponent=opponent, frames=frames, seed=seed, rate=rate)
        return tianshou_dqn.train(settings)[0]

    return policy_of(run(frames_within(seconds, run)), is_greedy=True)
