"""PPO in one file, in plain torch: self-play over the batch engine, with masks and a stream for each seat.

`python -m krypenv.training.examples.ppo --seconds 75` trains, saves the weights and plays them against two agents. It
reads from top to bottom, after CleanRL's ppo.py (Huang et al. 2022): copy it, and change what you like.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors.torch
import torch
import typer
from torch import Tensor, nn

from krypenv import Engine, Rules
from krypenv.adapters import PolicyFunction
from krypenv.features import width_of
from krypenv.inputs.files import read_file, write_whole
from krypenv.inputs.words import one_line, shown
from krypenv.training.cli.outputs import check_file
from krypenv.training.evaluation.matches.duplicate import evaluate, print_matches
from krypenv.training.settings.base import File, Settings, option, output
from krypenv.training.settings.bridge import app_of
from krypenv.training.settings.groups import LARGEST_SMALL_SEED

Array = npt.NDArray[Any]
Metrics = dict[str, float]
METRICS = {  # what is printed after an update
    "decisions": "decisions so far, of all seats",
    "speed": "decisions a second, of this update",
    "entropy": "of the policy over the legal actions, in nats: falls as it makes up its mind",
    "kl": "approximate divergence of the new policy from the one that played; above 0.05 the rate is too high",
    "clipped": "share of decisions whose probability ratio was clipped",
    "explained": "share of the variance of returns that the values explain; 1 is perfect, 0 no better than their mean",
    "sweeps": "sweeps in each game that ended, 0 if none did: whoever sets one up loses five points",
}


class ExampleSettings(Settings):
    """What can be set in every example; each field is an option of the command line."""

    rules: str = option("krypkasino players=2", "the rules: a preset, and fields that differ")
    seconds: float = option(75.0, "length of the training", gt=0, le=1e12)
    frames: int = option(0, "its length in decisions instead, whose result repeats; 0 for seconds", ge=0, le=10**12)
    seed: int = option(0, "seed of deals, weights and batches", ge=0, le=LARGEST_SMALL_SEED)
    threads: int = option(1, "torch threads", ge=1, le=1024)
    units: int = option(256, "units of each hidden layer", ge=1, le=8192)
    deals: int = option(1000, "duplicate deals of each match at the end; 0 for no match", ge=0, le=1_000_000)
    out: File = output(Path("runs/ppo.safetensors"), "file of the weights", "FILE")

    def done(self, began: float, decisions: int) -> float:
        """Compute the share of the training that is done, after some decisions since a time of `perf_counter`."""
        return decisions / self.frames if self.frames else (time.perf_counter() - began) / self.seconds


class PPOSettings(ExampleSettings):
    """What can be set for PPO."""

    games: int = option(256, "games that are played at once", ge=1, le=1_000_000)
    steps: int = option(64, "decisions in each game between updates", ge=16, le=10_000)  # some seat acts twice
    epochs: int = option(2, "passes over the decisions of an update", ge=1, le=10_000)
    batch: int = option(1024, "decisions in a minibatch", ge=1, le=10_000_000)
    rate: float = option(1e-3, "learning rate of Adam; falls to zero", gt=0, le=10)
    gamma: float = option(0.95, "discount from one decision of a seat to its next", ge=0, le=1)
    gae_lambda: float = option(0.8, "decay of generalized advantage estimation", ge=0, le=1)
    clip: float = option(0.2, "bound of the probability ratio", ge=0, le=1)
    entropy: float = option(0.01, "weight of the entropy bonus", ge=0, le=1000)
    value: float = option(0.5, "weight of the value loss", ge=0, le=1000)


class Policy(nn.Module):
    """Logits of all actions, (B, A), and a state value, (B,), from (B, N) int8 observations with features."""

    scale: Tensor

    def __init__(self, rules: Rules, units: int) -> None:
        super().__init__()
        inputs, actions = width_of(rules, features=True), rules.num_actions
        self.register_buffer("scale", torch.ones(inputs))  # of the entries
        self.body = nn.Sequential(nn.Linear(inputs, units), nn.ReLU(), nn.Linear(units, units), nn.ReLU())
        self.actor, self.critic = nn.Linear(units, actions), nn.Linear(units, 1)
        for head in (self.actor, self.critic):
            nn.init.normal_(head.weight, std=0.01)
            nn.init.zeros_(head.bias)

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Compute logits and values."""
        hidden = self.body(observations.float() * self.scale)
        return self.actor(hidden), self.critic(hidden).squeeze(1)

    @torch.no_grad()
    def choose(self, observations: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]) -> Tensor:
        """Compute the logits, of which `PolicyFunction` takes the best legal action."""
        return self(torch.from_numpy(observations))[0]


def masked(logits: Tensor, masks: Tensor) -> Tensor:
    """Compute the log probabilities of a policy that takes legal actions only."""
    return torch.log_softmax(torch.where(masks == 1, logits, -1e9), 1)


class PPOAgent(PolicyFunction):
    """The policy in a file of weights as an agent: `krypenv.training.examples.ppo:PPOAgent(path='...')` is its name."""

    def __init__(self, rules: Rules, seed: int = 0, *, path: str = "runs/ppo.safetensors") -> None:
        data = read_file(Path(path))
        try:
            weights = safetensors.torch.load(data)
            policy = Policy(rules, len(weights["actor.weight"][0]))
            policy.load_state_dict(weights)
        except (KeyError, IndexError, TypeError, RuntimeError, safetensors.SafetensorError) as error:
            raise ValueError(f"{shown(path)} holds no weights for {rules}: {one_line(str(error))}") from None
        super().__init__(policy.choose, rules, Path(path).stem)
        self.files = [Path(path)]


def train(settings: PPOSettings, report: Callable[[Metrics], None] | None = None) -> tuple[Policy, list[Metrics]]:
    """Train a policy; return it with the metrics of each update, which `report` is called with."""
    torch.manual_seed(settings.seed)
    torch.set_num_threads(settings.threads)
    rng = np.random.default_rng(settings.seed)
    rules = Rules.parse(settings.rules)
    engine = Engine(rules, settings.games, settings.seed, features=True, reward="centred", dense=True)
    policy = Policy(rules, settings.units)
    policy.scale[:] = scale_of(engine.copy())  # which compiles the engine before the clock starts, too
    optimizer = torch.optim.Adam(policy.parameters(), settings.rate, eps=1e-5)

    steps, games = size = settings.steps, settings.games
    observations = np.zeros((*size, engine.observation.shape[1]), np.int8)
    masks = np.zeros((*size, rules.num_actions), np.int8)
    actions, seats = np.zeros((2, *size), np.int64)
    values, log_probs = np.zeros((2, *size), np.float32)
    earned = np.zeros((*size, rules.players), np.float32)  # what every seat earned in a step, whoever acted
    ended = np.zeros(size, bool)
    history: list[Metrics] = []
    began, decisions = time.perf_counter(), 0

    while (done := settings.done(began, decisions)) < 1:
        optimizer.param_groups[0]["lr"] = settings.rate * (1 - done)
        started, sweeps = time.perf_counter(), 0

        # Play: in each game some seat acts, and all seats may earn.
        for t in range(steps):
            observations[t], masks[t], seats[t] = engine.observation, engine.action_mask, engine.seat
            with torch.no_grad():
                logits, value = policy(torch.from_numpy(observations[t]))
                log_prob = masked(logits, torch.from_numpy(masks[t]))
                action = (log_prob - torch.empty_like(log_prob).exponential_().log()).argmax(1)  # a sample
            values[t], actions[t], log_probs[t] = value.numpy(), action.numpy(), log_prob[range(games), action].numpy()
            engine.step(actions[t])
            earned[t], ended[t] = engine.rewards, engine.finished
            sweeps += int(engine.final_sweeps[engine.finished].sum())
        with torch.no_grad():
            last_value = policy(torch.from_numpy(engine.observation))[1].numpy()
        decisions += steps * games

        # Advantages: a decision is followed by the same seat's next one in that game, and earns all until then.
        advantages, known = advantages_of(settings, values, seats, earned / 10, ended, engine.seat, last_value)
        returns = advantages + values

        # Learn from the decisions whose successor is known.
        rows = np.flatnonzero(known)
        flat = [
            torch.from_numpy(array.reshape(steps * games, *array.shape[2:]))
            for array in (observations, masks, actions, log_probs, advantages, returns)
        ]
        sums, count = np.zeros(3), 0
        for _ in range(settings.epochs):
            for chosen in np.array_split(rng.permutation(rows), max(1, len(rows) // settings.batch)):
                seen, mask, action, old, advantage, target = (array[torch.from_numpy(chosen)] for array in flat)
                logits, value = policy(seen)
                log_prob = masked(logits, mask)
                entropy = -(log_prob.exp() * log_prob).sum(1).mean()
                log_ratio = log_prob.gather(1, action[:, None]).squeeze(1) - old
                ratio = log_ratio.exp()
                advantage = (advantage - advantage.mean()) / (advantage.std(unbiased=False) + 1e-8)
                gain = torch.minimum(ratio * advantage, ratio.clamp(1 - settings.clip, 1 + settings.clip) * advantage)
                loss = -gain.mean() - settings.entropy * entropy + settings.value * (value - target).square().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
                optimizer.step()
                with torch.no_grad():
                    far = (ratio - 1).abs() > settings.clip
                    sums += [float(entropy), float((ratio - 1 - log_ratio).mean()), float(far.float().mean())]
                    count += 1
        speed = steps * games / (time.perf_counter() - started)
        explained = 1 - advantages[known].var() / max(returns[known].var(), 1e-8)
        figures = decisions, speed, *sums / count, explained, sweeps / max(1, ended.sum())
        history.append(dict(zip(METRICS, map(float, figures), strict=True)))
        if report:
            report(history[-1])
    return policy, history


def advantages_of(
    settings: PPOSettings, values: Array, seats: Array, earned: Array, ended: Array, last_seat: Array, last_value: Array
) -> tuple[Array, Array]:
    """Compute the advantages of T steps of B games, (T, B) float32, and whether each is known, (T, B) bool."""
    games = np.arange(len(last_seat))
    reward, next_value, next_advantage = np.zeros((3, *earned.shape[1:]), np.float32)  # from a seat's next decision on
    seen = np.zeros(earned.shape[1:], bool)  # whether that decision, or the end of the game, is in the buffer
    next_value[games, last_seat], seen[games, last_seat] = last_value, True
    advantages, known = np.zeros_like(values), np.zeros(values.shape, bool)
    for t in reversed(range(len(values))):
        over = ended[t]
        reward[over], next_value[over], next_advantage[over], seen[over] = 0, 0, 0, True
        reward += earned[t]
        mine = games, seats[t]
        delta = reward[mine] + settings.gamma * next_value[mine] - values[t]
        known[t] = seen[mine]
        advantages[t] = (delta + settings.gamma * settings.gae_lambda * next_advantage[mine]) * known[t]
        reward[mine], next_value[mine], next_advantage[mine], seen[mine] = 0, values[t], advantages[t], True
    return advantages, known


def scale_of(engine: Engine, steps: int = 100) -> Tensor:
    """Estimate one over the usual size of each entry of an observation, (N,), in random play."""
    squares = np.zeros(engine.observation.shape[1], np.float32)
    for _ in range(steps):
        squares += np.square(engine.observation, dtype=np.float32).mean(axis=0) / steps
        engine.step(engine.sample_actions())
    return torch.from_numpy(1 / np.sqrt(squares + 0.1))


def program_of(kind: type[ExampleSettings], metrics: dict[str, str], training: Callable[..., Any]) -> typer.Typer:
    """Make the program of an example."""

    def run(settings: Any) -> None:
        """Train a policy, save its weights, and play it against greedy and tactician."""
        check_file(settings.out)
        rules = Rules.parse(settings.rules)
        for name, text in metrics.items():
            typer.echo(f"{name:>10}  {text}")
        typer.echo("".join(f"{name:>11}" for name in metrics))
        policy, _ = training(settings, lambda now: typer.echo("".join(f"{figure:>11,.4g}" for figure in now.values())))
        write_whole(settings.out, safetensors.torch.save(policy.state_dict()))
        typer.echo(f"wrote {settings.out}")
        if settings.deals:
            agent = PPOAgent(rules, path=str(settings.out))
            print_matches(evaluate(agent, ["greedy", "tactician"], rules, settings.deals, settings.seed))

    return app_of(kind, run)


app = program_of(PPOSettings, METRICS, train)

if __name__ == "__main__":
    app(prog_name="python -m krypenv.training.examples.ppo")
