"""The examples for toolboxes: each learns, repeats by frames, and has a command whose file names an agent."""

import contextlib
import subprocess
import sys
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from krypenv import Rules, agents
from krypenv.adapters import PolicyFunction
from krypenv.inputs.words import to_install
from krypenv.training import duplicate_match
from krypenv.training.examples import rllib_ppo, tianshou_dqn, tianshou_ppo, torchrl_ppo
from krypenv.training.runs.executors import ray_map

MINI = Rules.preset("mini-low")


class Example(NamedTuple):
    """An example, its settings that are small, and what it learns with."""

    module: Any
    kind: type
    small: dict[str, Any]
    learning: dict[str, Any]


RLLIB = {"games": 16, "steps": 16, "batch": 128, "watched": 0, "every": 2, "frames": 600}
TORCHRL = {"games": 16, "steps": 32, "batch": 128, "frames": 1024}
TIANSHOU = {"games": 8, "steps": 16, "batch": 64, "frames": 256}
EXAMPLES = {
    "rllib_ppo": Example(rllib_ppo, rllib_ppo.Settings, RLLIB, {
        "games": 64, "batch": 256, "rate": 2e-3, "epochs": 4, "watched": 20, "every": 5, "frames": 10_000,
    }),
    "torchrl_ppo": Example(torchrl_ppo, torchrl_ppo.Settings, TORCHRL, {
        "games": 128, "steps": 16, "batch": 512, "rate": 2e-3, "frames": 40_000,
    }),
    "tianshou_dqn": Example(tianshou_dqn, tianshou_dqn.DQNSettings, TIANSHOU, {
        "games": 32, "batch": 128, "rate": 2e-3, "target": 50, "seed": 1, "frames": 8000,
    }),
    "tianshou_ppo": Example(tianshou_ppo, tianshou_ppo.Settings, TIANSHOU, {
        "games": 32, "batch": 256, "rate": 3e-3, "epochs": 4, "steps": 32, "seed": 1, "frames": 10_000,
    }),
}  # fmt: skip


@pytest.fixture(scope="module", params=EXAMPLES)
def example(request):
    """An example; that of RLlib with Ray for all its runs."""
    with ray_map() if request.param == "rllib_ppo" else contextlib.nullcontext():
        yield EXAMPLES[request.param]


def trained(example, **settings):
    return example.module.train(example.kind(**{"rules": "mini-low", "opponent": "random", **settings}))


def test_it_learns_to_beat_random_play(example):
    policy, history = trained(example, **{**example.small, "units": 64, **example.learning})
    match = duplicate_match(PolicyFunction(policy.choose, MINI, "mine"), "random", MINI, deals=500)
    assert match.low > 0, str(match)
    assert all(step.keys() == example.module.METRICS.keys() for step in history)
    assert all(np.isfinite(value) for step in history for name, value in step.items() if name != "margin")
    assert np.isfinite([step.get("margin", 0) for step in history]).any()  # of matches now and then
    assert history[-1].get("entropy", 0) < history[0].get("entropy", 1)


def test_a_run_by_frames_repeats(example):
    runs = [trained(example, **example.small, units=16, seed=seed) for seed in (1, 1, 2)]
    one, two, three = (policy.state_dict()["actor.weight"] for policy, _ in runs)
    assert torch.equal(one, two)
    assert not torch.equal(one, three)


def test_its_command_line_trains_and_the_file_names_an_agent(example, tmp_path):
    out, runner = tmp_path / "mine.safetensors", CliRunner(env={"COLUMNS": "160", "NO_COLOR": "1"})
    words = [f"--{name}={value}" for name, value in {**example.small, "units": 16, "rules": "mini-low"}.items()]
    done = runner.invoke(example.module.app, [*words, "--opponent=random", "--deals=2", f"--out={out}"])
    assert done.exit_code == 0, done.output
    assert all(text in done.stdout for text in (*example.module.METRICS, f"wrote {out}", "mine", "greedy", "tactician"))
    agent = agents.make(f"krypenv.training.examples.ppo:PPOAgent(path='{out}')", MINI)
    duplicate_match(agent, "random", MINI, deals=2)
    done = runner.invoke(example.module.app, ["--opponent", "nobody", "--out", str(out)])
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "nobody" in done.stderr


@pytest.mark.parametrize(
    ("module", "package", "sentence"),
    [
        ("adapters.rllib", "ray.rllib", f"krypenv.adapters.rllib needs RLlib; {to_install('rllib')}"),
        ("training.examples.rllib_ppo", "ray.rllib", f"krypenv.adapters.rllib needs RLlib; {to_install('rllib')}"),
        ("training.examples.torchrl_ppo", "torchrl", f"this example needs TorchRL; {to_install('torchrl')}"),
        ("training.examples.tianshou_dqn", "tianshou", f"this example needs Tianshou; {to_install('tianshou')}"),
        ("training.examples.tianshou_ppo", "tianshou", f"this example needs Tianshou; {to_install('tianshou')}"),
    ],
)
def test_without_its_toolbox_it_says_what_to_install(module, package, sentence):
    code = f"import sys; sys.modules[{package!r}] = None; import krypenv.{module}"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False)
    assert said.stderr.splitlines()[-1] == f"ImportError: {sentence}"
