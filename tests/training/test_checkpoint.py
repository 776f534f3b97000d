"""A run that was stopped anywhere goes on as if it had not been, bit by bit; what goes wrong is one sentence."""

from __future__ import annotations

import errno
import itertools
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from support.games import SMALL
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from krypenv.training.learn.ppo import SelfPlayPPO
from krypenv.training.learn.run import CHECKPOINT, TrainingRun, open_training, read_checkpoint, train
from krypenv.training.learn.settings import TrainSettings

pytestmark = pytest.mark.usefixtures("no_pictures")
UPDATES = 6
TINY: dict[str, Any] = {
    **SMALL, "rules": "mini-low", "batch": 32, "epochs": 2, "frames": UPDATES * 64, "seed": 3,
    "opponents": ("past", "search(worlds=2, plies=1)", "support.arenas:Picky(history=True)"),
    "kl_coef": 0.3, "ema_decay": 0.5, "ent_coef": 0.02, "checkpoint_every": 1e-9, "curve_deals": 2,
    "against": ("random",), "yardstick": "random",
}  # fmt: skip


def resumed(folder: Path) -> TrainSettings:
    """The settings that resume a run in a folder; agents of one's own are named again."""
    return TrainSettings(resume=str(folder), opponents=TINY["opponents"])


class Kept(TrainingRun):
    """A run that keeps its checkpoint after each update."""

    def save(self) -> None:
        super().save()
        shutil.copy(self.folder / CHECKPOINT, self.folder / f"after-{self.updates}")


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that nothing has stopped, with its checkpoints after each update."""
    folder = tmp_path_factory.mktemp("runs") / "unbroken"
    folder.mkdir()
    Kept(TrainSettings(**TINY), folder).train(Console(quiet=True))
    progress = read_checkpoint(folder).progress  # else comparisons with it would show less than they claim
    assert progress["past_selves"] == [f"update {number}" for number in range(1, UPDATES)]
    assert progress["games"] > 0
    assert len({(folder / f"after-{update}").read_bytes() for update in range(UPDATES + 1)}) == UPDATES + 1
    return folder


def state_of(folder: Path) -> tuple[dict[str, bytes], dict[str, Any]]:
    """All that a checkpoint holds but times and places."""
    _, progress, arrays = read_checkpoint(folder)
    tensors = {name: array.tobytes() for name, array in arrays.items()}
    for point in progress["curve"]:
        del point["seconds"]
    del progress["seconds"]
    return tensors, progress


def assert_same_end(one: Path, other: Path) -> None:
    """Weights, EMA policy, critic, optimizer, past selves, games and curve are the same, bit by bit."""
    (tensors, progress), (other_tensors, other_progress) = state_of(one), state_of(other)
    assert set(tensors) == set(other_tensors)
    assert [name for name in tensors if tensors[name] != other_tensors[name]] == []
    assert progress == other_progress


@pytest.mark.few(1)
@pytest.mark.parametrize("update", [0, 3, UPDATES])
def test_a_run_that_is_resumed_ends_like_the_unbroken_one(unbroken: Path, tmp_path: Path, update: int) -> None:
    """Bit by bit; and TensorBoard shows each step once, though a killed run had logged more than its checkpoint."""
    shutil.copytree(unbroken / "tensorboard", tmp_path / "tensorboard")
    shutil.copy(unbroken / f"after-{update}", tmp_path / CHECKPOINT)
    with open_training(resumed(tmp_path)) as again:
        assert (again.updates, again.model.num_timesteps) == (update, update * 64)
        assert again.settings == TrainSettings(**TINY)
        again.train(Console(quiet=True))
    assert_same_end(tmp_path, unbroken)
    logs = [EventAccumulator(str(folder / "tensorboard")).Reload() for folder in (tmp_path, unbroken)]
    for name in ("train/loss", "rollout/margin_against_opponents", "margin/random"):
        scalars, others = ([(event.step, event.value) for event in log.Scalars(name)] for log in logs)
        assert scalars == others
        assert len(scalars) > 1


@pytest.mark.slow
def test_a_run_that_the_system_kills_ends_like_the_unbroken_one(tmp_path: Path) -> None:
    folder, settings = tmp_path / "killed", {**TINY, "frames": 6_400, "opponents": ("past", "greedy")}
    words = shlex.split(TrainSettings(**settings, out=str(folder)).line)[1:]
    with subprocess.Popen([sys.executable, "-m", "krypenv", *words], stdout=subprocess.DEVNULL) as process:
        while not (folder / CHECKPOINT).exists() or read_checkpoint(folder).progress["updates"] < 5:
            assert process.poll() is None
            time.sleep(0.02)
        process.kill()
    assert 5 <= read_checkpoint(folder).progress["updates"] < 100
    train(resumed(folder), quiet=True)
    train(TrainSettings(**settings, out=str(tmp_path / "unbroken")), quiet=True)
    assert_same_end(folder, tmp_path / "unbroken")


def fill_the_disk(patch: pytest.MonkeyPatch) -> None:
    fsync, calls = os.fsync, itertools.count()

    def filling(file: int) -> None:
        if next(calls) > 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(file)

    patch.setattr(os, "fsync", filling)


def let_weights_diverge(patch: pytest.MonkeyPatch) -> None:
    learn = SelfPlayPPO.train

    def diverge(self: SelfPlayPPO) -> None:
        learn(self)
        self.calls = getattr(self, "calls", 0) + 1  # of this learner; the rehearsal has one of its own
        if self.calls == 4:
            list(self.policy.parameters())[3].data.view(-1)[0] = float("nan")

    patch.setattr(SelfPlayPPO, "train", diverge)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("stop", "error", "reason"),
    [
        (fill_the_disk, OSError, r"No space left on device: '.*run'$"),
        (let_weights_diverge, ValueError, r"^training has diverged: .*; the last good checkpoint is .*run/checkpoint"),
    ],
)
def test_a_run_that_something_stops_says_so_and_ends_like_the_unbroken_one_when_resumed(
    unbroken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    stop: Callable[[pytest.MonkeyPatch], None], error: type[Exception], reason: str,
) -> None:  # fmt: skip
    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        stop(patch)
        with pytest.raises(error, match=reason):
            train(TrainSettings(**TINY, out=str(folder)))
    told = f"with: krypenv train --resume {folder}" in capsys.readouterr().out.replace("\n", "")
    assert told == (error is OSError)
    assert not list(folder.rglob("*.part"))
    assert read_checkpoint(folder).progress["updates"] in (1, 2, 3)
    train(resumed(folder), quiet=True)
    assert_same_end(folder, unbroken)
