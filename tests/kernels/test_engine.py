"""The engine: many games at once, each of them as it would be alone, and what it refuses, pays and counts."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from scipy.stats import chisquare
from support.games import RULES
from support.relatives import BUILDING

from krypenv import Engine, IllegalMove, Rules
from krypenv.cards import STOP
from krypenv.kernels.scoring import are_best, leads, margin_of, running_scores, side_scores
from krypenv.rewards import KINDS, returns_of
from krypenv.runtime.jit import handle, kernel


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


def trace(engine: Engine) -> list[bytes]:
    """What each row shows in sixty steps, so that all games have their second deal."""
    seen = []
    for _ in range(60):
        engine.step(engine.sample_actions())
        seen.append(engine.observation.copy())
    return [row.tobytes() for row in np.stack(seen, 1)]


@pytest.mark.parametrize("features", [False, True])
def test_results_do_not_depend_on_batch_row_or_threads(features: bool) -> None:
    rules = RULES["krypkasino players=4 teams=2"]
    whole = trace(Engine(rules, 256, seed=9, features=features))
    assert whole == trace(Engine(rules, 256, seed=9, features=features, threads=3))
    assert whole[:40] == trace(Engine(rules, 40, seed=9, features=features))
    seeds = np.arange(100)
    forward = trace(Engine(rules, 100, seed=seeds, features=features))
    assert forward == trace(Engine(rules, 100, seed=seeds[::-1], features=features, threads=2))[::-1]


def test_a_step_of_some_rows_leaves_the_others_alone() -> None:
    engine, whole = (Engine(Rules.preset(), 32, seed=4) for _ in range(2))
    even = np.arange(32) % 2 == 0
    for _ in range(150):
        actions = whole.sample_actions()
        for rows, is_other in ((even, ~even), (np.arange(1, 32, 2), even)):  # as a mask, and as numbers
            before = engine.state[is_other].copy()
            assert (engine.sample_actions(rows) == actions[rows]).all()
            engine.step(actions[rows], rows)
            assert (engine.state[is_other] == before).all()
        whole.step(actions)
        assert (engine.observation == whole.observation).all()
        assert (engine.final_scores == whole.final_scores).all()


def test_copies_are_independent_and_go_on_as_the_engine() -> None:
    engine = Engine(RULES["krypkasino players=3"], 8, seed=2, features=True, history=True)
    for _ in range(30):
        engine.step(engine.sample_actions())
    seen, chosen = engine.observation.copy(), engine.select([3, 3, 5])
    twins = engine.copy(), copy.deepcopy(engine), pickle.loads(pickle.dumps(engine)), engine.select(np.arange(8) >= 0)
    assert (chosen.observation == seen[[3, 3, 5]]).all()
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


def test_sampled_actions_are_uniform() -> None:
    engine = Engine(Rules.preset(), 1, seed=np.array([1])).select(np.zeros(60_000, int))
    engine.state.rng[:, 1] = np.arange(60_000)
    counts = np.bincount(engine.sample_actions(), minlength=105)
    legal = engine.action_mask[0] == 1
    assert legal.sum() > 3
    assert counts[~legal].sum() == 0
    assert chisquare(counts[legal]).pvalue > 1e-5


def test_decks_are_shuffled_uniformly() -> None:
    rules = Rules.preset("mini-high")
    games, kinds = 40_000, np.flatnonzero(rules.deck_counts)
    decks = Engine(rules, games, seed=1).state.deck[:, : rules.deck_size]
    for place in range(rules.deck_size):
        assert chisquare(np.bincount(decks[:, place], minlength=52)[kinds]).pvalue > 1e-6


# ---------------------------------------------------------------------- scores and rewards


@kernel
def _margin(compiled: np.ndarray, state: np.ndarray, side: int) -> float:
    return margin_of(compiled[0], state[0], side)


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_r14_scores_sum_to_the_total_and_a_margin_is_the_lead_of_a_side(rules: Rules) -> None:
    engine = Engine(rules, 256, seed=5)
    bonus = {rules.total_points, rules.total_points + rules.initial_match_bonus}
    for _ in range(104):
        engine.step(engine.sample_actions())
        sums = engine.final_scores[engine.finished].sum(1)
        assert set(sums.tolist()) <= bonus | {total - rules.last_capture_points for total in bonus}
        game = running_scores(rules, engine.state)[0] - engine.state.totals[0, : rules.players]
        scores = side_scores(rules, game)[: rules.num_teams]
        for side, score in enumerate(scores):
            rest = (scores.sum() - score) / (rules.num_teams - 1)
            margin = _margin(engine.compiled, handle(engine.state), side)
            assert margin == leads(rules, score, rest) == rest - score


def test_the_other_goal_turns_every_verdict() -> None:
    low, turned = Rules(players=3), Rules(players=3, goal="high")
    scores = np.array([[4, 9, 29], [14, 14, 14], [30, 6, 6]])
    assert are_best(low, scores).tolist() == [[True, False, False], [True] * 3, [False, True, True]]
    assert are_best(turned, -scores).tolist() == are_best(low, scores).tolist()
    for reward in KINDS:
        np.testing.assert_array_equal(returns_of(turned, -scores, reward), returns_of(low, scores, reward))


PAID = (
    "krypkasino players=3", "krypkasino players=4 teams=2", "mini-low games=3 last_capture_points=1",
    "mini-low games=0 threshold=25", "howto players=3 initial_match_bonus=-5",
)  # fmt: skip


@pytest.mark.few(5)
@pytest.mark.parametrize("reward", KINDS)
@pytest.mark.parametrize("text", PAID)
def test_rewards_add_up_to_what_the_final_scores_are_worth(text: str, reward: str) -> None:
    """Those of half of the rows at a time, before and after a copy is made; dense ones follow the scores."""
    rules = Rules.parse(text)
    dense, once = (Engine(rules, 8, seed=1, reward=reward, dense=dense) for dense in (True, False))
    paid, ended = np.zeros((8, rules.players)), 0
    for step in range(10_000):
        rows, on = np.arange(8)[step % 2 :: 2], np.arange(8) % 2 == step % 2
        actions = dense.sample_actions(rows)
        for engine in (dense, once):
            engine.step(actions, rows)
            assert engine.rewards is not None
            assert not engine.rewards[~on].any()
        paid += dense.rewards
        going = on & ~dense.finished
        assert np.allclose(paid[going], returns_of(rules, running_scores(rules, dense.state), reward)[going])
        worth = returns_of(rules, dense.final_scores, reward, dense.final_tie_breaks)
        assert np.allclose(paid[dense.finished], worth[dense.finished])
        assert np.allclose(once.rewards, np.where(dense.finished[:, None], worth, 0))
        paid[dense.finished] = 0
        ended += dense.finished.sum()
        if step == 20:
            dense, once = (pickle.loads(pickle.dumps(engine.select(np.arange(8)))) for engine in (dense, once))
        if ended > 12:
            return
    raise AssertionError("no games end")


def test_dense_rewards_of_a_state_count_from_it_on() -> None:
    engine = Engine("krypkasino", 8, seed=1)
    engine.play_games(50)
    resumed = Engine.from_state(engine.rules, engine.state, reward="points", dense=True)
    before = running_scores(engine.rules, engine.state)
    resumed.step(resumed.sample_actions())
    assert resumed.rewards is not None
    on = ~resumed.finished
    assert (resumed.rewards[on] == (before - running_scores(resumed.rules, resumed.state))[on]).all()
