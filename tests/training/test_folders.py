"""Folders of work that other work leaves alone, and disks without room: one sentence, and nothing is changed."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from support.small_files import SETUP, STUDY, TINY, files_of, tiny_protocol

from krypenv import Rules
from krypenv.inputs.files import write_whole
from krypenv.training.data import DataSettings, make_data
from krypenv.training.evaluation.arena.arena import ArenaSettings, run_arena
from krypenv.training.evaluation.score.playing import ScoreSettings, score_agent
from krypenv.training.exploiting import ExploitSettings, exploit
from krypenv.training.exploiting.exploiting import response_settings, train_response
from krypenv.training.lab import run_study
from krypenv.training.learn.run import train
from krypenv.training.learn.settings import TrainSettings
from krypenv.training.runs import Header, Task, open_run
from krypenv.training.runs.journal import JOURNAL
from krypenv.training.runs.tasks import LOCK, is_empty, writing_to
from krypenv.training.solving import save, solve, solve_into

HELD = "another run is writing to .*; wait for its end"
MINI = Rules.preset("mini-low")
FEW: dict[str, Any] = {"agent": "greedy", "seeds": 0, "own": ("greedy",), "worlds": 2, "selection": 2, "deals": 2}
SWEEP = Rules.preset("mini-sweep")


def stop(done: int, of: int) -> None:
    """Interrupt a score, whose journal is removed at its end."""
    if done:
        raise KeyboardInterrupt


def score(out: Path, **more: Any) -> None:
    """Begin a score."""
    settings = {"agent": "greedy", "table": ("two",), "deals": 4, **more}
    with tiny_protocol(), contextlib.suppress(KeyboardInterrupt):
        score_agent(ScoreSettings(out=out / "score.json", **settings), stop)


WORK: dict[str, Callable[..., Any]] = {  # what is done in a folder, with some of its settings changed
    "train": lambda out: train(TrainSettings(**TINY, out=str(out)), quiet=True),
    "response": lambda out: train_response(response_settings("greedy", MINI, out, 1, None), ""),
    "save": lambda out: save(out, solve(SWEEP, gap=1.0, sees=True)),
    "exploit": lambda out, **more: exploit(ExploitSettings(**{**FEW, "rules": "mini-low", "out": out, **more})),
    "score": score,
    "study": lambda out, **more: run_study(STUDY, replace(SETUP, **more), out),
    "solve": lambda out, gap=0.5: solve_into(out, SWEEP, gap, 10),
    "data": lambda out, **more: make_data(DataSettings(agent="random", rules="mini-low", games=2, out=out, **more)),
    "arena": lambda out, **more: run_arena(
        ArenaSettings(**{"agents": ("greedy", "random"), "rules": MINI, "out": out, "deals": 2, "luck": "off", **more})
    ),
}


@pytest.mark.parametrize("name", WORK)
def test_a_folder_that_another_run_writes_to_is_refused(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "run"
    locked = folder / "score.json.part" if name == "score" else folder
    locked.mkdir(parents=True)
    with FileLock(locked / LOCK):
        before = files_of(folder)
        with pytest.raises(ValueError, match=HELD):
            WORK[name](folder)
        assert files_of(folder) == before


OTHERS = {
    "arena": (
        ({"rules": Rules.preset("howto")}, "rules 'mini-low players=2', not 'howto players=2'"),
        ({"agents": ("random", "greedy")}, "agents 1 name 'greedy', not 'random'"),
        ({"seed": 1}, "seed 0, not 1"),
        ({"chunk": 7}, "chunk 100, not 7"),
        ({"luck": "on"}, "luck None, not 'rollouts by"),
    ),
    "score": (
        ({"agent": "random"}, "agent .*"),
        ({"deals": 2}, "deals 4, not 2"),
        ({"table": ("three",)}, "tables .*"),
    ),
    "data": (({"seed": 1}, "seed 0, not 1"), ({"luck": True}, "luck False, not True")),
    "study": (({"seed": 5}, "seed 0, not 5"), ({"luck": "on"}, "luck None, not .*'on'")),
    "exploit": (({"luck": "off"}, "luck 'rollouts .*', not None"), ({"worlds": 3}, "worlds 2, not 3")),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_folder_of_other_work_is_refused_and_left_as_it_is(tmp_path: Path, name: str) -> None:
    WORK[name](tmp_path)
    before = files_of(tmp_path)
    for changes, difference in OTHERS[name]:
        with pytest.raises(ValueError, match=f"holds another [a-z ]+, with {difference}.*; give another --out"):
            WORK[name](tmp_path, **changes)
        assert files_of(tmp_path) == before


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


def test_a_run_on_a_full_disk_names_its_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_run(tmp_path, Header("sum", {}, {})) as run:
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left on device") as error:
            run.do_all([Task("one", int)])
    assert error.value.filename == str(tmp_path / JOURNAL)


def test_what_cannot_be_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "run", tmp_path / ("n" * 300)):
        with pytest.raises(OSError, match=r".") as error, writing_to(path):
            pass
        assert str(error.value.filename).startswith(str(path))
    name = "n" * 250 + ".json"  # as long as a name may be: the partial file's is not longer
    write_whole(tmp_path / name, b"{}")
    assert files_of(tmp_path)[name] == b"{}"
