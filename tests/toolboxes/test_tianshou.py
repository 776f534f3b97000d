"""Tianshou: it takes the environments with their masks as they are."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.env.pettingzoo_env import PettingZooEnv

from krypenv import Rules, krypkasino_v0
from krypenv.training.examples import tianshou_dqn

MINI = Rules.preset("mini-low")


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
