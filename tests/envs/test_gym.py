"""The Gymnasium environments of one learner, alone and in batches."""

import copy
import functools
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode
from support.games import EACH, Recorder, every_rules, pick

from krypenv import Game, Rules
from krypenv.families.variants import family_of
from krypenv.rewards import returns_of


@pytest.mark.parametrize("rules", [Rules.preset(players=3), "krypkasino players=3"])
def test_an_environment_is_made_again_from_its_spec_in_json(rules):
    spec = EnvSpec.from_json(gym.make("Krypkasino-v0", rules=rules, dense=True).spec.to_json())
    for again in (gym.make(spec), gym.make_vec(spec, num_envs=2)):
        assert again.unwrapped.batch.rules == Rules.preset(players=3)


# ---------------------------------------------------------------------- the single environment


def make(rules, **more):
    """One learner's environment of a game."""
    return gym.make(family_of(rules.name).gym_id, rules=rules, **more).unwrapped


@pytest.mark.parametrize(
    ("preset", "more"), [("krypkasino", {}), ("mulle-glimne", {"features": True, "history": True})]
)
def test_gymnasium_s_own_check_finds_nothing(preset, more):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(Rules.preset(preset), seat="random", **more))


@every_rules
def test_an_episode_is_the_session_of_its_seed(rules):
    env = make(rules, seat=1, opponents=Recorder(), reward="points")
    observation, info = env.reset(seed=11)
    games, over, reward = [Game(rules, seed=11)], False, 0
    while True:
        game = games[-1]
        if game.session_over:
            break
        if game.is_over:
            games.append(game.next_game())
        elif game.turn != 1:
            game.act(game.legal_actions()[-1])
        else:
            assert not over
            assert reward == 0
            np.testing.assert_array_equal(observation, game.observation(1))
            for mask in (info["action_mask"], env.action_masks()):
                np.testing.assert_array_equal(mask, game.action_mask(1))
            action = game.legal_actions()[0]
            observation, reward, over, truncated, info = env.step(action)
            assert truncated is False
            game.act(action)
    assert over
    assert reward == returns_of(rules, game.totals, "points")[1]
    np.testing.assert_array_equal(observation, game.observation(1))
    assert not info["action_mask"].any()
    assert not env.action_masks().any()
    with pytest.raises(gym.error.ResetNeeded):
        env.step(0)


# ---------------------------------------------------------------------- the vector environment


MODES = (AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP)


@pytest.mark.few(3)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["three", "session", "finland to 5", "glimne"])
def test_a_row_is_an_environment_of_its_own(name, mode):
    rules = EACH[name]
    terms = {"rules": rules, "seat": "random", "dense": True, "opponents": [("random", 1), (Recorder(), 1)]}
    make_many = functools.partial(gym.make_vec, family_of(rules.name).gym_id, num_envs=8, **terms)
    batch = make_many(autoreset_mode=mode)
    single = make_many(vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode})
    assert batch.observation_space == single.observation_space
    assert batch.action_space == single.action_space
    rng, ended = np.random.default_rng(0), 0
    for seed in (6, 7):
        first = batch.reset(seed=seed)
        assert data_equivalence(first, single.reset(seed=seed))
    infos = first[1]
    for _ in range(100):
        actions = pick(infos["action_mask"], int(rng.choice([1, -1])))
        actions[rng.random(8) < 0.01] = 104
        results = batch.step(actions)
        assert data_equivalence(results, single.step(actions), exact=False)
        assert results[0] in batch.observation_space
        infos = results[-1]
        ended += results[2].sum()
    assert ended > 5


def test_a_row_that_waits_begins_its_next_episode_with_a_step_or_a_reset():
    env = gym.make_vec("Krypkasino-v0", num_envs=4, variant="mini-low", autoreset_mode="NextStep")
    infos, over = env.reset(seed=1)[1], np.zeros(4, bool)
    while not over.any():
        *_, over, _, infos = env.step(infos["action_mask"].argmax(axis=1))
    stepped, reset = copy.deepcopy(env).step(infos["action_mask"].argmax(axis=1)), env.reset()
    np.testing.assert_array_equal(stepped[0][over], reset[0][over])
    np.testing.assert_array_equal(stepped[-1]["action_mask"][over], reset[-1]["action_mask"][over])


def test_gymnasium_s_wrappers_go_over_the_native_vector_environment_and_count_right():
    plain = gym.make_vec("Krypkasino-v0", num_envs=3, variant="mini-low", dense=True, autoreset_mode="NextStep")
    counted = gym.wrappers.vector.RecordEpisodeStatistics(plain)
    envs = gym.wrappers.vector.NormalizeObservation(gym.wrappers.vector.DtypeObservation(counted, dtype=np.float32))
    infos, returns, lengths, told = envs.reset(seed=0)[1], np.zeros(3), np.zeros(3), ([], [])
    for _ in range(40):
        waits = ~infos["action_mask"].any(axis=1)
        seen, rewards, over, _, infos = envs.step(infos["action_mask"].argmax(axis=1))
        assert seen.shape == envs.observation_space.shape
        returns, lengths = returns + rewards, lengths + ~waits
        told[0].extend(returns[over])
        told[1].extend(lengths[over])
        returns[over] = lengths[over] = 0
    assert len(told[0]) > 3
    np.testing.assert_allclose(counted.return_queue, told[0])
    assert list(counted.length_queue) == told[1]


def test_vector_environments_say_when_they_deal_anew():
    """As metadata, where Gymnasium looks, and as an attribute, where TorchRL does."""
    make = functools.partial(gym.make_vec, "Mulle-v0", num_envs=2)
    assert make().autoreset_mode is AutoresetMode.SAME_STEP
    for mode in MODES:
        envs = make(autoreset_mode=mode.value)
        assert envs.autoreset_mode is envs.unwrapped.autoreset_mode is envs.metadata["autoreset_mode"] is mode
