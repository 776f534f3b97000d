"""Work in other processes and on a Ray cluster of several local nodes: the same results, also with a worker killed."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support import arenas, killing
from support.arenas import RULES, Lowest
from support.commands import krypenv
from support.small_files import tiny_protocol

from krypenv.training import ArenaSettings, run_arena
from krypenv.training.data import making
from krypenv.training.evaluation.score.score_file import read_score
from krypenv.training.runs import tasks
from krypenv.training.runs.journal import JOURNAL, parse

COMMANDS = {  # each with two tasks at least
    "arena": "arena greedy random --rules mini-low --deals 6 --chunk 2 --out out",
    "score": "score greedy --quick --out out/score.json",
    "data": "data greedy --against random --rules mini-low --games 6 --out out",
    "exploit": "exploit greedy --rules mini-low --seeds 1 --frames 1 --worlds 2 --selection 2 --deals 2 --out out",
}
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in COMMANDS if name != "arena"]


@pytest.fixture(autouse=True)
def _small_work(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make protocols, files and trainings small."""
    monkeypatch.setattr(making, "CHUNK", 2)
    with tiny_protocol():
        yield


def results_of(name: str, folder: Path, *where: str) -> dict[str, Any]:
    """The results of a command that is run in a folder, without what was measured: those of all its journals."""
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        done = krypenv(*shlex.split(COMMANDS[name]), *where)
    assert done.exit_code == 0, done.output
    if name == "score":  # whose journal is no more once its file is there
        tables = read_score(folder / "out" / "score.json").tables
        return {table: score.margins.tolist() for table, score in tables.items()}
    lines = {path: path.read_bytes().splitlines()[1:] for path in folder.rglob(JOURNAL)}
    assert lines
    return {
        f"{path.relative_to(folder)}: {entry['key']}": without_times(entry["result"])
        for path, its in lines.items()
        for entry in map(parse, its)
    }


def without_times(result: Any) -> Any:
    """What a task found, without the seconds that it took."""
    return {**result, "seconds": 0} if isinstance(result, dict) else result


def let_a_worker_die(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    """Let the worker that has done the second task die; return the file that tells that it has."""
    folder.mkdir()
    monkeypatch.setattr(tasks, "_do", partial(killing.do_or_die, folder))
    return folder / "second"


@pytest.mark.parametrize("name", ["arena", *SLOW])
def test_a_killed_process_changes_nothing(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = results_of(name, tmp_path / "here", "--workers", "1")
    died = let_a_worker_die(monkeypatch, tmp_path / "died")
    assert results_of(name, tmp_path / "there", "--workers", "2") == here
    assert died.exists()


# ---------------------------------------------------------------------- a script without a guard, and a notebook

SCRIPT = """
from krypenv import Rules
from krypenv.training import ArenaSettings, run_arena

print("from the top", flush=True)

class Mine:
    name = "mine"
    def __init__(self, rules, seed=0):
        self.rules = rules
    def act(self, observations, action_masks):
        return pick(action_masks)

def pick(action_masks):
    return action_masks.argmax(axis=1)

def pick_low(observations, action_masks):
    return pick(action_masks)

RULES = Rules.preset("mini-low")
"""
CALLS = {
    "arena": "run_arena(ArenaSettings(agents=(Mine(RULES), pick_low, 'random'), rules=RULES, out='out', "
    "deals=4, chunk=2, workers=2))",
}


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("arena", "script.py"),
        pytest.param("arena", "-", marks=pytest.mark.slow),
    ],
)
def test_workers_leave_the_main_module_alone(name: str, file: str, tmp_path: Path) -> None:
    """A script without a guard, or a notebook, whose main module has no file, runs once; its agents play in workers."""
    code = f"{SCRIPT}{CALLS[name]}"
    (tmp_path / "script.py").write_text(code)
    done = subprocess.run(
        [sys.executable, file], input=code, cwd=tmp_path, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("from the top") == 1


def test_what_can_not_be_sent_is_told_before_anything_starts(tmp_path: Path) -> None:
    locked = Lowest(RULES)
    locked.lock = threading.Lock()  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match=r"^lowest can't be copied for each chunk: copying it raised TypeError: "):
        run_arena(ArenaSettings(agents=(locked, "random"), rules=RULES, out=tmp_path / "arena", workers=2))
    assert not (tmp_path / "arena").exists()


# ---------------------------------------------------------------------- Ray


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Connect to a cluster of three nodes with one processor each."""
    import ray
    from ray.cluster_utils import Cluster

    for module in (sys.modules[__name__], arenas, killing):  # the workers can't import the tests
        ray.cloudpickle.register_pickle_by_value(module)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    for _ in range(2):
        cluster.add_node(num_cpus=1)
    ray.init(cluster.address, log_to_driver=False)
    yield ray
    ray.shutdown()
    cluster.shutdown()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["arena", "exploit"])
def test_a_killed_worker_of_a_cluster_changes_nothing(
    name: str, cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = results_of(name, tmp_path / "here", "--workers", "1")
    died = let_a_worker_die(monkeypatch, tmp_path / "died")
    assert results_of(name, tmp_path / "there", "--ray") == here
    assert died.exists()


class Absent(Lowest):
    """An agent that can be copied by the one who starts the arena and not by the workers."""

    driver = 0

    def __deepcopy__(self, memo: Any) -> Absent:
        if os.getpid() != self.driver:
            raise ValueError("there is no such model here")
        return self


@pytest.mark.slow
def test_what_a_worker_raises_is_raised_here(cluster: Any, tmp_path: Path) -> None:
    absent = Absent(RULES)
    absent.driver = os.getpid()
    with pytest.raises(ValueError, match=r"lowest can't be copied for each chunk: .*: there is no such model here$"):
        run_arena(ArenaSettings(agents=(absent, "random"), rules=RULES, out=tmp_path / "arena", deals=2, ray=True))


@pytest.mark.slow
def test_a_cluster_that_is_not_there_is_told_at_once(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "is_initialized", lambda: False)
    place: dict[str, Any] = {"ray": True, "ray_address": "127.0.0.1:1"}
    with pytest.raises(ValueError, match=r"no Ray cluster answers at 127\.0\.0\.1:1: "):
        run_arena(ArenaSettings(agents=("greedy", "random"), rules=RULES, out=tmp_path / "arena", **place))
    assert not (tmp_path / "arena").exists()
