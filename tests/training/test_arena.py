"""The arena: the same deals for all, forfeits, cheaters, folders that more deals extend, its command, refusals."""

import json
import shlex

import numpy as np
import pytest
from support.arenas import HIGH, LOW, RULES, Highest, Lowest, Raising, arena, has_fault, same_games
from support.commands import krypenv

from krypenv import Rules, agents
from krypenv.rewards import all_points, most_points
from krypenv.training import duplicate_match, load_games, standings
from krypenv.training.evaluation.arena.arena import forfeit_scores, matches
from krypenv.training.evaluation.matches.mixed_table import Fault
from krypenv.training.runs.journal import JOURNAL, encode, read_journal

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
    """Plays like Lowest, sees all hands, and spoils what it was shown."""

    name = "seer"
    cheats = True

    def act_on(self, state, action_masks):
        assert ((state.hands[:, :2].sum(axis=2) == state.hand_size[:, :2]) | (state.pending >= 0)[:, None]).all()
        actions = action_masks.argmax(axis=1)
        state.deck[:] = 0
        action_masks[:] = 0
        return actions


# ---------------------------------------------------------------------- games


@pytest.mark.parametrize(
    ("text", "agents"),
    [("krypkasino players=3", 3), ("krypkasino players=4 teams=2", 3), ("krypkasino players=6 teams=3", 2),
     ("mini-high games=2", 3)],
)  # fmt: skip
def test_at_any_table_each_deal_is_played_in_all_seatings(tmp_path, text, agents):
    rules = Rules.parse(text)
    played = matches(agents, rules.num_teams)
    games = arena(tmp_path, *(LOW, HIGH, "random")[:agents], rules=rules, deals=3, chunk=2)
    assert (games.scores.sum(axis=1) == rules.total_points * rules.games).all()
    assert (games.milliseconds > 0).all()
    wanted = sorted((deal, *seating) for deal in range(3) for match in played for seating in match)
    assert sorted(map(tuple, np.column_stack([games.deal, games.agents]).tolist())) == wanted


def test_all_matches_play_the_same_deals_in_all_seatings(tmp_path):
    games = arena(tmp_path, LOW, ("twin", Lowest), ("third", Lowest), deals=10)
    assert np.array_equal(games.scores, np.tile(games.scores[:20:2].repeat(2, axis=0), (3, 1)))


@pytest.mark.parametrize("text", ["krypkasino", "kasino-sweden", "kasino-finland goal=low"])
def test_two_agents_without_chance_have_the_figures_of_a_duplicate_match(tmp_path, text):
    """Both margins with their intervals, and the games that are won and tied, after tie breaks."""
    rules = Rules.parse(text)
    games = arena(tmp_path, LOW, HIGH, rules=rules, deals=6, deals_from=3, luck="on")
    result, match = standings(games), duplicate_match(Lowest(rules), Highest(rules), rules, 6, seed=3, luck="on")
    for table, margins in ((result.payoffs, match), (result.adjusted, match.adjusted)):
        found = table.margin[0, 1], table.low[0, 1], table.high[0, 1]
        assert found == pytest.approx((margins.margin, margins.low, margins.high))
    own = next(each for each in result.agents if each.agent == "lowest")
    assert (own.win_rate, own.tie_rate) == pytest.approx((match.win_rate, match.tie_rate))
    assert (games.tie_breaks is not None) == (rules.tie_break in ("spades", "finnish"))
    kept = load_games(tmp_path)
    assert same_games(games, kept)
    assert np.array_equal(games.luck, kept.luck)


def test_with_first_all_matches_hold_one_of_the_first_agents(tmp_path):
    games = arena(tmp_path, "greedy", LOW, "random", deals=4, first=1)
    assert len(games.agents) == 4 * 2 * 2
    assert (games.agents == 0).any(axis=1).all()


# ---------------------------------------------------------------------- faults


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("fault", "players", "said"),
    [
        ("illegal", 4, "lowest chose action 1000, which is illegal; legal is "),  # an agent may hold several sides
        ("unplayable", 3, "lowest chose "),
        ("raising", 3, "lowest raised RuntimeError: two of a kind in hand (deal "),
        ("ragged", 2, "lowest gave int64 of shape (0,) for 1 decisions, and not whole numbers of shape (1,)"),
        ("floats", 2, "lowest gave float64 of shape (1,)"),  # always
    ],
)
def test_a_faulty_agent_loses_its_games_and_nothing_else_changes(tmp_path, fault, players, said):
    rules = Rules.preset("krypkasino", players=players)
    right = arena(tmp_path / "right", HIGH, LOW, ("third", Highest), rules=rules, deals=10)
    wrong = arena(tmp_path / "wrong", HIGH, faulty(fault), ("third", Highest), rules=rules, deals=10)
    alike = arena(tmp_path / "alike", HIGH, faulty("illegal"), ("third", Highest), rules=rules, deals=10)
    if fault != "floats":  # where a call fails as a whole, its other rows are asked again
        assert np.array_equal(wrong.forfeit, alike.forfeit)
    lost = wrong.forfeit == 1
    assert 0 < lost.sum() <= (wrong.agents == 1).any(axis=1).sum()
    assert np.isnan(wrong.milliseconds[1]) == (fault == "floats")
    assert set(wrong.forfeit[~lost]) == {-1}
    assert np.array_equal(wrong.scores[~lost], right.scores[~lost])
    assert np.array_equal(np.sort(wrong.scores[lost], axis=1), np.tile([0] * (players - 1) + [42], (lost.sum(), 1)))
    assert (wrong.agents[lost, wrong.scores[lost].argmax(axis=1)] == 1).all()
    assert len(wrong.forfeits) == min(lost.sum(), 10)
    assert all(sentence.startswith(said) and "\n" not in sentence for sentence in wrong.forfeits)


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("kasino-sweden", 11),  # without sweeps and ties (S3)
        ("overspader", 9 + 7),  # no most spades, but 13 - 6 (O1)
        ("kasino-finland", 7 + 3),  # no last capture (F3)
        ("mulle games=3", 14 + 2),  # aces 8, storan 4, lillan 2, most spades and last capture (M3)
        ("krypkasino games=2", 42),
    ],
)
def test_who_forfeits_has_all_points_where_low_scores_win_and_none_where_high_ones_do(text, points):
    rules = Rules.parse(text)
    assert all_points(rules) == points
    assert sorted(forfeit_scores(rules, 1)) == [0, points * rules.games]
    assert forfeit_scores(rules, 1)[1] == (points * rules.games if rules.goal == "low" else 0)


def test_g2_h2_a_game_has_a_mulle_of_each_kind_at_its_hand_value():
    most = 42 + 4 * (14 + sum(range(2, 14)))  # a picture that is in no sum counts no more than any
    assert most_points(Rules.preset("howto", mulle_by_value=True)) == most
    assert most_points(Rules.preset("krypkasino", mulle_by_value=True)) == most


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


def test_a_cheater_plays_only_with_leave_and_under_its_label(tmp_path):
    seer = ("seer", Seer)
    with pytest.raises(ValueError, match="seer sees what is hidden; --cheaters lets it play"):
        arena(tmp_path / "seer", seer, HIGH)
    assert not (tmp_path / "seer").exists()
    games = arena(tmp_path / "seer", seer, HIGH, cheaters=True)
    assert games.names == ("seer (cheats)", "highest")
    assert np.array_equal(games.scores, arena(tmp_path / "honest", LOW, HIGH).scores)  # it was shown copies
    assert not games.forfeits


# ---------------------------------------------------------------------- the folder of the results


def test_more_deals_extend_an_arena_and_fewer_leave_it(tmp_path):
    """Each chunk is played by the agents as they were passed."""
    players = agents.make("random", RULES, 1), LOW
    players[0].name = "mine"
    whole = arena(tmp_path / "whole", *players, deals=30, chunk=8, luck="on")
    for deals in (3, 11, 30, 5, 30):
        games = arena(tmp_path / "steps", *players, deals=deals, chunk=8, luck="on")
    assert same_games(games, whole)
    assert np.array_equal(games.luck, whole.luck)


def test_a_folder_without_games_of_an_arena_is_refused(tmp_path):
    arena(tmp_path / "other", LOW, HIGH, deals=2)
    header = (tmp_path / "other" / JOURNAL).read_bytes().split(b"\n")[0] + b"\n"
    for journal, sentence in (
        (None, "holds no arena"),
        (header, "played no games yet"),
        (encode({"kind": "study", "format": 1}), "is of 'study' in format 1, and 'arena'"),
    ):
        if journal:
            (tmp_path / JOURNAL).write_bytes(journal)
        with pytest.raises(ValueError, match=sentence):
            load_games(tmp_path)


# ---------------------------------------------------------------------- the command, and what is refused


def test_the_command_plays_prints_and_goes_on_and_its_results_say_how_they_were_made(tmp_path):
    folder, file = tmp_path / "runs" / "arena", tmp_path / "figures.json"
    words = "arena", "tactician(shed=True)", "greedy", "--chunk", 10, "--luck", "on", "--seed", 3, "--out", folder
    done = krypenv(*words, "--deals", 20, "--deals-from", "test", "--json", file)
    assert "20 deals of test v1, 40 games, 0 of them played before" in done.stdout, done.output
    figures = json.loads(file.read_text())
    assert (figures["arena"]["about"]["deals"], figures["standings"]["games"]) == (20, 40)
    for table in ("payoffs", "adjusted"):
        assert f"{figures['standings'][table]['margin'][0][1]:+.2f}" in done.stdout
    _, identity, about = read_journal(folder, "arena").header
    assert (identity["rules"], identity["deals_list"], identity["seed"]) == (str(RULES), "test v1", 3)
    assert {"krypenv", "numpy", "numba"} <= set(about["machine"])
    again = krypenv(*shlex.split(about["command"])[1:], "--deals", 30)
    assert "60 games, 40 of them played before" in again.stdout, again.output
