"""The engine: many games at once, each of them as it would be alone, and what it refuses, pays and counts."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from support.games import RULES
from support.relatives import BUILDING, OPTIONAL

from krypenv import Engine, IllegalMove, Rules, krypkasino_v0
from krypenv.cards import STOP
from krypenv.rewards import KINDS, returns_of, running_scores
from krypenv.runtime import jit, lean

every_rules = pytest.mark.parametrize("rules", RULES.values(), ids=RULES)


@every_rules
def test_r14_scores_sum_to_the_total(rules: Rules) -> None:
    """Over 50,000 random plies."""
    engine = Engine(rules, 512, seed=5)
    bonus = {rules.total_points, rules.total_points + rules.initial_match_bonus}
    for _ in range(104):
        engine.step(engine.sample_actions())
        sums = engine.final_scores[engine.finished].sum(1)
        assert set(sums.tolist()) <= bonus | {total - rules.last_capture_points for total in bonus}


@pytest.mark.parametrize("text", ["krypkasino players=3", "kasino-sweden players=2", next(iter(BUILDING))])
def test_k2_illegal_actions_are_refused_and_change_nothing(text: str) -> None:
    """Stops and takes that complete no capture among them."""
    engine = Engine(Rules.parse(text), 64, seed=1)
    for _ in range(70):
        actions = engine.sample_actions()
        before, mask = engine.state.tobytes(), engine.action_mask[7]
        for wrong in (*np.flatnonzero(mask == 0)[::9], *([] if mask[STOP] else [STOP]), len(mask), -1, -2, 10**9):
            bad = actions.copy()
            bad[7] = wrong
            with pytest.raises(IllegalMove, match=r" is illegal in row 7; seat \d may (play|take|stop|build)"):
                engine.step(bad)
        assert engine.state.tobytes() == before
        engine.step(actions)


STEPS = 60  # so that all games have their second deal


def _outcome(engine: Engine, steps: int) -> list[bytes]:
    trace = []
    for _ in range(steps):
        engine.step(engine.sample_actions())
        trace.append(engine.observation.copy())
    return [row.tobytes() for row in np.stack(trace, 1)]


@pytest.mark.parametrize("features", [False, True])
def test_results_do_not_depend_on_batch_row_or_threads(features: bool) -> None:
    rules = RULES["krypkasino players=4 teams=2"]
    whole = _outcome(Engine(rules, 256, seed=9, features=features), STEPS)
    assert whole == _outcome(Engine(rules, 256, seed=9, features=features, threads=3), STEPS)
    assert whole[:40] == _outcome(Engine(rules, 40, seed=9, features=features), STEPS)
    seeds = np.arange(100)
    forward = _outcome(Engine(rules, 100, seed=seeds, features=features), STEPS)
    assert forward == _outcome(Engine(rules, 100, seed=seeds[::-1], features=features, threads=2), STEPS)[::-1]


def test_step_of_some_rows_leaves_the_others_alone() -> None:
    engine, whole = (Engine(Rules.preset(), 32, seed=4) for _ in range(2))
    even = np.arange(32) % 2 == 0
    for _ in range(150):
        actions = whole.sample_actions()
        for rows, is_other in ((even, ~even), (np.arange(1, 32, 2), even)):  # as a mask, and as numbers
            before = engine.state[is_other].copy()
            assert (engine.sample_actions(rows) == actions[rows]).all()
            assert (engine.state[is_other] == before).all()
            engine.step(actions[rows], rows)
            assert (engine.state[is_other] == before).all()
        whole.step(actions)
        assert (engine.observation == whole.observation).all()
        assert (engine.final_scores == whole.final_scores).all()


def test_copies_are_independent_and_go_on_as_the_engine() -> None:
    engine = Engine(RULES["krypkasino players=3"], 8, seed=2, features=True)
    for _ in range(30):
        engine.step(engine.sample_actions())
    seen, chosen = engine.observation.copy(), engine.select([3, 3, 5])
    twins = engine.copy(), copy.deepcopy(engine), pickle.loads(pickle.dumps(engine)), engine.select(np.arange(8) >= 0)
    assert (chosen.observation == seen[[3, 3, 5]]).all()
    assert (engine.select(np.arange(8) == 5).observation == seen[[5]]).all()
    for _ in range(150):
        for each in (*twins, chosen):
            each.step(each.sample_actions())
    assert (engine.observation == seen).all()
    for _ in range(150):
        engine.step(engine.sample_actions())
    for twin in twins:
        assert (twin.observation == engine.observation).all()
        assert (twin.final_scores == engine.final_scores).all()
    assert (chosen.observation == engine.observation[[3, 3, 5]]).all()


def test_kernels_work_where_nothing_can_be_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: object, *given: object) -> None:
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(lean._PackageCache, "__init__", refuse)

    @jit.kernel
    def double(number: int) -> int:
        return 2 * number

    assert double(21) == 42


def test_sampled_actions_are_uniform() -> None:
    engine = Engine(Rules.preset(), 1, seed=np.array([11])).select(np.zeros(60_000, int))
    engine.state.rng[:, 1] = np.arange(60_000)
    counts = np.bincount(engine.sample_actions(), minlength=105)
    legal = engine.action_mask[0] == 1
    assert counts[~legal].sum() == 0
    expected = 60_000 / legal.sum()
    assert ((counts[legal] - expected) ** 2 / expected).sum() < 30  # chi-square, 5 degrees of freedom: p = 0.00001


def test_decks_are_shuffled_uniformly() -> None:
    rules = Rules.preset("mini-high")
    games, kinds = 40_000, np.flatnonzero(rules.deck_counts)
    decks = Engine(rules, games, seed=1).state.deck[:, : rules.deck_size]
    expected = games / len(kinds)
    for place in range(rules.deck_size):
        counts = np.bincount(decks[:, place], minlength=52)[kinds]
        assert ((counts - expected) ** 2 / expected).sum() < 45  # chi-square, 9 degrees of freedom: p = 0.000001


@pytest.mark.parametrize("text", OPTIONAL)
def test_k4_who_always_stops_scores_nothing(text: str) -> None:
    """Whole games in which nobody takes anything: all share the win."""
    rules = OPTIONAL[text]
    engine = Engine(rules, 16, seed=3, reward="win")
    ended, largest = np.zeros(16, bool), np.zeros(16, int)
    while not ended.all():
        mask = engine.action_mask
        engine.step(np.where(mask[:, STOP] == 1, STOP, mask.argmax(1)))
        ended |= engine.finished
        largest = np.maximum(largest, engine.state.table.sum(1))
        for final in (engine.final_scores, engine.final_points, engine.final_sweeps, engine.final_tie_breaks):
            assert not final[engine.finished].any()
        assert engine.rewards is not None
        assert (engine.rewards[engine.finished] == 1 / rules.num_teams).all()
    assert (largest == rules.deck_size - 1).all()  # the last card ends the game, and the next one is dealt


# ---------------------------------------------------------------------- rewards

PAID = {
    "alone": {"players": 3},
    "teams": {"players": 4, "teams": 2},
    "session": {"variant": "mini-low", "games": 3, "last_capture_points": 1},
    "threshold": {"variant": "mini-low", "games": 0, "threshold": 25},
    "bonus": {"variant": "howto", "players": 3, "initial_match_bonus": -5},
}


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("reward", KINDS)
@pytest.mark.parametrize("arguments", PAID.values(), ids=PAID)
def test_rewards_are_those_of_the_environment(arguments: dict[str, Any], reward: str, dense: bool) -> None:
    seed = 5
    env = krypkasino_v0.raw_env(**arguments, reward=reward, dense=dense)
    env.reset(seed=seed)
    engine = Engine(env.rules, 2, seed=[seed, 8], reward=reward, dense=dense)
    rng, steps = np.random.default_rng(0), 0
    while not all(env.terminations.values()):
        actions = [int(rng.choice(np.flatnonzero(mask))) for mask in engine.action_mask]
        env.step(actions[0])
        engine.step(actions)
        assert engine.rewards is not None
        np.testing.assert_allclose(engine.rewards[0], list(env.rewards.values()), atol=1e-9)
        steps += bool(engine.rewards[0].any())
    assert engine.finished[0]
    assert steps > 1 if dense else steps <= 1


def test_rewards_of_some_rows_and_of_copies() -> None:
    engine = Engine(Rules.preset(players=3), 8, seed=1, reward="centred", dense=True)
    total = np.zeros((8, 3))
    for step in range(400):
        rows = np.arange(8)[step % 2 :: 2]
        engine.step(engine.sample_actions(rows), rows)
        assert engine.rewards is not None
        assert not np.delete(engine.rewards, rows, axis=0).any()
        total += engine.rewards
        ended = engine.finished
        np.testing.assert_allclose(total[ended], returns_of(engine.rules, engine.final_scores[ended], "centred"))
        total[ended] = 0
        if step == 100:
            engine = pickle.loads(pickle.dumps(engine.select(np.arange(8)).copy()))
    mid = Engine.from_state(engine.rules, engine.state, reward="points", dense=True)
    before = running_scores(mid.rules, mid.state)
    mid.step(mid.sample_actions())
    assert mid.rewards is not None
    on = ~mid.finished
    np.testing.assert_array_equal(mid.rewards[on], (before - running_scores(mid.rules, mid.state))[on])
