"""Luck taken out of the margins of arenas: what is measured, stored, resumed, refused and shown."""

import dataclasses
import json
import math

import numpy as np
import pytest
from support.arenas import HIGH, LOW, RULES, Highest, Lowest, Raising, arena, same_games
from support.commands import krypenv

from krypenv import Rules
from krypenv.training import duplicate_match, load_games
from krypenv.training.evaluation.arena import arena as arenas
from krypenv.training.evaluation.arena.html_report import write_report
from krypenv.training.evaluation.arena.payoffs import payoffs, ranking_payoffs
from krypenv.training.evaluation.arena.standings import print_standings, standings
from krypenv.training.evaluation.arena.stored_games import control_in, facts, read_results
from krypenv.training.evaluation.luck import control
from krypenv.training.evaluation.luck.control import control_of
from krypenv.training.runs.journal import JOURNAL, encode
from krypenv.training.runs.parts import Place

SLOW = "search(worlds=10, plies=1)"
MARGINS = ("margin", "low", "high")


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """The folder of an arena with luck measured, and its games."""
    folder = tmp_path_factory.mktemp("arena")
    return folder, arena(folder, "greedy", "tactician", "random", deals=40, luck="on")


def same_luck(one, other):
    """Whether two arenas played the same games with the same luck."""
    return same_games(one, other) and np.array_equal(one.luck, other.luck)


# ---------------------------------------------------------------------- what is measured


def test_two_agents_without_chance_have_the_adjusted_margin_of_a_duplicate_match(tmp_path):
    games = arena(tmp_path, LOW, HIGH, deals=30, deals_from=3, luck="on")
    match = duplicate_match(Lowest(RULES), Highest(RULES), RULES, deals=30, seed=3, luck="on")
    table = payoffs(games, adjusted=True)
    found = [getattr(table, name)[0, 1] for name in MARGINS]
    assert found == pytest.approx([getattr(match.adjusted, name) for name in MARGINS])
    assert standings(games).worth == pytest.approx(match.adjusted.worth)


def test_the_adjusted_margin_is_the_raw_one_less_the_mean_luck(tmp_path):
    games = arena(tmp_path, "greedy", "random", deals=25, luck="on")
    luck = games.luck[games.agents == 0].mean()
    raw, adjusted = payoffs(games), payoffs(games, adjusted=True)
    assert luck != 0
    assert adjusted.margin[0, 1] == pytest.approx(raw.margin[0, 1] - luck)
    assert adjusted.field_margin == pytest.approx(raw.field_margin - [luck, -luck])
    assert (adjusted.win_rate == raw.win_rate).all()
    assert (adjusted.tie_rate == raw.tie_rate).all()


@pytest.mark.parametrize("text", ["krypkasino players=3", "krypkasino players=4 teams=2", "kasino-sweden"])
def test_at_any_table_the_field_margin_loses_the_mean_luck_of_its_seats(tmp_path, text):
    rules = Rules.parse(text)
    games = arena(tmp_path, "greedy", "random", "tactician", rules=rules, deals=6, luck="on")
    raw, adjusted = payoffs(games), payoffs(games, adjusted=True)
    off_diagonal = ~np.eye(3, dtype=bool)
    np.testing.assert_array_equal(adjusted.margin[off_diagonal], -adjusted.margin.T[off_diagonal])
    assert np.abs(games.luck.sum(axis=1)).max() < 0.01
    matches = np.unique(np.sort(games.agents, axis=1), axis=0, return_inverse=True)[1]
    for agent in range(3):
        its = games.agents == agent
        luck = [games.luck[its & (matches == each)[:, None]].mean() for each in set(matches[its.any(axis=1)].tolist())]
        assert adjusted.field_margin[agent] == pytest.approx(raw.field_margin[agent] - np.mean(luck), abs=1e-3)


def test_it_is_measured_where_an_agent_takes_long_and_not_with_one_that_sees_the_deck(tmp_path):
    assert arena(tmp_path / "quick", "greedy", "random", deals=2, luck="auto").luck is None
    assert arena(tmp_path / "slow", "greedy", SLOW, deals=2, luck="auto").luck is not None
    options = {"deals": 2, "cheaters": True}
    assert arena(tmp_path / "deck", "oracle-deck", SLOW, luck="auto", **options).luck is None
    with pytest.raises(ValueError, match="oracle-deck: it sees which cards come"):
        arena(tmp_path / "on", "oracle-deck", SLOW, luck="on", **options)
    with pytest.raises(ValueError, match="luck is auto, on or off, not 'maybe'"):
        arena(tmp_path / "on", "greedy", "random", luck="maybe")
    assert not (tmp_path / "on").exists()


def test_a_forfeited_game_has_the_luck_of_its_deals_until_then(tmp_path):
    games = arena(tmp_path, ("lowest", Raising), HIGH, deals=20, luck="on")
    lost = games.forfeit == 0
    assert 0 < lost.sum() < len(lost)
    assert games.luck[lost].any()
    assert np.isfinite(payoffs(games, adjusted=True).margin[0, 1])


# ---------------------------------------------------------------------- stored and resumed


def test_luck_depends_neither_on_processes_nor_on_interruptions(tmp_path, played):
    _, whole = played
    agents = ("greedy", "tactician", "random")
    assert same_luck(arena(tmp_path / "two", *agents, deals=40, luck="on", place=Place(2)), whole)
    arena(tmp_path / "again", *agents, deals=10, luck="on")
    again = arena(tmp_path / "again", *agents, deals=40, luck="on")
    assert same_luck(again, load_games(tmp_path / "again"))
    assert same_luck(again, whole)
    assert standings(again).adjusted.to_json() == standings(whole).adjusted.to_json()


def test_an_arena_goes_on_as_it_began(tmp_path, monkeypatch):
    """With "auto", whatever that would choose for a new one; with the coefficients of then."""
    begun = arena(tmp_path / "on", LOW, HIGH, deals=4, luck="on")
    arena(tmp_path / "off", "greedy", SLOW, deals=4, luck="off")
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
    with pytest.raises(ValueError, match="on holds an arena with luck taken out; resume it with --luck on, or give an"):
        arena(tmp_path / "on", "greedy", "random", luck="off")
    with pytest.raises(ValueError, match="holds an arena with luck not taken out; resume it with --luck off, or give"):
        arena(tmp_path / "off", "greedy", "random", luck="on")
    with pytest.raises(ValueError, match=r"holds an arena with agents 1 name 'greedy', not 'tactician'"):
        arena(tmp_path / "on", "tactician", "random", luck="on")
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


def test_precision_is_reached_sooner_without_luck(tmp_path, monkeypatch):
    monkeypatch.setattr(arenas, "MANY_ENOUGH", 20)
    options = {"deals": 300, "chunk": 20, "precision": 4.0}
    raw = arena(tmp_path / "raw", "greedy", "tactician", **options)
    adjusted = arena(tmp_path / "adjusted", "greedy", "tactician", luck="on", **options)
    number = len(adjusted.deal)
    assert 40 <= number < len(raw.deal) < 600
    assert np.array_equal(adjusted.scores, raw.scores[:number])
    assert ranking_payoffs(adjusted).widest <= 4.0 < payoffs(adjusted).widest


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
    rest, luck = rng.normal(0, 3, 40), rng.normal(0, 6, 40)  # by deal, of the agent that comes first
    sign = np.where(games.agents == games.agents.min(axis=1, keepdims=True), 1.0, -1.0)
    games = dataclasses.replace(
        games, luck=sign * luck[games.deal][:, None], scores=21 - sign * (luck + rest)[games.deal][:, None] / 2
    )
    assert standings(games).worth == pytest.approx((luck + rest).var() / rest.var())
    assert math.isnan(standings(arena_of_one_deal(games)).worth)
    assert standings(arena_of_one_deal(games)).to_json()["worth"] is None


def arena_of_one_deal(games):
    """The games of the first deal."""
    rows = games.deal == 0
    fields = {name: getattr(games, name)[rows] for name in ("deal", "agents", "scores", "forfeit", "luck")}
    return dataclasses.replace(games, **fields)


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
    assert figures["worth"] == result.worth > 1
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


def test_the_command_takes_luck_out_and_resumes_without_the_option(tmp_path):
    done = krypenv("arena", "greedy", "random", "--deals", 4, "--luck", "on", "--out", tmp_path / "a")
    assert done.exit_code == 0, done.output
    assert "luck taken out" in done.stdout
    again = krypenv("arena", "--out", tmp_path / "a", "--deals", 6)
    assert again.exit_code == 0, again.output
    assert load_games(tmp_path / "a").luck.shape == (12, 2)
    wrong = krypenv("arena", "greedy", "random", "--luck", "of", "--out", tmp_path / "b")
    assert wrong.exit_code == 2
    assert "krypenv: luck is auto, on or off, not 'of'" in wrong.stderr
