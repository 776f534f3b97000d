"""Folders that two processes write to, full disks, and what can't be a folder: one sentence, and nothing by half."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from fuzz.kills import SETUP, STUDY
from support.commands import krypenv
from support.small_files import TINY, checkpoint, files_of, tiny_protocol
from support.threads import many_at_once

from krypenv import Rules
from krypenv.agents.neural.model_file import load_model
from krypenv.inputs.files import write_whole
from krypenv.training.evaluation.arena.arena import ArenaSettings, run_arena
from krypenv.training.evaluation.score.playing import ScoreSettings, score_agent
from krypenv.training.evaluation.score.score_file import read_score
from krypenv.training.exploiting import ExploitSettings, exploit
from krypenv.training.exploiting.best_response import response_settings, train_response
from krypenv.training.lab import run_study
from krypenv.training.learn.run import CHECKPOINT, read_checkpoint, train
from krypenv.training.learn.settings import TrainSettings
from krypenv.training.runs.journal import JOURNAL
from krypenv.training.runs.tasks import LOCK, is_empty, writing_to
from krypenv.training.solving import save, solve, solve_into

# ---------------------------------------------------------------------- two processes and one folder

HELD = "another run is writing to .*; wait for its end"


@pytest.mark.parametrize("what", ["train", "resume", "exploit", "response", "score", "study", "solve", "save", "arena"])
def test_a_folder_that_another_run_writes_to_is_refused(tmp_path: Path, what: str) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    if what == "resume":
        (folder / CHECKPOINT).write_bytes(checkpoint())
    rules = Rules.parse(TINY["rules"])
    starts: dict[str, Callable[[], Any]] = {
        "train": lambda: train(TrainSettings(**TINY, out=str(folder)), quiet=True),
        "resume": lambda: train(TrainSettings(resume=str(folder)), quiet=True),
        "exploit": lambda: exploit(ExploitSettings(agent="greedy", seeds=1, frames=1, out=folder)),
        "score": lambda: score_agent(ScoreSettings(agent="greedy", out=folder / "score.json", table=("two",))),
        "study": lambda: run_study(STUDY, SETUP, folder),
        "solve": lambda: solve_into(folder, Rules.preset("mini-sweep")),
        "save": lambda: save(folder, solve(Rules.preset("mini-sweep"), gap=1.0, sees=True)),
        "arena": lambda: run_arena(ArenaSettings(agents=("greedy", "random"), rules=rules, out=folder, deals=2)),
        "response": lambda: train_response(response_settings("greedy", rules, folder, 1, None), ""),
    }
    locked = folder / "score.json.part" if what == "score" else folder
    locked.mkdir(exist_ok=True)
    with FileLock(locked / LOCK):
        before = files_of(folder)
        with pytest.raises(ValueError, match=HELD):
            starts[what]()
        assert files_of(folder) == before


TRAINS = """
import json, sys
from krypenv.training.learn.run import train
from krypenv.training.learn.settings import TrainSettings
settings = json.loads(sys.argv[1])
try:
    train(TrainSettings.from_file(settings), quiet=True)
except ValueError as error:
    sys.exit(str(error))
"""


@pytest.mark.slow
def test_of_two_trainings_into_one_folder_one_is_refused(tmp_path: Path) -> None:
    settings = {**TINY, "frames": 640, "out": str(tmp_path / "run")}
    command = [sys.executable, "-c", TRAINS, json.dumps(settings)]
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate(timeout=240)[1] for process in both]
    assert sorted(process.returncode for process in both) == [0, 1], said
    lost = said[0] if both[0].returncode else said[1]
    assert "another run is writing to" in lost or "is not empty" in lost
    assert read_checkpoint(tmp_path / "run").progress["updates"] == 640 // 32
    load_model(tmp_path / "run" / "model")


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from krypenv.training.runs.tasks import writing_to\n"
        "with writing_to(Path(sys.argv[1])):\n    os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "run")], check=False)
    assert done.returncode == -9
    assert (tmp_path / "run" / LOCK).exists()
    assert is_empty(tmp_path / "run")
    with writing_to(tmp_path / "run"), pytest.raises(ValueError, match=HELD), writing_to(tmp_path / "run"):
        pass


def test_of_two_threads_one_is_refused(tmp_path: Path) -> None:
    def enter() -> None:
        with pytest.raises(ValueError, match=HELD), writing_to(tmp_path):
            pass

    with writing_to(tmp_path):
        many_at_once([enter, enter])


# ---------------------------------------------------------------------- no room, no leave


def full(*arguments: Any) -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("name", ["fsync", "replace"])
def test_a_full_disk_names_the_file_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = tmp_path / "figures.json"
    write_whole(path, b"old")
    with monkeypatch.context() as patch:
        patch.setattr(os, name, full)
        with pytest.raises(OSError, match="No space left on device") as error:
            write_whole(path, b"new")
    assert (error.value.filename, error.value.errno) == (str(path), errno.ENOSPC)
    assert files_of(tmp_path) == {"figures.json": b"old"}


@pytest.mark.parametrize("calls", [1, 2, 4])
def test_a_score_on_a_full_disk_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    fsync, left = os.fsync, [calls]

    def filling(number: int) -> None:
        left[0] -= 1
        return fsync(number) if left[0] > 0 else full()

    words = ["score", "tactician", "--quick", "--out"]
    with tiny_protocol():
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", filling)
            done = krypenv(*words, str(tmp_path / "a.json"))
        journal = tmp_path / "a.json.part" / JOURNAL
        assert (done.exit_code, done.stderr) == (2, f"krypenv: {journal}: No space left on device\n")
        lines = journal.read_bytes().count(b"\n") if journal.exists() else 0
        assert lines >= calls - 1  # the header, and whole chunks
        for name in ("a", "b"):
            assert krypenv(*words, str(tmp_path / f"{name}.json")).exit_code == 0
        one, other = (read_score(tmp_path / f"{name}.json").tables for name in ("a", "b"))
        assert all((one[name].margins == other[name].margins).all() for name in one)
    assert not (tmp_path / "a.json.part").exists()


def test_what_cannot_be_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "run", tmp_path / ("n" * 300)):
        with pytest.raises(OSError, match=r".") as error, writing_to(path):
            pass
        assert str(error.value.filename).startswith(str(path))
    name = "n" * 250 + ".json"  # as long as a name may be: the partial file's is not longer
    write_whole(tmp_path / name, b"{}")
    assert files_of(tmp_path)[name] == b"{}"
