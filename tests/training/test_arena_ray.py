"""The arena on a Ray cluster of several local nodes: the same games, also with a worker killed in the middle."""

import os
import signal
import sys
import time

import numpy as np
import pytest
from support.arenas import Lowest, same_games

from krypenv import Rules
from krypenv.training import ArenaSettings, run_arena
from krypenv.training.runs.parts import Place

ray = pytest.importorskip("ray", reason="ray is not installed")
pytestmark = pytest.mark.slow
RULES = Rules.preset("krypkasino")


@pytest.fixture(scope="module")
def cluster():
    """Connect to a cluster of three nodes with one processor each."""
    from ray.cluster_utils import Cluster

    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # the workers can't import the tests
    ray.cloudpickle.register_pickle_by_value(sys.modules[Lowest.__module__])
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    for _ in range(2):
        cluster.add_node(num_cpus=1)
    ray.init(cluster.address, log_to_driver=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


class Doomed(Lowest):
    """The lowest legal action; its process is killed in the middle of a game, once in the life of a file."""

    def __init__(self, rules, seed, file):
        super().__init__(rules)
        self.file = file
        self.calls = 0

    def act(self, observations, action_masks):
        self.calls += 1
        if self.calls == 20:
            try:
                self.file.touch(exist_ok=False)
                os.kill(os.getpid(), signal.SIGKILL)
            except FileExistsError:
                pass
        return super().act(observations, action_masks)


def test_a_killed_worker_changes_nothing(cluster, tmp_path):
    agents = (
        "random",
        "tactician",
        ("doomed", lambda rules, seed, file=tmp_path / "killed": Doomed(rules, seed, file)),
    )
    shared = {"agents": agents, "game": RULES, "deals": 40, "chunk": 8}
    there = run_arena(ArenaSettings(**shared, out=tmp_path / "ray", place=Place(ray=True)))
    assert (tmp_path / "killed").exists()  # it was killed, and not this process
    here = run_arena(ArenaSettings(**shared, out=tmp_path / "here"))
    assert same_games(there, here)
    assert np.isfinite(there.milliseconds).all()


class Absent(Lowest):
    """An agent that can be made by the one who starts the arena and not by the workers."""

    def __init__(self, rules, driver):
        super().__init__(rules)
        if os.getpid() != driver:
            raise ValueError("there is no such model here")


def test_what_a_worker_raises_is_raised_here(cluster, tmp_path):
    driver = os.getpid()
    absent = ("absent", lambda rules, seed: Absent(rules, driver))
    with pytest.raises(
        ValueError, match=r"^absent can't be made: its maker raised ValueError: there is no such model here$"
    ):
        run_arena(ArenaSettings((absent, "random"), RULES, tmp_path / "arena", deals=2, place=Place(ray=True)))


def test_a_cluster_that_is_not_there_is_told_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(ValueError, match=r"no Ray cluster answers at 127\.0\.0\.1:1: "):
        run_arena(
            ArenaSettings(("greedy", "random"), RULES, tmp_path / "arena", place=Place(ray_address="127.0.0.1:1"))
        )
    assert not (tmp_path / "arena").exists()


class Patient(Lowest):
    """The lowest legal action; on a worker, only once there is a worker on each of three nodes."""

    def __init__(self, rules, seed, folder, driver):
        super().__init__(rules)
        if os.getpid() != driver:
            (folder / f"{ray.get_runtime_context().get_node_id()}.node").touch()
            until = time.monotonic() + 60
            while len(list(folder.glob("*.node"))) < 3:
                assert time.monotonic() < until, "the shards do not go to all nodes"
                time.sleep(0.02)


def test_shards_go_to_all_nodes(cluster, tmp_path):
    driver = os.getpid()
    patient = ("patient", lambda rules, seed: Patient(rules, seed, tmp_path, driver))
    run_arena(ArenaSettings((patient, "random"), RULES, tmp_path / "arena", deals=20, chunk=2, place=Place(ray=True)))
    assert len(list(tmp_path.glob("*.node"))) == 3
