"""Runs: tasks whose results survive a kill, are the same wherever they are done, and are told apart from others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from krypenv.inputs.artifacts import encode_artifact, read_artifact, write_artifact
from krypenv.training.runs import HERE, Executor, Header, Task, executors, open_run
from krypenv.training.runs.journal import JOURNAL, encode, read_journal
from krypenv.training.settings.groups import Place

HEADER = Header("sum", {"rules": "krypkasino players=2", "seed": 3}, {"command": "krypenv sum"})
RIGHT = {f"number {number}": number * number for number in range(6)}


def square(number: int) -> int:
    return number * number


def mortal(number: int, file: Path) -> int:
    """Square a number; the first process that is asked for 3 dies of it."""
    if number == 3 and not file.exists():
        file.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.01)
    return number * number


def deadly(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


def wrong(number: int) -> int:
    raise ValueError(f"{number} is no number")


def some_bytes(number: int) -> bytes:
    return bytes([number] * 5)


def squares(count: int = 6) -> list[Task]:
    return [Task(f"number {number}", square, {"number": number}, size=10) for number in range(count)]


def sums(folder: Path, tasks: list[Task], executor: Executor = HERE) -> dict[str, Any]:
    with open_run(folder, HEADER, executor) as run:
        return run.do_all(tasks)


# ---------------------------------------------------------------------- where tasks are done


@pytest.mark.parametrize("workers", [1, 2])
def test_results_are_the_same_wherever_tasks_are_done_and_are_not_done_again(tmp_path: Path, workers: int) -> None:
    seen: list[tuple[int, int]] = []
    assert sums(tmp_path, squares(2)) == {"number 0": 0, "number 1": 1}
    with open_run(tmp_path, HEADER, Executor(workers)) as run:
        assert run.do_all(squares(), lambda done, of: seen.append((done, of))) == RIGHT
    assert seen == [(10 * done, 60) for done in range(2, 7)]
    assert read_journal(tmp_path, "sum").results == RIGHT
    assert sums(tmp_path, [Task(each.key, wrong, each.arguments) for each in squares()]) == RIGHT


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_in_a_task_is_raised_as_it_is(tmp_path: Path, workers: int) -> None:
    with pytest.raises(ValueError, match="7 is no number"):
        sums(tmp_path, [*squares(2), Task("seven", wrong, {"number": 7})], Executor(workers))
    assert workers > 1 or read_journal(tmp_path, "sum").results == {"number 0": 0, "number 1": 1}


def test_a_dead_worker_s_task_is_done_again(tmp_path: Path) -> None:
    file = tmp_path / "killed"
    tasks = [Task(f"number {n}", mortal, {"number": n, "file": file}) for n in range(6)]
    assert sums(tmp_path / "run", tasks, Executor(2)) == RIGHT
    assert file.exists()


def test_workers_that_always_die_end_the_run_and_keep_what_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "RETRIES", 1)
    tasks = [*squares(2), Task("deadly", deadly, {"number": 1})]
    with pytest.raises(ChildProcessError, match=r"worker processes have died 2 times .* the same command resumes"):
        sums(tmp_path, tasks, Executor(2))
    assert sums(tmp_path, squares()) == RIGHT


def test_an_address_implies_ray() -> None:
    assert Place(workers=2, ray_address=None).executor == Executor(2)
    assert Place(ray_address="head:6379").executor == Executor(1, True, "head:6379")


def test_files_are_kept_with_their_hash_and_made_again_where_they_are_gone(tmp_path: Path) -> None:
    tasks = [Task(f"file {n}", some_bytes, {"number": n}, file=f"{n}.bin") for n in range(3)]
    first = sums(tmp_path, tasks)
    assert (tmp_path / "2.bin").read_bytes() == bytes([2] * 5)
    (tmp_path / "1.bin").unlink()
    with open_run(tmp_path, HEADER) as run:
        assert [task.key for task in run.do(tasks)] == ["file 1"]
    assert sums(tmp_path, tasks) == first


KILLED = """
import os, signal, sys, time
from pathlib import Path
from krypenv.training.runs import Executor, Header, Task, open_run

def slow(number):
    time.sleep(0.02)
    return number * number

if __name__ == "__main__":
    with open_run(Path(sys.argv[1]), HEADER, Executor(int(sys.argv[2]))) as run:
        for _ in run.do([Task(f"number {n}", slow, {"number": n}) for n in range(400)]):
            print(len(run.results), flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_killed_at_any_moment_nothing_finished_is_lost(tmp_path: Path, workers: int) -> None:
    script = tmp_path / "killed.py"
    script.write_text(KILLED.replace("HEADER", repr(HEADER)))
    folder, told = tmp_path / "run", 0
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
        assert sums(tmp_path, squares()) == RIGHT


Change = Callable[[list[bytes]], list[bytes]]


def changed(folder: Path, change: Change) -> bytes:
    """Finish a run, change the lines of its journal, and return what the journal then holds."""
    sums(folder, squares())
    data = b"\n".join(change((folder / JOURNAL).read_bytes().splitlines())) + b"\n"
    (folder / JOURNAL).write_bytes(data)
    return data


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda lines: [*lines[:2], lines[2].replace(b":1,", b":7,"), *lines[3:]], "line 3 .* with its checksum"),
        (lambda lines: [lines[0], lines[1].partition(b',"crc"')[0] + b"}", *lines[2:]], "line 2 .* has no checksum"),
        (lambda lines: [*lines[:4], b"", *lines[4:]], "line 5 .* has no checksum"),
        (lambda lines: [lines[0].replace(b'"seed":3', b'"seed":4'), *lines[1:]], "line 1 .* with its checksum"),
        (lambda lines: [lines[0] + lines[1], *lines[2:]], "line 1 .* with its checksum"),
        (lambda lines: [*lines, *lines], "line 8 .* is no result"),
        (lambda lines: [lines[1], lines[0], *lines[2:]], "a sum in format 1 is wanted"),
        (lambda lines: [encode({"kind": "sum", "format": 9})[:-1], *lines[1:]], "of 'sum' in format 9, and a sum"),
        (lambda lines: [b"a table"], "line 1 .* has no checksum"),
    ],
)
def test_a_journal_that_was_changed_is_refused_and_left_as_it_is(tmp_path: Path, change: Change, reason: str) -> None:
    data = changed(tmp_path, change)
    for read in (lambda: read_journal(tmp_path, "sum"), lambda: sums(tmp_path, squares(9))):
        with pytest.raises(ValueError, match=reason):
            read()
    assert (tmp_path / JOURNAL).read_bytes() == data


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        (
            HEADER._replace(identity={**HEADER.identity, "seed": 4}),
            "holds a sum with seed 3, not 4; give another --out",
        ),
        (HEADER._replace(kind="product"), "is of 'sum' in format 1, and a product in format 1 is wanted"),
    ],
)
def test_another_run_is_refused_and_left_as_it_is(tmp_path: Path, header: Header, sentence: str) -> None:
    before = changed(tmp_path, lambda lines: lines)
    with pytest.raises(ValueError, match=sentence), open_run(tmp_path, header):
        pass
    assert (tmp_path / JOURNAL).read_bytes() == before


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


def test_an_artifact_gives_back_what_was_written_and_equal_contents_are_equal_bytes(tmp_path: Path) -> None:
    path = tmp_path / "some.safetensors"
    write_artifact(path, "model", 3, ARRAYS, ABOUT)
    arrays, about = read_artifact(path, "model", 3)
    assert about == ABOUT
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array, strict=True)
    assert path.read_bytes() == encode_artifact("model", 3, dict(reversed(ARRAYS.items())), ABOUT)
    assert encode_artifact("model", 3, {**ARRAYS, "one": np.array(3)}, ABOUT) != path.read_bytes()


def test_a_changed_byte_of_an_artifact_is_told(tmp_path: Path) -> None:
    path, good = tmp_path / "some.safetensors", encode_artifact("model", 3, ARRAYS, ABOUT)
    random = np.random.default_rng(1)
    for at in random.choice(len(good), 150, replace=False):
        data = bytearray(good)
        data[at] ^= 1 << int(random.integers(8))
        path.write_bytes(data)
        with pytest.raises(ValueError, match=r"some\.safetensors ((was changed|is torn).*; remove it|is a)"):
            read_artifact(path, "model", 3)
    for size in (0, 7, 100, len(good) - 1):
        path.write_bytes(good[:size])
        with pytest.raises(ValueError, match="is torn"):
            read_artifact(path, "model", 3)


@pytest.mark.parametrize(("kind", "version"), [("checkpoint", 3), ("model", 4)])
def test_an_artifact_of_another_kind_or_version_is_refused(tmp_path: Path, kind: str, version: int) -> None:
    path = tmp_path / "some.safetensors"
    write_artifact(path, "model", 3, ARRAYS, ABOUT)
    with pytest.raises(ValueError, match=f"a {kind!r} of version {version} is wanted"):
        read_artifact(path, kind, version)
