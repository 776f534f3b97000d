"""RLlib on three nodes: checkpoints reach all env runners, and training survives the loss of some."""

import time

import numpy as np
import pytest
import ray
import safetensors.torch
from ray.cluster_utils import Cluster

from krypenv import Rules
from krypenv.adapters.rllib import MAIN
from krypenv.training import ArenaSettings, run_arena
from krypenv.training.examples.rllib_ppo import Settings, algorithm_of, learn, lifetime, restore, train

MINI = Rules.preset("mini-low")
SMALL = {
    "rules": "mini-low", "games": 16, "steps": 16, "units": 16, "batch": 128, "watched": 0, "every": 2,
    "opponent": "random",
}  # fmt: skip


@pytest.fixture(scope="module")
def cluster():
    """Connect to three nodes, each with one processor."""
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    for _ in range(2):
        made.add_node(num_cpus=1)
    ray.init(made.address, log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()


def everywhere(algorithm):
    """Return the weights of the policy in the learner and in all env runners."""
    played = algorithm.env_runner_group.foreach_env_runner(lambda runner: runner.module[MAIN].get_state())
    return [algorithm.learner_group.get_weights([MAIN])[MAIN], *played]


def assert_everywhere(algorithm, weights, count):
    """Wait for weights to arrive, as RLlib does not after an update, in so many processes."""
    for _ in range(600):
        found = [all(np.array_equal(each[name], weights[name]) for name in weights) for each in everywhere(algorithm)]
        if all(found):
            break
        time.sleep(0.1)
    assert found == [True] * count


def test_a_run_goes_on_from_its_checkpoint(cluster, tmp_path):
    folder = tmp_path / "checkpoints"
    settings = Settings(**SMALL, frames=1200, checkpoints=folder)
    algorithm = algorithm_of(settings)
    _, history = learn(algorithm, settings)
    (last,) = folder.iterdir()
    assert last.name == f"{len(history):06}"
    again = algorithm_of(settings.changed(runners=1))  # and on other env runners
    restore(again, last)
    assert again.iteration == len(history)
    assert lifetime(again) == history[-1]["decisions"]
    weights = {name: value.numpy().copy() for name, value in algorithm.get_module(MAIN).state_dict().items()}
    assert_everywhere(again, weights, 3)
    _, more = learn(again, settings.changed(frames=2000))
    assert history[-1]["decisions"] < more[0]["decisions"]
    assert [path.name for path in folder.iterdir()] == [f"{len(history) + len(more):06}"]
    for each in (algorithm, again):
        each.stop()


def test_training_survives_the_loss_of_a_node_and_the_policy_plays_in_the_arena(cluster, tmp_path):
    alive = []

    def tell(now):
        alive.append(now["runners"])
        if len(alive) == 2:
            cluster.remove_node(next(iter(cluster.worker_nodes)))

    settings = Settings(**SMALL | {"games": 8}, frames=2500, runners=3)
    policy, _ = train(settings, tell)
    assert alive[:2] == [3, 3]
    assert alive[-1] == 2
    file = tmp_path / "mine.safetensors"
    safetensors.torch.save_file(policy.state_dict(), file)
    name = f"krypenv.training.examples.ppo:PPOAgent(path='{file}')"
    arena = run_arena(ArenaSettings(agents=(name, "random", "greedy"), rules=MINI, out=tmp_path / "arena", deals=10))
    assert arena
