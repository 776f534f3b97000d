"""Folders that two processes write to, full disks, and what can't be a folder: one sentence, and nothing by half."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from support.small_files import SETUP, STUDY, TINY, files_of

from krypenv import Rules
from krypenv.inputs.files import write_whole
from krypenv.training.evaluation.arena.arena import ArenaSettings, run_arena
from krypenv.training.evaluation.score.playing import ScoreSettings, score_agent
from krypenv.training.exploiting import ExploitSettings, exploit
from krypenv.training.exploiting.exploiting import response_settings, train_response
from krypenv.training.lab import run_study
from krypenv.training.learn.run import train
from krypenv.training.learn.settings import TrainSettings
from krypenv.training.runs import Header, Task, open_run
from krypenv.training.runs.journal import JOURNAL, read_journal
from krypenv.training.runs.tasks import LOCK, is_empty, writing_to
from krypenv.training.solving import save, solve, solve_into

# ---------------------------------------------------------------------- two processes and one folder

HELD = "another run is writing to .*; wait for its end"


@pytest.mark.parametrize("what", ["train", "exploit", "response", "score", "study", "solve", "save", "arena"])
def test_a_folder_that_another_run_writes_to_is_refused(tmp_path: Path, what: str) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    rules = Rules.parse(TINY["rules"])
    starts: dict[str, Callable[[], Any]] = {
        "train": lambda: train(TrainSettings(**TINY, out=str(folder)), quiet=True),
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


def test_a_lock_ends_with_its_process_and_is_held_against_threads_and_enclosing_blocks(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from krypenv.training.runs.tasks import writing_to\n"
        "with writing_to(Path(sys.argv[1])):\n    os.kill(os.getpid(), 9)"
    )
    folder = tmp_path / "run"
    assert subprocess.run([sys.executable, "-c", code, str(folder)], check=False).returncode == -9
    assert (folder / LOCK).exists()
    assert is_empty(folder)

    def enter() -> None:
        with pytest.raises(ValueError, match=HELD), writing_to(folder):
            pass

    with writing_to(folder), ThreadPoolExecutor(2) as threads:
        for entered in [threads.submit(enter) for _ in range(2)]:
            entered.result()
        enter()


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


def number_of(x: int) -> int:
    return x


def test_a_run_on_a_full_disk_names_its_journal_and_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync, left, header = os.fsync, [4], Header("sum", {}, {})
    tasks = [Task(str(number), number_of, {"x": number}) for number in range(5)]

    def filling(number: int) -> None:
        left[0] -= 1
        return fsync(number) if left[0] > 0 else full()

    with monkeypatch.context() as patch, open_run(tmp_path, header) as run:
        patch.setattr(os, "fsync", filling)
        with pytest.raises(OSError, match="No space left on device") as error:
            run.do_all(tasks)
    assert error.value.filename == str(tmp_path / JOURNAL)
    assert list(read_journal(tmp_path, "sum").results) == ["0", "1", "2", "3"]
    with open_run(tmp_path, header) as run:
        assert run.do_all(tasks)["4"] == 4


def test_what_cannot_be_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "run", tmp_path / ("n" * 300)):
        with pytest.raises(OSError, match=r".") as error, writing_to(path):
            pass
        assert str(error.value.filename).startswith(str(path))
    name = "n" * 250 + ".json"  # as long as a name may be: the partial file's is not longer
    write_whole(tmp_path / name, b"{}")
    assert files_of(tmp_path)[name] == b"{}"
