"""PPO in TorchRL's own parts, against an opponent: Gymnasium's games in its wrapper, a collector, GAE, a clipped loss.

`python -m krypenv.training.examples.torchrl_ppo --seconds 75` trains, saves the weights and plays them against two
agents. The network is that of the example `ppo`, whose `PPOAgent` plays the weights. Copy it, and change what you like.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import torch
from torch import Tensor, nn

from krypenv import Engine, Rules
from krypenv.families.variants import family_of
from krypenv.inputs.words import to_install
from krypenv.training.examples.ppo import Metrics, Policy, PPOSettings, program_of, scale_of
from krypenv.training.settings.base import AgentName, File, option, output

try:
    from tensordict.nn import TensorDictModule
    from torchrl.collectors import Collector
    from torchrl.data import LazyTensorStorage, ReplayBuffer, SamplerWithoutReplacement
    from torchrl.envs import ActionMask, Compose, DTypeCastTransform, EnvBase, GymWrapper, TransformedEnv
    from torchrl.modules import MaskedCategorical, ProbabilisticActor
    from torchrl.objectives import ClipPPOLoss
    from torchrl.objectives.value import GAE
except ImportError as error:
    raise ImportError(f"this example needs TorchRL; {to_install('torchrl')}") from error

METRICS = {  # what is printed after an update
    "decisions": "decisions of the learner so far",
    "speed": "decisions a second, of this update",
    "return": "mean return of the games that ended, in points",
    "entropy": "of the policy over the legal actions, in nats",
    "kl": "approximate divergence of the new policy from the one that played",
    "clipped": "share of decisions whose probability ratio was clipped",
}


class Settings(PPOSettings):
    """The options of the example `ppo`, and the opponent."""

    opponent: AgentName = option("tactician", "who plays the other seats")
    out: File = output(Path("runs/torchrl_ppo.safetensors"), "file of the weights", "FILE")


class Heads(nn.Module):
    """A policy in TorchRL's shapes: logits (..., A) and state values (..., 1) from observations (..., N)."""

    def __init__(self, policy: Policy) -> None:
        super().__init__()
        self.policy = policy

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Compute logits and values."""
        logits, values = self.policy(observations.flatten(0, -2))
        shape = observations.shape[:-1]
        return logits.reshape(*shape, -1), values.reshape(*shape, 1)


def make_games(rules: Rules, settings: Settings) -> EnvBase:
    """Make the games as one TorchRL environment; its entry `action_mask`, (games, A) bool, holds the legal actions."""
    games = gym.make_vec(
        family_of(rules.name).gym_id, num_envs=settings.games, rules=rules, seat="random",
        opponents=settings.opponent, dense=True, features=True,
    )  # fmt: skip
    masks = DTypeCastTransform(torch.int8, torch.bool, in_keys=["action_mask"])
    env = TransformedEnv(GymWrapper(games, categorical_action_encoding=True), Compose(masks, ActionMask()))
    env.set_seed(settings.seed)
    return env


def train(settings: Settings, report: Callable[[Metrics], None] | None = None) -> tuple[Policy, list[Metrics]]:
    """Train a policy; return it with the metrics of each update, which `report` is called with."""
    torch.manual_seed(settings.seed)
    torch.set_num_threads(settings.threads)
    rules = Rules.parse(settings.rules)
    env = make_games(rules, settings)
    policy = Policy(rules, settings.units)
    policy.scale[:] = scale_of(Engine(rules, settings.games, settings.seed, features=True))
    env.rollout(2)  # which compiles the games before the clock starts

    heads = Heads(policy)
    actor = ProbabilisticActor(
        TensorDictModule(heads, ["observation"], ["logits", "_"]),
        in_keys={"logits": "logits", "mask": "action_mask"},
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    critic = TensorDictModule(heads, ["observation"], ["_", "state_value"])
    loss_of = ClipPPOLoss(
        actor,
        critic,
        clip_epsilon=settings.clip,
        entropy_coeff=settings.entropy,
        critic_coeff=settings.value,
        loss_critic_type="l2",
        normalize_advantage=True,
    )
    advantages = GAE(gamma=settings.gamma, lmbda=settings.gae_lambda, value_network=critic)
    optimizer = torch.optim.Adam(policy.parameters(), settings.rate, eps=1e-5)
    decisions = settings.games * settings.steps  # of an update
    buffer = ReplayBuffer(
        storage=LazyTensorStorage(decisions), sampler=SamplerWithoutReplacement(), batch_size=settings.batch
    )
    collector = Collector(
        env, actor, frames_per_batch=decisions, total_frames=-1, auto_register_policy_transforms=False
    )
    history: list[Metrics] = []
    returns = torch.zeros(settings.games)  # of the games in progress
    began = started = time.perf_counter()
    for count, data in enumerate(collector):
        done = count * decisions / settings.frames if settings.frames else (started - began) / settings.seconds
        if done >= 1:
            break
        optimizer.param_groups[0]["lr"] = settings.rate * (1 - done)

        # Play is over: the collector has acted in all games, (games, steps).
        earned, ended = data["next", "reward"][..., 0], data["next", "done"][..., 0]
        finished = []
        for t in range(settings.steps):
            returns += earned[:, t]
            finished.append(returns[ended[:, t]])
            returns[ended[:, t]] = 0
        data["next", "reward"] /= 10

        # Learn.
        with torch.no_grad():
            advantages(data)
        buffer.empty()
        buffer.extend(data.reshape(-1))
        losses_of: list[dict[str, float]] = []
        for _ in range(settings.epochs):
            for batch in buffer:
                losses = loss_of(batch)
                optimizer.zero_grad()
                (losses["loss_objective"] + losses["loss_entropy"] + losses["loss_critic"]).backward()
                nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
                optimizer.step()
                losses_of.append({name: float(losses[name]) for name in ("entropy", "kl_approx", "clip_fraction")})
        now = time.perf_counter()
        figures: tuple[Any, ...] = (
            (count + 1) * decisions,
            decisions / (now - started),
            torch.cat(finished).mean(),
            *(sum(batch[name] for batch in losses_of) / len(losses_of) for name in losses_of[0]),
        )
        started = now
        history.append(dict(zip(METRICS, map(float, figures), strict=True)))
        if report:
            report(history[-1])
    collector.shutdown()
    return policy, history


app = program_of(Settings, METRICS, train)

if __name__ == "__main__":
    app(prog_name="python -m krypenv.training.examples.torchrl_ppo")
