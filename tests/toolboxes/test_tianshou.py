"""Tianshou's DQN and PPO take the Gymnasium environments with their masks, and learn."""

import pytest

from krypenv import Rules
from krypenv.adapters import PolicyFunction
from krypenv.training import duplicate_match
from krypenv.training.examples import tianshou_dqn, tianshou_ppo

MINI = Rules.preset("mini-low")
SHORT = {"rules": "mini-low", "opponent": "random", "units": 32, "games": 16}


@pytest.mark.parametrize(
    ("train", "settings"),
    [
        (tianshou_dqn.train, tianshou_dqn.DQNSettings.of(**SHORT, frames=20_000)),
        (tianshou_ppo.train, tianshou_ppo.Settings.of(**SHORT, frames=20_000, steps=32, batch=256)),
    ],
    ids=["dqn", "ppo"],
)
def test_it_learns_to_beat_random_play(train, settings):
    policy, history = train(settings)
    match = duplicate_match(PolicyFunction(policy.choose, MINI, "mine"), "random", MINI, deals=300)
    assert match.low > 0, str(match)
    assert history[-1]["decisions"] >= settings.frames


def test_masks_stand_in_the_observation():
    env = tianshou_dqn.MaskInObservation(tianshou_dqn.gym.make("Krypkasino-v0"))
    seen, _ = env.reset(seed=1)
    for _ in range(5):
        assert env.observation_space.contains({"obs": seen["obs"], "mask": seen["mask"].astype("i1")})
        assert seen["mask"].any()
        seen, reward, ended, *_ = env.step(int(seen["mask"].argmax()))
        assert isinstance(reward, float)
        assert not ended
