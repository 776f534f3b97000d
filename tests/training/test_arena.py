"""The arena and its command: the same deals for all, forfeits, cheaters, early stops, refusals."""

import json
import os

import numpy as np
import pytest
from support.arenas import HIGH, LOW, RELATIVES, RULES, Highest, Lowest, Raising, arena, has_fault, same_games
from support.commands import krypenv

from krypenv import Rules, agents
from krypenv.rewards import all_points, most_points
from krypenv.training import ArenaSettings, duplicate_match, load_games, run_arena, standings
from krypenv.training.evaluation.arena.games import forfeit_scores
from krypenv.training.evaluation.arena.lineups import matches
from krypenv.training.evaluation.matches.margins import leads_over_others
from krypenv.training.evaluation.matches.mixed_table import Fault

FAULTS = {  # what an agent makes of its lowest legal actions, given where something is amiss, and the masks
    "illegal": lambda actions, amiss, masks: np.where(amiss, 1000, actions),
    "unplayable": lambda actions, amiss, masks: np.where(amiss, masks.argmin(axis=1), actions),
    "ragged": lambda actions, amiss, masks: actions[~amiss],
    "floats": lambda actions, amiss, masks: actions * 1.0,
}


class Faulty(Lowest):
    """The lowest legal action, but now and then with a fault."""

    def __init__(self, rules, fault):
        super().__init__(rules)
        self.fault = FAULTS[fault]

    def act(self, observations, action_masks):
        return self.fault(super().act(observations, action_masks), has_fault(observations), action_masks)


def faulty(fault, name="lowest"):
    """The name and maker of an agent with a fault."""
    return name, Raising if fault == "raising" else lambda rules: Faulty(rules, fault)


class Interrupted(Lowest):
    def act(self, observations, action_masks):
        raise KeyboardInterrupt


class Seer(Lowest):
    """Plays like Lowest, looks at the other hand, and spoils what it was shown."""

    name = "seer"
    cheats = True
    hands = ()

    def act_on(self, state, action_masks):
        assert ((state.hands[:, :2].sum(axis=2) == state.hand_size[:, :2]) | (state.pending >= 0)[:, None]).all()
        Seer.hands = state.hands[:, :2].sum(axis=(1, 2))
        actions = action_masks.argmax(axis=1)
        state.deck[:] = 0
        action_masks[:] = 0
        return actions


# ---------------------------------------------------------------------- games


@pytest.mark.parametrize(
    ("text", "agents"),
    [("krypkasino players=3", 3), ("krypkasino players=4 teams=2", 3), ("krypkasino players=6 teams=3", 2),
     ("krypkasino players=6", 2), ("mini-high games=2", 3)],
)  # fmt: skip
def test_at_any_table_each_deal_is_played_in_all_seatings(tmp_path, text, agents):
    rules = Rules.parse(text)
    played = matches(agents, rules.num_teams)
    games = arena(tmp_path, *(LOW, HIGH, "random")[:agents], rules=rules, deals=3, chunk=2)
    assert len(games.deal) == 3 * sum(map(len, played))
    assert (games.scores.sum(axis=1) == rules.total_points * rules.games).all()
    assert (games.milliseconds > 0).all()
    wanted = sorted((deal, *seating) for deal in range(3) for match in played for seating in match)
    assert sorted(map(tuple, np.column_stack([games.deal, games.agents]).tolist())) == wanted


def test_all_matches_play_the_same_deals(tmp_path):
    games = arena(tmp_path, LOW, ("twin", Lowest), ("third", Lowest), deals=10)
    first = games.scores[: 2 * 10]
    assert np.array_equal(games.scores, np.tile(first, (3, 1)))
    assert np.array_equal(first[::2], first[1::2])  # in both seatings, as everybody plays alike
    assert not standings(games).payoffs.margin[np.triu_indices(3, 1)].any()


def test_an_agent_plays_each_chunk_as_it_was_passed(tmp_path):
    own = agents.make("random", RULES, 1)
    whole = arena(tmp_path / "whole", own, LOW, deals=8, chunk=4)
    for deals in (4, 8):
        parts = arena(tmp_path / "parts", own, LOW, deals=deals, chunk=4)
    assert same_games(parts, whole)


@pytest.mark.parametrize("text", ["krypkasino", *RELATIVES])
def test_an_arena_keeps_what_decides_between_equal_scores(tmp_path, text):
    rules = Rules.parse(text)
    games = arena(tmp_path, LOW, HIGH, "random", rules=rules, deals=5)
    assert same_games(games, load_games(tmp_path))
    assert (games.tie_breaks is not None) == (rules.tie_break in ("spades", "finnish"))
    if rules.num_teams > 2:
        return
    sign = 1 if rules.goal == "high" else -1
    for standing in standings(games).agents:
        rows, sides = np.nonzero(games.agents == games.names.index(standing.agent))
        won = 0
        for row, side in zip(rows, sides, strict=True):
            keys = [0, 0] if games.tie_breaks is None else games.tie_breaks[row].tolist()
            ranks = [(sign * score, sign * key) for score, key in zip(games.scores[row].tolist(), keys, strict=True)]
            won += ranks[side] > ranks[1 - side]
        assert standing.win_rate == pytest.approx(won / len(rows))


def test_two_agents_without_chance_have_both_margins_of_a_duplicate_match(tmp_path):
    result = standings(arena(tmp_path, LOW, HIGH, deals=20, deals_from=3, luck="on"))
    match = duplicate_match(Lowest(RULES), Highest(RULES), RULES, deals=20, seed=3, luck="on")
    for table, figures in ((result.payoffs, match), (result.adjusted, match.adjusted)):
        found = table.margin[0, 1], table.low[0, 1], table.high[0, 1]
        assert found == pytest.approx((figures.margin, figures.low, figures.high))


# ---------------------------------------------------------------------- forfeits


@pytest.mark.parametrize(
    ("fault", "players", "said"),
    [
        ("illegal", 2, "lowest chose action 1000, which is illegal; legal is "),
        ("illegal", 4, "lowest chose action 1000, "),  # three agents, so one may hold several sides
        ("unplayable", 3, "lowest chose "),
        ("raising", 3, "lowest raised RuntimeError: two of a kind in hand (deal "),
        ("ragged", 2, "lowest gave int64 of shape (0,) for 1 decisions, and not whole numbers of shape (1,)"),
    ],
)
def test_a_faulty_agent_loses_its_games_and_nothing_else_changes(tmp_path, fault, players, said):
    rules = Rules.preset("krypkasino", players=players)
    right = arena(tmp_path / "right", HIGH, LOW, ("third", Highest), rules=rules, deals=10)
    wrong = arena(tmp_path / "wrong", HIGH, faulty(fault), ("third", Highest), rules=rules, deals=10)
    alike = arena(tmp_path / "alike", HIGH, faulty("illegal"), ("third", Highest), rules=rules, deals=10)
    assert np.array_equal(wrong.forfeit, alike.forfeit)  # where a call fails as a whole, its other rows are asked again
    lost = wrong.forfeit == 1
    assert 0 < lost.sum() < (wrong.agents == 1).any(axis=1).sum()
    assert set(wrong.forfeit[~lost]) == {-1}
    assert np.array_equal(wrong.scores[~lost], right.scores[~lost])
    assert np.array_equal(np.sort(wrong.scores[lost], axis=1), np.tile([0] * (players - 1) + [42], (lost.sum(), 1)))
    assert (wrong.agents[lost, wrong.scores[lost].argmax(axis=1)] == 1).all()
    assert len(wrong.forfeits) == min(lost.sum(), 10)
    assert all(sentence.startswith(said) and "\n" not in sentence for sentence in wrong.forfeits)


def test_who_always_fails_forfeits_all(tmp_path):
    games = arena(tmp_path, faulty("floats", "bad"), HIGH, LOW, deals=5)
    assert np.array_equal(games.forfeit == 0, (games.agents == 0).any(axis=1))
    assert np.isnan(games.milliseconds[0])
    assert standings(games).payoffs.margin[0, 1:].tolist() == [-42, -42]
    assert games.forfeits[0].startswith("bad gave float64 of shape (1,)")


def test_a_duplicate_match_raises_what_an_arena_records():
    for agent, said in (
        (Faulty(RULES, "illegal"), "lowest chose action 1000"),
        (Raising(RULES), "lowest raised RuntimeError: two of a kind"),
    ):
        with pytest.raises(Fault, match=said) as caught:
            duplicate_match(agent, "random", RULES, deals=10)
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_an_interruption_is_no_forfeit(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        arena(tmp_path, ("bad", Interrupted), LOW)


class Sometimes(Raising):
    """Raises now and then: where it holds the two of spades."""

    def act(self, observations, action_masks):
        if (observations[:, 39 + 1] > 0).any():
            raise RuntimeError("no more")
        return Lowest.act(self, observations, action_masks)


@pytest.mark.parametrize("text", ["kasino-sweden", "overspader players=4 teams=2", "mulle players=3 games=2"])
def test_who_forfeits_a_game_of_high_scores_has_none_and_the_others_have_all_points(tmp_path, text):
    rules = Rules.parse(text)
    games = arena(tmp_path, ("at times", Sometimes), LOW, HIGH, rules=rules, deals=6)
    lost = np.flatnonzero(games.forfeit == 0)
    assert 0 < len(lost) < len(games.deal)
    for row in lost:
        at_fault = games.agents[row] == 0
        assert games.scores[row].tolist() == (all_points(rules) * rules.games * ~at_fault).tolist()
    at_fault = np.argmax(games.agents[lost] == 0, axis=1)
    assert (leads_over_others(rules, games.scores[lost])[range(len(lost)), at_fault] < 0).all()


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("kasino-sweden", 11),  # without sweeps and ties (S3)
        ("overspader", 9 + 7),  # no most spades, but 13 - 6 (O1)
        ("kasino-finland", 7 + 3),  # no last capture (F3)
        ("mulle", 14 + 2),  # aces 8, storan 4, lillan 2, most spades and last capture (M3)
        ("krypkasino", 42),
    ],
)
def test_all_points_of_a_game(text, points):
    assert all_points(Rules.parse(text)) == points
    assert forfeit_scores(Rules.parse(text), 1) == ([0, points] if text == "krypkasino" else [points, 0])


def test_g2_h2_a_game_has_a_mulle_of_each_kind_at_its_hand_value():
    most = 42 + 4 * (14 + sum(range(2, 14)))  # a picture that is in no sum counts no more than any
    assert most_points(Rules.preset("howto", mulle_by_value=True)) == most
    assert most_points(Rules.preset("krypkasino", mulle_by_value=True)) == most


def test_a_cheater_plays_only_with_leave_and_under_its_label(tmp_path):
    seer = ("seer", Seer)
    with pytest.raises(ValueError, match="seer sees what is hidden; --cheaters lets it play"):
        arena(tmp_path / "seer", seer, HIGH)
    assert not (tmp_path / "seer").exists()
    games = arena(tmp_path / "seer", seer, HIGH, cheaters=True)
    assert games.names == ("seer (cheats)", "highest")
    honest = arena(tmp_path / "honest", LOW, HIGH)
    assert np.array_equal(games.scores, honest.scores)  # it was shown copies
    assert not games.forfeits
    assert max(Seer.hands) > 0


def test_with_first_all_matches_hold_one_of_the_first_agents(tmp_path):
    settings = ArenaSettings(agents=("greedy", "random", "tactician"), out=tmp_path, deals=4, first=1)
    games = run_arena(settings)
    assert len(games.agents) == 4 * 2 * 2
    assert (games.agents == 0).any(axis=1).all()
    assert "--first 1" in settings.line


# ---------------------------------------------------------------------- the command, and what is refused


def test_the_command_plays_prints_and_goes_on(tmp_path):
    folder, file = tmp_path / "runs" / "arena", tmp_path / "figures.json"
    words = "arena", "tactician", "greedy", "random", "--chunk", 10, "--luck", "on", "--out", folder
    done = krypenv(*words, "--deals", 20, "--json", file)
    assert done.exit_code == 0, done.output
    assert "3 agents, 3 matches, 20 deals of dev v1, 120 games, 0 of them played" in done.stdout
    assert "luck taken out" in done.stdout
    figures = json.loads(file.read_text())
    assert figures["arena"]["about"]["deals"] == 20
    assert figures["standings"]["games"] == 120
    for table in ("payoffs", "adjusted"):
        assert f"{figures['standings'][table]['margin'][0][1]:+.2f}" in done.stdout
    again = krypenv(*words, "--deals", 30)
    assert again.exit_code == 0, again.output
    assert "180 games, 120 of them played" in again.stdout
    assert load_games(folder).luck.shape == (180, 2)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("greedy greddy", "unknown agent 'greddy' (did you mean 'greedy'?)"),
        ("greedy runs/none", "there is no model folder 'runs/none'"),
        ("greedy", "an arena needs at least two agents, not 1"),
        ("", "an arena needs at least two agents, not 0"),
        ("greedy random greedy()", "greedy is named twice"),
        ("greedy random --first 3", "first is a number of the 2 agents, or 0"),
        ("greedy random --chunk 0", "chunk should be"),
        ("greedy random --chunk 1 --deals 200001", "at most 200,000 chunks over all its matches, not 200,001"),
        ("greedy random --luck of", "luck should be 'auto', 'on' or 'off', not 'of'"),
        ("greedy random --players 9", "krypkasino is not played by 9 players"),
        ("greedy random --deals-from dex", "there is no list of deals 'dex' (did you mean 'dev'?)"),
        ("greedy random --out taken", "taken"),
        ("greedy random --out taken/below", "taken/below: Not a directory"),
    ],
)
def test_what_is_wrong_is_told_in_one_sentence_and_nothing_written(tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").touch()
    done = krypenv("arena", "--out", "arena", *arguments.split())
    assert done.exit_code == 2
    assert done.stderr.startswith("krypenv: ")
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert os.listdir() == ["taken"]


@pytest.mark.parametrize(
    ("agents", "options", "sentence"),
    [
        ((LOW, ("lowest", Highest)), {}, "lowest is named twice"),
        ((LOW, Highest(Rules.preset("howto"))), {}, "highest was made for other rules"),
        ((LOW, HIGH), {"deals_from": -4}, "a seed is a whole number from 0 on"),
        ((LOW, 3), {}, "3 is no agent"),
        (("oracle-deck", "greedy"), {"luck": "on", "cheaters": True}, "oracle-deck: it sees which cards come"),
    ],
)
def test_what_only_python_can_ask_for_is_refused_alike(tmp_path, agents, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        arena(tmp_path / "new", *agents, **options)
    assert not list(tmp_path.iterdir())
