"""Duplicate matches: the interval, the symmetry of the deals, the sums of the figures, the order of the agents."""

import json
import math
import statistics

import numpy as np
import pytest

from krypenv import Rules
from krypenv.training import duplicate_match, evaluate, format_table
from krypenv.training.evaluation.matches import duplicate as evaluation
from krypenv.training.evaluation.matches.margins import interval

RULES = Rules.preset("krypkasino")
TIMES = ("own_ms", "opponent_ms")


class Fixed:
    """An agent without chance: the lowest or the highest legal action."""

    def __init__(self, rules, highest=False):
        self.name = "highest" if highest else "lowest"
        self.rules = rules
        self.highest = highest

    def act(self, observations, action_masks):
        last = action_masks.shape[1] - 1
        return last - action_masks[:, ::-1].argmax(axis=1) if self.highest else action_masks.argmax(axis=1)


def figures(result):
    """All figures but the times."""
    return {key: value for key, value in result.to_json().items() if key not in TIMES}


# ---------------------------------------------------------------------- the interval


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    [
        (1, 12.706205), (2, 4.302653), (3, 3.182446), (4, 2.776445), (5, 2.570582), (10, 2.228139), (30, 2.042272),
        (100, 1.983972), (10_000, 1.960201),
    ],
)  # fmt: skip
def test_intervals_are_as_wide_as_students_t_says(freedom, quantile):
    """The quantiles are those of printed tables."""
    samples = np.random.default_rng(3).normal(size=freedom + 1)
    mean, low, high = interval(samples)
    error = statistics.stdev(samples) / math.sqrt(len(samples))
    assert (mean - low, high - mean) == pytest.approx((quantile * error, quantile * error), rel=1e-6)


@pytest.mark.parametrize("size", [2, 3, 6, 40])
def test_the_interval_holds_the_known_mean_in_95_of_100_samples(size):
    samples = np.random.default_rng(1).normal(7.0, 20.0, (20_000, size))
    inside = [low <= 7.0 <= high for _, low, high in map(interval, samples)]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.005)


def test_the_interval_of_a_sample_done_by_hand():
    mean, low, high = interval(np.array([1.0, 2.0, 6.0]))
    half = 4.302653 * math.sqrt(7) / math.sqrt(3)
    assert (mean, low, high) == pytest.approx((3, 3 - half, 3 + half))


def test_a_single_deal_has_no_bounds():
    result = duplicate_match("greedy", "random", RULES, deals=1)
    assert (result.low, result.high) == (-math.inf, math.inf)
    assert result.to_json()["low"] is None
    json.dumps(result.to_json(), allow_nan=False)


# ---------------------------------------------------------------------- duplicate deals


@pytest.mark.parametrize(
    "rules", [RULES, Rules.preset("mini-high"), Rules.preset("krypkasino", players=4, teams=2)], ids=str
)
def test_against_itself_the_margin_is_zero_and_a_swap_negates_it(rules):
    low, high = Fixed(rules), Fixed(rules, highest=True)
    itself = duplicate_match(low, low, rules, deals=50, seed=4)
    assert (itself.margin, itself.low, itself.high) == (0, 0, 0)
    assert itself.win_rate == pytest.approx((1 - itself.tie_rate) / 2)
    there = duplicate_match(low, high, rules, deals=50, seed=4)
    back = duplicate_match(high, low, rules, deals=50, seed=4)
    assert there.margin != 0
    assert (there.margin, there.low, there.high) == pytest.approx((-back.margin, -back.high, -back.low))
    assert there.own == back.opponents
    assert there.win_rate + back.win_rate + there.tie_rate == pytest.approx(1)


def test_against_itself_with_ties_at_random_the_interval_holds_zero():
    for rules in (RULES, Rules.preset("krypkasino", players=5)):
        result = duplicate_match("tactician", "tactician", rules, deals=500, seed=2)
        assert result.low < 0 < result.high


@pytest.mark.parametrize(("players", "teams"), [(2, None), (3, None), (6, None), (4, 2), (6, 3)])
def test_a_better_agent_has_a_margin_above_zero(players, teams):
    rules = Rules.preset("krypkasino", players=players, teams=teams)
    ladder = ["random", "greedy", "tactician", "tactician(shed=True)"]
    deals = [2000, 300, 2000]
    rungs = 3 if players == 2 else 2
    for worse, better, count in list(zip(ladder, ladder[1:], deals, strict=False))[:rungs]:
        result = duplicate_match(better, worse, rules, deals=count, seed=1)
        assert result.low > 0, str(result)
        assert result.games == count * rules.num_teams


def test_same_seed_same_figures_whatever_the_threads():
    first = duplicate_match("tactician", "greedy", RULES, deals=200, seed=9)
    assert figures(first) == figures(duplicate_match("tactician", "greedy", RULES, deals=200, seed=9, threads=2))
    assert first.margin != duplicate_match("tactician", "greedy", RULES, deals=200, seed=10).margin


def test_a_match_in_parts_is_the_same_match(monkeypatch):
    whole = duplicate_match(Fixed(RULES), Fixed(RULES, True), RULES, deals=40, seed=9)
    seen = []
    monkeypatch.setattr(evaluation, "CHUNK", 25)
    parts = duplicate_match(
        Fixed(RULES), Fixed(RULES, True), RULES, deals=40, seed=9, progress=lambda *done: seen.append(done)
    )
    assert figures(whole) == figures(parts)
    assert seen == [(24, 80), (48, 80), (72, 80), (80, 80)]


# ---------------------------------------------------------------------- the figures


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"players": 5},
        {"players": 6, "teams": 3},
        {"players": 6, "teams": 2},
        {"last_capture_points": 1},
        {"games": 2},
        {"players": 3, "games": 0, "threshold": 60},
    ],
    ids=str,
)
def test_the_points_add_up(fields):
    rules = Rules.preset("krypkasino", **fields)
    result = duplicate_match("greedy", "random", rules, deals=30, seed=1)
    others = rules.num_teams - 1
    assert result.margin == pytest.approx(result.opponents.score - result.own.score)
    assert result.own.sweeps_taken + others * result.opponents.sweeps_taken == pytest.approx(
        -result.own.sweeps_set_up - others * result.opponents.sweeps_set_up
    )
    if rules.games:
        total = result.own.score + others * result.opponents.score
        assert total == pytest.approx(rules.games * rules.total_points)
        assert result.own.bonus + others * result.opponents.bonus == pytest.approx(
            rules.games * rules.last_capture_points
        )


def test_evaluate_plays_each_opponent():
    results = evaluate("tactician", ["random", "greedy"], RULES, deals=20, seed=1)
    assert [result.opponent for result in results] == ["random", "greedy"]
    assert figures(results[1]) == figures(duplicate_match("tactician", "greedy", RULES, deals=20, seed=1))
    table = format_table(results)
    assert f"{results[0].margin:+.2f}" in table
    assert "sweeps taken" in str(results[1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: duplicate_match("greedy", "random", RULES, deals=0), "at least one deal, not 0"),
        (lambda: duplicate_match("greedy", "random", RULES, seed=-1), "a seed is a whole number from 0 on"),
        (lambda: duplicate_match("gredy", "random", RULES), "did you mean 'greedy'"),
        (lambda: duplicate_match(Fixed(Rules.preset("howto")), "random", RULES), "lowest was made for other rules"),
    ],
)
def test_a_bad_match_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
