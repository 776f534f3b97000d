"""RLlib's PPO by self-play, on this machine or on a Ray cluster; a masked policy that all seats share.

`python -m krypenv.training.examples.rllib_ppo --frames 400000` trains, saves the weights and plays them against two
agents. The network is that of the example `ppo`, whose `PPOAgent` plays the weights. Copy it, and change what you like.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import shutil
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch

from krypenv import Engine, Rules, agents
from krypenv.adapters.rllib import MAIN, KrypenvMultiAgentEnv, MaskedModule, agent_of  # which needs RLlib
from krypenv.inputs.words import describe_error, shown
from krypenv.training.evaluation.matches.duplicate import duplicate_match
from krypenv.training.examples.ppo import Metrics, Policy, PPOSettings, program_of, scale_of
from krypenv.training.runs.executors import ray_map
from krypenv.training.settings.base import AgentName, File, option, output

# isort: split
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec

METRICS = {  # what is printed after an update
    "decisions": "decisions so far, of all seats",
    "speed": "decisions a second, of this update",
    "entropy": "of the policy over the legal actions, in nats",
    "explained": "share of the variance of returns that the values explain",
    "runners": "env runners that are alive",
    "margin": "points a game over the opponent, in the last match while it trains",
}


class Settings(PPOSettings):
    """The options of the example `ppo`, with env runners, matches and checkpoints."""

    seconds: float = option(180.0, "length of the training", gt=0, le=1e12)
    games: int = option(128, "games that each env runner plays at once", ge=1, le=1_000_000)
    steps: int = option(32, "decisions in each game between updates", ge=1, le=10_000)
    batch: int = option(512, "decisions in a minibatch", ge=1, le=10_000_000)
    runners: int = option(0, "processes that play; 0 to play in this one", ge=0, le=1024)
    every: int = option(10, "updates between matches, and between checkpoints", ge=1, le=10**9)
    opponent: AgentName = option("tactician", "whom it meets in matches while it trains")
    watched: int = option(50, "duplicate deals of each of these matches; 0 for none", ge=0, le=1_000_000)
    checkpoints: File | None = output(
        None, "folder for RLlib's checkpoints; resumes from the last one. They are pickles: use your own only",
        "FOLDER",
    )  # fmt: skip
    out: File = output(Path("runs/rllib_ppo.safetensors"), "file of the weights", "FILE")


def network(rules: Rules, units: int) -> Policy:
    """Make a new policy; every process makes the same one but for the weights, which RLlib spreads."""
    policy = Policy(rules, units)
    policy.scale[:] = scale_of(Engine(rules, 256, 0, features=True))
    return policy


def algorithm_of(settings: Settings) -> Any:
    """Configure RLlib's PPO for these games."""
    rules = Rules.parse(settings.rules)

    def play_match(*, algorithm: Any, result: dict[str, Any], **rest: Any) -> None:
        """Play a match now and then; what RLlib calls the return adds up all seats, which is always 0."""
        if settings.watched and result["training_iteration"] % settings.every == 0:
            match = duplicate_match(agent_of(algorithm), settings.opponent, rules, deals=settings.watched)
            result["margin"] = float(match.margin)

    config = (
        PPOConfig()
        .environment(
            KrypenvMultiAgentEnv,
            env_config={"rules": str(rules), "dense": True, "features": True, "scale": 0.1},
            disable_env_checking=True,  # which would take illegal actions
        )
        .env_runners(
            num_env_runners=settings.runners,
            num_envs_per_env_runner=settings.games,
            rollout_fragment_length=settings.steps,
            sample_timeout_s=600,
        )
        .fault_tolerance(restart_failed_env_runners=True, env_runner_health_probe_timeout_s=1)
        .multi_agent(policies={MAIN}, policy_mapping_fn=lambda agent_id, episode, **rest: MAIN)
        .rl_module(
            rl_module_spec=RLModuleSpec(
                module_class=MaskedModule, model_config={"network": partial(network, rules, settings.units)}
            )
        )
        .training(
            train_batch_size_per_learner=settings.games * settings.steps * max(1, settings.runners),
            minibatch_size=settings.batch,
            num_epochs=settings.epochs,
            lr=settings.rate,
            gamma=settings.gamma,
            lambda_=settings.gae_lambda,
            clip_param=settings.clip,
            entropy_coeff=settings.entropy,
            vf_loss_coeff=settings.value,
            vf_clip_param=math.inf,
            use_kl_loss=False,
            grad_clip=0.5,
        )
        .callbacks(on_train_result=play_match)
        .debugging(seed=settings.seed, log_level="ERROR")
    )
    algorithm: Any = config.build_algo()
    with contextlib.suppress(OSError):
        os.rmdir(algorithm.logdir)  # an empty folder in ~/ray_results
    return algorithm


def train(settings: Settings, report: Callable[[Metrics], None] | None = None) -> tuple[Policy, list[Metrics]]:
    """Train a policy; return it with the metrics of each update, which `report` is called with."""
    for name in ("ray", "ray.rllib", "ray.tune"):
        logging.getLogger(name).setLevel(logging.ERROR)
    torch.set_num_threads(settings.threads)
    agents.make(settings.opponent, Rules.parse(settings.rules))  # a wrong name is refused before any work
    with ray_map():  # which connects to the cluster, and leaves it
        algorithm = algorithm_of(settings)
        try:
            return learn(algorithm, settings, report)
        finally:
            algorithm.stop()


def learn(algorithm: Any, settings: Settings, report: Callable[[Metrics], None] | None = None) -> Any:
    """Train an algorithm, from the last checkpoint on if there is one; return what `train` does."""
    if last := last_checkpoint(settings.checkpoints):
        restore(algorithm, last)
    history: list[Metrics] = []
    decisions, margin = lifetime(algorithm), math.nan
    began = time.perf_counter()

    while (done := settings.done(began, decisions)) < 1:
        set_rate(algorithm, settings.rate * (1 - done))
        before, started = decisions, time.perf_counter()
        result = algorithm.train()
        decisions = lifetime(algorithm)
        learned = result.get("learners", {}).get(MAIN, {})
        margin = result.get("margin", margin)
        figures = (
            decisions, (decisions - before) / (time.perf_counter() - started), learned.get("entropy", math.nan),
            learned.get("vf_explained_var", math.nan),
            algorithm.env_runner_group.num_healthy_remote_workers() if settings.runners else 1, margin,
        )  # fmt: skip
        history.append(dict(zip(METRICS, map(float, figures), strict=True)))
        if report:
            report(history[-1])
        if settings.checkpoints and (algorithm.iteration % settings.every == 0 or settings.done(began, decisions) >= 1):
            save(algorithm, settings.checkpoints)
    return algorithm.get_module(MAIN).network, history


def lifetime(algorithm: Any) -> int:
    """Count the decisions that an algorithm has been trained with, before a checkpoint too."""
    return int(algorithm.metrics.peek(("env_runners", "num_env_steps_sampled_lifetime"), default=0))


def set_rate(algorithm: Any, rate: float) -> None:
    """Set the learning rate of the next update."""

    def change(learner: Any) -> None:
        for _, optimizer in learner.get_optimizers_for_module(MAIN):
            optimizer.param_groups[0]["lr"] = rate

    algorithm.learner_group.foreach_learner(change)


def save(algorithm: Any, folder: Path) -> None:
    """Write a checkpoint and then remove the one before it, so that one is whole whenever the run is killed."""
    before, unfinished = last_checkpoint(folder), folder / "unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    algorithm.save_to_path(str(unfinished.absolute()))
    unfinished.rename(folder / f"{algorithm.iteration:06}")
    if before:
        shutil.rmtree(before)


def last_checkpoint(folder: Path | None) -> Path | None:
    """Find the last checkpoint in a folder."""
    return max(folder.glob("[0-9]" * 6), default=None) if folder else None


def restore(algorithm: Any, checkpoint: Path) -> None:
    """Go on from a checkpoint; raise ValueError if it can't be read, or is one of other rules or another network."""
    try:
        algorithm.restore_from_path(str(checkpoint.absolute()))
        algorithm.env_runner_group.sync_weights(  # RLlib sends them too, but does not wait until they have arrived
            from_worker_or_learner_group=algorithm.learner_group, inference_only=True, timeout_seconds=60
        )
    except Exception as error:  # unpickling may raise anything
        raise ValueError(f"{shown(str(checkpoint))} can't be restored: it {describe_error(error)}") from None


app = program_of(Settings, METRICS, train)

if __name__ == "__main__":
    app(prog_name="python -m krypenv.training.examples.rllib_ppo")
