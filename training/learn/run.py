"""A training run in a folder: settings, checkpoint, resume, curve and evaluation.

From the command line to a model:

1. `train_command` (`training/cli/measuring.py`) calls `train` with the options, the fields of `TrainSettings`.
2. `open_training` opens the folder as a `TrainingRun`, new or from its `Checkpoint`, which holds all that decides how
   the run continues. Before the first update a small run compiles the kernels (`compile_kernels`).
3. In each update the learner (`ppo`) plays `LearnerGames` (`krypenv/envs/learner.py`) and learns from them. Between
   updates, whose time alone counts, the network is measured for the curve, and the checkpoint is written.
4. `finish` evaluates the network and writes it in the format of `agents/neural/model_file.py`: from then on it plays
   without torch.
"""

from __future__ import annotations

import contextlib
import copy
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
from torch import nn
from torch.utils.tensorboard import SummaryWriter

from krypenv import __version__, agents
from krypenv.agents.neural.model_file import read_card, save_model
from krypenv.agents.neural.network import Arrays
from krypenv.inputs.artifacts import read_artifact, write_artifact
from krypenv.inputs.files import naming, write_whole
from krypenv.training.evaluation.matches.duplicate import MatchResult, duplicate_match, evaluate, print_matches
from krypenv.training.learn.network import CardNetwork, arrays_of, tensors_of, torch_threads_kept
from krypenv.training.learn.ppo import SelfPlayPPO, seed_of
from krypenv.training.learn.report import README, CurvePoint, model_card, write_curve
from krypenv.training.learn.settings import PAST, TrainSettings
from krypenv.training.runs.journal import commit
from krypenv.training.runs.progress import compiling, progress
from krypenv.training.runs.tables import write_json
from krypenv.training.runs.tasks import is_empty, writing_to

CHECKPOINT, KIND, VERSION = "checkpoint.safetensors", "checkpoint", 6
PAST_SELVES = 10  # parts of a run; a past self is kept between two of them
GROWTH = 0.4  # growth of the pause between two points of the curve, in seconds for each second of the run
SMALL: dict[str, Any] = {  # settings of a run that compiles the same kernels
    "envs": 8, "steps": 16, "batch": 64, "epochs": 1, "curve_deals": 2, "minutes": None, "init_from": None,
}  # fmt: skip


class Checkpoint(NamedTuple):
    """The state of a run between two updates."""

    settings: TrainSettings
    progress: dict[str, Any]  # plain values: counters, the curve, the names of the past selves
    arrays: Arrays  # by names that begin with "networks.", "optimizer." or "games."


class TrainingRun:
    """A run in a folder: new, or resumed from a checkpoint.

    Each update draws its random numbers from its own stream, derived from the seed and the number of the update. So
    with a length in frames, and on one thread, a resumed run ends with exactly the weights of an uninterrupted one.
    """

    def __init__(self, settings: TrainSettings, folder: Path, checkpoint: Checkpoint | None = None) -> None:
        self.settings, self.folder, self.rules = settings, folder, settings.game_rules()
        for name in settings.named_agents():
            agents.make_known(name, self.rules)  # refuse unknown agents before the training
        torch.set_num_threads(settings.threads)
        self.seconds = 0.0  # of all updates so far
        self.updates = 0
        self.curve: list[CurvePoint] = []
        self.past_selves: dict[str, CardNetwork] = {}
        self.model = SelfPlayPPO(settings)
        if checkpoint:
            self._load(checkpoint)
        else:
            if settings.init_from:
                self.model.start_from(Path(settings.init_from))
            self.model.seat_opponents(self.updates, self.past_selves)

    # ------------------------------------------------------------------ the loop

    @property
    def done(self) -> float:
        """The fraction of the training that is done, 0 to 1."""
        minutes, frames = self.settings.minutes, self.settings.frames
        return min(self.seconds / (60 * minutes) if minutes else self.model.num_timesteps / frames, 1.0)

    def train(self, console: Console) -> None:
        """Compile the kernels of the run, then train to its end; raises ValueError if the learner diverges."""
        if not self.curve:
            self.save()  # so that a run that is stopped while it compiles can be resumed
        compile_kernels(self.settings, console)
        self.run_updates(console)

    def run_updates(self, console: Console) -> None:
        """Train to the end of the run, with everything compiled."""
        settings, first = self.settings, self.model.num_timesteps + 1 if self.curve else 0
        self.model.set_logger(Logger(None, [_TensorBoard(str(self.folder / "tensorboard"), first)]))
        if not self.curve:
            self._add_point()
        saved = self.seconds
        with progress(console) as show:
            while self.done < 1:
                self._update()
                last = self.curve[-1].seconds  # the pauses between points grow to `curve_every`
                pause = min(settings.curve_every, settings.curve_every / 10 + GROWTH * last)
                if self.done == 1 or self.seconds >= last + pause:
                    self._add_point()
                if self.done == 1 or self.seconds - saved >= settings.checkpoint_every:
                    self.save()
                    saved = self.seconds
                show(self.done, self._status())

    def _update(self) -> None:
        """Collect one rollout, learn from it and log; raises ValueError if the weights are no longer finite."""
        model, seed, began = self.model, self.settings.seed, time.perf_counter()
        if PAST in self.settings.opponents and len(self.past_selves) < math.floor(self.done * PAST_SELVES):
            self.past_selves[f"update {self.updates}"] = copy.deepcopy(model.network).eval()
        model.set_done(self.done)
        self.updates += 1
        torch.manual_seed(seed_of(seed, self.updates, 0))
        model.rollout_buffer.rng = np.random.default_rng(seed_of(seed, self.updates, 1))
        model.seat_opponents(self.updates, self.past_selves)
        model.collect_rollouts()
        model.train()
        if not all(bool(torch.isfinite(weight).all()) for weight in model.policy.parameters()):
            raise ValueError(
                "training has diverged: the weights are no longer finite numbers; try a smaller learning_rate; "
                f"the last good checkpoint is {self.folder / CHECKPOINT}"
            )
        seconds = time.perf_counter() - began
        self.seconds += seconds
        model.logger.record("time/frames_per_second", self.settings.decisions / seconds)
        model.logger.dump(model.num_timesteps)

    def _add_point(self) -> None:
        """Measure the current learner for the curve."""
        settings, frames = self.settings, self.model.num_timesteps
        learner = self.model.network.player(self.rules, "learner", settings.seed)
        yardstick = agents.make_known(settings.yardstick, self.rules, settings.seed + 1)
        result = duplicate_match(learner, yardstick, self.rules, settings.curve_deals, seed=settings.seed)
        margin = result.adjusted or result
        self.curve.append(CurvePoint(self.seconds, frames, margin.margin, margin.low, margin.high))
        self.model.logger.record(f"margin/{settings.yardstick}", margin.margin)
        self.model.logger.dump(frames)

    def _status(self) -> str:
        left = int(self.seconds * (1 - self.done) / self.done)
        rate = self.model.num_timesteps / self.seconds / 1000
        return (
            f"{left // 60}:{left % 60:02d} left  {self.model.games_played:,} games  {rate:.1f}k frames/s  "
            f"margin {self.curve[-1].margin:+.1f} over {self.settings.yardstick}"
        )

    # ------------------------------------------------------------------ files

    def _networks(self) -> nn.ModuleDict:
        return nn.ModuleDict({"policy": self.model.policy, "ema": self.model.ema, **self.past_selves})

    def save(self) -> None:
        """Write the checkpoint."""
        model = self.model
        parts = {"networks": arrays_of(self._networks().state_dict())}
        for number, moments in model.policy.optimizer.state_dict()["state"].items():
            parts[f"optimizer.{number}"] = arrays_of(moments)
        for number, games in enumerate(model.parts):
            parts[f"games.{number}"] = games.save()
        arrays = {f"{part}.{name}": array for part, its in parts.items() for name, array in its.items()}
        state = {
            "seconds": self.seconds, "updates": self.updates, "games": model.games_played,
            "past_selves": list(self.past_selves), "curve": [asdict(point) for point in self.curve],
        }  # fmt: skip
        about = {"settings": self.settings.model_dump(mode="json"), "progress": state}
        write_artifact(self.folder / CHECKPOINT, KIND, VERSION, arrays, about)

    def _load(self, checkpoint: Checkpoint) -> None:
        """Continue from a checkpoint of the same settings."""
        model, state, arrays = self.model, checkpoint.progress, checkpoint.arrays
        self.seconds, self.updates, model.games_played = state["seconds"], state["updates"], state["games"]
        model.num_timesteps = self.updates * self.settings.decisions
        self.curve = [CurvePoint(**point) for point in state["curve"]]
        self.past_selves = {name: copy.deepcopy(model.network).eval() for name in state["past_selves"]}
        self._networks().load_state_dict(tensors_of(_part_of(arrays, "networks.")))
        if self.updates:  # before, Adam has no moments
            optimizer = model.policy.optimizer.state_dict()
            numbers = optimizer["param_groups"][0]["params"]
            optimizer["state"] = {number: tensors_of(_part_of(arrays, f"optimizer.{number}.")) for number in numbers}
            model.policy.optimizer.load_state_dict(optimizer)
        model.seat_opponents(self.updates, self.past_selves)  # first, as opponents may need the history of the games
        for number, games in enumerate(model.parts):
            games.load(_part_of(arrays, f"games.{number}."))

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
            seconds=round(self.seconds, 1),
            version=__version__,
            commit=commit(),
            created=datetime.now().astimezone().isoformat(timespec="seconds"),
        )
        write_curve(self.folder, self.curve, self.rules, self.settings.yardstick)

    def finish(self) -> list[MatchResult]:
        """Write the model, its card, the curve and the final evaluation, and return the evaluation."""
        settings = self.settings
        self.write_model(settings.line)
        opponents = [agents.make_known(name, self.rules, settings.seed + 2) for name in settings.against]
        learner = self.model.network.player(self.rules, "model")
        results = evaluate(learner, opponents, self.rules, settings.deals, seed=settings.seed + 1)
        card = self.folder / "model" / README
        write_whole(card, model_card(read_card(card.parent), results).encode())
        write_json(self.folder / "evaluation.json", {"matches": [result.to_json() for result in results]})
        return results


class _TensorBoard(TensorBoardOutputFormat):
    """The log for TensorBoard, which hides the steps that an earlier process logged from `first` on."""

    def __init__(self, folder: str, first: int) -> None:
        self.writer, self._is_closed = SummaryWriter(folder, purge_step=first), False


def _part_of(arrays: Arrays, prefix: str) -> Arrays:
    """Select the arrays whose names begin with a prefix, which is removed."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def compile_kernels(settings: TrainSettings, console: Console) -> None:
    """Compile all kernels of a run by a small throwaway run; print a notice if any is not cached."""
    small = settings.changed(**SMALL)
    with compiling(console), tempfile.TemporaryDirectory() as folder:
        TrainingRun(small.changed(frames=2 * small.decisions), Path(folder)).run_updates(Console(quiet=True))


def read_checkpoint(folder: Path) -> Checkpoint:
    """Read a run's checkpoint; raises ValueError if there is none, or it is torn, changed or of another version."""
    path = folder / CHECKPOINT
    if not path.is_file():
        raise ValueError(f"there is no run to resume in {folder}: {CHECKPOINT} is missing")
    arrays, about = read_artifact(path, KIND, VERSION)
    return Checkpoint(TrainSettings.from_file(about["settings"]), about["progress"], arrays)


@contextlib.contextmanager
def open_training(settings: TrainSettings) -> Iterator[TrainingRun]:
    """Yield a new run, or the one to resume, with its folder locked; nothing is written before all checks pass.

    Raises ValueError if the folder does not fit, or another run is writing to it.
    """
    folder = Path(settings.resume or settings.out or f"runs/{datetime.now():%Y-%m-%d-%H%M%S}")
    checkpoint = read_checkpoint(folder) if settings.resume else None
    run = TrainingRun(checkpoint.settings.typed_by(settings) if checkpoint else settings, folder, checkpoint)
    if not checkpoint and not is_empty(folder):
        raise ValueError(f"{folder} is not empty; resume that run with --resume {folder}, or choose another --out")
    with writing_to(folder):
        yield run


@torch_threads_kept()
def train(settings: TrainSettings, quiet: bool = False) -> list[MatchResult]:
    """Train by settings, print the evaluation and the paths of the results, and return the evaluation.

    Raises ValueError if the folder does not fit, another run is writing to it, or the learner diverges, and OSError if
    the folder can't be written.
    """
    console = Console(quiet=quiet)
    with open_training(settings) as run:
        console.print(f"Training on '{run.rules}' in {run.folder}", markup=False)
        try:
            with naming(run.folder):  # TensorBoard's errors have no name of a file
                run.train(console)
        except (KeyboardInterrupt, OSError):  # in the middle of an update, so the state is not saved
            kept = "The last checkpoint is kept; resume the run with: krypenv train --resume"
            console.print(f"{kept} {run.folder}", markup=False)
            raise
        results = run.finish()
    if not quiet:
        print_matches(results)
        for name, title in (("model", "model"), ("tensorboard", "TensorBoard log"), ("curve.png", "learning curve")):
            console.print(f"{title:>15}: {run.folder / name}", highlight=False, markup=False, soft_wrap=True)
    return results
