"""PPO with masks in Tianshou, against an opponent, over the environments of the example `tianshou_dqn`.

`python -m krypenv.training.examples.tianshou_ppo --seconds 120` trains, saves the weights and plays them against two
agents. The network is that of the example `ppo`, whose `PPOAgent` plays the weights. Copy it, and change what you like.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from krypenv import Rules
from krypenv.training.examples.ppo import Metrics, Policy, PPOSettings, masked, program_of
from krypenv.training.examples.tianshou_dqn import begin  # which says so if Tianshou is missing
from krypenv.training.settings.base import AgentName, File, option, output

# isort: split
from tianshou.algorithm import PPO
from tianshou.algorithm.modelfree.reinforce import ProbabilisticActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.utils.torch_utils import policy_within_training_step

METRICS = {  # what is printed after an update
    "decisions": "decisions of the learner so far",
    "speed": "decisions a second, of this update",
    "return": "mean return of the games that ended, in points",
    "entropy": "of the policy over the legal actions, in nats",
    "error": "mean squared error of the values, in tens of points",
}


class Settings(PPOSettings):
    """The options of the example `ppo`, and the opponent."""

    opponent: AgentName = option("tactician", "who plays the other seats")
    seconds: float = option(120.0, "length of the training", gt=0, le=1e12)
    games: int = option(64, "games that are played at once", ge=1, le=1_000_000)
    epochs: int = option(4, "passes over the decisions of an update", ge=1, le=10_000)
    batch: int = option(512, "decisions in a minibatch", ge=1, le=10_000_000)
    out: File = output(Path("runs/tianshou_ppo.safetensors"), "file of the weights", "FILE")


class Actor(nn.Module):
    """Log probabilities of all actions, (B, A), in which the mask is applied: Tianshou's PPO has none of its own."""

    def __init__(self, policy: Policy) -> None:
        super().__init__()
        self.policy = policy

    def forward(self, obs: Any, state: Any = None, info: Any = None) -> tuple[Tensor, Any]:
        """Compute them; return them with the state, as Tianshou wants them."""
        return masked(self.policy(torch.as_tensor(obs.obs))[0], torch.as_tensor(obs.mask)), state


class Critic(nn.Module):
    """State values, (B, 1)."""

    def __init__(self, policy: Policy) -> None:
        super().__init__()
        self.policy = policy

    def forward(self, obs: Any) -> Tensor:
        """Compute the values."""
        value: Tensor = self.policy(torch.as_tensor(obs.obs))[1]
        return value[:, None]


def train(settings: Settings, report: Callable[[Metrics], None] | None = None) -> tuple[Policy, list[Metrics]]:
    """Train a policy; return it with the metrics of each update, which `report` is called with."""
    games, policy = begin(Rules.parse(settings.rules), settings)
    actor: Any = Actor(policy)
    player = ProbabilisticActorPolicy(
        actor=actor,
        dist_fn=lambda logits: torch.distributions.Categorical(logits=logits),
        action_space=games.action_space[0],
        action_scaling=False,
        action_bound_method=None,
    )
    algorithm: Any = PPO(
        policy=player,
        critic=Critic(policy),
        optim=AdamOptimizerFactory(lr=settings.rate, eps=1e-5),
        eps_clip=settings.clip,
        vf_coef=settings.value,
        ent_coef=settings.entropy,
        max_grad_norm=0.5,
        gae_lambda=settings.gae_lambda,
        gamma=settings.gamma,
        max_batchsize=4096,
    )
    size = settings.games * settings.steps
    collector: Any = Collector(algorithm, games, VectorReplayBuffer(size, settings.games))
    collector.reset()
    optimizer = algorithm.optim._optim
    history: list[Metrics] = []
    began, decisions = time.perf_counter(), 0

    while (done := settings.done(began, decisions)) < 1:
        started = time.perf_counter()
        optimizer.param_groups[0]["lr"] = settings.rate * (1 - done)
        with policy_within_training_step(player):
            played = collector.collect(n_step=size)
            learned = algorithm.update(collector.buffer, batch_size=settings.batch, repeat=settings.epochs)
        collector.reset_buffer(keep_statistics=True)
        decisions += size
        speed = size / (time.perf_counter() - started)
        returns = 10 * played.returns.mean() if len(played.returns) else np.nan
        figures = decisions, speed, returns, learned.ent_loss.mean, learned.vf_loss.mean
        history.append(dict(zip(METRICS, map(float, figures), strict=True)))
        if report:
            report(history[-1])
    collector.close()
    return policy, history


app = program_of(Settings, METRICS, train)

if __name__ == "__main__":
    app(prog_name="python -m krypenv.training.examples.tianshou_ppo")
