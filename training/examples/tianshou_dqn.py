"""Double DQN with masks in Tianshou, against an opponent: Gymnasium environments with the mask in the observation.

`python -m krypenv.training.examples.tianshou_dqn --seconds 120` trains, saves the weights and plays them against two
agents. The network is that of the example `ppo`, whose `PPOAgent` plays the weights. Copy it, and change what you like.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor, nn

from krypenv import Engine, Rules, agents
from krypenv.families.variants import family_of
from krypenv.inputs.words import to_install
from krypenv.training.examples.ppo import ExampleSettings, Metrics, Policy, program_of, scale_of
from krypenv.training.settings.base import AgentName, File, option, output

try:
    from tianshou.algorithm import DQN
    from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
    from tianshou.algorithm.optim import AdamOptimizerFactory
    from tianshou.data import Collector, VectorReplayBuffer
    from tianshou.env import DummyVectorEnv
    from tianshou.utils.torch_utils import policy_within_training_step
except ImportError as error:
    raise ImportError(f"this example needs Tianshou; {to_install('tianshou')}") from error

METRICS = {  # what is printed now and then
    "decisions": "decisions of the learner so far",
    "speed": "decisions a second, since the last line",
    "return": "mean return of the games that ended, in points",
    "loss": "mean squared error of the values, in tens of points",
    "explore": "share of random decisions",
}


class DQNSettings(ExampleSettings):
    """What can be set for DQN."""

    opponent: AgentName = option("tactician", "who plays the other seats")
    seconds: float = option(120.0, "length of the training", gt=0, le=1e12)
    games: int = option(32, "games that are played at once", ge=1, le=1_000_000)
    steps: int = option(64, "decisions in each game between two lines of metrics", ge=1, le=10_000)
    memory: int = option(50_000, "decisions that are remembered", ge=1, le=10_000_000)
    batch: int = option(
        256, "decisions in a minibatch; there is one for each decision of all games", ge=1, le=10_000_000
    )
    rate: float = option(5e-4, "learning rate of Adam", gt=0, le=10)
    gamma: float = option(0.95, "discount from one decision to the next", ge=0, le=1)
    horizon: int = option(3, "decisions whose rewards are added before a value is believed", ge=1, le=10_000)
    target: int = option(250, "minibatches between copies to the target network", ge=1, le=10_000)
    explore: float = option(0.05, "share of random decisions in the second half; 1 at first, then falling", ge=0, le=1)
    out: File = output(Path("runs/tianshou_dqn.safetensors"), "file of the weights", "FILE")


class MaskInObservation(gym.Wrapper[Any, Any, Any, Any]):
    """A game for one learner in Tianshou's form: observations are `{"obs", "mask"}`, and rewards are tens of points."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        actions: Any = env.action_space
        mask = gym.spaces.MultiBinary(int(actions.n))
        self.observation_space = gym.spaces.Dict(obs=env.observation_space, mask=mask)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin a game; the info is empty, because Tianshou keeps it with every decision."""
        observation, info = self.env.reset(seed=seed, options=options)
        return {"obs": observation, "mask": info["action_mask"] == 1}, {}

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Carry out an action."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        seen = {"obs": observation, "mask": info["action_mask"] == 1}
        return seen, float(reward) / 10, terminated, truncated, {}


class Values(nn.Module):
    """The values of all actions, (B, A), from a policy's two heads, as in dueling networks (Wang et al. 2016)."""

    def __init__(self, policy: Policy) -> None:
        super().__init__()
        self.policy = policy

    def forward(self, obs: Any, state: Any = None, info: Any = None) -> tuple[Tensor, Any]:
        """Compute values; return them with the state, as Tianshou wants them."""
        advantages, value = self.policy(torch.as_tensor(obs))
        return value[:, None] + advantages - advantages.mean(1, keepdim=True), state


def begin(rules: Rules, settings: Any) -> tuple[DummyVectorEnv, Policy]:
    """Make the games and a new policy, both with the seed of the settings."""
    np.random.seed(settings.seed)  # noqa: NPY002  # Tianshou draws from these numbers
    torch.manual_seed(settings.seed)
    torch.set_num_threads(settings.threads)
    opponent = agents.make(settings.opponent, rules, settings.seed)

    def game() -> MaskInObservation:
        options: dict[str, Any] = {"opponents": opponent, "seat": "random", "dense": True, "features": True}
        return MaskInObservation(gym.make(family_of(rules.name).gym_id, rules=rules, **options))

    games = DummyVectorEnv([game] * settings.games)
    games.seed(settings.seed)
    policy = Policy(rules, settings.units)
    policy.scale[:] = scale_of(Engine(rules, 64, settings.seed, features=True))
    return games, policy


def train(settings: DQNSettings, report: Callable[[Metrics], None] | None = None) -> tuple[Policy, list[Metrics]]:
    """Train a network; return it with its metrics, which `report` is called with."""
    games, policy = begin(Rules.parse(settings.rules), settings)
    space = games.action_space[0]
    player = DiscreteQLearningPolicy(model=Values(policy), action_space=space)
    algorithm: Any = DQN(
        policy=player,
        optim=AdamOptimizerFactory(lr=settings.rate),
        gamma=settings.gamma,
        n_step_return_horizon=settings.horizon,
        target_update_freq=settings.target,
    )
    collector: Any = Collector(algorithm, games, VectorReplayBuffer(settings.memory, settings.games))
    collector.reset()
    history: list[Metrics] = []
    began, decisions = time.perf_counter(), 0

    while (done := settings.done(began, decisions)) < 1:
        started, before, returns, losses = time.perf_counter(), decisions, [], []
        explore = max(settings.explore, 1 - 2 * done)
        player.set_eps_training(explore)
        with policy_within_training_step(player):
            for _ in range(settings.steps):
                played = collector.collect(n_step=settings.games)
                decisions += played.n_collected_steps
                returns += [10 * earned for earned in played.returns]
                losses.append(algorithm.update(buffer=collector.buffer, sample_size=settings.batch).loss)
        speed = (decisions - before) / (time.perf_counter() - started)
        figures = decisions, speed, np.mean(returns or [np.nan]), np.mean(losses), explore
        history.append(dict(zip(METRICS, map(float, figures), strict=True)))
        if report:
            report(history[-1])
    collector.close()
    return policy, history


app = program_of(DQNSettings, METRICS, train)

if __name__ == "__main__":
    app(prog_name="python -m krypenv.training.examples.tianshou_dqn")
