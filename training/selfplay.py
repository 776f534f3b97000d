"""A training run: self-play, snapshots, checkpoints, learning curve, and the evaluation at the end."""

from __future__ import annotations

import copy
import dataclasses
import math
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure

from krypenv import __version__, agents
from krypenv.adapters.sb3 import KrypkasinoVecEnv
from krypenv.agents.learned import LearnedAgent
from krypenv.agents.model_file import save_model
from krypenv.agents.network import CardNetwork, Shape
from krypenv.rules import Rules
from krypenv.training.checkpoint import load_checkpoint, read_progress, save_checkpoint
from krypenv.training.curve import CurvePoint, draw_curve
from krypenv.training.evaluation import MatchResult, duplicate_match, evaluate
from krypenv.training.ppo import SelfPlayPPO
from krypenv.training.report import print_matches, write_json
from krypenv.training.settings import Settings

LAST_RATE = 0.05  # of the learning rate, at the end


class _Quiet(BaseCallback):
    def _on_step(self) -> bool:
        return True


class Run:
    """A run in a folder, from its beginning or from its last checkpoint."""

    def __init__(self, settings: Settings, folder: Path, resumed: bool) -> None:
        self.settings, self.folder, self.rules = settings, folder, settings.game_rules()
        for name in (*settings.rivals, *settings.against):
            agents.make(name, self.rules)  # unknown ones are told now, not after the training
        torch.set_num_threads(settings.threads)
        progress: dict[str, Any] = read_progress(folder) if resumed else {}
        self.seconds: float = progress.get("seconds", 0.0)  # trained before this process began
        self.curve = [CurvePoint(**point) for point in progress.get("curve", [])]
        self.resumes: int = progress.get("resumes", -1) + 1
        self.model = self._make_model()
        self.snapshots: list[CardNetwork] = []
        if resumed:
            self.snapshots = load_checkpoint(folder, self.model)
            self.model.num_timesteps, self.model.games_played = progress["frames"], progress["games"]
            self.model._n_updates = progress["updates"]
        self._began = time.perf_counter()
        self._next_snapshot = math.floor(self.done / settings.snapshot_every + 1) * settings.snapshot_every

    def _make_games(self, rows: int, seat: str, seed: int) -> KrypkasinoVecEnv | None:
        """Return the games in which all seats learn, or one at random, if there are any."""
        if rows == 0:
            return None
        it = self.settings
        return KrypkasinoVecEnv(self.rules, rows, seat=seat, reward=it.reward, dense=it.dense, features=True, seed=seed)

    def _make_model(self) -> SelfPlayPPO:
        """Build environments and learner; games after a resume are dealt from fresh seeds."""
        it = self.settings
        seeds = [3 * (it.seed + 1_000_003 * self.resumes) + part for part in range(3)]
        return SelfPlayPPO(
            self._make_games(it.rows, "all", seeds[0]), self._make_games(it.rival_rows, "random", seeds[1]),
            n_steps=it.steps, batch_size=it.batch, n_epochs=it.epochs, gamma=it.discount, gae_lambda=it.gae_lambda,
            learning_rate=lambda left: it.learning_rate * max(left, LAST_RATE), clip_range=it.clip,
            ent_coef=it.entropy, vf_coef=it.value_weight, seed=seeds[2], device=it.device,
            policy_kwargs={"shape": Shape(it.context, it.card, it.embedding)},
        )  # fmt: skip

    @property
    def elapsed(self) -> float:
        """Seconds of training, over all processes of the run."""
        return self.seconds + time.perf_counter() - self._began

    @property
    def done(self) -> float:
        """The part of the run that is over, 0 to 1."""
        if self.settings.frames:
            return min(self.model.num_timesteps / self.settings.frames, 1.0)
        return min(self.elapsed / (60 * self.settings.minutes), 1.0)

    def train(self, console: Console) -> None:
        """Train to the end of the budget; raises FloatingPointError where the learner diverges."""
        self.model.set_logger(configure(str(self.folder / "tensorboard"), ["tensorboard"]))
        _, callback = self.model._setup_learn(sys.maxsize, _Quiet(), reset_num_timesteps=False)
        self._choose_rivals()
        if not self.curve:
            self._add_point()
        last_point = self.curve[-1].seconds
        last_saved = self.elapsed
        with _progress_bar(console) as bar:
            task = bar.add_task("", total=1.0, text="starting")
            while self.done < 1:
                self.model._current_progress_remaining = 1 - self.done
                self._update(callback)
                if self.elapsed - last_point >= self.settings.curve_every:
                    last_point = self.elapsed
                    self._add_point()
                if self.done >= self._next_snapshot:
                    self._next_snapshot += self.settings.snapshot_every
                    self._take_snapshot()
                if self.elapsed - last_saved >= self.settings.checkpoint_every:
                    last_saved = self.elapsed
                    self.save()
                bar.update(task, completed=self.done, text=self._status())
        self._add_point()
        self.save()

    def _update(self, callback: BaseCallback) -> None:
        """Collect one rollout, learn from it and log."""
        model = self.model
        began, frames, environment = time.perf_counter(), model.num_timesteps, model.environment_seconds
        model.collect_rollouts(model.games_env, callback, model.rollout_buffer, model.n_steps)
        collected = time.perf_counter()
        model.train()
        if not all(bool(torch.isfinite(weight).all()) for weight in model.network.parameters()):
            raise FloatingPointError("the weights are no longer finite numbers; try a smaller --learning-rate")
        seconds = time.perf_counter() - began
        model.logger.record("time/frames_per_second", (model.num_timesteps - frames) / seconds)
        model.logger.record("time/collecting_share", (collected - began) / seconds)
        model.logger.record("time/environment_share", (model.environment_seconds - environment) / seconds)
        model.logger.record("rollout/games", model.games_played)
        model.logger.record("rollout/margin_against_rivals", model.rival_margin())
        model.logger.dump(model.num_timesteps)

    def _add_point(self) -> None:
        """Evaluate the learner as it is now for the learning curve."""
        learner = self.agent()
        point = CurvePoint(seconds=self.elapsed, frames=self.model.num_timesteps, margins={})
        for opponent in self.settings.against:
            result = duplicate_match(learner, opponent, self.rules, self.settings.curve_deals, seed=self.settings.seed)
            point.margins[opponent] = [result.margin, result.low, result.high]
            self.model.logger.record(f"margin/{opponent}", result.margin)
        self.model.logger.dump(self.model.num_timesteps)
        self.curve.append(point)

    def _take_snapshot(self) -> None:
        self.snapshots.append(copy.deepcopy(self.model.network).eval())
        kept = self.settings.snapshots
        while len(self.snapshots) > kept:  # keep the spread over time: drop from the denser, later half
            del self.snapshots[max(kept // 2, 0)]
        self._choose_rivals()

    def _choose_rivals(self) -> None:
        """Tell the rival rows whom to draw from: the scripted agents, and the learner now and at its snapshots."""
        it = self.settings
        if self.model.rivals is None:
            return
        scripted = [agents.make(name, self.rules, seed=it.seed + place) for place, name in enumerate(it.rivals)]
        learned = [
            LearnedAgent(network, self.rules, "snapshot", seed=it.seed + place, temperature=1.0)
            for place, network in enumerate([self.model.network, *self.snapshots])
        ]
        share = it.scripted_share if scripted else 0.0
        self.model.rivals.batch.set_opponents(
            [(agent, share / len(scripted)) for agent in scripted]
            + [(agent, (1 - share) / len(learned)) for agent in learned]
        )

    def agent(self) -> LearnedAgent:
        """Return the learner as it is now, playing its best actions."""
        return LearnedAgent(self.model.network, self.rules, "learner", seed=self.settings.seed)

    def save(self) -> None:
        """Write the checkpoint."""
        progress = {
            "settings": dataclasses.asdict(self.settings),
            "seconds": self.elapsed,
            "frames": self.model.num_timesteps,
            "games": self.model.games_played,
            "updates": self.model._n_updates,
            "resumes": self.resumes,
            "curve": [dataclasses.asdict(point) for point in self.curve],
        }
        save_checkpoint(self.folder, self.model, self.snapshots, progress)

    def _status(self) -> str:
        left = int(self.elapsed / max(self.done, 1e-6) - self.elapsed)
        rate = self.model.num_timesteps / max(self.elapsed, 1e-6)
        opponent, (margin, *_) = list(self.curve[-1].margins.items())[-1]
        return (
            f"{left // 60}:{left % 60:02d} left  {self.model.games_played:,} games  {rate / 1000:.1f}k frames/s  "
            f"margin {margin:+.1f} ({opponent})"
        )

    def finish(self, command: str) -> list[MatchResult]:
        """Write the model and the learning curve, and return the evaluation against all opponents."""
        self.write_model(command)
        learner = LearnedAgent(self.model.network, self.rules, "model")
        return evaluate(learner, self.settings.against, self.rules, self.settings.deals, seed=self.settings.seed + 1)

    def write_model(self, command: str) -> None:
        """Write the model and the learning curve."""
        save_model(
            self.folder / "model",
            self.model.network,
            self.rules,
            settings=dataclasses.asdict(self.settings),
            command=command,
            seed=self.settings.seed,
            frames=self.model.num_timesteps,
            seconds=round(self.elapsed, 1),
            version=__version__,
            commit=_commit(),
            created=datetime.now().astimezone().isoformat(timespec="seconds"),
        )
        draw_curve(self.folder / "curve.png", self.curve, self.rules)


def _progress_bar(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.percentage:>3.0f}%"), BarColumn(bar_width=6), TextColumn("{task.fields[text]}"),
        console=console, refresh_per_second=2,
    )  # fmt: skip


def _commit() -> str | None:
    """Return the commit of the checkout that the package runs from, if it runs from one."""
    try:
        found = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=Path(__file__).parent, capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return found.stdout.strip() or None


def open_run(settings: Settings) -> Run:
    """Return a new run, or the one to resume; raises ValueError where the folder does not fit."""
    if settings.resume:
        folder = Path(settings.resume)
        return Run(Settings.from_json(read_progress(folder)["settings"]), folder, resumed=True)
    folder = Path(settings.out or f"runs/{datetime.now():%Y-%m-%d-%H%M%S}")
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"{folder} is not empty; go on with that run by --resume {folder}, or choose another --out")
    new = Run(settings, folder, resumed=False)
    folder.mkdir(parents=True, exist_ok=True)
    return new


def run(settings: Settings, command: str = "") -> list[MatchResult]:
    """Train as the settings say, print the evaluation and where everything is, and return the evaluation."""
    console = Console()
    session = open_run(settings)
    rules: Rules = session.rules
    console.print(f"Training on '{rules}' in {session.folder}")
    try:
        session.train(console)
    except KeyboardInterrupt:
        session.save()
        console.print(f"Stopped. Go on with: krypenv train --resume {session.folder}")
        raise SystemExit(130) from None
    except FloatingPointError as error:
        raise ValueError(f"training has diverged: {error}; the last good checkpoint is in {session.folder}") from None
    results = session.finish(command or " ".join(["krypenv", *sys.argv[1:]]))
    write_json(session.folder / "evaluation.json", {"matches": [result.to_json() for result in results]})
    print_matches(results)
    for name, what in (("model", "model"), ("tensorboard", "TensorBoard log"), ("curve.png", "learning curve")):
        console.print(f"{what:>15}: {session.folder / name}", highlight=False, soft_wrap=True)
    return results
