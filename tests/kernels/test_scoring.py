"""Scoring: sweeps, margins, and which end of the score is good, as kernels and as arrays."""

from __future__ import annotations

import numpy as np
import pytest
from support.games import RULES

from krypenv import Engine, Rules
from krypenv.kernels.compiled import compile_rules
from krypenv.kernels.scoring import are_best, leads, margin_of, points_of_sweeps, running_scores, side_scores
from krypenv.rewards import KINDS, returns_of
from krypenv.runtime.jit import handle, kernel


@kernel
def _margin(compiled: np.ndarray, state: np.ndarray, side: int) -> float:
    return margin_of(compiled[0], state[0], side)


@pytest.mark.parametrize("text", RULES)
def test_a_margin_is_the_lead_of_a_side(text: str) -> None:
    rules = Rules.parse(text)
    engine = Engine(rules, 1, seed=3)
    sides = rules.num_teams
    for _ in range(40):
        engine.step(engine.sample_actions())
        game = running_scores(rules, engine.state)[0] - engine.state.totals[0, : rules.players]
        scores = side_scores(rules, game)[:sides]
        for side in range(sides):
            rest = (scores.sum() - scores[side]) / (sides - 1)
            margin = _margin(compile_rules(rules), handle(engine.state), side)
            assert margin == leads(rules, scores[side], rest) == rest - scores[side]


def test_r9_a_sweep_pays_the_seat_before() -> None:
    own, set_up = points_of_sweeps(Rules(players=3), np.array([[1, 0, 2]]))
    assert own.tolist() == [[5, 0, 10]]
    assert set_up.tolist() == [[0, -10, -5]]


def test_the_other_goal_turns_every_verdict() -> None:
    low, turned = Rules(players=3), Rules(players=3, goal="high")
    scores = np.array([[4, 9, 29], [14, 14, 14], [30, 6, 6]])
    assert are_best(low, scores).tolist() == [[True, False, False], [True] * 3, [False, True, True]]
    assert are_best(turned, -scores).tolist() == are_best(low, scores).tolist()
    for reward in KINDS:
        np.testing.assert_array_equal(returns_of(turned, -scores, reward), returns_of(low, scores, reward))
    compiled = compile_rules(turned)
    assert (compiled["lead_sign"], compile_rules(low)["lead_sign"]) == (-1, 1)
