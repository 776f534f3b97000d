"""Duplicate matches: every figure against games played one by one, intervals, lists of deals, and what is refused."""

import dataclasses
import hashlib
import json
import math
import statistics

import numpy as np
import pytest
from support.arenas import RULES, Highest, Lowest

from krypenv import Engine, Rules
from krypenv.advice.estimates import Estimate
from krypenv.cards import card_name
from krypenv.training import deal_seeds, duplicate_match, evaluate
from krypenv.training.evaluation.luck.meter import Meter, control_of
from krypenv.training.evaluation.matches import duplicate, mixed_table
from krypenv.training.evaluation.matches.deal_lists import describe_list
from krypenv.training.evaluation.matches.duplicate import play_duplicates
from krypenv.training.evaluation.matches.margins import format_margin, interval

TABLES = [
    "krypkasino last_capture_points=1", "krypkasino players=3", "krypkasino players=6 teams=3", "krypkasino games=2",
    "kasino-sweden", "kasino-sweden players=3 goal=low", "kasino-finland games=0 threshold=16",
    "mulle players=4 teams=2",
]  # fmt: skip
DEALS = 4


def figures(result):
    """All figures but the times."""
    return {key: value for key, value in result.to_json().items() if key not in ("own_ms", "opponent_ms")}


# ---------------------------------------------------------------------- against games played one by one


def played_alone(rules, own, seed):
    """Play the lowest actions on one side and the highest on the others; return the engine and that side's luck."""
    players = Lowest(rules), Highest(rules)
    engine, meter, deals, luck = Engine(rules, 1, [seed]), Meter(rules, control_of(rules)), {(1, 1)}, 0.0
    while not engine.finished[0]:
        player = players[int(engine.seat[0] % rules.num_teams != own)]
        engine.step(player.act(engine.observation, engine.action_mask))
        deal = int(engine.state.game_number[0]), int(engine.state.deal_number[0])
        if not engine.finished[0] and deal not in deals:
            deals.add(deal)
            meter.begin(engine, first=True)  # as if this deal were the first one
            luck += meter.luck[0, own]
    return engine, luck


@pytest.mark.few(2)
@pytest.mark.parametrize("text", TABLES)
def test_all_figures_of_a_match_are_those_of_games_played_one_by_one(text):
    """In seating k the agent has side k. Wins are counted after the tie break (K6, F7)."""
    rules = Rules.parse(text)
    sides, sign = rules.num_teams, 1 if rules.goal == "high" else -1
    own_points, other_points, luck, outcomes = [], [], [], []
    for seed in deal_seeds(3, DEALS):
        for own in range(sides):
            engine, own_luck = played_alone(rules, own, seed)
            scores, cards, keys = engine.final_scores[0], engine.final_points[0], engine.final_tie_breaks[0]
            taken = rules.sweep_points * (engine.final_sweeps - engine.final_void_sweeps)[0].astype(int)
            set_up = -np.roll(taken, -1) if rules.sweep_payer == "seat_before" else 0 * taken
            kinds = np.array([cards, taken, set_up, scores - cards - taken - set_up, scores], float)
            points = [kinds[:, side::sides].sum(axis=1) for side in range(sides)]
            ranks = [(sign * points[side][-1], sign * keys[side]) for side in range(sides)]
            outcomes.append(ranks.count(max(ranks)) if ranks[own] == max(ranks) else 0)
            own_points.append(points.pop(own))
            other_points.append(np.mean(points, axis=0))
            luck.append(own_luck)
    margins = sign * (np.array(own_points) - other_points)[:, -1].reshape(DEALS, sides)
    luck = np.reshape(luck, (DEALS, sides))

    players, control = [Lowest(rules), Highest(rules)], control_of(rules)
    found = play_duplicates(players, rules, deal_seeds(3, DEALS), control)
    assert found.margins == pytest.approx(margins)
    assert found.luck == pytest.approx(luck, abs=0.01)  # of each deal three decimals
    assert found.luck.any()
    assert found.parts @ [*control.shares.values()] == pytest.approx(luck, abs=0.01)

    match = duplicate_match(*players, rules, DEALS, 3, luck="on")
    assert (match.games, match.deals) == (DEALS * sides, DEALS)
    assert (match.margin, match.low, match.high) == pytest.approx(interval(margins.mean(axis=1)))
    rest = (margins - luck).mean(axis=1)
    assert (match.adjusted.margin, match.adjusted.low, match.adjusted.high) == pytest.approx(interval(rest), abs=0.01)
    assert match.adjusted.worth == pytest.approx(margins.mean(axis=1).var() / rest.var(), rel=0.01)
    assert match.adjusted.control == str(control)
    for points, expected in ((match.own, own_points), (match.opponents, other_points)):
        assert [*dataclasses.astuple(points), points.score] == pytest.approx(np.mean(expected, axis=0))
    rates = np.mean(np.array(outcomes) == 1), np.mean(np.array(outcomes) > 1)
    assert (match.win_rate, match.tie_rate) == pytest.approx(rates)

    raw = duplicate_match(*players, rules, DEALS, 3, luck="off")
    assert (raw.adjusted, raw.margin) == (None, match.margin)


def test_games_in_parts_are_those_of_all_at_once(monkeypatch):
    """A part holds whole deals."""
    rules, seeds = Rules.preset("krypkasino", players=3), deal_seeds(3, 6)

    def measured(*more):
        return play_duplicates([Lowest(rules), Highest(rules)], rules, seeds, control_of(rules), *more)

    whole, seen = measured(), []
    monkeypatch.setattr(duplicate, "CHUNK", 7)
    parts = measured(lambda *done: seen.append(done))
    assert seen == [(6, 18), (12, 18), (18, 18)]
    for name in ("margins", "luck", "parts"):
        assert (getattr(parts, name) == getattr(whole, name)).all()
    assert (parts.played.points == whole.played.points).all()


def test_time_is_that_of_the_processor_without_the_first_call(monkeypatch):
    """Here by a processor that works for a second in each call of an agent, whatever else goes on."""
    seconds, calls = iter(range(10**6)), []
    monkeypatch.setattr(mixed_table.time, "process_time", lambda: next(seconds))

    class Counted(Lowest):
        def act(self, observations, action_masks):
            calls.append((self, len(observations)))
            return super().act(observations, action_masks)

    players = [Counted(RULES), Counted(RULES)]
    found = play_duplicates(players, RULES, deal_seeds(3, 6)).played
    timed = [[rows for player, rows in calls if player is own][1:] for own in players]
    assert found.seconds.tolist() == list(map(len, timed))
    assert found.decisions.tolist() == list(map(sum, timed))


# ---------------------------------------------------------------------- intervals


@pytest.mark.parametrize(
    ("freedom", "quantile"), [(1, 12.706205), (2, 4.302653), (4, 2.776445), (30, 2.042272), (10_000, 1.960201)]
)
def test_intervals_are_as_wide_as_students_t_says(freedom, quantile):
    """The quantiles are those of printed tables."""
    samples = np.random.default_rng(3).normal(size=freedom + 1)
    mean, error = statistics.mean(samples), statistics.stdev(samples) / math.sqrt(len(samples))
    expected = mean, mean - quantile * error, mean + quantile * error
    assert interval(samples) == pytest.approx(expected, rel=1e-6)
    assert dataclasses.astuple(Estimate.of(samples)) == pytest.approx(expected, rel=1e-6)


def test_a_single_deal_has_no_bounds():
    result = duplicate_match("greedy", "random", RULES, deals=1)
    assert (result.low, result.high) == (-math.inf, math.inf)
    assert json.loads(json.dumps(result.to_json(), allow_nan=False))["low"] is None
    assert format_margin(3, result.low, result.high) == format_margin(3, None, None) == "+3.00 (no interval)"


# ---------------------------------------------------------------------- deals


@pytest.mark.parametrize(
    ("source", "first_cards", "digest"),
    [
        ("dev", "3C 8D QH KH 3H 5D TS TC", "5b78dc46aef76d6c"),
        ("test", "AS 4C JS 6D 2S TH 4S 9C", "aa9c29c15c6b1a0d"),
    ],
)
def test_the_lists_of_deals_never_change(source, first_cards, digest):
    decks = Engine(RULES, 100, deal_seeds(source, 100)).state.deck[:, : RULES.deck_size]
    assert " ".join(card_name(card) for card in decks[0, :8]) == first_cards
    assert hashlib.sha256(np.ascontiguousarray(decks).tobytes()).hexdigest()[:16] == digest


def test_a_longer_list_begins_with_the_shorter_one_and_lists_differ():
    for source in ("dev", "test", 7):
        assert deal_seeds(source, 50)[:20].tolist() == deal_seeds(source, 20).tolist()
    assert deal_seeds("7", 5).tolist() == deal_seeds(7, 5).tolist()
    assert len({int(seed) for source in ("dev", "test", 0, 1) for seed in deal_seeds(source, 500)}) == 2000
    assert [describe_list(source) for source in ("dev", "test", "7", 7)] == ["dev v1", "test v1", "seed 7", "seed 7"]


def test_a_match_follows_from_its_list_of_deals_and_its_seed():
    asked = {"deals_from": "test"}, {"seed": 7}, {"deals_from": 7, "seed": 7}, {"seed": 8}
    test, seven, again, eight = (figures(duplicate_match("random", "greedy", deals=9, **deals)) for deals in asked)
    assert test["deals_from"] == "test v1"
    assert seven == again
    assert len({each["margin"] for each in (test, seven, eight)}) == 3


# ---------------------------------------------------------------------- who plays


def test_evaluate_checks_and_then_plays_each_opponent_and_counts_the_games_of_all():
    told = []

    def played(*opponents):
        return evaluate("tactician", opponents, RULES, 20, 1, progress=lambda *games: told.append(games))

    with pytest.raises(ValueError, match="did you mean 'greedy'"):
        played("random", "gredy")
    assert told == []
    results = played("random", "greedy")
    assert told == [(40, 80), (80, 80)]
    assert [result.opponent for result in results] == ["random", "greedy"]
    assert figures(results[1]) == figures(duplicate_match("tactician", "greedy", RULES, deals=20, seed=1))
    assert all(f"{result.margin:+.2f}" in str(result) for result in results)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"deals": 10**12}, "deals should be less than or equal to 1000000"),
        ({"luck": "maybe"}, "luck is auto, on or off, not 'maybe'"),
        ({"agent": "gredy"}, "did you mean 'greedy'"),
        ({"agent": Lowest(Rules.preset("howto"))}, "lowest was made for other rules"),
    ],
)
def test_a_bad_match_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        duplicate_match(**{"agent": "greedy", "opponent": "random", "rules": RULES, "deals": 1} | given)


def first_legal(observations, masks):
    """A policy: the first legal action."""
    return masks.argmax(axis=1)


@pytest.mark.parametrize("rules", [None, "krypkasino players=2"])
def test_agents_are_names_objects_and_functions_and_rules_their_own_or_text(rules):
    """A single opponent needs no list; agents without rules play Krypkasino for two."""
    results = [evaluate(agent, "greedy", rules, 4, luck="off")[0] for agent in (first_legal, Lowest(RULES), "random")]
    assert [result.agent for result in results] == ["first_legal", "lowest", "random"]
    assert results[0].margin == results[1].margin  # the same play
    assert duplicate_match("greedy", lambda seen, masks: masks, rules, deals=2, luck="off").opponent == "policy"
    assert evaluate(Highest(Rules.preset("mini-low")), "random", deals=2, luck="off")[0].rules.startswith("mini-low")
