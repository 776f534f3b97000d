"""PPO by self-play in one file of plain torch: the example `krypenv.training.examples.ppo`."""

from __future__ import annotations

from typing import Any

from pace import frames_within, policy_of

from krypenv import Rules
from krypenv.training.examples import ppo


def train(rules: Rules, seed: int, seconds: float, **options: Any) -> Any:
    """Return the trained policy; `options` are those of the example."""

    def run(frames: int) -> Any:
        return ppo.train(ppo.PPOSettings(rules=str(rules), frames=frames, seed=seed, **options))[0]

    return policy_of(run(frames_within(seconds, run)))
