"""Tianshou's DQN and PPO take the Gymnasium environments with their masks, and learn."""

from krypenv import Rules
from krypenv.adapters import PolicyFunction
from krypenv.training import duplicate_match
from krypenv.training.examples import tianshou_dqn, tianshou_ppo

MINI = Rules.preset("mini-low")
SHORT = {"rules": "mini-low", "opponent": "random", "units": 32, "games": 16}


def test_its_dqn_learns_to_beat_random_play():
    settings = tianshou_dqn.DQNSettings.of(**SHORT, frames=20_000)
    policy, history = tianshou_dqn.train(settings)
    match = duplicate_match(PolicyFunction(policy.choose, MINI, "mine"), "random", MINI, deals=300)
    assert match.low > 0, str(match)
    assert history[-1]["decisions"] >= settings.frames


def test_its_ppo_learns():
    settings = tianshou_ppo.Settings.of(**SHORT, frames=20_000, steps=32, batch=256)
    _, history = tianshou_ppo.train(settings)
    assert history[-1]["entropy"] < history[0]["entropy"]
    assert history[-1]["return"] > history[0]["return"]


def test_masks_stand_in_the_observation():
    env = tianshou_dqn.MaskInObservation(tianshou_dqn.gym.make("Krypkasino-v0"))
    seen, _ = env.reset(seed=1)
    for _ in range(5):
        assert env.observation_space.contains({"obs": seen["obs"], "mask": seen["mask"].astype("i1")})
        assert seen["mask"].any()
        seen, reward, ended, *_ = env.step(int(seen["mask"].argmax()))
        assert isinstance(reward, float)
        assert not ended
