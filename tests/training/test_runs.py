"""Runs: their results are the same in this process, in workers and on a Ray cluster, are kept, and survive kills."""

from __future__ import annotations

import shlex
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.arenas import RULES, Lowest
from support.commands import krypenv
from support.small_files import tiny_protocol
from support.tasks import deadly, some_bytes, square, wrong

from krypenv.inputs.artifacts import encode_artifact, read_artifact, write_artifact
from krypenv.training import ArenaSettings, run_arena
from krypenv.training.data import making
from krypenv.training.evaluation.score.protocol import read_score
from krypenv.training.runs import Header, Task, executors, open_run
from krypenv.training.runs.journal import JOURNAL, encode, parse, read_journal

HEADER = Header("sum", {"rules": "krypkasino players=2", "seed": 3}, {"command": "krypenv sum"})
RIGHT = {f"number {number}": number * number for number in range(6)}


def squares(count: int = 6, **more: Any) -> list[Task]:
    return [Task(f"number {number}", square, {"number": number, **more}, size=10) for number in range(count)]


def sums(folder: Path, tasks: list[Task], **where: Any) -> dict[str, Any]:
    with open_run(folder, HEADER, **where) as run:
        return run.do_all(tasks)


# ---------------------------------------------------------------------- where tasks are done

PLACES: dict[str, dict[str, Any]] = {"here": {"workers": 1}, "processes": {"workers": 2}, "cluster": {"ray": True}}
WORDS = {"processes": ("--workers", "2"), "cluster": ("--ray",)}
ELSEWHERE = ["processes", pytest.param("cluster", marks=pytest.mark.slow)]


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """Connect to a Ray cluster of three nodes with one processor each."""
    import ray
    from ray.cluster_utils import Cluster

    ray.cloudpickle.register_pickle_by_value(sys.modules[square.__module__])  # the workers can't import the tests
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    for _ in range(2):
        cluster.add_node(num_cpus=1)
    ray.init(cluster.address, log_to_driver=False)
    yield
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture
def place(request: pytest.FixtureRequest) -> str:
    """The name of a place, which is there."""
    if request.param == "cluster":
        request.getfixturevalue("cluster")
    return str(request.param)


@pytest.mark.parametrize("place", ["here", *ELSEWHERE], indirect=True)
def test_results_are_the_same_wherever_tasks_are_done_and_are_kept(tmp_path: Path, place: str) -> None:
    seen: list[tuple[int, ...]] = []

    def note(done: int, of: int) -> None:
        seen.append((done, of, len(read_journal(tmp_path, "sum").results)))

    assert sums(tmp_path, squares(2)) == {"number 0": 0, "number 1": 1}
    more = {} if place == "here" else {"deaths": tmp_path / "killed"}
    with open_run(tmp_path, HEADER, **PLACES[place]) as run:
        assert run.do_all(squares(**more), note) == RIGHT
    assert (tmp_path / "killed").exists() == (place != "here")
    assert seen == [(10 * done, 60, done) for done in range(2, 7)], "what is told is on the disk"
    assert read_journal(tmp_path, "sum").results == RIGHT
    assert sums(tmp_path, [Task(each.key, wrong, each.arguments) for each in squares()]) == RIGHT
    with pytest.raises(ValueError, match=r"^7 is no number$"):
        sums(tmp_path, [Task("seven", wrong, {"number": 7})], **PLACES[place])


@pytest.mark.parametrize("place", ELSEWHERE, indirect=True)
def test_workers_that_always_die_end_the_run_and_keep_what_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setattr(executors, "RETRIES", 1)
    with pytest.raises(ChildProcessError, match=r"died 2 times .*; the same command resumes"):
        sums(tmp_path, [*squares(2), Task("deadly", deadly, {"number": 1})], **PLACES[place])
    assert sums(tmp_path, squares()) == RIGHT


@pytest.mark.slow
def test_a_cluster_that_does_not_answer_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import ray

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    with pytest.raises(ValueError, match=r"no Ray cluster answers at 127\.0\.0\.1:1: "):
        sums(tmp_path, squares(), ray=True)


COMMANDS = {  # each with two tasks at least
    "arena": "arena greedy random --rules mini-low --deals 6 --chunk 2 --out out",
    "score": "score greedy --quick --out out/score.json",
    "data": "data greedy --against random --rules mini-low --games 6 --out out",
    "exploit": "exploit greedy --rules mini-low --seeds 1 --frames 1 --worlds 2 --selection 2 --deals 2 --out out",
}


@tiny_protocol()
def results_of(name: str, folder: Path, *where: str) -> dict[str, Any]:
    """The results of a command that is run in a folder: those of all its journals, without the seconds of each task."""
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "CHUNK", 2)
        patch.chdir(folder)
        done = krypenv(*shlex.split(COMMANDS[name]), *where)
    assert done.exit_code == 0, done.output
    if name == "score":  # whose journal is no more once its file is there
        tables = read_score(folder / "out" / "score.json").tables
        return {table: score.margins.tolist() for table, score in tables.items()}
    results = {}
    for path in folder.rglob(JOURNAL):
        for entry in map(parse, path.read_bytes().splitlines()[1:]):
            result = entry["result"]
            results[entry["key"]] = {**result, "seconds": 0} if isinstance(result, dict) else result
    assert len(results) > 1
    return results


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "place"), [*((name, "processes") for name in COMMANDS), ("arena", "cluster")], indirect=["place"]
)
def test_a_command_finds_the_same_elsewhere(name: str, place: str, tmp_path: Path) -> None:
    assert results_of(name, tmp_path / "there", *WORDS[place]) == results_of(name, tmp_path / "here")


def test_an_agent_that_can_not_be_copied_is_told_before_anything_starts(tmp_path: Path) -> None:
    locked = Lowest(RULES)
    locked.lock = threading.Lock()  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match=r"^lowest can't be copied for each chunk: copying it raised TypeError: "):
        run_arena(ArenaSettings(agents=(locked, "random"), rules=RULES, out=tmp_path / "arena", workers=2))
    assert not (tmp_path / "arena").exists()


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
