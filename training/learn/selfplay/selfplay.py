"""A training run: initial weights, self-play, snapshots, checkpoints, learning curve, and the final evaluation."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from stable_baselines3.common.logger import KVWriter, Logger
from torch.utils.tensorboard import SummaryWriter

from krypenv import __version__, agents
from krypenv.adapters.sb3 import KrypkasinoVecEnv
from krypenv.agents.neural.model_file import save_model
from krypenv.rules import Rules
from krypenv.training.evaluation.matches.duplicate import MatchResult, duplicate_match, evaluate, print_matches
from krypenv.training.learn.imitation.cloning import BehaviourCloning
from krypenv.training.learn.imitation.imitate import Demonstrating, ImitationSettings, imitate, load_start
from krypenv.training.learn.ladder import ladder_of
from krypenv.training.learn.learner.ppo import SelfPlayPPO
from krypenv.training.learn.learner.torch_network import NetworkAgent, torch_threads_kept
from krypenv.training.learn.selfplay.checkpoint import (
    CHECKPOINT,
    Kept,
    load_checkpoint,
    load_games,
    read_checkpoint,
    save_checkpoint,
)
from krypenv.training.learn.selfplay.curve import CurvePoint, write_curve
from krypenv.training.learn.selfplay.league import OpponentPool, seed_of
from krypenv.training.learn.selfplay.metagame import Metagame
from krypenv.training.learn.selfplay.model_card import commit, write_model_card
from krypenv.training.learn.selfplay.rehearsal import rehearse
from krypenv.training.learn.selfplay.settings import Settings
from krypenv.training.runs.folders import is_empty, writing_to
from krypenv.training.runs.parts import AllProcessors
from krypenv.training.runs.progress import progress
from krypenv.training.runs.tables import write_json

IMITATION = "imitation"  # folder of the demonstrations within that of a run
LAST_RATE = 0.05  # part of the learning rate at the end


class _Board(KVWriter):
    """The log for TensorBoard, in which nothing that an earlier process logged from a step on is shown."""

    def __init__(self, folder: str, first: int) -> None:
        self.writer = SummaryWriter(folder, purge_step=first)

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        """Write the figures of a step."""
        for name, value in key_values.items():
            self.writer.add_scalar(name, value, step)
        self.writer.flush()

    def close(self) -> None:
        """Close the file."""
        self.writer.close()


class TrainingRun:
    """A run in a folder: new, or resumed from its last checkpoint, `kept`.

    Each update draws its random numbers from its own stream, which follows from the seed and the number of the update.
    So with a length in frames, and on one thread, a resumed run ends with the same weights, bit by bit, as an unbroken
    one.
    """

    def __init__(self, settings: Settings, folder: Path, kept: Kept | None = None) -> None:
        self.settings, self.folder, self.rules = settings, folder, settings.game_rules()
        for name in (*settings.games.opponents, *settings.evaluation.against):
            agents.make_known(name, self.rules)  # refuse unknown ones now, not after the training
        if settings.start.demonstrations:
            self._imitation().place.executor.check(settings.start.teacher)
        torch.set_num_threads(settings.threads)
        past: dict[str, Any] = kept.progress if kept else {}
        self.seconds: float = past.get("seconds", 0.0)  # of training in earlier processes
        self._began: float | None = None  # when this process began to train, with everything compiled
        self.curve = [CurvePoint(**point) for point in past.get("curve", [])]
        self.updates: int = past.get("updates", 0)
        self.is_warm: bool = past.get("is_warm", not (settings.start.init_from or settings.start.demonstrations))
        self.model = model = self._make_model()
        metagame = Metagame.from_json(past.get("metagame", {}))
        self.pool = OpponentPool(settings, self.rules, model.network, model.parts, metagame)
        if kept:
            self.pool.snapshots = load_checkpoint(kept, model)
            model.num_timesteps, model.games_played, model.num_epochs = past["frames"], past["games"], past["epochs"]
        elif settings.start.init_from:
            load_start(model.policy, Path(settings.start.init_from))
            self.is_warm = True
        self.pool.choose(self.updates)
        if kept:
            load_games(kept, model)
        self._start = model.num_timesteps, self.seconds  # of this process
        self._snapshots_due = self._count_due()

    def _make_games(self, rules: Rules, rows: int, seat: str, seed: int) -> KrypkasinoVecEnv:
        """Return games in which all seats learn, or one random seat."""
        rewards = self.settings.rewards
        return KrypkasinoVecEnv(rules, rows, seat=seat, reward=rewards.reward, dense=rewards.dense, seed=seed)

    def _make_model(self) -> SelfPlayPPO:
        """Return a fresh learner with its environments."""
        settings, ppo = self.settings, self.settings.ppo
        parts = [(at, part) for at, part in enumerate(settings.parts) if part.envs]
        model = SelfPlayPPO(
            [self._make_games(*part, seed_of(settings.seed, 0, at)) for at, part in parts],
            ppo.critic,
            {"shape": settings.network.shape},
            kl_coef=ppo.kl_coef, ema_decay=ppo.ema_decay, ent_coef=ppo.ent_coef,
            n_steps=ppo.steps, batch_size=ppo.batch, n_epochs=ppo.epochs, gamma=ppo.gamma, gae_lambda=ppo.gae_lambda,
            learning_rate=lambda left: ppo.learning_rate * max(left, LAST_RATE), clip_range=ppo.clip,
            vf_coef=ppo.vf_coef, seed=settings.seed, device=settings.device,
        )  # fmt: skip
        if settings.device not in ("auto", model.device.type):  # Stable-Baselines3 falls back to the CPU
            raise ValueError(f"device is {settings.device}, and torch finds no CUDA here; give cpu, or auto for either")
        return model

    @property
    def elapsed(self) -> float:
        """Seconds of training in all processes of the run, without the time to compile kernels."""
        return self.seconds + (0.0 if self._began is None else time.perf_counter() - self._began)

    @property
    def done(self) -> float:
        """The part of the self-play that is over, 0 to 1."""
        length = self.settings.length
        if length.frames:
            return min(self.model.num_timesteps / length.frames, 1.0)
        return min(self.elapsed / (60 * length.minutes), 1.0)

    def train(self, console: Console) -> None:
        """Train to the end of the budget, whose clock starts when everything is compiled.

        Raises FloatingPointError if the learner diverges.
        """
        if not self.curve:
            self.save()
        rehearse(type(self), self.settings, console)
        self.play(console)

    def play(self, console: Console) -> None:
        """Train as `train` does, but start the clock now."""
        self._began = time.perf_counter()
        if not self.is_warm:
            self._warm_up(console)
        board, logged = str(self.folder / "tensorboard"), self.model.num_timesteps if self.curve else -1
        self.model.set_logger(Logger(board, [_Board(board, logged + 1)]))
        if not self.curve:
            self._add_point()
        last_point = self.curve[-1].seconds
        last_saved, records = self.elapsed, self.settings.records
        with progress(console) as show:
            while self.done < 1:
                self.model.set_done(self.done)
                self._update()
                past, self._snapshots_due = self._snapshots_due, self._count_due()
                if self._snapshots_due > past and self.done < 1:
                    self._take_snapshot()
                if self.elapsed - last_point >= records.curve_every:
                    last_point = self.elapsed
                    self._add_point()
                if self.elapsed - last_saved >= records.checkpoint_every:
                    last_saved = self.elapsed
                    self.save()
                show(self.done, self._status())
        if self.curve[-1].frames < self.model.num_timesteps:
            self._add_point()
        self.save()

    def _count_due(self) -> int:
        """Return how many snapshots have been due so far."""
        return math.floor(self.done / self.settings.games.snapshot_every)

    def _imitation(self) -> ImitationSettings:
        """Return the settings of the imitation; raises ValueError if the teacher does not value actions."""
        settings, start = self.settings, self.settings.start
        heat = ladder_of(self.rules).temperature
        return ImitationSettings(
            game=settings.game,
            also=settings.also,
            demonstrating=Demonstrating(start.teacher, start.demonstrations, heat),
            place=AllProcessors(start.workers),
            cloning=BehaviourCloning(start.bc_epochs, target_temperature=heat, gamma=settings.ppo.gamma),
            network=settings.network,
            seed=settings.seed,
        )

    def _warm_up(self, console: Console) -> None:
        """Imitate the teacher. After an interruption this starts over, but keeps the demonstrations made so far."""
        imitate(self._imitation(), self.model.policy, self.folder / IMITATION, console)
        self.is_warm = True
        self.pool.choose(self.updates)
        self.save()

    def _update(self) -> None:
        """Collect one rollout, learn from it and log."""
        model = self.model
        self.updates += 1
        torch.manual_seed(seed_of(self.settings.seed, self.updates, 0))
        model.rollout_buffer.rng = np.random.default_rng(seed_of(self.settings.seed, self.updates, 1))
        self.pool.refresh(self.updates)
        began, frames, environment = time.perf_counter(), model.num_timesteps, model.environment_seconds
        model.collect_rollouts()
        collected = time.perf_counter()
        model.train()
        if not all(bool(torch.isfinite(weight).all()) for weight in model.policy.parameters()):
            raise FloatingPointError("the weights are no longer finite numbers; try a smaller learning_rate")
        seconds = time.perf_counter() - began
        model.logger.record("time/frames_per_second", (model.num_timesteps - frames) / seconds)
        model.logger.record("time/collecting_share", (collected - began) / seconds)
        model.logger.record("time/environment_share", (model.environment_seconds - environment) / seconds)
        model.logger.record("rollout/games", model.games_played)
        model.logger.record("rollout/margin_against_opponents", model.opponent_margin())
        model.logger.dump(model.num_timesteps)

    def _add_point(self) -> None:
        """Evaluate the learner as it is now for the learning curve."""
        learner, seed, deals = self.agent(), self.settings.seed, self.settings.records.curve_deals
        point = CurvePoint(seconds=self.elapsed, frames=self.model.num_timesteps, margins={})
        for opponent in self.settings.evaluation.against:
            player = agents.make_known(opponent, self.rules, seed + 1)
            result = duplicate_match(learner, player, self.rules, deals, seed=seed)
            margin = result.adjusted or result
            point.margins[opponent] = [margin.margin, margin.low, margin.high]
            self.model.logger.record(f"margin/{opponent}", margin.margin)
        self.model.logger.dump(self.model.num_timesteps)
        self.curve.append(point)

    def _take_snapshot(self) -> None:
        """Add a snapshot of the learner to the opponents, and log its margins over the earlier ones."""
        for other, margin in self.pool.add_snapshot(self.updates).items():
            self.model.logger.record(f"metagame/{other}", margin)
        self.pool.metagame.write(self.folder)

    def agent(self) -> NetworkAgent:
        """Return the learner as it is now, playing its best actions."""
        return NetworkAgent(self.model.network, self.rules, "learner", seed=self.settings.seed)

    def save(self) -> None:
        """Write the checkpoint."""
        state = {
            "settings": self.settings.flat(),
            "seconds": self.elapsed,
            "frames": self.model.num_timesteps,
            "games": self.model.games_played,
            "updates": self.updates,
            "epochs": self.model.num_epochs,
            "is_warm": self.is_warm,
            "snapshots": list(self.pool.snapshots),
            "metagame": dataclasses.asdict(self.pool.metagame),
            "curve": [dataclasses.asdict(point) for point in self.curve],
        }
        save_checkpoint(self.folder, self.model, list(self.pool.snapshots.values()), state)

    def _status(self) -> str:
        frames, seconds = self._start
        rate = (self.model.num_timesteps - frames) / max(self.elapsed - seconds, 1e-6)
        length = self.settings.length
        if length.frames:
            left = int((length.frames - self.model.num_timesteps) / max(rate, 1e-6))
        else:
            left = int(60 * length.minutes - self.elapsed)
        left = max(left, 0)
        opponent, (margin, *_) = list(self.curve[-1].margins.items())[-1]
        return (
            f"{left // 60}:{left % 60:02d} left  {self.model.games_played:,} games  {rate / 1000:.1f}k frames/s  "
            f"margin {margin:+.1f} ({opponent})"
        )

    def finish(self) -> list[MatchResult]:
        """Write the model, its card and the learning curve, and return the evaluation against all opponents."""
        self.write_model(self.settings.line)
        learner = NetworkAgent(self.model.network, self.rules, "model")
        evaluation, seed = self.settings.evaluation, self.settings.seed
        opponents = [agents.make_known(name, self.rules, seed + 2) for name in evaluation.against]
        results = evaluate(learner, opponents, self.rules, evaluation.deals, seed=seed + 1)
        write_model_card(self.folder / "model", results)
        return results

    def write_model(self, command: str) -> None:
        """Write the model and the learning curve."""
        save_model(
            self.folder / "model",
            self.model.network.arrays(),
            self.rules,
            also=[str(rules) for rules in self.settings.all_rules()[1:]],
            settings=self.settings.flat() | {"device": self.model.device.type},
            command=command,
            seed=self.settings.seed,
            frames=self.model.num_timesteps,
            seconds=round(self.elapsed, 1),
            version=__version__,
            commit=commit(),
            created=datetime.now().astimezone().isoformat(timespec="seconds"),
        )
        write_curve(self.folder, self.curve, self.rules)
        self.pool.metagame.write(self.folder)


def open_training(settings: Settings) -> TrainingRun:
    """Return a new run, or the one to resume; raises ValueError if the folder does not fit."""
    if settings.resume:
        folder = Path(settings.resume)
        kept = read_checkpoint(folder)
        return TrainingRun(kept.settings.with_own_of(settings), folder, kept)
    folder = Path(settings.out or f"runs/{datetime.now():%Y-%m-%d-%H%M%S}")
    _check_empty(folder)
    new = TrainingRun(settings, folder)
    folder.mkdir(parents=True, exist_ok=True)
    return new


def _check_empty(folder: Path) -> None:
    if not is_empty(folder):
        raise ValueError(f"{folder} is not empty; resume that run with --resume {folder}, or choose another --out")


@contextlib.contextmanager
def _opened(settings: Settings) -> Iterator[TrainingRun]:
    """Yield a run, with its folder locked against other runs. If the run is refused, nothing is written."""
    if settings.resume:
        read_checkpoint(Path(settings.resume))
        with writing_to(Path(settings.resume)):
            yield open_training(settings)
    else:
        new = open_training(settings)
        with writing_to(new.folder):
            _check_empty(new.folder)  # another run may have written to it in the meantime
            yield new


@torch_threads_kept()
def train(settings: Settings, quiet: bool = False) -> list[MatchResult]:
    """Train as the settings say, print the evaluation and the paths of the results, and return the evaluation.

    Raises ValueError if the folder does not fit, another run is writing to it, or training stops early.
    """
    with _opened(settings) as session:
        return _train(session, quiet)


def _train(session: TrainingRun, quiet: bool) -> list[MatchResult]:
    console = Console(quiet=quiet)
    rules: Rules = session.rules
    kept = session.folder / CHECKPOINT
    console.print(f"Training on '{rules}' in {session.folder}", markup=False)
    try:
        session.train(console)
    except KeyboardInterrupt:  # in the middle of an update, so the state is not saved
        console.print(
            f"Stopped. Resume from the last checkpoint with: krypenv train --resume {session.folder}", markup=False
        )
        raise SystemExit(130) from None
    except FloatingPointError as error:
        raise ValueError(f"training has diverged: {error}; the last good checkpoint is {kept}") from None
    except OSError as error:
        reason = f"{error.strerror or error}{f' ({error.filename})' if error.filename else ''}"
        raise ValueError(
            f"training has stopped: {reason}; the last good checkpoint is {kept}; "
            f"resume with: krypenv train --resume {session.folder}"
        ) from None
    results = session.finish()
    write_json(session.folder / "evaluation.json", {"matches": [result.to_json() for result in results]})
    if quiet:
        return results
    print_matches(results)
    for name, what in (("model", "model"), ("tensorboard", "TensorBoard log"), ("curve.png", "learning curve")):
        console.print(f"{what:>15}: {session.folder / name}", highlight=False, markup=False, soft_wrap=True)
    return results
