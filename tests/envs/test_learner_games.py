"""The batch with one learner: what it pays, and who plays which seat."""

import numpy as np
import pytest
from support.games import FIELDS, Recorder, pick, rules_of

from krypenv import Rules
from krypenv.agents.champion import MODELS
from krypenv.envs.learner import LEARNER, LearnerGames
from krypenv.observation import LAYOUT
from krypenv.rewards import KINDS, illegal_reward, returns_of

every_rules = pytest.mark.parametrize("fields", FIELDS.values(), ids=FIELDS)


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
        engine = batches[0].engine
        expected = returns_of(rules, engine.final_scores[done], reward, engine.final_tie_breaks[done])
        np.testing.assert_allclose(totals[0, done], expected, atol=1e-9)
        assert (lone[0, done] > illegal_reward(rules, reward, False)).all()
        assert not batches[0].rewards[~done].any()
        totals[:, done], lone[:, done] = 0, 0
        finished += done.sum()


@every_rules
def test_centred_rewards_sum_to_nothing_and_points_to_all_there_are(fields):
    """In Krypkasino what a sweep brings one seat is taken off another; in the relatives high scores pay."""
    rules = rules_of(fields)
    for reward in ("centred", "points"):
        batch = LearnerGames(rules, 8, "all", reward=reward, seed=1)
        for _ in play(batch, 400, np.random.default_rng(0)):
            sums = batch.rewards[batch.done].sum(axis=1)
            members = rules.players // rules.num_teams
            if reward == "centred":
                np.testing.assert_allclose(sums, 0, atol=1e-9)
            elif rules.most_cards_points:  # what there is to share depends on ties
                totals = batch.engine.final_scores[batch.done].sum(axis=1)
                np.testing.assert_allclose(sums, (members if rules.goal == "high" else -members) * totals)
            elif rules.initial_match_bonus == 0 and rules.goal == "low":
                assert (sums == -members * rules.games * rules.total_points).all()
            elif rules.goal == "high":
                assert (sums >= 0).all()
                assert sums.max(initial=0) > 0 or len(sums) == 0
                totals = batch.engine.final_scores[batch.done].sum(axis=1)
                np.testing.assert_allclose(sums, members * totals)


# ---------------------------------------------------------------------- who plays what


@every_rules
@pytest.mark.parametrize("seat", [1, "random", "all"])
def test_the_learner_plays_its_seat(fields, seat):
    rules = rules_of(fields)
    batch = LearnerGames(rules, 16, seat, seed=5)
    rows, finished, seats = np.arange(16), 0, set()
    for acting in play(batch, 500 if rules.threshold else 250, np.random.default_rng(1)):
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


def test_who_plays_a_seat_does_not_depend_on_the_learner_s():
    batch = LearnerGames(Rules.preset("mini-low", players=3), 4000, "random", [Recorder(), (Recorder(), 1)])
    for seat in range(3):
        rows = batch.players[batch.players[:, seat] == LEARNER]
        assert 1200 < len(rows) < 1470
        for other in {0, 1, 2} - {seat}:
            assert 0.45 < (rows[:, other] == 0).mean() < 0.55


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


MINE, MODEL = Recorder(), str(MODELS / "two")


@pytest.mark.parametrize(
    ("opponents", "pool"),
    [
        ("tactician", [("tactician", 1)]),
        ([("search(worlds=2)", 2), (MINE, 1), "random"], [("search(worlds=2)", 2), (MINE, 1), ("random", 1)]),
        (MODEL, [(MODEL, 1)]),
    ],
    ids=["name", "pairs", "model"],
)
def test_opponents_are_named_or_objects_and_follow_from_the_seed(opponents, pool):
    one, other = (LearnerGames(Rules.preset(), 3, "random", opponents, seed=5) for _ in range(2))
    assert [(getattr(agent, "name", agent), weight) for agent, weight in one.pool] == pool
    for _ in range(15):
        np.testing.assert_array_equal(one.observation, other.observation)
        for batch in (one, other):
            batch.step(pick(batch.action_mask))


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
