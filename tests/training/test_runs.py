"""Runs: results survive kills, are the same wherever tasks are done, and lie in folders that others leave alone."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from filelock import FileLock
from support.small_files import SETUP, STUDY, TINY, files_of, tiny_protocol

from krypenv import Rules
from krypenv.inputs.artifacts import encode_artifact, read_artifact, write_artifact
from krypenv.inputs.files import write_whole
from krypenv.training.data import DataSettings, make_data
from krypenv.training.evaluation.arena.arena import ArenaSettings, run_arena
from krypenv.training.evaluation.score.playing import ScoreSettings, score_agent
from krypenv.training.exploiting import ExploitSettings, exploit
from krypenv.training.exploiting.exploiting import response_settings, train_response
from krypenv.training.lab import run_study
from krypenv.training.learn.run import train
from krypenv.training.learn.settings import TrainSettings
from krypenv.training.runs import HERE, Executor, Header, Task, executors, open_run
from krypenv.training.runs.journal import JOURNAL, encode, read_journal
from krypenv.training.runs.tasks import LOCK, is_empty, writing_to
from krypenv.training.solving import save, solve, solve_into

HEADER = Header("sum", {"rules": "krypkasino players=2", "seed": 3}, {"command": "krypenv sum"})
RIGHT = {f"number {number}": number * number for number in range(6)}


def square(number: int, deaths: Path | None = None) -> int:
    """Square a number; the first process that is asked for 3 with a file for deaths dies of it."""
    if number == 3 and deaths and not deaths.exists():
        deaths.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def deadly(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


def wrong(number: int) -> int:
    raise ValueError(f"{number} is no number")


def some_bytes(number: int) -> bytes:
    return bytes([number] * 5)


def squares(count: int = 6, **more: Any) -> list[Task]:
    return [Task(f"number {number}", square, {"number": number, **more}, size=10) for number in range(count)]


def sums(folder: Path, tasks: list[Task], executor: Executor = HERE) -> dict[str, Any]:
    with open_run(folder, HEADER, executor) as run:
        return run.do_all(tasks)


# ---------------------------------------------------------------------- where tasks are done


@pytest.mark.parametrize("workers", [1, 2])
def test_results_are_the_same_wherever_tasks_are_done_and_are_kept(tmp_path: Path, workers: int) -> None:
    seen: list[tuple[int, ...]] = []

    def note(done: int, of: int) -> None:
        seen.append((done, of, len(read_journal(tmp_path, "sum").results)))

    assert sums(tmp_path, squares(2)) == {"number 0": 0, "number 1": 1}
    more = {"deaths": tmp_path / "killed"} if workers > 1 else {}
    with open_run(tmp_path, HEADER, Executor(workers)) as run:
        assert run.do_all(squares(**more), note) == RIGHT
    assert (tmp_path / "killed").exists() == (workers > 1)
    assert seen == [(10 * done, 60, done) for done in range(2, 7)], "what is told is on the disk"
    assert read_journal(tmp_path, "sum").results == RIGHT
    assert sums(tmp_path, [Task(each.key, wrong, each.arguments) for each in squares()]) == RIGHT
    with pytest.raises(ValueError, match="7 is no number"):
        sums(tmp_path, [Task("seven", wrong, {"number": 7})], Executor(workers))


def test_workers_that_always_die_end_the_run_and_keep_what_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "RETRIES", 1)
    with pytest.raises(ChildProcessError, match=r"worker processes have died 2 times .* the same command resumes"):
        sums(tmp_path, [*squares(2), Task("deadly", deadly, {"number": 1})], Executor(2))
    assert sums(tmp_path, squares()) == RIGHT


def test_files_are_kept_with_their_hash_and_made_again_where_they_are_gone(tmp_path: Path) -> None:
    tasks = [Task(f"file {n}", some_bytes, {"number": n}, file=f"{n}.bin") for n in range(3)]
    first = sums(tmp_path, tasks)
    assert first["file 0"] == "8855508aade16ec573d21e6a485dfd0a7624085c1a14b5ecdd6485de0c6839a4"
    (tmp_path / "1.bin").unlink()
    with open_run(tmp_path, HEADER) as run:
        assert [task.key for task in run.do(tasks)] == ["file 1"]
    assert (tmp_path / "1.bin").read_bytes() == bytes([1] * 5)
    assert sums(tmp_path, tasks) == first


# ---------------------------------------------------------------------- the journal


@pytest.mark.parametrize(
    ("change", "kind", "reason"),
    [
        (lambda lines: [*lines[:2], lines[2].replace(b":1,", b":7,"), *lines[3:]], "sum", "line 3 .* its checksum"),
        (lambda lines: [lines[0], lines[1].partition(b',"crc"')[0] + b"}", *lines[2:]], "sum", "line 2 .* no checksum"),
        (lambda lines: [*lines, *lines], "sum", "line 8 .* is no result"),
        (
            lambda lines: [encode({"kind": "sum", "format": 9})[:-1]],
            "sum",
            "of 'sum' in format 9, and 'sum' in format 1",
        ),
        (lambda lines: lines, "eddy", "is of 'sum' in format 1, and 'eddy' in format 1"),
    ],
)
def test_a_changed_journal_and_one_of_another_kind_are_refused_and_left_as_they_are(
    tmp_path: Path, change: Callable[[list[bytes]], list[bytes]], kind: str, reason: str
) -> None:
    sums(tmp_path, squares())
    path = tmp_path / JOURNAL
    path.write_bytes(b"\n".join(change(path.read_bytes().splitlines())) + b"\n")
    before = path.read_bytes()
    with pytest.raises(ValueError, match=reason), open_run(tmp_path, HEADER._replace(kind=kind)):
        pass
    assert path.read_bytes() == before


def test_a_run_without_results_gives_way_to_another(tmp_path: Path) -> None:
    sums(tmp_path, [])
    with open_run(tmp_path, HEADER._replace(identity={"seed": 9})) as run:
        run.do_all(squares())
    assert read_journal(tmp_path, "sum").header.identity == {"seed": 9}


# ---------------------------------------------------------------------- artifacts

ARRAYS = {
    "weights": np.linspace(0, 1, 6, dtype=np.float32).reshape(2, 3), "seeds": np.array([2**63], np.uint64),
    "one": np.array(3.0), "none": np.zeros((0, 2), np.int8),
}  # fmt: skip
ABOUT = {"rules": "krypkasino players=2", "curve": [1.0, float("inf")], "names": ["a"]}


def test_an_artifact_gives_back_what_was_written_and_nothing_else_is_read(tmp_path: Path) -> None:
    path = tmp_path / "some.safetensors"
    write_artifact(path, "model", 3, ARRAYS, ABOUT)
    arrays, about = read_artifact(path, "model", 3)
    assert (about, arrays.keys()) == (ABOUT, ARRAYS.keys())
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array, strict=True)
    good = path.read_bytes()
    assert good == encode_artifact("model", 3, dict(reversed(ARRAYS.items())), ABOUT)
    for kind, version in (("checkpoint", 3), ("model", 4)):
        with pytest.raises(ValueError, match=f"a {kind!r} of version {version} is wanted"):
            read_artifact(path, kind, version)
    for data in (good[:-1] + bytes([good[-1] ^ 4]), b"", good[:7], good[:-1]):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=r"some\.safetensors (was changed|is torn).*; remove it"):
            read_artifact(path, "model", 3)


# ---------------------------------------------------------------------- two processes and one folder

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
