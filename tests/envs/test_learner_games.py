"""The batch with one learner: what it pays, and who plays which seat."""

import numpy as np
import pytest
from support.games import Recorder, every_rules

from krypenv import Rules
from krypenv.envs.learner import LEARNER, LearnerGames
from krypenv.observation import LAYOUT
from krypenv.rewards import KINDS, illegal_reward, returns_of


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


@pytest.mark.parametrize(
    ("reward", "alone", "in_teams"),
    [
        ("centred", [0.5, 7.5, 7.5, -15.5], [8, -8, 8, -8]),
        ("points", [-10, -3, -3, -26], [-13, -29, -13, -29]),
        ("win", [0, 0.5, 0.5, 0], [1, 0, 1, 0]),
    ],
)
def test_a_return_is_what_the_scores_of_a_seat_s_side_are_worth(reward, alone, in_teams):
    scores = [10, 3, 3, 26]
    assert returns_of(Rules.preset(players=4), scores, reward).tolist() == alone
    assert returns_of(Rules.preset(players=4, teams=2), [scores], reward).tolist() == [in_teams]
    high = returns_of(Rules.preset(players=4, goal="high"), scores, reward).tolist()
    assert high == ([0, 0, 0, 1] if reward == "win" else [-each for each in alone])


@pytest.mark.few(8)
@every_rules
@pytest.mark.parametrize("reward", KINDS)
def test_dense_rewards_pay_as_points_fall_and_come_to_the_same(rules, reward):
    batches = [LearnerGames(rules, 3, "random", reward=reward, dense=dense, seed=3) for dense in (False, True)]
    totals, lone, early = np.zeros((2, 3, rules.players)), np.zeros((2, 3)), 0
    finished, rng = 0, np.random.default_rng(3)
    while finished < 5:  # one row at least begins anew
        actions = pick_any(batches[0].action_mask, rng)
        for at, batch in enumerate(batches):
            acting = batch.seats.copy()
            batch.step(actions)
            totals[at] += batch.rewards
            lone[at] += batch.reward
            np.testing.assert_array_equal(batch.reward, batch.rewards[range(3), acting])
        done, engine = batches[0].done, batches[0].engine
        np.testing.assert_array_equal(done, batches[1].done)
        expected = returns_of(rules, engine.final_scores[done], reward, engine.final_tie_breaks[done])
        for at in range(2):
            np.testing.assert_allclose(totals[at, done], expected, atol=1e-9)
        np.testing.assert_allclose(lone[0, done], lone[1, done], atol=1e-9)
        assert (lone[0, done] > illegal_reward(rules, reward, False)).all()
        assert not batches[0].rewards[~done].any()
        early += batches[1].rewards[~done].any()
        totals[:, done], lone[:, done] = 0, 0
        finished += done.sum()
    assert early > 0


# ---------------------------------------------------------------------- who plays what


@pytest.mark.few(8)
@every_rules
@pytest.mark.parametrize("seat", [1, "random", "all"])
def test_the_learner_plays_its_seat(rules, seat):
    batch = LearnerGames(rules, 8, seat, seed=5)
    rows, finished, moved, seats = np.arange(8), 0, 0, set()
    for acting in play(batch, 400 if rules.threshold or seat == "all" else 150, np.random.default_rng(1)):
        seats.update(acting.tolist())
        state = batch.engine.state
        np.testing.assert_array_equal(batch.observation[:, LAYOUT["hand"]], state.hands[rows, batch.seats])
        if seat != "all":
            assert (batch.players[rows, batch.seats] == LEARNER).all()
            assert ((batch.players == LEARNER).sum(axis=1) == 1).all()
            np.testing.assert_array_equal(batch.seats[~batch.done], acting[~batch.done])
        finished += batch.done.sum()
        moved += (batch.seats != acting)[batch.done].sum()
    assert finished > 0
    assert moved > 0 or seat != "random"  # each episode has a seat of its own
    assert seats == ({1} if seat == 1 else set(range(rules.players)))


def test_opponents_are_drawn_by_weight_and_see_their_own_seat():
    often, seldom, never = Recorder(), Recorder(1), Recorder()
    pool = [(often, 3), seldom, (never, 0)]
    batch = LearnerGames(Rules.preset("mini-low", players=3), 4000, "random", pool)
    for seat in range(3):
        rows = batch.players[batch.players[:, seat] == LEARNER]
        assert 1200 < len(rows) < 1470
        for other in {0, 1, 2} - {seat}:
            assert 0.7 < (rows[:, other] == 0).mean() < 0.8
    for _ in play(batch, 10, np.random.default_rng(2)):
        pass
    assert not never.seen
    assert often.seen
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


def test_every_row_needs_an_action():
    with pytest.raises(ValueError, match=r"3 games need one action each, not an array of shape \(2,\)"):
        LearnerGames(Rules.preset(), 3).step([0, 0])
