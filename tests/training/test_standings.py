"""Standings: balanced seatings, margins and intervals as by brute force, ratings whose truth is known; as texts."""

import dataclasses
import itertools
import json
import math
import sys
from collections import Counter

import numpy as np
import pytest
from support.arenas import games_of, select

from krypenv.training import print_standings, standings
from krypenv.training.evaluation.arena.arena import matches
from krypenv.training.evaluation.arena.standings import NEEDS_OPEN_SPIEL, NOT_ALL_MET
from krypenv.training.evaluation.matches.margins import interval

# ---------------------------------------------------------------------- who meets whom


@pytest.mark.parametrize(("sides", "seatings"), [(2, 2), (3, 6), (4, 24), (5, 20), (6, 60)])
def test_every_match_is_balanced_and_every_two_agents_meet_equally_often(sides, seatings):
    """Each agent sits in every place and after every other one equally often. Up to four sides sit in every order."""
    for agents in range(2, 8):
        played = matches(agents, sides)
        members = [tuple(sorted(each[0])) for each in played]
        assert len(set(members)) == len(members)
        meetings = Counter((one, other) for table in members for one in table for other in table if one < other)
        assert len(meetings) == agents * (agents - 1) // 2
        assert len(set(meetings.values())) == 1
        for match in played:
            count = Counter(match[0])
            assert len(count) >= 2
            assert len(count) < sides or len(set(match)) == len(match) == seatings
            assert all(Counter(seating) == count for seating in match)
            places = Counter((place, agent) for seating in match for place, agent in enumerate(seating))
            for (_, agent), times in places.items():
                assert times * sides == len(match) * count[agent]
            behind = Counter(pair for seating in match for pair in itertools.pairwise((*seating, seating[0])))
            for (before, after), times in behind.items():
                others = count[after] - (before == after)
                assert times * (sides - 1) == len(match) * count[before] * others


# ---------------------------------------------------------------------- margins and their intervals


def duels(wins, deals=20):
    """Games of two sides with clear margins: `wins` maps pairs of agents to the points by which the first one wins."""
    rng, rows = np.random.default_rng(0), []
    for deal, ((one, other), points) in itertools.product(range(deals), wins.items()):
        noise = rng.integers(-2, 3)
        rows += [(deal, (one, other), (21 - points, 21 + noise)), (deal, (other, one), (21 + noise, 21 - points))]
    return games_of(*zip(*rows, strict=True), "ABCD"[: 1 + max(map(max, wins))])


def by_deal(rows):
    """The means of (deal, value) by deal."""
    deals = dict.fromkeys(deal for deal, _ in rows)
    return {deal: np.mean([value for at, value in rows if at == deal]) for deal in deals}


@pytest.mark.parametrize(("sides", "agents"), [(2, 3), (3, 4), (4, 2), (4, 5)])
def test_margins_are_those_of_single_games_averaged_by_deal(sides, agents):
    rng = np.random.default_rng(sides + agents)
    seats = rng.integers(0, agents, (60, sides))
    seats[:, 0] = (seats[:, 1] + 1) % agents
    scores, luck = rng.integers(0, 9, (60, sides)), rng.normal(0, 3, (60, sides))
    luck -= luck.mean(axis=1, keepdims=True)
    deal, forfeit = rng.integers(0, 12, 60), np.where(rng.random(60) < 0.2, seats[:, 0], -1)
    games = games_of(deal, seats, scores, luck=luck, forfeit=forfeit)
    result = standings(games)
    for table, shown in ((result.payoffs, scores), (result.adjusted, scores + luck * (sides - 1) / sides)):
        found = {(i, j): [] for i, j in itertools.permutations(range(agents), 2)}
        field = {agent: {} for agent in range(agents)}
        for game, its_scores in enumerate(shown):
            means = {agent: its_scores[seats[game] == agent].mean() for agent in set(seats[game].tolist())}
            for agent, mean in means.items():
                its_table = field[agent].setdefault(tuple(sorted(seats[game])), [])
                its_table.append((deal[game], its_scores[seats[game] != agent].mean() - mean))
                for other in means.keys() - {agent}:
                    found[agent, other].append((deal[game], means[other] - mean))
        for (i, j), leads in found.items():
            samples = [*by_deal(leads).values()]
            got = table.margin[i, j], table.low[i, j], table.high[i, j]
            assert got == pytest.approx(interval(samples), nan_ok=True)
            assert table.deals[i, j] == len(samples)
        for agent, tables in field.items():
            standing = next(each for each in result.agents if each.agent == f"agent {agent}")
            margin = standing.margin if table is result.payoffs else standing.adjusted[0]
            assert margin == pytest.approx(np.mean([np.mean([*by_deal(each).values()]) for each in tables.values()]))
            assert standing.forfeits == (forfeit == agent).sum()
    ranking = [agent.adjusted[0] for agent in result.agents]
    assert ranking == sorted(ranking, reverse=True)
    shuffled = standings(select(games, rng.permutation(60)))
    np.testing.assert_allclose(shuffled.payoffs.low, result.payoffs.low)
    assert [agent.mu for agent in shuffled.agents] == pytest.approx([agent.mu for agent in result.agents])


def test_an_interval_over_tables_of_unequal_length_done_by_hand():
    """A is 3, 5 and 7 points ahead of B, and 2 and 0 behind C: what each deal adds to the mean of the tables counts."""
    leads = {(0, 1): (3, 5, 7), (0, 2): (-2, 0)}
    rows = [(deal, pair, (20, 20 + lead)) for pair, each in leads.items() for deal, lead in enumerate(each)]
    own = next(each for each in standings(games_of(*zip(*rows, strict=True), "ABC")).agents if each.agent == "A")
    added = (-2 / 3 - 1 / 2) / 2, (0 + 1 / 2) / 2, (2 / 3) / 2
    half = 12.706205 * math.sqrt(sum(each**2 for each in added) * 2)  # one degree of freedom, as of the shorter table
    assert (own.margin, own.low, own.high) == pytest.approx((2, 2 - half, 2 + half))


# ---------------------------------------------------------------------- ratings, and texts


def test_one_deal_has_no_bounds_and_moves_new_ratings_as_openskill_documents():
    result = standings(games_of([0, 0], [(0, 1), (1, 0)], [(10, 12), (20, 12)], "AB"))
    assert (result.agents[0].low, result.agents[0].high) == (-math.inf, math.inf)
    assert [agent.mu for agent in result.agents] == pytest.approx([27.63523138347365, 22.36476861652635])
    assert [agent.sigma for agent in result.agents] == pytest.approx([8.065506316323548] * 2)


def test_alpha_rank_shares_a_cycle_and_takes_undecided_pairs_for_even():
    cycle = {(0, 1): 10, (1, 2): 10, (2, 0): 10}
    result = standings(duels(cycle | {(agent, 3): 20 for agent in range(3)}))
    assert result.agents[-1].agent == "D"
    assert [agent.alpha_rank for agent in result.agents] == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0], abs=1e-4)
    level = standings(duels({(0, 1): 0}))
    assert [agent.alpha_rank for agent in level.agents] == pytest.approx([0.5, 0.5])


def test_figures_that_are_not_there_are_left_out_with_a_note(monkeypatch, capsys):
    games = duels({(0, 1): 5, (1, 2): 5})
    result = standings(dataclasses.replace(games, names=(*"ABCD",), milliseconds=np.full(4, math.nan)))
    assert {agent.alpha_rank for agent in result.agents} == {None}
    assert result.notes == (NOT_ALL_MET,)
    figures = json.loads(json.dumps(result.to_json(), allow_nan=False))
    assert (figures["agents"][-1]["agent"], figures["agents"][-1]["margin"]) == ("D", None)
    assert (figures["payoffs"]["margin"][0][2], figures["deals"], figures["games"]) == (None, 20, 80)
    for module in [name for name in sys.modules if name.startswith("open_spiel")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "open_spiel", None)
    result = standings(duels({(0, 1): 5}))
    assert (result.agents[0].alpha_rank, result.notes) == (None, (NEEDS_OPEN_SPIEL,))
    print_standings(result)
    assert 'pip install -c constraints.txt -e ".[metagame]"' in " ".join(capsys.readouterr().out.split())
