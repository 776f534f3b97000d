"""Luck taken out of the margins of arenas: what is measured, stored, resumed, refused and shown."""

import dataclasses
import json
import math

import numpy as np
import pytest
from support.arenas import HIGH, LOW, RULES, Highest, Lowest, Raising, arena, same_games, select

from krypenv import Rules
from krypenv.training import duplicate_match, load_games
from krypenv.training.evaluation.arena.html_report import write_report
from krypenv.training.evaluation.arena.payoffs import payoffs
from krypenv.training.evaluation.arena.standings import print_standings, standings
from krypenv.training.evaluation.arena.stored_games import control_in, facts, read_results
from krypenv.training.evaluation.luck import control
from krypenv.training.evaluation.luck.control import control_of
from krypenv.training.runs.journal import JOURNAL, encode

AGENTS = ("greedy", "tactician", "random")
SLOW = "search(worlds=10, plies=1)"
MARGINS = ("margin", "low", "high")
DEALS = 20


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """The folder of an arena with luck measured, and its games."""
    folder = tmp_path_factory.mktemp("arena")
    return folder, arena(folder, *AGENTS, deals=DEALS, chunk=7, luck="on")


def same_luck(one, other):
    """Whether two arenas played the same games with the same luck."""
    return same_games(one, other) and np.array_equal(one.luck, other.luck)


# ---------------------------------------------------------------------- what is measured


def test_two_agents_without_chance_have_both_margins_of_a_duplicate_match(tmp_path):
    games = arena(tmp_path, LOW, HIGH, deals=DEALS, deals_from=3, luck="on")
    match = duplicate_match(Lowest(RULES), Highest(RULES), RULES, deals=DEALS, seed=3, luck="on")
    for table, figures in ((payoffs(games), match), (payoffs(games, adjusted=True), match.adjusted)):
        found = [getattr(table, name)[0, 1] for name in MARGINS]
        assert found == pytest.approx([getattr(figures, name) for name in MARGINS])
    assert standings(games).worth == pytest.approx(match.adjusted.worth)


@pytest.mark.parametrize(
    "text", ["krypkasino", "krypkasino players=3", "krypkasino players=4 teams=2", "kasino-sweden"]
)
def test_margins_lose_the_mean_luck_of_their_seats_and_nothing_else_changes(tmp_path, text):
    rules = Rules.parse(text)
    games = arena(tmp_path, "greedy", "random", LOW, rules=rules, deals=4, luck="on")
    raw, adjusted = payoffs(games), payoffs(games, adjusted=True)
    assert (adjusted.win_rate == raw.win_rate).all()
    assert (adjusted.tie_rate == raw.tie_rate).all()
    assert games.luck.any()
    assert np.abs(games.luck.sum(axis=1)).max() < 0.01
    tables = np.unique(np.sort(games.agents, axis=1), axis=0, return_inverse=True)[1]
    for agent in range(3):
        its = games.agents == agent
        luck = [games.luck[its & (tables == each)[:, None]].mean() for each in set(tables[its.any(axis=1)].tolist())]
        assert adjusted.field_margin[agent] == pytest.approx(raw.field_margin[agent] - np.mean(luck), abs=1e-3)
    for one, other in ((0, 1), (0, 2), (1, 2)):
        met = (games.agents == one).any(axis=1) & (games.agents == other).any(axis=1)
        of_one, of_other = (games.luck[met][games.agents[met] == agent] for agent in (one, other))
        luck = (of_one - of_other).mean() * (rules.num_teams - 1) / rules.num_teams
        assert adjusted.margin[one, other] == pytest.approx(raw.margin[one, other] - luck, abs=1e-3)
        assert adjusted.margin[other, one] == -adjusted.margin[one, other]


def test_a_forfeited_game_has_the_luck_of_its_deals_until_then(tmp_path):
    games = arena(tmp_path, ("lowest", Raising), HIGH, deals=20, luck="on")
    lost = games.forfeit == 0
    assert 0 < lost.sum() < len(lost)
    assert games.luck[lost].any()
    assert np.isfinite(payoffs(games, adjusted=True).margin[0, 1])


# ---------------------------------------------------------------------- stored and resumed


def test_games_and_luck_do_not_depend_on_interruptions(tmp_path, played):
    _, whole = played
    for deals in (10, DEALS):
        again = arena(tmp_path / "again", *AGENTS, deals=deals, chunk=7, luck="on")
    assert same_luck(again, load_games(tmp_path / "again"))
    assert same_luck(again, whole)
    assert standings(again).adjusted.to_json() == standings(whole).adjusted.to_json()
    other = arena(tmp_path / "other", *AGENTS, deals=DEALS, chunk=7, seed=1)
    assert not np.array_equal(whole.scores, other.scores)


def test_an_arena_goes_on_as_it_began(tmp_path, monkeypatch):
    """With "auto", whatever that would choose for a new one; with the coefficients of then."""
    begun = arena(tmp_path / "on", LOW, HIGH, deals=4, luck="on")
    arena(tmp_path / "off", "greedy", SLOW, deals=4, luck="off")
    assert arena(tmp_path / "new", "greedy", SLOW, deals=2, luck="auto").luck is not None
    monkeypatch.setattr(control, "stored", lambda: {"default": {"shares": {"tactician": 0.1}}, "rules": {}})
    assert control_of(RULES) != control_in(read_results(tmp_path / "on").header)
    longer = arena(tmp_path / "on", LOW, HIGH, deals=8, luck="auto")
    assert np.array_equal(longer.luck[:8], begun.luck)
    assert same_luck(longer, arena(tmp_path / "on", LOW, HIGH, deals=8, luck="on"))
    assert arena(tmp_path / "off", "greedy", SLOW, deals=6, luck="auto").luck is None
    monkeypatch.undo()
    assert same_luck(longer, arena(tmp_path / "unbroken", LOW, HIGH, deals=8, luck="on"))


def test_another_choice_or_version_is_refused_and_nothing_changed(tmp_path, monkeypatch):
    arena(tmp_path / "on", "greedy", "random", deals=2, luck="on")
    arena(tmp_path / "off", "greedy", "random", deals=2, luck="off")
    before = [(tmp_path / name / JOURNAL).read_bytes() for name in ("on", "off")]
    for folder, agents, luck, reason in (
        ("on", ("greedy", "random"), "off", "on holds an arena with luck taken out; resume it with --luck on, or give"),
        ("off", ("greedy", "random"), "on", "holds an arena with luck not taken out; resume it with --luck off, or"),
        ("on", ("tactician", "random"), "on", "holds an arena with agents 1 name 'greedy', not 'tactician'"),
        ("new", ("oracle-deck", SLOW), "on", "oracle-deck: it sees which cards come"),
    ):
        with pytest.raises(ValueError, match=reason):
            arena(tmp_path / folder, *agents, luck=luck, cheaters=True)
    assert not (tmp_path / "new").exists()
    digest = control_of(RULES).digest
    monkeypatch.setattr(control, "METHOD", control.METHOD + 1)
    for choice in ("on", "auto"):
        with pytest.raises(
            ValueError, match=rf"whose luck another version measured \({digest}, here \w+\); resume it "
        ):
            arena(tmp_path / "on", "greedy", "random", deals=4, luck=choice)
    assert [(tmp_path / name / JOURNAL).read_bytes() for name in ("on", "off")] == before
    assert load_games(tmp_path / "on").luck is not None


def test_an_arena_of_an_older_version_loads_and_goes_on_with_luck_left_in(tmp_path):
    arena(tmp_path, "greedy", SLOW, deals=3, luck="off")
    head, *rest = (tmp_path / JOURNAL).read_bytes().splitlines(keepends=True)
    values = {key: value for key, value in json.loads(head).items() if key != "crc"}
    del values["identity"]["luck"]
    (tmp_path / JOURNAL).write_bytes(b"".join([encode(values), *rest]))
    assert load_games(tmp_path).luck is None
    assert arena(tmp_path, "greedy", SLOW, deals=6, luck="auto").luck is None


# ---------------------------------------------------------------------- what is shown


def test_agents_are_ranked_by_their_margins_without_luck(played):
    """Where luck alone decides who is ahead, margins without it say who is better."""
    _, games = played
    luck = np.where((games.agents == 0).any(axis=1, keepdims=True), np.where(games.agents == 0, -9.0, 9.0), 0.0)
    games = dataclasses.replace(games, luck=luck, scores=np.where(games.agents == 0, 20.0, 21.0) - luck / 2)
    result = standings(games)
    assert result.payoffs.order[0] != 0
    assert result.agents[0].agent == games.names[0]
    assert result.agents[0].margin < 0 < result.agents[0].adjusted_margin
    assert result.agents[0].nash_weight == pytest.approx(1)
    assert result.agents[0].win_rate == 0
    assert result.agents[0].mu == min(agent.mu for agent in result.agents)
    assert result.adjusted.margin[0, 1:] == pytest.approx([1.0, 1.0])


def test_a_deal_is_worth_the_ratio_of_variances(played):
    _, games = played
    rng = np.random.default_rng(0)
    rest, luck = rng.normal(0, 3, DEALS), rng.normal(0, 6, DEALS)  # by deal, of the agent that comes first
    sign = np.where(games.agents == games.agents.min(axis=1, keepdims=True), 1.0, -1.0)
    games = dataclasses.replace(
        games, luck=sign * luck[games.deal][:, None], scores=21 - sign * (luck + rest)[games.deal][:, None] / 2
    )
    assert standings(games).worth == pytest.approx((luck + rest).var() / rest.var())
    of_one_deal = standings(select(games, games.deal == 0))
    assert math.isnan(of_one_deal.worth)
    assert of_one_deal.to_json()["worth"] is None


def test_both_margins_are_printed_reported_and_in_json(played, tmp_path, capsys):
    folder, games = played
    result = standings(games)
    print_standings(result)
    out = capsys.readouterr().out
    write_report(tmp_path / "report.html", result, games, "krypenv arena", facts(read_results(folder).header))
    page = (tmp_path / "report.html").read_text(encoding="utf-8").replace("−", "-")
    for table in (result.payoffs, result.adjusted):
        for value, low, high in zip(*(getattr(table, name)[np.triu_indices(3, 1)] for name in MARGINS), strict=True):
            for text in (out, page):
                assert f"{value:+.2f}" in text
                assert f"{(high - low) / 2:.2f}" in text
    for agent in result.agents:
        assert f"{agent.margin:+.2f}" in out
        assert f"{agent.adjusted_margin:+.2f}" in out
        assert f"{agent.adjusted_margin:+.2f} ± {(agent.adjusted_high - agent.adjusted_low) / 2:.2f}" in page
    assert f"a deal is then worth {result.worth:.1f} deals" in out
    assert f"taken out by {control_of(RULES)}" in page
    figures = json.loads(json.dumps(result.to_json(), allow_nan=False))
    assert figures["worth"] == result.worth
    assert figures["adjusted"]["margin"][0][1] == result.adjusted.margin[0, 1] != figures["payoffs"]["margin"][0][1]
    assert figures["widest"] == result.adjusted.widest


def test_without_luck_nothing_is_told_of_it(played, tmp_path, capsys):
    games = dataclasses.replace(played[1], luck=None)
    result = standings(games)
    print_standings(result)
    write_report(tmp_path / "report.html", result, games, "krypenv arena", {})
    assert "luck taken out" not in capsys.readouterr().out + (tmp_path / "report.html").read_text(encoding="utf-8")
    assert (result.to_json()["adjusted"], result.to_json()["worth"]) == (None, None)
    with pytest.raises(ValueError, match="the luck of these games was not measured"):
        payoffs(games, adjusted=True)
