"""A run that was stopped anywhere goes on as if it had not been, bit by bit; what goes wrong is one sentence."""

from __future__ import annotations

import errno
import itertools
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console
from support.small_files import files_of
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from krypenv.inputs.artifacts import encode_artifact
from krypenv.training.learn.imitation import demonstrations, imitate
from krypenv.training.learn.learner.ppo import SelfPlayPPO
from krypenv.training.learn.selfplay.checkpoint import CHECKPOINT, KIND, VERSION, read_checkpoint
from krypenv.training.learn.selfplay.selfplay import TrainingRun, open_training, train
from krypenv.training.learn.selfplay.settings import Settings

pytestmark = pytest.mark.usefixtures("no_pictures")
UPDATES = 6
TINY: dict[str, Any] = {
    "preset": "", "rules": "mini-low",
    "envs": 8, "opponent_envs": 8, "steps": 4, "batch": 32, "epochs": 2, "frames": UPDATES * 64, "seed": 3,
    "opponents": ("greedy", "tactician", "search(worlds=2, plies=1)"), "scripted_share": 0.6, "snapshots": 2,
    "snapshot_every": 0.2, "metagame_deals": 2, "kl_coef": 0.3, "ema_decay": 0.5, "ent_coef": 0.02,
    "checkpoint_every": 1e-9, "curve_every": 1e9, "curve_deals": 2, "deals": 2, "against": ("random",),
    "context": 16, "card": 8, "embedding": 4, "workers": 1,
}  # fmt: skip


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
    Kept(Settings.of(**TINY), folder).train(Console(quiet=True))
    return folder


def state_of(folder: Path) -> tuple[dict[str, bytes], dict[str, Any]]:
    """All that a checkpoint holds but times and places."""
    _, progress, arrays = read_checkpoint(folder)
    tensors = {name: array.tobytes() for name, array in arrays.items()}
    progress["curve"] = [point["margins"] for point in progress["curve"]]
    del progress["settings"], progress["seconds"]
    return tensors, progress


def assert_same_end(one: Path, other: Path) -> None:
    """Weights, EMA policy, critic, optimizer, snapshots, games and figures are the same, bit by bit."""
    (tensors, progress), (others, its) = state_of(one), state_of(other)
    assert [name for name in tensors if tensors[name] != others[name]] == []
    assert set(tensors) == set(others)
    assert progress == its


def test_the_unbroken_run_has_what_a_run_can_have(unbroken: Path) -> None:
    tensors, progress = state_of(unbroken)
    parts = {name.split(".")[0] if name[0] != "p" else ".".join(name.split(".")[:2]) for name in tensors}
    assert parts == {
        "policy.network", "policy.critic", "policy.ema", "snapshot", "optimizer", "games", "opponent_returns"
    }  # fmt: skip
    assert (progress["updates"], progress["frames"]) == (UPDATES, TINY["frames"])
    assert tensors["opponent_returns"]  # games have ended
    assert progress["snapshots"] == ["update 2", "update 5"]  # those of updates 3 and 4 have made room
    assert len(progress["metagame"]["names"]) == 3 + 4
    states = {(unbroken / f"after-{update}").read_bytes() for update in range(UPDATES + 1)}
    assert len(states) == UPDATES + 1


@pytest.mark.parametrize("update", [0, 1, 3, 5, UPDATES])
def test_a_run_that_is_resumed_ends_like_the_unbroken_one(unbroken: Path, tmp_path: Path, update: int) -> None:
    """Bit by bit; and TensorBoard shows each step once, though a killed run had logged more than its checkpoint."""
    shutil.copytree(unbroken / "tensorboard", tmp_path / "tensorboard")
    shutil.copy(unbroken / f"after-{update}", tmp_path / CHECKPOINT)
    again = open_training(Settings(resume=str(tmp_path)))
    assert (again.updates, again.model.num_timesteps) == (update, update * 64)
    assert again.settings == Settings.of(**TINY)
    again.train(Console(quiet=True))
    assert_same_end(tmp_path, unbroken)
    log = EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    steps = {name: [event.step for event in log.Scalars(name)] for name in ("train/loss", "margin/random")}
    assert steps == {"train/loss": [64 * (number + 1) for number in range(UPDATES)], "margin/random": [0, 64 * UPDATES]}


def test_a_checkpoint_is_read_back_as_it_was_written(unbroken: Path, tmp_path: Path) -> None:
    shutil.copy(unbroken / "after-4", tmp_path / CHECKPOINT)
    before = state_of(tmp_path)
    open_training(Settings(resume=str(tmp_path))).save()
    assert state_of(tmp_path) == before


def test_a_run_stopped_before_its_first_update_ends_like_the_unbroken_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is stopped in its demonstrations, resumed, and stopped again in the cloning."""
    monkeypatch.setattr(imitate, "CHUNK", 1)
    settings = {**TINY, "demonstrations": 3, "teacher": "rollout(worlds=1)", "bc_epochs": 2, "frames": 128}
    train(Settings.of(**settings, out=str(tmp_path / "one")), quiet=True)
    start, folder = Settings.of(**settings, out=str(tmp_path / "two")), tmp_path / "two"
    for module, name, calls in ((demonstrations, "play_demonstrations", 2), (imitate, "clone_behaviour", 1)):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, interrupted(getattr(module, name), calls))
            with pytest.raises(SystemExit) as end:
                train(start, quiet=True)
        assert end.value.code == 130
        assert read_checkpoint(folder).progress["is_warm"] is False
        start = Settings(resume=str(folder))
    train(start, quiet=True)
    assert_same_end(folder, tmp_path / "one")


def interrupted(work: Callable[..., Any], after: int) -> Callable[..., Any]:
    """A function that is interrupted at the end of a call."""
    calls = itertools.count(1)

    def stop(*arguments: Any, **named: Any) -> Any:
        done = work(*arguments, **named)
        if next(calls) == after:
            raise KeyboardInterrupt
        return done

    return stop


@pytest.mark.slow
def test_a_killed_run_ends_like_the_unbroken_one(tmp_path: Path) -> None:
    """A process that is killed by the system in the middle of its work."""
    folder = tmp_path / "killed"
    settings = {**TINY, "frames": 6_400, "opponents": ("greedy",), "snapshot_every": 0.4, "demonstrations": 0}
    words = shlex.split(Settings.of(**settings, out=str(folder)).line)[1:]
    command = [sys.executable, "-m", "krypenv.training.cli.commands", *words]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 240
        while not (folder / CHECKPOINT).exists() or read_checkpoint(folder).progress["frames"] < 320:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert 320 <= read_checkpoint(folder).progress["frames"] < 6_400
    train(Settings(resume=str(folder)), quiet=True)
    train(Settings.of(**settings, out=str(tmp_path / "unbroken")), quiet=True)
    assert_same_end(folder, tmp_path / "unbroken")


def test_a_full_disk_stops_a_run_with_a_sentence(
    unbroken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, fsync, calls = tmp_path / "run", os.fsync, itertools.count()

    def filling(file: int) -> None:
        if next(calls) > 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(file)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", filling)
        with pytest.raises(ValueError, match="training has stopped: No space left on device") as error:
            train(Settings.of(**TINY, out=str(folder)), quiet=True)
    assert f"the last good checkpoint is {folder / CHECKPOINT}; resume with: krypenv train --resume" in str(error.value)
    assert "\n" not in str(error.value)
    assert not list(folder.rglob("*.part"))
    assert read_checkpoint(folder).progress["updates"] < UPDATES
    train(Settings(resume=str(folder)), quiet=True)
    assert_same_end(folder, unbroken)


def test_weights_that_are_no_numbers_stop_a_run_with_a_sentence(
    unbroken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, learn = tmp_path / "run", SelfPlayPPO.train

    def diverge(self: SelfPlayPPO) -> None:
        learn(self)
        self.calls = getattr(self, "calls", 0) + 1  # of this learner; the rehearsal has one of its own
        if self.calls == 4:
            list(self.policy.parameters())[3].data.view(-1)[0] = float("nan")

    with monkeypatch.context() as patch:
        patch.setattr(SelfPlayPPO, "train", diverge)
        with pytest.raises(ValueError, match="training has diverged: the weights are no longer finite") as error:
            train(Settings.of(**TINY, out=str(folder)), quiet=True)
    assert str(error.value).endswith(f"the last good checkpoint is {folder / CHECKPOINT}")
    kept = open_training(Settings(resume=str(folder)))
    assert kept.updates == 3
    assert all(bool(torch.isfinite(each).all()) for each in kept.model.policy.parameters())
    kept.train(Console(quiet=True))
    assert_same_end(folder, unbroken)


def test_a_torn_or_changed_checkpoint_or_one_of_another_version_is_refused(unbroken: Path, tmp_path: Path) -> None:
    data, path = (unbroken / CHECKPOINT).read_bytes(), tmp_path / CHECKPOINT
    _, progress, arrays = read_checkpoint(unbroken)
    older = encode_artifact(KIND, VERSION - 1, arrays, {"progress": progress})
    for bad, reason in (
        *((data[:size], "is torn, or no checkpoint") for size in (0, 7, 1000, len(data) // 2, len(data) - 1)),
        (data[:-3] + bytes([data[-3] ^ 1]) + data[-2:], "was changed: it does not agree with its digest"),
        (older, f"of version {VERSION - 1}, and a '{KIND}' of version {VERSION} is wanted"),
    ):
        path.write_bytes(bad)
        with pytest.raises(ValueError, match=rf"checkpoint\.safetensors .*{reason}"):
            train(Settings.of(resume=str(tmp_path)), quiet=True)
        assert files_of(tmp_path) == {CHECKPOINT: bad}
    with pytest.raises(ValueError, match="no run to resume"):
        open_training(Settings.of(resume=str(tmp_path / "nothing")))
