"""The Gymnasium environments of one learner, alone and in batches."""

import functools
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from support.games import FIELDS, Recorder, env_fields, pick, rules_of

from krypenv import Rules
from krypenv.game.game import Game
from krypenv.rewards import returns_of
from krypenv.rules import FIELDS as OF_RULES

RULE_FIELDS = {"variant", *OF_RULES}
every_rules = pytest.mark.parametrize("fields", FIELDS.values(), ids=FIELDS)


@pytest.mark.parametrize("rules", [Rules.preset(players=3), "krypkasino players=3"])
def test_an_environment_is_made_again_from_its_spec_in_json(rules):
    spec = EnvSpec.from_json(gym.make("Krypkasino-v0", rules=rules, dense=True).spec.to_json())
    for again in (gym.make(spec), gym.make_vec(spec, num_envs=2)):
        assert again.unwrapped.batch.rules == Rules.preset(players=3)


# ---------------------------------------------------------------------- the single environment


def make(**fields):
    family, arguments = env_fields({name: value for name, value in fields.items() if name in RULE_FIELDS})
    more = {name: value for name, value in fields.items() if name not in RULE_FIELDS}
    return gym.make(family.gym_id, **arguments, **more).unwrapped


@every_rules
@pytest.mark.parametrize("features", [False, True])
def test_check_env_finds_nothing(fields, features):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(**fields, features=features, seat="random"))


@every_rules
def test_environment_plays_the_game_of_its_seed(fields):
    rules = rules_of(fields)
    env = make(**fields, seat=1, opponents=Recorder(), reward="points")
    for seed in (0, 11):
        observation, info = env.reset(seed=seed)
        game, over = Game(rules, seed=seed), False
        while not over:
            while not game.is_over and game.turn != 1:
                game.act(int(pick(game.action_mask()[None], -1)[0]))
            if game.is_over:
                game = game.next_game()
                continue
            np.testing.assert_array_equal(observation, game.observation(1))
            np.testing.assert_array_equal(info["action_mask"], game.action_mask(1))
            np.testing.assert_array_equal(env.action_masks(), game.action_mask(1))
            action = int(pick(info["action_mask"][None])[0])
            observation, reward, over, truncated, info = env.step(action)
            game.act(action)
            assert truncated is False
        while not game.is_over:
            game.act(int(pick(game.action_mask()[None], -1)[0]))
        assert game.session_over
        assert reward == returns_of(rules, game.totals, "points")[1]
        np.testing.assert_array_equal(observation, game.observation(1))
        assert not info["action_mask"].any()
        assert not env.action_masks().any()
        with pytest.raises(gym.error.ResetNeeded):
            env.step(0)


def test_an_illegal_action_ends_the_episode():
    env = make(players=3)
    before, info = env.reset(seed=1)
    after, reward, terminated, truncated, info = env.step(int(np.flatnonzero(info["action_mask"] == 0)[0]))
    assert (reward, terminated, truncated) == (env.illegal_reward, True, False)
    np.testing.assert_array_equal(after, before)
    assert not info["action_mask"].any()
    fresh, info = env.reset()
    assert (fresh != before).any()
    assert info["action_mask"].any()


# ---------------------------------------------------------------------- the vector environment


MODES = (AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP)


@pytest.mark.parametrize("mode", MODES)
@every_rules
def test_vector_environment_equals_single_ones(fields, mode):
    family, arguments = env_fields(fields)
    arguments |= {"seat": "random", "dense": True}
    batch = gym.make_vec(family.gym_id, num_envs=8, autoreset_mode=mode, **arguments)
    single = gym.make_vec(
        family.gym_id, num_envs=8, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}, **arguments
    )
    assert batch.observation_space == single.observation_space
    assert batch.action_space == single.action_space
    rng, ended = np.random.default_rng(0), 0
    for seed in (6, 7):
        first, other = batch.reset(seed=seed), single.reset(seed=seed)
        assert_equal(first, other)
    infos = first[1]
    for _ in range(200 if "threshold" in fields else 120):
        actions = pick(infos["action_mask"], int(rng.choice([1, -1])))
        actions[rng.random(8) < 0.01] = 104
        results = batch.step(actions)
        assert_equal(results, single.step(actions))
        assert results[0] in batch.observation_space
        infos = results[-1]
        ended += results[2].sum()
    assert ended > 10


def assert_equal(left, right):
    """Compare what two environments returned, dtypes of infos and nested infos included."""
    if isinstance(left, dict):
        assert set(left) == set(right)
        for key in left:
            assert_equal(left[key], right[key])
    elif isinstance(left, tuple):
        for one, other in zip(left, right, strict=True):
            assert_equal(one, other)
    elif left.dtype == object:
        for one, other in zip(left, right, strict=True):
            np.testing.assert_array_equal(one, other)
    else:
        assert left.dtype == right.dtype
        np.testing.assert_allclose(left, right, atol=1e-9)


def test_gymnasium_s_statistics_count_right_over_the_next_step():
    plain = gym.make_vec("Krypkasino-v0", num_envs=3, variant="mini-low", dense=True, autoreset_mode="NextStep")
    envs = gym.wrappers.vector.RecordEpisodeStatistics(plain)
    infos, returns, lengths, told = envs.reset(seed=0)[1], np.zeros(3), np.zeros(3), ([], [])
    for _ in range(40):
        waits = ~infos["action_mask"].any(axis=1)
        _, rewards, over, _, infos = envs.step(infos["action_mask"].argmax(axis=1))
        returns, lengths = returns + rewards, lengths + ~waits
        told[0].extend(returns[over])
        told[1].extend(lengths[over])
        returns[over] = lengths[over] = 0
    assert len(told[0]) > 3
    np.testing.assert_allclose(envs.return_queue, told[0])
    assert list(envs.length_queue) == told[1]


@pytest.mark.parametrize(
    "wrap",
    [
        functools.partial(gym.wrappers.vector.DtypeObservation, dtype=np.float32),
        gym.wrappers.vector.NormalizeObservation,
        functools.partial(gym.wrappers.vector.RescaleObservation, min_obs=-1, max_obs=1),
        gym.wrappers.vector.FlattenObservation,
    ],
    ids=["Dtype", "Normalize", "Rescale", "Flatten"],
)
def test_wrappers_of_observations_go_over_the_native_vector_environment(wrap):
    envs = wrap(gym.make_vec("Krypkasino-v0", num_envs=4, variant="mini-low", autoreset_mode="NextStep"))
    infos, ended = envs.reset(seed=0)[1], 0
    for _ in range(20):
        seen, _, over, _, infos = envs.step(infos["action_mask"].argmax(axis=1))
        assert seen.shape == envs.observation_space.shape
        ended += over.sum()
    assert ended > 3


def test_vector_environments_say_when_they_deal_anew():
    """As metadata, where Gymnasium looks, and as an attribute, where TorchRL does."""
    make = functools.partial(gym.make_vec, "Mulle-v0", num_envs=2)
    assert make().autoreset_mode is AutoresetMode.SAME_STEP
    for mode in MODES:
        envs = make(autoreset_mode=mode.value)
        assert envs.autoreset_mode is envs.unwrapped.autoreset_mode is envs.metadata["autoreset_mode"] is mode
    for wrong in ("Disabled", None, 3):
        with pytest.raises(ValueError, match=r"^autoreset_mode is 'SameStep' or 'NextStep', not .*$"):
            make(autoreset_mode=wrong)
