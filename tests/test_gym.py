"""The batch with one learner, and the two Gymnasium environments made of it."""

import functools
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from krypenv import Engine, Rules, krypkasino_v0
from krypenv.agents.champion import MODELS
from krypenv.envs.gym import KrypkasinoEnv
from krypenv.envs.learner import LEARNER, LearnerGames
from krypenv.envs.sb3 import KrypkasinoVecEnv
from krypenv.envs.vector import KrypkasinoVectorEnv
from krypenv.game.game import Game
from krypenv.kernels.observation import LAYOUT
from krypenv.rewards import KINDS, illegal_reward, returns_of

RULES = {
    "two": {},
    "three": {"players": 3},
    "teams": {"players": 4, "teams": 2},
    "session": {"variant": "mini-low", "games": 3, "last_capture_points": 1},
    "howto": {"variant": "howto", "players": 3, "initial_match_bonus": -5},
}
every_rules = pytest.mark.parametrize("fields", RULES.values(), ids=RULES)


def rules_of(fields):
    return Rules.preset(fields.get("variant", "krypkasino"), **{k: v for k, v in fields.items() if k != "variant"})


class Recorder:
    """Plays the legal action with the highest (or lowest) number, and keeps what it was shown."""

    def __init__(self, step=-1):
        self.step, self.seen = step, []

    def act(self, observations, action_masks):
        self.seen.append((observations.copy(), action_masks.copy()))
        return pick(action_masks, self.step)


def pick(masks, step=1):
    """The first legal action of each row, or with step -1 the last."""
    first = masks[:, ::step].argmax(axis=1)
    return first if step == 1 else masks.shape[1] - 1 - first


def pick_any(masks, rng):
    """A random legal action of each row."""
    return np.where(masks == 1, rng.random(masks.shape), -1).argmax(axis=1)


def play(batch, steps, rng):
    """Random play of the learner; yields after each step who acted in it."""
    for _ in range(steps):
        acting = batch.seats.copy()
        batch.step(pick_any(batch.action_mask, rng))
        yield acting


# ---------------------------------------------------------------------- rewards


@pytest.mark.parametrize("reward", KINDS)
def test_returns_of_scores(reward):
    alone, teams = Rules.preset(players=4), Rules.preset(players=4, teams=2)
    scores = [10, 3, 3, 26]
    assert (
        returns_of(alone, scores, reward).tolist()
        == {
            "centred": [0.5, 7.5, 7.5, -15.5],
            "points": [-10, -3, -3, -26],
            "win": [0, 0.5, 0.5, 0],
        }[reward]
    )
    assert returns_of(teams, [scores], reward).tolist() == [
        {"centred": [8, -8, 8, -8], "points": [-13, -29, -13, -29], "win": [1, 0, 1, 0]}[reward]
    ]


@every_rules
@pytest.mark.parametrize("reward", KINDS)
def test_dense_rewards_pay_the_same_total(fields, reward):
    rules = rules_of(fields)
    batches = [LearnerGames(rules, 6, "random", reward=reward, dense=dense, seed=3) for dense in (False, True)]
    totals, lone = np.zeros((2, 6, rules.players)), np.zeros((2, 6))
    finished, rng = 0, np.random.default_rng(3)
    while finished < 12:
        actions = pick_any(batches[0].action_mask, rng)
        for at, batch in enumerate(batches):
            acting = batch.seats.copy()
            batch.step(actions)
            totals[at] += batch.rewards
            lone[at] += batch.reward
            np.testing.assert_array_equal(batch.reward, batch.rewards[range(6), acting])
        done = batches[0].done
        np.testing.assert_array_equal(done, batches[1].done)
        np.testing.assert_allclose(totals[0, done], totals[1, done], atol=1e-9)
        np.testing.assert_allclose(lone[0, done], lone[1, done], atol=1e-9)
        expected = returns_of(rules, batches[0].engine.final_scores[done], reward)
        np.testing.assert_allclose(totals[0, done], expected, atol=1e-9)
        assert (lone[0, done] > illegal_reward(rules, reward, False)).all()
        assert not batches[0].rewards[~done].any()
        totals[:, done], lone[:, done] = 0, 0
        finished += done.sum()


@every_rules
def test_centred_rewards_sum_to_nothing_and_points_to_all_there_are(fields):
    rules = rules_of(fields)
    for reward in ("centred", "points"):
        batch = LearnerGames(rules, 8, "all", reward=reward, seed=1)
        for _ in play(batch, 400, np.random.default_rng(0)):
            sums = batch.rewards[batch.done].sum(axis=1)
            members = rules.players // rules.num_teams
            if reward == "centred":
                np.testing.assert_allclose(sums, 0, atol=1e-9)
            elif rules.initial_match_bonus == 0:
                assert (sums == -members * rules.games * rules.total_points).all()


# ---------------------------------------------------------------------- who plays what


@every_rules
@pytest.mark.parametrize("seat", [1, "random", "all"])
def test_the_learner_plays_its_seat(fields, seat):
    rules = rules_of(fields)
    batch = LearnerGames(rules, 16, seat, seed=5)
    rows, finished, seats = np.arange(16), 0, set()
    for acting in play(batch, 250, np.random.default_rng(1)):
        seats.update(acting.tolist())
        state = batch.engine.state
        np.testing.assert_array_equal(batch.observation[:, LAYOUT["hand"]], state.hands[rows, batch.seats])
        if seat != "all":
            assert (batch.players[rows, batch.seats] == LEARNER).all()
            assert ((batch.players == LEARNER).sum(axis=1) == 1).all()
            np.testing.assert_array_equal(batch.seats[~batch.done], acting[~batch.done])
        finished += batch.done.sum()
    assert finished > 10
    assert seats == ({1} if seat == 1 else set(range(rules.players)))


def test_opponents_are_drawn_by_weight_and_see_their_own_seat():
    often, seldom, never = Recorder(), Recorder(1), Recorder()
    batch = LearnerGames(Rules.preset(players=3), 64, 0, [(often, 3), (seldom, 1), (never, 0), ("random", 1)])
    for _ in play(batch, 150, np.random.default_rng(2)):
        pass
    often_rows, seldom_rows = (sum(len(observations) for observations, _ in who.seen) for who in (often, seldom))
    assert 2 < often_rows / seldom_rows < 4
    assert not never.seen
    for observations, masks in often.seen + seldom.seen:
        assert (observations[:, LAYOUT["turn"].start] == 1).all()  # place 0 is the seat that sees
        plays = masks[:, :52].astype(bool)
        assert (observations[:, LAYOUT["hand"]][plays] > 0).all()


def test_another_pool_takes_over():
    first, second = Recorder(), Recorder()
    batch = LearnerGames(Rules.preset("mini-low"), 4, "random", first)
    calls = len(first.seen)
    learners = batch.players == LEARNER
    batch.set_opponents([(second, 1.0)])
    np.testing.assert_array_equal(batch.players == LEARNER, learners)
    for _ in play(batch, 20, np.random.default_rng(0)):
        pass
    assert len(first.seen) == calls
    assert second.seen


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seat": 2}, "seat is 0 to 1"),
        ({"seat": "left"}, "seat is 0 to 1"),
        ({"opponents": "greddy"}, "did you mean 'greedy'"),
        ({"opponents": ["random", "search(world=3)"]}, "did you mean 'worlds'"),
        ({"opponents": "oracle-hand"}, "sees what is hidden"),
        ({"opponents": 3}, "the name of an agent"),
        ({"opponents": ["random", 3]}, "the name of an agent.* 3 is none"),
        ({"opponents": [("random", 1, 2)]}, "a pair of one and its weight"),
        ({"opponents": []}, "at least one"),
        ({"opponents": [("random", -1)]}, "weight"),
        ({"opponents": [("random", 0)]}, "no opponent has a weight"),
        ({"reward": "money"}, "centred, points, win"),
    ],
)
def test_what_can_not_be_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        LearnerGames(Rules.preset(), 2, **arguments)


def test_every_row_needs_an_action():
    with pytest.raises(ValueError, match=r"3 games need one action each, not an array of shape \(2,\)"):
        LearnerGames(Rules.preset(), 3).step([0, 0])


def test_a_row_depends_on_its_seed_alone():
    rules, seeds = Rules.preset("mini-double", players=3), np.array([5, 1, 9, 1])
    pool = [("random", 1), (Recorder(), 1)]
    batch = LearnerGames(rules, 4, "random", pool, seed=seeds)
    single = [LearnerGames(rules, 1, "random", pool, seed=[seed]) for seed in seeds]
    for _ in range(60):
        actions = pick(batch.action_mask)
        batch.step(actions)
        for row, alone in enumerate(single):
            alone.step(actions[row : row + 1])
            np.testing.assert_array_equal(alone.observation[0], batch.observation[row])
            np.testing.assert_array_equal(alone.rewards[0], batch.rewards[row])
            np.testing.assert_array_equal(alone.players[0], batch.players[row])
    np.testing.assert_array_equal(batch.observation[1], batch.observation[3])


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
    return gym.make("Krypkasino-v0", **fields).unwrapped


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
    arguments = fields | {"seat": "random", "dense": True}
    batch = gym.make_vec("Krypkasino-v0", num_envs=8, **arguments)
    single = gym.make_vec(
        "Krypkasino-v0", num_envs=8, vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": gym.vector.AutoresetMode.SAME_STEP}, **arguments,
    )  # fmt: skip
    assert batch.observation_space == single.observation_space
    assert batch.action_space == single.action_space
    rng, ended = np.random.default_rng(0), 0
    assert_equal(batch.reset(seed=6), single.reset(seed=6))
    _, infos = batch.reset(seed=7)
    single.reset(seed=7)
    for _ in range(120):
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


def test_returned_arrays_are_fresh():
    env = gym.make_vec("Krypkasino-v0", num_envs=2)
    observation, infos = env.reset(seed=0)
    kept, kept_mask = observation.copy(), infos["action_mask"].copy()
    env.step(pick(infos["action_mask"]))
    np.testing.assert_array_equal(observation, kept)
    np.testing.assert_array_equal(infos["action_mask"], kept_mask)


def test_first_deal_of_a_row_is_the_engine_s():
    rules = Rules.preset("mini-high")
    batch, engine = LearnerGames(rules, 5, "all", seed=[3, 1, 4, 1, 5]), Engine(rules, 5, seed=[3, 1, 4, 1, 5])
    np.testing.assert_array_equal(batch.observation, engine.observation)
