"""Work in other processes and on a Ray cluster of several local nodes: the same results, also with a worker killed."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.arenas import RULES, Lowest
from support.commands import krypenv
from support.small_files import tiny_protocol

from krypenv.training import ArenaSettings, run_arena
from krypenv.training.data import making
from krypenv.training.evaluation.score.protocol import read_score
from krypenv.training.runs import Executor, Header, Task, open_run
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
    """The results of a command that is run in a folder: those of all its journals, without the seconds of each task."""
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
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


@pytest.mark.parametrize("name", ["arena", *SLOW])
def test_a_command_finds_the_same_in_two_processes(name: str, tmp_path: Path) -> None:
    assert results_of(name, tmp_path / "two", "--workers", "2") == results_of(name, tmp_path / "one", "--workers", "1")


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
        return pick(observations, action_masks)

def pick(observations, action_masks):
    return action_masks.argmax(axis=1)

RULES = Rules.preset("mini-low")
AGENTS = (Mine(RULES), pick, "random")
run_arena(ArenaSettings(agents=AGENTS, rules=RULES, out="out", deals=4, chunk=2, workers=2))
"""


@pytest.mark.parametrize("file", ["script.py", pytest.param("-", marks=pytest.mark.slow)])
def test_a_script_without_a_guard_or_a_notebook_runs_once_and_its_agents_play_in_workers(
    file: str, tmp_path: Path
) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, file], input=SCRIPT, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("from the top") == 1


def test_an_agent_that_can_not_be_copied_is_told_before_anything_starts(tmp_path: Path) -> None:
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

    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # the workers can't import the tests
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    for _ in range(2):
        cluster.add_node(num_cpus=1)
    ray.init(cluster.address, log_to_driver=False)
    yield ray
    ray.shutdown()
    cluster.shutdown()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["arena", "exploit"])
def test_a_command_finds_the_same_on_a_cluster(name: str, cluster: Any, tmp_path: Path) -> None:
    assert results_of(name, tmp_path / "there", "--ray") == results_of(name, tmp_path / "here", "--workers", "1")


def mortal(number: int, deaths: Path) -> int:
    """Square a number; the first process that is asked for 2 dies of it, and 7 is none."""
    if number == 7:
        raise ValueError("7 is no number")
    if number == 2 and not deaths.exists():
        deaths.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


@pytest.mark.slow
def test_on_a_cluster_a_killed_worker_s_task_is_done_again_and_errors_are_raised_as_they_are(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def squares(*numbers: int, address: str | None = None) -> dict[str, Any]:
        todo = [Task(str(number), mortal, {"number": number, "deaths": tmp_path / "died"}) for number in numbers]
        with open_run(tmp_path / "run", Header("sum", {}, {}), Executor(ray=True, address=address)) as run:
            return run.do_all(todo)

    assert squares(0, 1, 2, 3) == {"0": 0, "1": 1, "2": 4, "3": 9}
    assert (tmp_path / "died").exists()
    with pytest.raises(ValueError, match=r"^7 is no number$"):
        squares(7)
    monkeypatch.setattr(cluster, "is_initialized", lambda: False)
    with pytest.raises(ValueError, match=r"no Ray cluster answers at 127\.0\.0\.1:1: "):
        squares(4, address="127.0.0.1:1")
