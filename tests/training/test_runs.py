"""Runs: tasks whose results survive a kill, are the same wherever they are done, and are told apart from others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from krypenv.inputs.artifacts import encode_artifact, read_artifact, write_artifact
from krypenv.training.runs import HERE, Executor, Header, Task, executors, open_run
from krypenv.training.runs.journal import JOURNAL, encode, read_journal

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
    seen: list[tuple[int, int]] = []
    assert sums(tmp_path, squares(2)) == {"number 0": 0, "number 1": 1}
    more = {"deaths": tmp_path / "killed"} if workers > 1 else {}
    with open_run(tmp_path, HEADER, Executor(workers)) as run:
        assert run.do_all(squares(**more), lambda done, of: seen.append((done, of))) == RIGHT
    assert (tmp_path / "killed").exists() == (workers > 1)
    assert seen == [(10 * done, 60) for done in range(2, 7)]
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


KILLED = """
import sys, time
from pathlib import Path
from krypenv.training.runs import Executor, Header, Task, open_run

def slow(number):
    time.sleep(0.02)
    return number * number

with open_run(Path(sys.argv[1]), HEADER, Executor(int(sys.argv[2]))) as run:
    for _ in run.do([Task(f"number {n}", slow, {"number": n}) for n in range(400)]):
        print(len(run.results), flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_killed_at_any_moment_nothing_finished_is_lost(tmp_path: Path, workers: int) -> None:
    script, folder, told = tmp_path / "killed.py", tmp_path / "run", 0
    script.write_text(KILLED.replace("HEADER", repr(HEADER)))
    for lines in (1, 7, 20):
        command = [sys.executable, str(script), str(folder), str(workers)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout
            for _ in range(lines):
                told = int(process.stdout.readline())
            process.kill()
        assert len(read_journal(folder, "sum").results) >= told
    assert sums(folder, squares(400)) == {f"number {n}": n * n for n in range(400)}


# ---------------------------------------------------------------------- the journal


def test_a_torn_last_line_is_done_again(tmp_path: Path) -> None:
    sums(tmp_path, squares())
    journal = tmp_path / JOURNAL
    whole = journal.read_bytes()
    for cut in range(1, 46, 4):
        journal.write_bytes(whole[:-cut])
        assert len(read_journal(tmp_path, "sum").results) in (4, 5)
        assert sums(tmp_path, squares()) == read_journal(tmp_path, "sum").results == RIGHT


Change = Callable[[list[bytes]], list[bytes]]


@pytest.mark.parametrize(
    ("change", "header", "reason"),
    [
        (lambda lines: [*lines[:2], lines[2].replace(b":1,", b":7,"), *lines[3:]], HEADER, "line 3 .* its checksum"),
        (
            lambda lines: [lines[0], lines[1].partition(b',"crc"')[0] + b"}", *lines[2:]],
            HEADER,
            "line 2 .* no checksum",
        ),
        (lambda lines: [lines[0].replace(b'"seed":3', b'"seed":4'), *lines[1:]], HEADER, "line 1 .* its checksum"),
        (lambda lines: [*lines, *lines], HEADER, "line 8 .* is no result"),
        (lambda lines: [lines[1], lines[0], *lines[2:]], HEADER, "a sum in format 1 is wanted"),
        (lambda lines: [encode({"kind": "sum", "format": 9})[:-1]], HEADER, "of 'sum' in format 9, and a sum"),
        (
            lambda lines: lines,
            HEADER._replace(identity={**HEADER.identity, "seed": 4}),
            "a sum with seed 3, not 4; give",
        ),
        (lambda lines: lines, HEADER._replace(kind="eddy"), "is of 'sum' in format 1, and an eddy in format 1"),
    ],
)
def test_a_changed_journal_and_another_run_are_refused_and_left_as_they_are(
    tmp_path: Path, change: Change, header: Header, reason: str
) -> None:
    sums(tmp_path, squares())
    path = tmp_path / JOURNAL
    path.write_bytes(b"\n".join(change(path.read_bytes().splitlines())) + b"\n")
    before = path.read_bytes()
    with pytest.raises(ValueError, match=reason), open_run(tmp_path, header):
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
