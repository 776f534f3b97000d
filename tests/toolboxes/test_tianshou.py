"""Tianshou: it takes the environments with their masks as they are, and the two examples learn."""

import subprocess
import sys

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.env.pettingzoo_env import PettingZooEnv
from typer.testing import CliRunner

from krypenv import Rules, agents, krypkasino_v0
from krypenv.adapters import PolicyFunction
from krypenv.inputs.words import to_install
from krypenv.training import duplicate_match
from krypenv.training.examples import tianshou_dqn, tianshou_ppo
from krypenv.training.examples.ppo import Policy

MINI = Rules.preset("mini-low")
LEARNING = {"rules": "mini-low", "opponent": "random", "games": 32, "units": 64, "seed": 1}
SHORT = "--rules mini-low --frames 256 --games 8 --steps 16 --units 16 --batch 64 --deals 2"


def test_pettingzoo_env_plays_all_seats_with_their_masks():
    env = DummyVectorEnv([lambda: PettingZooEnv(krypkasino_v0.env(players=3)) for _ in range(2)])
    one = PettingZooEnv(krypkasino_v0.env(players=3))
    players = [MARLRandomDiscreteMaskedOffPolicyAlgorithm(action_space=one.action_space) for _ in one.agents]
    collector = Collector(MultiAgentOffPolicyAlgorithm(algorithms=players, env=one), env, VectorReplayBuffer(2000, 2))
    collector.reset()
    played = collector.collect(n_episode=4)
    assert played.returns.shape == (4, 3)
    np.testing.assert_allclose(played.returns.sum(axis=1), 0, atol=1e-6)  # centred; an illegal action pays one seat
    assert np.abs(played.returns).sum() > 0
    seen, _ = collector.buffer.sample(0)  # all of it
    assert len(seen) == played.n_collected_steps
    assert seen.obs.mask[np.arange(len(seen)), seen.act].all()


def test_a_learners_game_has_its_mask_in_the_observation():
    env = tianshou_dqn.MaskInObservation(gymnasium.make("Krypkasino-v0", opponents="greedy", dense=True))
    check_env(env, skip_render_check=True, skip_close_check=True)  # both make it anew, from its id
    own = gymnasium.make("Krypkasino-v0", opponents="greedy", dense=True)
    (seen, info), (observation, its) = env.reset(seed=4), own.reset(seed=4)
    over = False
    while not over:
        assert info == {}
        np.testing.assert_array_equal(seen["obs"], observation)
        np.testing.assert_array_equal(seen["mask"], its["action_mask"] == 1)
        action = int(its["action_mask"].argmax())
        seen, reward, over, _, info = env.step(action)
        observation, expected, *_, its = own.step(action)
        assert reward == pytest.approx(expected / 10)
    assert not seen["mask"].any()


@torch.no_grad()
def test_a_masked_action_has_no_probability_and_no_entropy():
    actor = tianshou_ppo.Actor(Policy(MINI, 8))
    mask = np.arange(MINI.num_actions)[None] < 3
    width = actor.policy.scale.shape[0]
    log_probabilities, _ = actor(Batch(obs=np.zeros((1, width), np.int8), mask=mask))
    policy = torch.distributions.Categorical(logits=log_probabilities)
    assert policy.probs[0, :3].sum() == pytest.approx(1)
    assert policy.probs[0, 3:].sum() == 0
    assert 0 < policy.entropy() < np.log(3) + 1e-6


@pytest.mark.parametrize(
    ("example", "settings"),
    [
        (tianshou_dqn, tianshou_dqn.DQNSettings.of(**LEARNING, frames=8000, batch=128, rate=2e-3, target=50)),
        (tianshou_ppo, tianshou_ppo.Settings.of(**LEARNING, frames=10_000, batch=256, rate=3e-3, epochs=4, steps=32)),
    ],
)
def test_the_examples_learn_to_beat_random_play(example, settings):
    policy, history = example.train(settings)
    match = duplicate_match(PolicyFunction(policy.choose, MINI, "mine"), "random", MINI, deals=500)
    assert match.low > 0, str(match)
    assert all(step.keys() == example.METRICS.keys() and np.isfinite(list(step.values())).all() for step in history)


@pytest.mark.parametrize(
    ("example", "kind"), [(tianshou_dqn, tianshou_dqn.DQNSettings), (tianshou_ppo, tianshou_ppo.Settings)]
)
def test_a_run_by_frames_repeats(example, kind):
    short = {"rules": "mini-low", "opponent": "random", "frames": 256, "games": 8, "steps": 16, "batch": 64}
    (one, _), (two, _), (three, _) = (example.train(kind.of(**short, units=16, seed=seed)) for seed in (1, 1, 2))
    weights = [policy.state_dict()["actor.weight"] for policy in (one, two, three)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


@pytest.mark.parametrize("example", [tianshou_dqn, tianshou_ppo])
def test_a_command_line_trains_and_the_file_names_an_agent(example, tmp_path):
    out = tmp_path / "mine.safetensors"
    runner = CliRunner(env={"COLUMNS": "160", "NO_COLOR": "1"})
    done = runner.invoke(example.app, [*SHORT.split(), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert all(text in done.stdout for text in (*example.METRICS, f"wrote {out}", "mine", "greedy", "tactician"))
    agent = agents.make(f"krypenv.training.examples.ppo:PPOAgent(path='{out}')", MINI)
    duplicate_match(agent, "random", MINI, deals=2)
    done = runner.invoke(example.app, ["--opponent", "nobody", "--out", str(out)])
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert "nobody" in done.stderr


@pytest.mark.parametrize("example", ["tianshou_dqn", "tianshou_ppo"])
def test_without_tianshou_they_say_what_to_install(example):
    code = f"import sys; sys.modules['tianshou'] = None; import krypenv.training.examples.{example}"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False)
    assert said.stderr.splitlines()[-1] == f"ImportError: this example needs Tianshou; {to_install('tianshou')}"
