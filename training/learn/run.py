"""A training run: settings, folder, checkpoint, resume, curve and evaluation.

From the command line to a model:

1. `training/cli/commands.py` imports `cli/measuring.py`. The options are the fields of `TrainSettings` (`settings`),
   of which `training/settings/bridge.py` makes a command line.
2. `train` opens the folder as a `TrainingRun`, new or from a checkpoint. `compile_kernels` compiles what the run needs
   before the clock starts.
3. `SelfPlayPPO.collect_rollouts` (`ppo`) plays `LearnerGames` (`krypenv/envs/learner.py`) and fills a buffer, and its
   `train` learns from it. Now and then the network is measured for the curve, and a checkpoint is written.
4. `finish` evaluates the network and writes it in the format of `agents/neural/model_file.py`: from then on it plays
   without torch.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import math
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from rich.console import Console
from stable_baselines3.common.logger import Logger, TensorBoardOutputFormat
from torch.utils.tensorboard import SummaryWriter

from krypenv import __version__, agents
from krypenv.agents.neural.model_file import load_model, rules_in, save_model
from krypenv.agents.neural.network import Arrays, inputs_of
from krypenv.envs.learner import LearnerGames
from krypenv.envs.opponents import Opponent
from krypenv.inputs.artifacts import read_artifact, write_artifact
from krypenv.training.evaluation.matches.duplicate import MatchResult, duplicate_match, evaluate, print_matches
from krypenv.training.learn.network import CardNetwork, NetworkAgent, arrays_of, tensors_of, torch_threads_kept
from krypenv.training.learn.ppo import SelfPlayPPO, SideGames
from krypenv.training.learn.report import CurvePoint, write_curve, write_model_card
from krypenv.training.learn.settings import PAST, GamesPart, TrainSettings
from krypenv.training.runs.journal import commit
from krypenv.training.runs.progress import compiling, progress
from krypenv.training.runs.tables import write_json
from krypenv.training.runs.tasks import is_empty, writing_to

CHECKPOINT, KIND, VERSION = "checkpoint.safetensors", "checkpoint", 5
PAST_SELVES = 10  # in a run, evenly spread
GROWTH = 0.4  # growth of the pause between two points of the curve, in seconds for each second of the run
SMALL: dict[str, Any] = {  # settings that need no other kernels, for the run that compiles them
    "envs": 8, "steps": 16, "batch": 64, "epochs": 1, "context": 8, "card": 8, "embedding": 2, "curve_deals": 2,
    "curve_every": 1e9, "checkpoint_every": 1e9, "minutes": None, "init_from": None, "out": None, "resume": None,
    "seed": 0,
}  # fmt: skip


class Kept(NamedTuple):
    """The contents of a checkpoint."""

    settings: TrainSettings
    progress: dict[str, Any]  # plain values
    arrays: Arrays


class TrainingRun:
    """A run in a folder: new, or resumed from its last checkpoint, `kept`.

    Each update draws its random numbers from its own stream, derived from the seed and the number of the update. So
    with a length in frames, and on one thread, a resumed run ends with exactly the weights of an uninterrupted one.
    """

    def __init__(self, settings: TrainSettings, folder: Path, kept: Kept | None = None) -> None:
        self.settings, self.folder, self.rules = settings, folder, settings.game_rules()
        for name in settings.named_agents():
            agents.make_known(name, self.rules)  # refuse unknown agents before the training
        torch.set_num_threads(settings.threads)
        past: dict[str, Any] = kept.progress if kept else {}
        self.seconds: float = past.get("seconds", 0.0)  # of training in earlier processes
        self.updates: int = past.get("updates", 0)
        self.curve = [CurvePoint(**point) for point in past.get("curve", [])]
        self.past_selves: dict[str, CardNetwork] = {}
        self._began: float | None = None  # when this process began to train, with everything compiled
        self.model = self._make_model()
        if settings.init_from and not kept:
            self._load_weights(Path(settings.init_from))
        if kept:
            self._load(kept)
        self._seat_opponents()
        if kept:  # the players of the games under way
            for place, games in enumerate(self.model.parts):
                games.load(_part_of(kept.arrays, f"games.{place}."))
        self._start = self.model.num_timesteps, self.seconds  # of this process

    def _make_model(self) -> SelfPlayPPO:
        """Make a fresh learner with its games."""
        settings = self.settings
        model = SelfPlayPPO(
            [self._make_games(part, seed_of(settings.seed, 0, place)) for place, part in enumerate(settings.parts)],
            settings.shape, settings.critic, settings.learning_rate, settings.kl_coef, settings.ema_decay,
            ent_coef=settings.ent_coef, n_steps=settings.steps, batch_size=settings.batch, n_epochs=settings.epochs,
            gamma=settings.gamma, gae_lambda=settings.gae_lambda, clip_range=settings.clip, vf_coef=settings.vf_coef,
            seed=settings.seed, device=settings.device,
        )  # fmt: skip
        if settings.device not in ("auto", model.device.type):  # Stable-Baselines3 falls back to the CPU
            raise ValueError(f"device is {settings.device}, and torch finds no CUDA here; give cpu, or auto for either")
        return model

    def _make_games(self, part: GamesPart, seed: int) -> LearnerGames:
        kind, seat = (SideGames, "random") if part.is_against else (LearnerGames, "all")
        reward, dense = self.settings.reward, self.settings.dense
        return kind(part.rules, part.num_games, seat, reward=reward, dense=dense, seed=seed)

    # ------------------------------------------------------------------ the loop

    @property
    def elapsed(self) -> float:
        """Seconds of training in all processes of the run, without compiling and evaluations."""
        return self.seconds + (0.0 if self._began is None else time.perf_counter() - self._began)

    @property
    def done(self) -> float:
        """The fraction of the training that is done, 0 to 1."""
        if self.settings.minutes:
            return min(self.elapsed / (60 * self.settings.minutes), 1.0)
        return min(self.model.num_timesteps / self.settings.frames, 1.0)

    def train(self, console: Console) -> None:
        """Compile the kernels of the run, then train to its end.

        Raises FloatingPointError if the learner diverges.
        """
        if not self.curve:
            self.save()  # so that a run that is stopped while it compiles can be resumed
        compile_kernels(self.settings, console)
        self.play(console)

    def play(self, console: Console) -> None:
        """Train to the end of the run, whose clock starts now."""
        self._began = time.perf_counter()
        board, logged = str(self.folder / "tensorboard"), self.model.num_timesteps if self.curve else -1
        self.model.set_logger(Logger(board, [_Board(board, logged + 1)]))
        if not self.curve:
            self._add_point()
        last_saved = self.elapsed
        with progress(console) as show:
            while self.done < 1:
                self.model.set_done(self.done)
                past = math.floor(self.done * PAST_SELVES)
                self._update()
                if PAST in self.settings.opponents and math.floor(self.done * PAST_SELVES) > past and self.done < 1:
                    self.past_selves[f"update {self.updates}"] = copy.deepcopy(self.model.network).eval()
                    self._seat_opponents()
                if self.elapsed >= self._next_point():
                    self._add_point()
                if self.elapsed - last_saved >= self.settings.checkpoint_every:
                    last_saved = self.elapsed
                    self.save()
                show(self.done, self._status())
        if self.curve[-1].frames < self.model.num_timesteps:
            self._add_point()
        self.save()

    def _update(self) -> None:
        """Collect one rollout, learn from it and log."""
        model, seed = self.model, self.settings.seed
        self.updates += 1
        torch.manual_seed(seed_of(seed, self.updates, 0))
        model.rollout_buffer.rng = np.random.default_rng(seed_of(seed, self.updates, 1))
        for games in model.parts:
            if games.seat != "all":
                games.pool = self._opponents()
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
        if model.opponent_returns:
            model.logger.record("rollout/margin_against_opponents", float(np.mean(model.opponent_returns)))
        model.logger.dump(model.num_timesteps)

    def _opponents(self) -> list[tuple[Opponent, float]]:
        """Make the opponents of the next update with their weights; all past selves share one opponent's weight."""
        opponents: list[tuple[Opponent, float]] = []
        for name in self.settings.opponents:
            selves = list(self.past_selves.items()) or [("learner", self.model.network)]
            for label, network in selves if name == PAST else [(name, None)]:
                seed = seed_of(self.settings.seed, self.updates, 2 + len(opponents))
                if network is None:
                    opponents.append((agents.make_known(name, self.rules, seed=seed), 1.0))
                else:
                    player = NetworkAgent(network, self.rules, label, seed, temperature=1.0)
                    opponents.append((player, 1.0 / len(selves)))
        return opponents

    def _seat_opponents(self) -> None:
        for games in self.model.parts:
            if games.seat != "all":
                games.set_opponents(self._opponents())

    # ------------------------------------------------------------------ the curve

    def _next_point(self) -> float:
        """Compute when the next point of the curve is due, in seconds: the pauses grow to `curve_every`."""
        last, longest = self.curve[-1].seconds, self.settings.curve_every
        return last + min(longest, longest / 10 + GROWTH * last)

    def _add_point(self) -> None:
        """Measure the current learner, while the clock of the training is stopped."""
        began, settings = time.perf_counter(), self.settings
        player = agents.make_known(settings.yardstick, self.rules, settings.seed + 1)
        seconds, frames = self.elapsed, self.model.num_timesteps
        result = duplicate_match(self.agent(), player, self.rules, settings.curve_deals, seed=settings.seed)
        margin = result.adjusted or result
        self.curve.append(CurvePoint(seconds, frames, margin.margin, margin.low, margin.high))
        self.model.logger.record(f"margin/{settings.yardstick}", margin.margin)
        self.model.logger.dump(frames)
        assert self._began is not None
        self._began += time.perf_counter() - began

    def agent(self) -> NetworkAgent:
        """Make an agent of the current learner that plays its best actions."""
        return NetworkAgent(self.model.network, self.rules, "learner", seed=self.settings.seed)

    def _status(self) -> str:
        frames, seconds = self._start
        rate = (self.model.num_timesteps - frames) / max(self.elapsed - seconds, 1e-6)
        if self.settings.minutes:
            left = int(60 * self.settings.minutes - self.elapsed)
        else:
            left = int((self.settings.frames - self.model.num_timesteps) / max(rate, 1e-6))
        left = max(left, 0)
        return (
            f"{left // 60}:{left % 60:02d} left  {self.model.games_played:,} games  {rate / 1000:.1f}k frames/s  "
            f"margin {self.curve[-1].margin:+.1f} over {self.settings.yardstick}"
        )

    # ------------------------------------------------------------------ files

    def save(self) -> None:
        """Write the checkpoint: weights, optimizer, games and progress."""
        model = self.model
        arrays = {f"policy.{name}": array for name, array in arrays_of(model.policy.state_dict()).items()}
        for name, network in {"ema": model.ema, **self.past_selves}.items():
            arrays |= {f"{name}.{key}": array for key, array in network.arrays().items()}
        for index, state in model.policy.optimizer.state_dict()["state"].items():
            arrays |= {f"optimizer.{index}.{name}": array for name, array in arrays_of(state).items()}
        for place, games in enumerate(model.parts):
            arrays |= {f"games.{place}.{name}": array for name, array in games.save().items()}
            arrays[f"earned.{place}"] = model.opponent_earned[place]
        arrays["opponent_returns"] = np.array(model.opponent_returns, np.float64)
        state = {
            "settings": self.settings.model_dump(mode="json"), "seconds": self.elapsed, "frames": model.num_timesteps,
            "games": model.games_played, "updates": self.updates, "epochs": model._n_updates,
            "past_selves": list(self.past_selves), "curve": [asdict(point) for point in self.curve],
        }  # fmt: skip
        write_artifact(self.folder / CHECKPOINT, KIND, VERSION, arrays, {"progress": state})

    def _load(self, kept: Kept) -> None:
        """Load a checkpoint of the same settings, except the games, which need their opponents first."""
        model, past = self.model, kept.progress
        model.policy.load_state_dict(tensors_of(_part_of(kept.arrays, "policy.")))
        model.ema.load_state_dict(tensors_of(_part_of(kept.arrays, "ema.")))
        optimizer = model.policy.optimizer.state_dict()
        states = {
            place: tensors_of(_part_of(kept.arrays, f"optimizer.{place}."))
            for place in optimizer["param_groups"][0]["params"]
        }
        optimizer["state"] = {place: state for place, state in states.items() if state}
        model.policy.optimizer.load_state_dict(optimizer)
        model.num_timesteps, model.games_played, model._n_updates = past["frames"], past["games"], past["epochs"]
        for place, earned in enumerate(model.opponent_earned):
            earned[:] = kept.arrays[f"earned.{place}"]
        model.opponent_returns.extend(kept.arrays["opponent_returns"].tolist())
        self.past_selves = {
            name: CardNetwork.of(_part_of(kept.arrays, f"{name}."), model.network.inputs)
            for name in past["past_selves"]
        }

    def _load_weights(self, folder: Path) -> None:
        """Start from the network of a model; raises ValueError if its inputs or sizes differ."""
        arrays, card = load_model(folder)
        network = CardNetwork.of(arrays, inputs_of(rules_in(card)))
        if network.inputs != self.model.network.inputs:
            raise ValueError(
                f"the network in {folder} was trained for '{rules_in(card)}', which shows other entries or features "
                "than the rules of this run; start from a model of the same game"
            )
        if network.shape != self.model.network.shape:
            raise ValueError(
                f"the network in {folder} has {network.shape}, and the settings ask for {self.settings.shape}"
            )
        self.model.network.load_state_dict(network.state_dict())
        self.model.ema.load_state_dict(network.state_dict())

    def write_model(self, command: str) -> None:
        """Write the model and the learning curve."""
        save_model(
            self.folder / "model",
            self.model.network.arrays(),
            self.rules,
            also=[str(rules) for rules in self.settings.all_rules()[1:]],
            settings=self.settings.model_dump(mode="json", exclude_none=True) | {"device": self.model.device.type},
            command=command,
            seed=self.settings.seed,
            frames=self.model.num_timesteps,
            seconds=round(self.elapsed, 1),
            version=__version__,
            commit=commit(),
            created=datetime.now().astimezone().isoformat(timespec="seconds"),
        )
        write_curve(self.folder, self.curve, self.rules, self.settings.yardstick)

    def finish(self) -> list[MatchResult]:
        """Write the model, its card, the curve and the final evaluation, and return the evaluation."""
        self.write_model(self.settings.line)
        settings = self.settings
        opponents = [agents.make_known(name, self.rules, settings.seed + 2) for name in settings.against]
        learner = NetworkAgent(self.model.network, self.rules, "model")
        results = evaluate(learner, opponents, self.rules, settings.deals, seed=settings.seed + 1)
        write_model_card(self.folder / "model", results)
        write_json(self.folder / "evaluation.json", {"matches": [result.to_json() for result in results]})
        return results


class _Board(TensorBoardOutputFormat):
    """The log for TensorBoard, which hides the steps that an earlier process logged from `first` on."""

    def __init__(self, folder: str, first: int) -> None:
        self.writer, self._is_closed = SummaryWriter(folder, purge_step=first), False


def seed_of(seed: int, update: int, use: int) -> int:
    """Derive a seed for one use in one update of a run."""
    return int(np.random.SeedSequence([seed, update, use]).generate_state(1)[0])


def _part_of(arrays: Arrays, prefix: str) -> Arrays:
    """Select the arrays whose names begin with a prefix, which is removed."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def compile_kernels(settings: TrainSettings, console: Console) -> None:
    """Compile all kernels by a small throwaway run, once per process; print a notice if any is not cached."""
    small = settings.changed(**SMALL)
    with compiling(console):
        _train_small(small.changed(frames=2 * small.decisions))


@functools.cache
def _train_small(settings: TrainSettings) -> None:
    with tempfile.TemporaryDirectory() as folder:
        TrainingRun(settings, Path(folder)).play(Console(quiet=True))


def read_checkpoint(folder: Path) -> Kept:
    """Read a run's checkpoint; raises ValueError if there is none, or it is torn, changed or of another version."""
    path = folder / CHECKPOINT
    if not path.is_file():
        raise ValueError(f"there is no run to resume in {folder}: {CHECKPOINT} is missing")
    arrays, about = read_artifact(path, KIND, VERSION)
    return Kept(TrainSettings.from_file(about["progress"]["settings"]), about["progress"], arrays)


@contextlib.contextmanager
def open_training(settings: TrainSettings) -> Iterator[TrainingRun]:
    """Yield a new run, or the one to resume, with its folder locked; nothing is written before all checks pass.

    Raises ValueError if the folder does not fit, or another run is writing to it.
    """
    if settings.resume:
        folder = Path(settings.resume)
        read_checkpoint(folder)
        with writing_to(folder):
            kept = read_checkpoint(folder)
            yield TrainingRun(kept.settings.typed_by(settings), folder, kept)
        return
    folder = Path(settings.out or f"runs/{datetime.now():%Y-%m-%d-%H%M%S}")
    _check_empty(folder)
    new = TrainingRun(settings, folder)
    with writing_to(folder):
        _check_empty(folder)  # another run may have written to it in the meantime
        yield new


def _check_empty(folder: Path) -> None:
    if not is_empty(folder):
        raise ValueError(f"{folder} is not empty; resume that run with --resume {folder}, or choose another --out")


@torch_threads_kept()
def train(settings: TrainSettings, quiet: bool = False) -> list[MatchResult]:
    """Train by settings, print the evaluation and the paths of the results, and return the evaluation.

    Raises ValueError if the folder does not fit, another run is writing to it, or training stops early.
    """
    console = Console(quiet=quiet)
    with open_training(settings) as run:
        console.print(f"Training on '{run.rules}' in {run.folder}", markup=False)
        last, again = f"the last good checkpoint is {run.folder / CHECKPOINT}", f"krypenv train --resume {run.folder}"
        try:
            run.train(console)
        except KeyboardInterrupt:  # in the middle of an update, so the state is not saved
            console.print(f"Stopped. Resume from the last checkpoint with: {again}", markup=False)
            raise SystemExit(130) from None
        except FloatingPointError as error:
            raise ValueError(f"training has diverged: {error}; {last}") from None
        except OSError as error:
            reason = f"{error.strerror or error}{f' ({error.filename})' if error.filename else ''}"
            raise ValueError(f"training has stopped: {reason}; {last}; resume with: {again}") from None
        results = run.finish()
    if not quiet:
        print_matches(results)
        for name, title in (("model", "model"), ("tensorboard", "TensorBoard log"), ("curve.png", "learning curve")):
            console.print(f"{title:>15}: {run.folder / name}", highlight=False, markup=False, soft_wrap=True)
    return results
