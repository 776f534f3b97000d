"""The Gymnasium environments of one learner, alone and in batches."""

import functools
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from support.games import FIELDS, Recorder, env_fields, pick, rules_of

from krypenv import Rules, krypkasino_v0
from krypenv.adapters.gym import KrypkasinoEnv
from krypenv.adapters.sb3 import KrypkasinoVecEnv
from krypenv.adapters.vector import KrypkasinoVectorEnv
from krypenv.agents.champion import MODELS
from krypenv.envs.learner import LearnerGames
from krypenv.one_game import Game
from krypenv.rewards import returns_of
from krypenv.rules import FIELDS as OF_RULES

RULE_FIELDS = {"variant", *OF_RULES}
every_rules = pytest.mark.parametrize("fields", FIELDS.values(), ids=FIELDS)


# ---------------------------------------------------------------------- opponents by name


def learner_environments(opponents, seed):
    """Every learner environment with some opponents and one seed, as its batch."""
    single = gym.make("Krypkasino-v0", players=3, seat="random", opponents=opponents).unwrapped
    single.reset(seed=seed)
    vector = gym.make_vec("Krypkasino-v0", num_envs=3, players=3, seat="random", opponents=opponents)
    vector.reset(seed=seed)
    rules = Rules.preset(players=3)
    stable = KrypkasinoVecEnv(rules, 3, seat="random", opponents=opponents, seed=seed)
    return single.batch, vector.batch, stable.batch, LearnerGames(rules, 3, "random", opponents, seed=seed)


MINE = Recorder()
MODEL = str(MODELS / "two")


@pytest.mark.parametrize(
    ("opponents", "pool"),
    [
        ("tactician", [("tactician", 1)]),
        (["random", "greedy"], [("random", 1), ("greedy", 1)]),
        ([("search(worlds=2)", 2), (MINE, 1), "random"], [("search(worlds=2)", 2), (MINE, 1), ("random", 1)]),
        ([MINE], [(MINE, 1)]),
        (MODEL, [(MODEL, 1)]),
    ],
    ids=["name", "names", "pairs", "object", "model"],
)
def test_opponents_by_name(opponents, pool):
    if opponents == MODEL:  # which is for two players
        batches = [[LearnerGames(Rules.preset(), 3, "random", opponents, seed=5)] for _ in range(2)]
    else:
        batches = [learner_environments(opponents, 5) for _ in range(2)]
    for one, other in zip(*batches, strict=True):
        for _ in range(15):
            np.testing.assert_array_equal(one.observation, other.observation)
            for batch in (one, other):
                batch.step(pick(batch.action_mask))
        assert [(getattr(agent, "name", agent), weight) for agent, weight in one.pool] == pool


def test_a_seeded_reset_begins_anew_with_named_opponents():
    env = gym.make_vec("Krypkasino-v0", num_envs=2, opponents="greedy")
    episodes = []
    for _ in range(2):
        observations, infos = env.reset(seed=3)
        seen = [observations]
        for _ in range(60):
            observations, _, _, _, infos = env.step(pick(infos["action_mask"]))
            seen.append(observations)
        episodes.append(np.array(seen))
    np.testing.assert_array_equal(*episodes)
    pool = env.unwrapped.batch.pool
    env.reset(options={"reset_mask": np.array([True, False])})
    assert env.unwrapped.batch.pool is pool


# ---------------------------------------------------------------------- arguments of the constructors

MAKERS = {
    "gymnasium.make": functools.partial(gym.make, "Krypkasino-v0"),
    "gymnasium.make_vec": functools.partial(gym.make_vec, "Krypkasino-v0", num_envs=2),
    "make_vec of single ones": functools.partial(gym.make_vec, "Krypkasino-v0", num_envs=2, vectorization_mode="sync"),
    "KrypkasinoEnv": KrypkasinoEnv,
    "KrypkasinoVectorEnv": KrypkasinoVectorEnv,
    "env": krypkasino_v0.env,
    "raw_env": krypkasino_v0.raw_env,
}
every_maker = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def rules_in(env):
    """The rules that an environment plays by."""
    if isinstance(env, gym.vector.SyncVectorEnv):
        env = env.envs[0]
    return getattr(env.unwrapped, "batch", env.unwrapped).rules


@every_maker
def test_whole_rules_in_place_of_fields(make):
    rules = Rules.preset("howto", players=4, teams=2, games=3)
    assert rules_in(make(rules=rules)) == rules
    assert rules_in(make(rules=rules, teams=None)) == rules
    assert rules_in(make(variant="howto", players=4, teams=2, games=3)) == rules
    assert rules_in(make()) == Rules.preset()
    for given in ({"players": 4}, {"variant": "howto"}, {"games": 1}, {"teams": 2}, {"players": 2, "packs": 1}):
        with pytest.raises(ValueError, match=f"either them or {', '.join(given)}, not both"):
            make(rules=rules, **given)
    with pytest.raises(ValueError, match=r"rules are those of Rules\.preset"):
        make(rules="howto")


@every_maker
def test_unknown_keywords_are_a_type_error(make):
    with pytest.raises(TypeError, match=r"\w+\(\) got an unexpected keyword argument 'frameskip'; it takes .*players"):
        make(frameskip=4)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'player' \(did you mean 'players'\?\)"):
        make(player=4)
    with pytest.raises(TypeError, match="unexpected keyword argument 'name'"):
        make(name="howto")
    with pytest.raises(ValueError, match="set_aside is 'pictures'"):
        make(set_aside="jokers")


@pytest.mark.parametrize("name", ["gymnasium.make", "gymnasium.make_vec", "make_vec of single ones", "KrypkasinoEnv"])
def test_one_learner_plays_one_seat(name):
    with pytest.raises(ValueError, match=r"^one learner plays one seat, [^\n]*$"):
        MAKERS[name](seat="all")


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


def test_resets_without_a_seed_follow_from_the_last_seed():
    runs = []
    for _ in range(2):
        env = make()
        runs.append(np.array([env.reset(seed=4)[0], *(env.reset()[0] for _ in range(3))]))
    np.testing.assert_array_equal(runs[0], runs[1])
    assert len(np.unique(runs[0], axis=0)) == 4


# ---------------------------------------------------------------------- the vector environment


@every_rules
def test_vector_environment_equals_single_ones(fields):
    family, arguments = env_fields(fields)
    arguments |= {"seat": "random", "dense": True}
    batch = gym.make_vec(family.gym_id, num_envs=8, **arguments)
    single = gym.make_vec(
        family.gym_id, num_envs=8, vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": gym.vector.AutoresetMode.SAME_STEP}, **arguments,
    )  # fmt: skip
    assert batch.observation_space == single.observation_space
    assert batch.action_space == single.action_space
    rng, ended = np.random.default_rng(0), 0
    assert_equal(batch.reset(seed=6), single.reset(seed=6))
    _, infos = batch.reset(seed=7)
    single.reset(seed=7)
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


def test_vector_environment_takes_wrappers_and_partial_resets():
    env = gym.wrappers.vector.RecordEpisodeStatistics(gym.make_vec("Krypkasino-v0", num_envs=3, variant="mini-low"))
    assert env.metadata["autoreset_mode"] is gym.vector.AutoresetMode.SAME_STEP
    before, infos = env.reset(seed=0)
    lengths = []
    for _ in range(40):
        _, _, _, _, infos = env.step(pick(infos["action_mask"]))
        lengths += infos["episode"]["l"][infos["_episode"]].tolist() if "episode" in infos else []
    assert len(lengths) >= 3
    vector = env.unwrapped
    before = vector.batch.observation.copy()
    after, _ = vector.reset(options={"reset_mask": np.array([False, True, False])})
    assert (before != after).any(axis=1).tolist() == [False, True, False]


@pytest.mark.parametrize("name", ["Krypkasino-v0", "Kasino-v0", "Mulle-v0"])
def test_vector_environments_say_when_they_deal_anew(name):
    """As metadata, where Gymnasium looks, and as an attribute, where TorchRL does."""
    envs = gym.make_vec(name, num_envs=2)
    assert envs.autoreset_mode is envs.metadata["autoreset_mode"] is gym.vector.AutoresetMode.SAME_STEP
    assert envs.unwrapped.autoreset_mode is envs.autoreset_mode


def test_gymnasium_s_own_vector_modes_show_an_empty_mask_at_the_end():
    """The next action of the row is ignored, and its next episode begins."""
    envs = gym.make_vec("Krypkasino-v0", num_envs=2, vectorization_mode="sync", variant="mini-low")
    assert envs.metadata["autoreset_mode"] is gym.vector.AutoresetMode.NEXT_STEP
    _, infos = envs.reset(seed=0)
    over, ended = np.zeros(2, bool), 0
    for _ in range(60):
        before = over
        _, rewards, over, _, infos = envs.step(infos["action_mask"].argmax(axis=1))
        assert (infos["action_mask"].any(axis=1) == ~over).all()
        assert not (over | rewards.astype(bool))[before].any()
        ended += over.sum()
    assert ended > 2


def test_returned_arrays_are_fresh():
    env = gym.make_vec("Krypkasino-v0", num_envs=2)
    observation, infos = env.reset(seed=0)
    kept, kept_mask = observation.copy(), infos["action_mask"].copy()
    env.step(pick(infos["action_mask"]))
    np.testing.assert_array_equal(observation, kept)
    np.testing.assert_array_equal(infos["action_mask"], kept_mask)
