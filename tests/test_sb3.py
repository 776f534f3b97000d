"""The native vector environment of Stable-Baselines3."""

import warnings

import numpy as np
import pytest
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor, VecNormalize

from krypenv import IllegalMove, Rules
from krypenv.adapters.gym import KrypkasinoEnv
from krypenv.adapters.sb3 import KrypkasinoVecEnv

SMALL = {"n_steps": 16, "batch_size": 64, "n_epochs": 1, "policy_kwargs": {"net_arch": [16]}, "device": "cpu"}


def first_legal(env):
    return env.action_masks().argmax(axis=1)


def test_masks_are_one_array():
    env = KrypkasinoVecEnv(Rules.preset(), 5)
    env.reset()
    assert env.has_attr("action_masks")
    assert is_masking_supported(env)
    assert env.env_method("action_masks") is env.batch.action_mask
    assert get_action_masks(env).shape == (5, 105)
    np.testing.assert_array_equal(env.env_method("action_masks", indices=[3, 1]), env.batch.action_mask[[3, 1]])


def test_attributes_and_methods():
    env = KrypkasinoVecEnv(Rules.preset(), 3)
    assert env.get_attr("render_mode") == [None] * 3
    assert env.get_attr("num_envs", indices=1) == [3]
    assert not env.has_attr("no_such_thing")
    env.set_attr("mark", 7)
    assert env.get_attr("mark", indices=[0, 2]) == [7, 7]
    with pytest.raises(ValueError, match="all games share 'mark'"):
        env.set_attr("mark", 8, indices=[0])
    assert env.env_method("close") == [None] * 3
    assert env.env_is_wrapped(Monitor) == [True] * 3
    assert env.env_is_wrapped(VecMonitor, indices=0) == [False]


def test_seeds_and_resets():
    rules = Rules.preset("mini-low")
    env, other = KrypkasinoVecEnv(rules, 4, seed=[7, 8, 9, 10]), KrypkasinoVecEnv(rules, 4)
    first = env.reset()
    assert other.seed(7) == [7, 8, 9, 10]
    np.testing.assert_array_equal(first, other.reset())
    np.testing.assert_array_equal(env.reset(), other.reset())
    assert (env.reset() != first).any(axis=1).all()


def test_steps_equal_those_of_the_single_environment():
    arguments = {"seat": 1, "dense": True}
    env = KrypkasinoVecEnv(Rules.preset("mini-double", players=3), 4, **arguments)
    dummy = DummyVecEnv([lambda: KrypkasinoEnv(3, "mini-double", **arguments) for _ in range(4)])
    for each in (env, dummy):
        each.seed(2)
    np.testing.assert_array_equal(env.reset(), dummy.reset())
    episodes, returns = 0, np.zeros(4)
    for step in range(60):
        actions = first_legal(env)
        kept = env.action_masks().copy()
        observations, rewards, dones, infos = env.step(actions)
        expected = dummy.step(actions)
        np.testing.assert_array_equal(get_action_masks(env), get_action_masks(dummy))
        np.testing.assert_array_equal(observations, expected[0])
        np.testing.assert_allclose(rewards, expected[1], atol=1e-6)
        np.testing.assert_array_equal(dones, expected[2])
        assert (observations.dtype, rewards.dtype, dones.dtype) == (np.int8, np.float32, bool)
        assert kept.any(axis=1).all()
        returns += rewards
        for row in range(4):
            if dones[row]:
                np.testing.assert_array_equal(
                    infos[row]["terminal_observation"], expected[3][row]["terminal_observation"]
                )
                assert infos[row]["episode"]["r"] == pytest.approx(returns[row])
                assert 0 < infos[row]["episode"]["l"] <= step + 1
                returns[row], episodes = 0, episodes + 1
            else:
                assert infos[row] == {}
    assert episodes > 8


def test_returned_arrays_are_fresh():
    env = KrypkasinoVecEnv(Rules.preset(), 2)
    observation = env.reset()
    kept = observation.copy()
    _, rewards, dones, _ = env.step(first_legal(env))
    np.testing.assert_array_equal(observation, kept)
    assert rewards is not env.batch.reward
    assert dones is not env.batch.done


def test_an_illegal_action_is_an_error():
    env = KrypkasinoVecEnv(Rules.preset(), 2)
    observation = env.reset()
    with pytest.raises(IllegalMove, match="row 0"):
        env.step(env.action_masks().argmin(axis=1))
    np.testing.assert_array_equal(env.batch.observation, observation)


def test_all_seats():
    rules = Rules.preset("mini-high", players=2)
    env = KrypkasinoVecEnv(rules, 6, seat="all")
    env.reset()
    seen, episodes = set(), 0
    for _ in range(100):
        acting = env.batch.seats.copy()
        seen.update(acting.tolist())
        _, rewards, dones, infos = env.step(first_legal(env))
        np.testing.assert_allclose(rewards, env.batch.rewards[range(6), acting], atol=1e-6)
        np.testing.assert_allclose(env.batch.rewards.sum(axis=1), 0, atol=1e-6)
        for row in np.flatnonzero(dones):
            episodes += 1
            assert infos[row]["episode"]["r"] == pytest.approx(rewards[row])
    assert seen == {0, 1}
    assert episodes > 6


def test_maskable_ppo_learns_and_is_evaluated():
    rules = Rules.preset(players=2)
    model = MaskablePPO("MlpPolicy", KrypkasinoVecEnv(rules, 64, seat="random"), seed=0, **SMALL)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.learn(4096)
        assert model.num_timesteps >= 4096
        assert len(model.ep_info_buffer) > 50
        env = KrypkasinoVecEnv(rules, 8, seed=1)
        mean, deviation = evaluate_policy(model, env, n_eval_episodes=16)
    assert -100 < mean < 100
    assert deviation > 0
    observations, masks = env.reset(), env.action_masks()
    actions, _ = model.predict(observations, action_masks=masks)
    assert (masks[range(8), actions] == 1).all()


def test_wrappers_of_sb3_fit():
    env = VecNormalize(KrypkasinoVecEnv(Rules.preset("mini-low"), 4), norm_obs=False)
    MaskablePPO("MlpPolicy", env, **SMALL).learn(64)


def test_single_environment_suits_sb3():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(KrypkasinoEnv(features=True))
    MaskablePPO("MlpPolicy", KrypkasinoEnv(players=3), **SMALL | {"batch_size": 16}).learn(16)
