"""Duplicate matches: intervals, the symmetry of the deals, the sums of the figures, wins, words, refusals."""

import dataclasses
import json
import math
import statistics

import numpy as np
import pytest
from support.arenas import RELATIVES, RULES, Highest, Lowest

from krypenv import Engine, Rules
from krypenv.advice.estimates import Estimate
from krypenv.training import duplicate_match, evaluate, format_table
from krypenv.training.evaluation.matches.margins import format_margin, interval
from krypenv.training.evaluation.matches.mixed_table import by_side, play_table

KRYPKASINO = [
    "krypkasino", "krypkasino players=5", "krypkasino players=6 teams=3", "krypkasino players=6 teams=2",
    "krypkasino last_capture_points=1", "krypkasino games=2", "krypkasino players=3 games=0 threshold=60",
]  # fmt: skip
every_relative = pytest.mark.parametrize("text", RELATIVES)
every_game = pytest.mark.parametrize("text", [*KRYPKASINO, *RELATIVES])
TIMES = ("own_ms", "opponent_ms")


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
    assert mean == pytest.approx(statistics.mean(samples))
    assert (mean - low, high - mean) == pytest.approx((quantile * error, quantile * error), rel=1e-6)
    estimate = Estimate.of(samples)
    assert (estimate.mean, estimate.low, estimate.high) == (mean, low, high)


def test_a_single_deal_has_no_bounds():
    result = duplicate_match("greedy", "random", RULES, deals=1)
    assert (result.low, result.high) == (-math.inf, math.inf)
    assert result.to_json()["low"] is None
    json.dumps(result.to_json(), allow_nan=False)
    for bounds in ((None, None), (result.low, result.high)):
        assert format_margin(3, *bounds) == "+3.00 (no interval)"


# ---------------------------------------------------------------------- duplicate deals


@pytest.mark.parametrize("text", ["krypkasino", "mini-high", "krypkasino players=4 teams=2"])
def test_a_swap_of_agents_negates_the_margin(text):
    rules = Rules.parse(text)
    low, high = Lowest(rules), Highest(rules)
    there = duplicate_match(low, high, rules, deals=20, seed=4, luck="off")
    back = duplicate_match(high, low, rules, deals=20, seed=4, luck="off")
    assert there.margin != 0
    assert (there.margin, there.low, there.high) == pytest.approx((-back.margin, -back.high, -back.low))
    assert there.own == back.opponents
    assert there.win_rate + back.win_rate + there.tie_rate == pytest.approx(1)


@pytest.mark.parametrize("text", ["krypkasino", "krypkasino players=6 teams=3"])
def test_a_better_agent_has_a_margin_above_zero(text):
    rules = Rules.parse(text)
    for worse, better, deals in (("random", "greedy", 2000), ("greedy", "tactician", 300)):
        result = duplicate_match(better, worse, rules, deals=deals, seed=1)
        assert result.low > 0, str(result)
        assert result.games == deals * rules.num_teams


def test_same_seed_same_figures_whatever_the_threads():
    first = duplicate_match("tactician", "greedy", RULES, deals=60, seed=9)
    assert figures(first) == figures(duplicate_match("tactician", "greedy", RULES, deals=60, seed=9, threads=2))
    assert first.margin != duplicate_match("tactician", "greedy", RULES, deals=60, seed=10).margin


# ---------------------------------------------------------------------- the figures


@every_game
def test_the_points_add_up(text):
    """Sweeps that somebody pays for sum to nothing; without them, the scores are the points of all cards."""
    rules = Rules.parse(text)
    others, sign = rules.num_teams - 1, 1 if rules.goal == "high" else -1
    result = duplicate_match(Highest(rules), "random", rules, deals=12, seed=1, luck="off")
    own, other = result.own, result.opponents
    assert result.margin == pytest.approx(sign * (own.score - other.score))
    if rules.sweep_payer == "nobody":
        assert own.sweeps_set_up == other.sweeps_set_up == 0
        assert min(own.cards, other.cards, own.sweeps_taken, other.sweeps_taken, own.bonus, other.bonus) >= 0
    else:
        taken, set_up = (
            getattr(own, name) + others * getattr(other, name) for name in ("sweeps_taken", "sweeps_set_up")
        )
        assert taken == pytest.approx(-set_up)
    if rules.games:
        cards = own.cards + others * other.cards
        most = rules.games * int(rules.deck_counts @ rules.card_points.astype(int))
        assert cards <= most
        if not rules.threshold_at_once:
            assert cards == pytest.approx(most)  # somebody captures in each game
    if rules.games and rules.sweep_payer != "nobody":
        assert own.score + others * other.score == pytest.approx(rules.games * rules.total_points)
        assert own.bonus + others * other.bonus == pytest.approx(rules.games * rules.last_capture_points)


@every_relative
def test_f4_f5_what_counts_of_sweeps_is_what_they_add_to_the_score(text):
    """The same games with and without points for sweeps, side by side."""
    rules = Rules.parse(text)
    if rules.games == 0:  # sessions end elsewhere
        return
    with_sweeps, without = (
        play_table(Engine(each, 30, seed=11), [Lowest(each)], np.zeros((30, each.num_teams)))
        for each in (rules, dataclasses.replace(rules, sweep_points=0))
    )
    counted, gained = (
        by_side(seats, rules.num_teams) for seats in (with_sweeps.sweeps, with_sweeps.scores - without.scores)
    )
    assert gained.any()
    np.testing.assert_array_equal(counted * rules.sweep_points, gained)
    assert (counted >= 0).all()
    assert (with_sweeps.points == without.points).all()


def test_evaluate_checks_and_then_plays_each_opponent_and_counts_the_games_of_all():
    told = []
    with pytest.raises(ValueError, match="did you mean 'greedy'"):
        evaluate("tactician", ["random", "gredy"], RULES, deals=5, progress=lambda *games: told.append(games))
    assert told == []
    results = evaluate("tactician", ["random", "greedy"], RULES, 20, 1, progress=lambda *games: told.append(games))
    assert told == [(40, 80), (80, 80)]
    assert [result.opponent for result in results] == ["random", "greedy"]
    assert figures(results[1]) == figures(duplicate_match("tactician", "greedy", RULES, deals=20, seed=1))
    assert f"{results[0].margin:+.2f}" in format_table(results)
    assert "sweeps taken" in str(results[1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: duplicate_match("greedy", "random", RULES, deals=0),
            "deals should be greater than or equal to 1, not 0",
        ),
        (lambda: duplicate_match("greedy", "random", RULES, seed=-1), "a seed is a whole number from 0 on"),
        (lambda: duplicate_match("gredy", "random", RULES), "did you mean 'greedy'"),
        (lambda: duplicate_match(Lowest(Rules.preset("howto")), "random", RULES), "lowest was made for other rules"),
    ],
)
def test_a_bad_match_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def first_legal(observations, masks):
    """A policy: the first legal action."""
    return masks.argmax(axis=1)


@pytest.mark.parametrize("rules", [None, "krypkasino players=2"])
def test_agents_are_names_objects_and_functions_and_rules_their_own_or_text(rules):
    """A single opponent needs no list; agents without rules play Krypkasino for two."""
    given = [first_legal, Lowest(RULES), "random"]
    results = [evaluate(agent, "greedy", rules, deals=4, luck="off") for agent in given]
    assert [result.agent for (result,) in results] == ["first_legal", "lowest", "random"]
    assert figures(results[0][0])["margin"] == results[1][0].margin  # the same play
    assert duplicate_match("greedy", lambda seen, masks: masks, rules, deals=2, luck="off").opponent == "policy"
    assert evaluate(Highest(Rules.preset("mini-low")), "random", deals=2, luck="off")[0].rules.startswith("mini-low")
