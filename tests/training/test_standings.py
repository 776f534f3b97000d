"""Standings: intervals cover known margins, figures done by hand, equilibria and ratings whose truth is known."""

import dataclasses
import itertools
import json
import math
import sys

import numpy as np
import pytest
from support.arenas import games_of, select

from krypenv.training.evaluation.arena.payoffs import payoffs
from krypenv.training.evaluation.arena.ratings import alpha_rank, find_cycles, nash_average, rate
from krypenv.training.evaluation.arena.standings import (
    NEEDS_OPEN_SPIEL,
    NOT_ALL_MET,
    cycle_sentence,
    print_standings,
    standings,
)
from krypenv.training.evaluation.matches.margins import interval
from krypenv.training.evaluation.matches.mixed_table import format_milliseconds

ROCK_PAPER_SCISSORS = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])


def make_games(names, rows, **fields):
    """Games from rows of (deal, agents of the sides, their scores)."""
    return games_of(*zip(*rows, strict=True), names, **fields)


def simulate(skills, sides, deals, rng):
    """Games of agents whose margins are the differences of their skills, with luck that the games of a deal share."""
    luck = rng.normal(0.0, 10.0, (deals, len(skills)))
    seatings = [
        np.roll(lineup, turn) for lineup in itertools.combinations(range(len(skills)), sides) for turn in range(sides)
    ]
    scores = [(luck - skills)[:, seating] + rng.normal(0.0, 5.0, (deals, sides)) for seating in seatings]
    return games_of(
        np.tile(np.arange(deals), len(seatings)), np.repeat(seatings, deals, axis=0), np.concatenate(scores)
    )


def duels(wins, deals=20):
    """Games of two sides with clear margins: `wins` maps pairs of names to the points by which the first one wins."""
    names = sorted({name for pair in wins for name in pair})
    rng = np.random.default_rng(0)
    rows = []
    for deal, (pair, points) in itertools.product(range(deals), wins.items()):
        one, other = map(names.index, pair)
        noise = rng.integers(-2, 3)
        rows.append((deal, (one, other), (21 - points, 21 + noise)))
        rows.append((deal, (other, one), (21 + noise, 21 - points)))
    return make_games(names, rows)


# ---------------------------------------------------------------------- margins and their intervals


@pytest.mark.parametrize("sides", [2, 4])
def test_intervals_cover_known_margins_in_95_of_100_arenas_and_unclustered_ones_do_not(sides):
    skills = np.array([6.0, 3.0, 0.0, -1.0, -8.0])[: sides + 1]
    truth = skills[:, None] - skills
    field_truth = (len(skills) * skills - skills.sum()) / (len(skills) - 1)
    pairs = np.triu_indices(len(skills), 1)
    rng = np.random.default_rng(1)
    covered, field_covered, unclustered = [], [], []
    for _ in range(400):
        games = simulate(skills, sides, deals=25, rng=rng)
        table = payoffs(games)
        covered.append(((table.low <= truth) & (truth <= table.high))[pairs])
        field_covered.append((table.field_low <= field_truth) & (field_truth <= table.field_high))
        both = (games.agents == 0).any(axis=1) & (games.agents == 1).any(axis=1)
        own, other = (games.scores[both][games.agents[both] == agent] for agent in (0, 1))
        _, low, high = interval(other - own)
        unclustered.append(low <= truth[0, 1] <= high)
    assert 0.93 <= np.mean(covered) <= 0.97
    assert 0.93 <= np.mean(field_covered) <= 0.97
    assert np.mean(unclustered) < 0.90


def test_margins_of_two_sides_done_by_hand():
    games = make_games(
        ["A", "B"],
        [(4, (0, 1), (10, 32)), (4, (1, 0), (22, 20)), (9, (0, 1), (30, 12)), (9, (1, 0), (24, 18))],
    )
    table = payoffs(games)
    half = 12.706205 * 9  # deal 4: (22 + 2) / 2 = 12, deal 9: (-18 + 6) / 2 = -6; the standard error of 12 and -6 is 9
    assert table.margin[0, 1] == 3
    assert (table.low[0, 1], table.high[0, 1]) == pytest.approx((3 - half, 3 + half))
    assert (table.field_low[0], table.field_high[0]) == pytest.approx((3 - half, 3 + half))
    assert table.deals.tolist() == [[0, 2], [2, 0]]
    assert (table.field_margin.tolist(), table.win_rate.tolist()) == ([3, -3], [0.75, 0.25])
    assert table.widest == pytest.approx(half)


def test_margins_of_four_sides_done_by_hand():
    games = make_games(
        "ABCDE",
        [(0, (0, 1, 2, 3), (5, 10, 15, 12)), (0, (4, 0, 1, 2), (20, 8, 8, 6)), (1, (0, 1, 2, 3), (10, 10, 12, 10))],
    )
    table = payoffs(games)
    assert table.margin[0, 1] == ((5 + 0) / 2 + 0) / 2
    assert table.margin[2, 0] == ((-10 + 2) / 2 - 2) / 2
    assert table.margin[3, 0] == (-7 + 0) / 2
    assert table.margin[4, 2] == -14
    assert np.isnan(table.margin[3, 4])
    assert table.deals[0].tolist() == [0, 2, 2, 2, 1]
    with_d = ((10 + 15 + 12) / 3 - 5 + (10 + 12 + 10) / 3 - 10) / 2  # A, B, C and D in two deals
    with_e = (20 + 8 + 6) / 3 - 8  # A, B, C and E in one
    assert table.field_margin[0] == pytest.approx((with_d + with_e) / 2)
    assert table.win_rate.tolist() == [0.25, 0, 0.5, 0, 0]
    assert table.tie_rate.tolist() == [0.25, 0.25, 0, 0.5, 0]


def test_the_field_weighs_opponents_alike_however_many_deals_they_played():
    rng = np.random.default_rng(3)
    covered = []
    for _ in range(400):
        luck = rng.normal(0, 6, 40)  # of the deals, shared by what is played in them
        rows = []
        for other, deals, truth in ((1, 40, 5.0), (2, 10, -1.0)):
            rows += [(deal, (0, other), (0, truth + luck[deal] + rng.normal(0, 3))) for deal in range(deals)]
        table = payoffs(make_games("ABC", rows))
        covered.append(table.field_low[0] <= (5.0 - 1.0) / 2 <= table.field_high[0])
    assert 0.92 <= np.mean(covered) <= 0.98


def test_an_agent_on_several_sides_counts_by_their_mean():
    games = make_games("ABC", [(0, (0, 0, 1, 2), (4, 8, 10, 20)), (0, (0, 1, 1, 1), (9, 9, 12, 15))])
    table = payoffs(games)
    assert table.margin[0, 1] == pytest.approx(((10 - 6) + (12 - 9)) / 2)
    assert table.margin[1, 2] == 10
    assert table.field_margin[0] == pytest.approx(((10 + 20) / 2 - 6 + 12 - 9) / 2)
    assert table.win_rate[0] == (1 / 2 + 0) / 2  # one of two sides in the first game
    assert table.tie_rate[1] == pytest.approx((0 + 1 / 3) / 2)


def test_the_matrix_is_antisymmetric_and_storage_does_not_matter():
    rng = np.random.default_rng(2)
    games = simulate(np.array([2.0, 1.0, 0.0, 0.0, -3.0]), sides=4, deals=30, rng=rng)
    table = payoffs(games)
    off_diagonal = ~np.eye(5, dtype=bool)
    np.testing.assert_array_equal(table.margin[off_diagonal], -table.margin.T[off_diagonal])
    np.testing.assert_array_equal(table.low[off_diagonal], -table.high.T[off_diagonal])
    assert np.isnan(np.diag(table.margin)).all()

    order = rng.permutation(len(games.deal))
    shuffled = payoffs(select(games, order))
    np.testing.assert_allclose(shuffled.margin, table.margin)
    np.testing.assert_allclose(shuffled.field_low, table.field_low)


# ---------------------------------------------------------------------- OpenSkill


def test_a_single_deal_has_no_bounds_and_moves_new_ratings_as_openskill_documents():
    result = standings(make_games("AB", [(0, (0, 1), (10, 12)), (0, (1, 0), (20, 12))]))
    assert result.widest == math.inf
    assert (result.agents[0].low, result.agents[0].high) == (-math.inf, math.inf)
    assert result.to_json()["agents"][0]["low"] is None
    assert result.to_json()["widest"] is None
    assert [agent.mu for agent in result.agents] == pytest.approx([27.63523138347365, 22.36476861652635])
    assert [agent.sigma for agent in result.agents] == pytest.approx([8.065506316323548] * 2)


def test_a_deal_is_rated_by_the_mean_of_its_seatings_and_ties_leave_two_level():
    mu, _ = rate(make_games("AB", [(0, (0, 1), (10, 12)), (0, (1, 0), (12, 30))]))
    assert mu[0] < mu[1]  # A wins by 2 and loses by 18
    mu, _ = rate(make_games("AB", [(deal, (0, 1), (10, 10)) for deal in range(50)]))
    assert mu[0] == mu[1]


def test_a_lead_in_rating_is_a_share_of_wins():
    rng = np.random.default_rng(5)
    rows = [(deal, (0, 1), (10, 20) if rng.random() < 0.75 else (20, 10)) for deal in range(10_000)]
    mu, sigma = rate(make_games("AB", rows))
    lead = math.sqrt(2) * 25 / 6 * math.log(0.75 / 0.25)  # the model's logistic, of scale sqrt(2) beta
    assert mu[0] - mu[1] == pytest.approx(lead, abs=3 * math.hypot(*sigma))


def test_ratings_follow_skill():
    skills = np.array([-8.0, 12.0, 0.0, 6.0, -16.0])
    mu, _ = rate(simulate(skills, sides=4, deals=100, rng=np.random.default_rng(3)))
    assert np.argsort(mu).tolist() == np.argsort(skills).tolist()


# ---------------------------------------------------------------------- Nash averaging


@pytest.mark.parametrize(
    ("matrix", "weights", "margins"),
    [
        (np.subtract.outer([1.0, 5.0, 2.0], [1.0, 5.0, 2.0]), [0, 1, 0], [-4, 0, -3]),
        (ROCK_PAPER_SCISSORS, [1 / 3] * 3, [0] * 3),
        ([[0, 2, -3], [-2, 0, 5], [3, -5, 0]], [0.5, 0.3, 0.2], [0] * 3),
        (ROCK_PAPER_SCISSORS[np.ix_([0, 0, 1, 2], [0, 0, 1, 2])], [1 / 6, 1 / 6, 1 / 3, 1 / 3], [0] * 4),
        (np.zeros((4, 4)), [1 / 4] * 4, [0] * 4),
        # The first two are level; the third loses 1 to the first and wins 3 from the second, which plays at most 1/4.
        ([[0, 0, 1], [0, 0, -3], [-1, 3, 0]], [3 / 4, 1 / 4, 0], [0] * 3),
    ],
)
def test_nash_is_the_equilibrium_of_greatest_entropy(matrix, weights, margins):
    found = nash_average(np.array(matrix, float))
    assert found[0].tolist() == pytest.approx(weights, abs=1e-6)
    assert found[1].tolist() == pytest.approx(margins, abs=1e-6)


def test_nobody_wins_from_nash():
    rng = np.random.default_rng(4)
    for size in range(2, 12):
        matrix = np.triu(rng.normal(0, 10, (size, size)), 1)
        weights, margins = nash_average(matrix - matrix.T)
        assert weights.sum() == pytest.approx(1)
        assert weights.min() >= 0
        assert margins.max() <= 1e-5
        assert weights @ margins == pytest.approx(0, abs=1e-5)


# ---------------------------------------------------------------------- alpha-rank and cycles


def clear_bounds(matrix):
    return matrix, matrix - 0.5 * np.sign(matrix) ** 2, matrix + 0.5 * np.sign(matrix) ** 2


def test_alpha_rank_of_known_matrices():
    skills = np.array([1.0, 5.0, 2.0])
    assert alpha_rank(*clear_bounds(skills[:, None] - skills)) == pytest.approx([0, 1, 0], abs=1e-4)
    with_a_loser = np.zeros((4, 4))
    with_a_loser[:3, :3] = ROCK_PAPER_SCISSORS
    with_a_loser[:3, 3], with_a_loser[3, :3] = 9.0, -9.0
    assert alpha_rank(*clear_bounds(with_a_loser)) == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0], abs=1e-4)


def test_alpha_rank_takes_an_undecided_pair_for_even():
    margin = np.array([[0.0, 0.3], [-0.3, 0.0]])
    assert alpha_rank(margin, margin - 1, margin + 1) == pytest.approx([0.5, 0.5])
    assert alpha_rank(margin, margin - 0.2, margin + 0.2) == pytest.approx([1, 0], abs=1e-4)


def test_cycles_of_three_are_found():
    margin, low, _ = clear_bounds(ROCK_PAPER_SCISSORS)
    cycles = find_cycles(margin, low)
    assert (cycles.triples, cycles.cyclic, cycles.clear) == (1, 1, 1)
    one, two, three = cycles.example
    assert margin[one, two] > 0
    assert margin[two, three] > 0
    assert margin[three, one] > 0

    unclear = find_cycles(margin, low - 1)
    assert (unclear.cyclic, unclear.clear, unclear.example) == (1, 0, None)
    skills = np.array([1.0, 5.0, 2.0, 0.0])
    ordered = find_cycles(skills[:, None] - skills, skills[:, None] - skills)
    assert (ordered.triples, ordered.cyclic) == (4, 0)


# ---------------------------------------------------------------------- the whole


def test_standings_of_a_cycle_with_a_loser():
    beats = {("rock", "scissors"): 10, ("scissors", "paper"): 10, ("paper", "rock"): 10}
    result = standings(duels(beats | {(name, "well"): 20 for name in ("rock", "paper", "scissors")}))
    assert result.agents[-1].agent == "well"
    for agent in result.agents[:3]:
        assert agent.nash_weight == pytest.approx(1 / 3, abs=0.1)
        assert agent.nash_margin == pytest.approx(0, abs=1e-5)
    assert result.agents[-1].nash_weight == 0
    assert (result.cycles.triples, result.cycles.cyclic, result.cycles.clear) == (4, 1, 1)
    circle = result.cycle_names()
    assert all((one, other) in beats for one, other in zip(circle, [*circle[1:], circle[0]], strict=True))
    assert cycle_sentence(result).endswith(f"1 of 4, 1 of them clear, as in {' beats '.join([*circle, circle[0]])}.")


def test_standings_are_sorted_and_their_json_is_plain():
    games = duels({("A", "B"): -5, ("B", "C"): 5, ("A", "C"): 2})
    result = standings(dataclasses.replace(games, milliseconds=np.array([0.5, math.nan, 2.0])))
    assert [agent.agent for agent in result.agents] == ["B", "A", "C"]
    figures = json.loads(json.dumps(result.to_json(), allow_nan=False))
    assert (figures["deals"], figures["games"]) == (20, 120)
    assert [agent["milliseconds"] for agent in figures["agents"]] == [None, 0.5, 2.0]
    assert figures["payoffs"]["names"] == ["A", "B", "C"]
    assert figures["payoffs"]["margin"][0][0] is None
    assert figures["payoffs"]["margin"][1][0] == pytest.approx(5, abs=1)
    assert figures["agents"][0]["ordinal"] == figures["agents"][0]["mu"] - 3 * figures["agents"][0]["sigma"]


def test_forfeits_are_counted():
    rows = [(deal, seating, (0, 42)) for deal in range(3) for seating in [(0, 1), (1, 0)]]
    agents = standings(make_games("AB", rows, forfeit=np.array([1, -1, 1, -1, -1, 0]))).agents
    assert {agent.agent: agent.forfeits for agent in agents} == {"A": 1, "B": 2}


def test_without_games_agents_have_no_figures_and_those_of_all_pairs_are_left_out():
    games = duels({("A", "B"): 5, ("B", "C"): 5})
    result = standings(dataclasses.replace(games, names=("A", "B", "C", "D"), milliseconds=np.full(4, math.nan)))
    assert np.isnan(result.payoffs.margin[0, 2])
    assert math.isfinite(result.widest)
    assert {agent.nash_weight for agent in result.agents} == {None}
    assert result.notes == (NOT_ALL_MET,)
    assert (result.cycles.triples, result.cycles.cyclic, result.cycles.clear) == (0, 0, 0)
    assert result.cycle_names() == []
    assert result.agents[-1].agent == "D"
    assert math.isnan(result.agents[-1].margin)
    assert result.to_json()["agents"][-1]["margin"] is None


def test_without_openspiel_a_note_names_the_extra(monkeypatch, capsys):
    for module in [name for name in sys.modules if name.startswith("open_spiel")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "open_spiel", None)
    result = standings(duels({("A", "B"): 5}))
    assert result.agents[0].alpha_rank is None
    assert result.agents[0].nash_weight == pytest.approx(1)
    assert result.notes == (NEEDS_OPEN_SPIEL,)
    print_standings(result)
    assert 'pip install -c constraints.txt -e ".[metagame]"' in capsys.readouterr().out


def test_printed_tables_cut_no_figure_off(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    skills = np.linspace(40, -40, 12)
    games = simulate(skills, sides=2, deals=10, rng=np.random.default_rng(6))
    names = tuple(f"search(worlds={number}, value=[table])" for number in range(12))
    result = standings(dataclasses.replace(games, names=names))
    print_standings(result)
    out = capsys.readouterr().out
    for value in result.payoffs.margin[~np.eye(12, dtype=bool)]:
        assert f"{value:+.2f}" in out
    for agent in result.agents:
        assert f"{agent.margin:+.2f} ±{(agent.high - agent.low) / 2:.2f}" in out
        assert f"{agent.mu:.1f}" in out
    assert max(map(len, [line for line in out.splitlines() if line[:1] in "┏┃┡│└"])) <= 80


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.00071, "0.00071"), (0.5, "0.50"), (1.26, "1.3"), (12.3, "12"), (340.2, "340"), (math.nan, "–")],
)
def test_milliseconds_have_two_digits_that_count(value, text):
    assert format_milliseconds(value) == text
