"""The arena: who meets whom, the same deals for all, forfeits, cheaters, early stops, refusals."""

import dataclasses

import numpy as np
import pytest
from support.arenas import HIGH, LOW, RELATIVES, RULES, Highest, Lowest, Raising, arena, has_fault, same_games

from krypenv import Engine, Rules
from krypenv.rewards import all_points, most_points
from krypenv.training import ArenaSettings, duplicate_match, load_games, run_arena
from krypenv.training.evaluation.arena.lineups import matches
from krypenv.training.evaluation.arena.payoffs import payoffs
from krypenv.training.evaluation.arena.shards import breaks_ties, forfeit_scores
from krypenv.training.evaluation.arena.stored_games import read_results
from krypenv.training.evaluation.matches.margins import leads_over_others
from krypenv.training.evaluation.matches.mixed_table import Fault, play_table
from krypenv.training.runs.parts import Place


class Illegal(Lowest):
    """The lowest legal action, but nonsense now and then."""

    def act(self, observations, action_masks):
        return np.where(has_fault(observations), 1000, super().act(observations, action_masks))


class Unplayable(Lowest):
    """The lowest legal action, but now and then one that is not legal."""

    def act(self, observations, action_masks):
        return np.where(has_fault(observations), action_masks.argmin(axis=1), super().act(observations, action_masks))


class Ragged(Lowest):
    """Leaves out the rows that are amiss, so that the answer has the wrong length."""

    def act(self, observations, action_masks):
        return super().act(observations, action_masks)[~has_fault(observations)]


class Floats(Lowest):
    """Answers with numbers that are no whole numbers."""

    def act(self, observations, action_masks):
        return super().act(observations, action_masks) * 1.0


class Interrupted(Lowest):
    def act(self, observations, action_masks):
        raise KeyboardInterrupt


class Seer:
    """Plays like Lowest, looks at the other hand, and spoils what it was shown."""

    name = "seer"
    cheats = True
    hands = ()

    def __init__(self, rules, seed=0):
        self.rules = rules

    def act_on(self, state, action_masks):
        assert ((state.hands[:, :2].sum(axis=2) == state.hand_size[:, :2]) | (state.pending >= 0)[:, None]).all()
        Seer.hands = state.hands[:, :2].sum(axis=(1, 2))
        actions = action_masks.argmax(axis=1)
        state.deck[:] = 0
        action_masks[:] = 0
        return actions


# ---------------------------------------------------------------------- games


def test_two_agents_without_chance_score_as_in_a_duplicate_match(tmp_path):
    games = arena(tmp_path, LOW, HIGH, deals=30, deals_from=3)
    match = duplicate_match(Lowest(RULES), Highest(RULES), RULES, deals=30, seed=3)
    table = payoffs(games)
    assert (table.margin[0, 1], table.low[0, 1], table.high[0, 1]) == pytest.approx(
        (match.margin, match.low, match.high)
    )
    assert (games.scores.sum(axis=1) == 42).all()
    assert (games.milliseconds > 0).all()


@pytest.mark.parametrize(
    "rules",
    [
        Rules.preset("krypkasino", players=3),
        Rules.preset("krypkasino", players=4),
        Rules.preset("krypkasino", players=4, teams=2),
        Rules.preset("krypkasino", players=6, teams=3),
        Rules.preset("krypkasino", players=6),
        Rules.preset("mini-high", games=2),
    ],
    ids=str,
)
def test_at_any_table_each_deal_is_played_in_all_seatings(tmp_path, rules):
    sides = rules.num_teams
    settings = ArenaSettings(("random", LOW, HIGH), rules, tmp_path, deals=4, chunk=3)
    games = run_arena(settings)
    assert len(games.deal) == settings.num_games == 4 * sum(map(len, matches(3, sides)))
    assert (games.scores.sum(axis=1) == rules.total_points * rules.games).all()
    wanted = sorted((deal, *seating) for deal in range(4) for match in matches(3, sides) for seating in match)
    assert sorted(map(tuple, np.column_stack([games.deal, games.agents]).tolist())) == wanted


def test_all_matches_play_the_same_deals(tmp_path):
    twins = [(f"lowest {number}", Lowest) for number in range(3)]
    games = arena(tmp_path, *twins, deals=10)
    first = games.scores[: 2 * 10]
    assert np.array_equal(games.scores, np.tile(first, (3, 1)))
    assert np.array_equal(first[::2], first[1::2])  # in both seatings, as everybody plays alike
    assert not payoffs(games).margin[np.triu_indices(3, 1)].any()


def test_figures_depend_neither_on_processes_nor_on_what_is_beside(tmp_path):
    agents = ("random", "greedy", "tactician")
    alone = arena(tmp_path / "one", *agents, chunk=7)
    assert same_games(alone, arena(tmp_path / "two", *agents, chunk=7, place=Place(2)))
    other = arena(tmp_path / "three", *agents, chunk=7, seed=1)
    assert not np.array_equal(alone.scores, other.scores)


@pytest.mark.parametrize("text", ["krypkasino", *RELATIVES])
def test_an_arena_keeps_what_decides_between_equal_scores(tmp_path, text):
    rules = Rules.parse(text)
    games = arena(tmp_path, LOW, HIGH, "random", rules=rules, deals=25)
    assert same_games(games, load_games(tmp_path))
    assert (games.tie_breaks is not None) == breaks_ties(rules)
    stored = read_results(tmp_path).results.values()
    assert [("tie_breaks" in chunk) for chunk in stored] == [breaks_ties(rules)] * len(stored)
    if breaks_ties(rules):
        np.testing.assert_array_equal(games.tie_breaks, load_games(tmp_path).tie_breaks)
    table = payoffs(games)
    sign = 1 if rules.goal == "high" else -1
    for agent in range(3):
        rows, sides = np.nonzero(games.agents == agent)
        others = (games.scores[rows].sum(axis=1) - games.scores[rows, sides]) / (rules.num_teams - 1)
        if rules.num_teams == 2:
            assert table.field_margin[agent] == pytest.approx((sign * (games.scores[rows, sides] - others)).mean())
        won = 0
        for row, side in zip(rows, sides, strict=True):
            keys = [0] * rules.num_teams if games.tie_breaks is None else games.tie_breaks[row].tolist()
            ranks = [(sign * score, sign * key) for score, key in zip(games.scores[row].tolist(), keys, strict=True)]
            won += ranks[side] == max(ranks) and ranks.count(max(ranks)) == 1
        if rules.num_teams == 2:
            assert table.win_rate[agent] == pytest.approx(won / len(rows))


# ---------------------------------------------------------------------- forfeits


@pytest.mark.parametrize("faulty", [Illegal, Unplayable, Raising, Ragged])
@pytest.mark.parametrize("rules", [RULES, Rules.preset("krypkasino", players=3)], ids=str)
def test_a_faulty_agent_loses_its_games_and_nothing_else_changes(tmp_path, faulty, rules):
    right = arena(tmp_path / "right", LOW, HIGH, ("third", Highest), rules=rules)
    wrong = arena(tmp_path / "wrong", ("lowest", faulty), HIGH, ("third", Highest), rules=rules)
    lost = wrong.forfeit == 0
    assert 0 < lost.sum() < (wrong.agents == 0).any(axis=1).sum()
    assert set(wrong.forfeit[~lost]) == {-1}
    assert np.array_equal(wrong.scores[~lost], right.scores[~lost])
    assert np.array_equal(wrong.scores[lost], np.where(wrong.agents[lost] == 0, 42, 0))
    assert len(wrong.forfeits) == min(lost.sum(), 10)
    assert all(sentence.startswith("lowest ") and "\n" not in sentence for sentence in wrong.forfeits)


def test_the_sentence_says_what_the_agent_did(tmp_path):
    said = {}
    for faulty in (Illegal, Unplayable, Raising, Ragged, Floats):
        games = arena(tmp_path / faulty.__name__, ("bad", faulty), HIGH, deals=10)
        said[faulty] = games.forfeits[0]
    assert "bad chose action 1000, which is illegal; legal is " in said[Illegal]
    assert "bad chose " in said[Unplayable]
    assert "bad raised RuntimeError: two of a kind in hand (deal " in said[Raising]
    assert "bad gave int64 of shape (0,) for 1 decisions, and not whole numbers of shape (1,)" in said[Ragged]
    assert "bad gave float64 of shape (1,)" in said[Floats]


def test_who_always_fails_forfeits_all(tmp_path):
    games = arena(tmp_path, ("bad", Floats), HIGH, LOW, deals=5)
    assert np.array_equal(games.forfeit == 0, (games.agents == 0).any(axis=1))
    assert np.isnan(games.milliseconds[0])
    assert payoffs(games).margin[0, 1:].tolist() == [-42, -42]


def test_the_side_at_fault_pays_where_its_agent_holds_several(tmp_path):
    rules = Rules.preset("krypkasino", players=4)
    games = arena(tmp_path, ("bad", Illegal), HIGH, rules=rules, deals=10)
    lost = games.forfeit == 0
    assert lost.any()
    assert np.array_equal(np.sort(games.scores[lost], axis=1), np.tile([0, 0, 0, 42], (lost.sum(), 1)))
    assert (games.agents[lost, games.scores[lost].argmax(axis=1)] == 0).all()


def test_a_duplicate_match_raises_what_an_arena_records():
    for faulty, said in ((Illegal, "lowest chose action 1000"), (Raising, "lowest raised RuntimeError: two of a kind")):
        with pytest.raises(Fault, match=said) as caught:
            duplicate_match(faulty(RULES), "random", RULES, deals=10)
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_an_interruption_is_no_forfeit(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        arena(tmp_path, ("bad", Interrupted), LOW)


def test_forfeited_rows_are_named_with_agent_and_side():
    engine = Engine(RULES, 40, seed=1)
    lineup = np.tile([[0, 1], [1, 0]], (20, 1))
    played = play_table(engine, [Illegal(RULES), Lowest(RULES)], lineup, forfeits=True)
    assert played.forfeits
    assert all(lineup[row, side] == agent == 0 for row, agent, side, _ in played.forfeits)
    kept = np.delete(np.arange(40), [forfeit.row for forfeit in played.forfeits])
    assert (played.scores[kept].sum(axis=1) == 42).all()


class Sometimes(Raising):
    """Raises now and then: where it holds the two of spades."""

    def act(self, observations, action_masks):
        if (observations[:, 39 + 1] > 0).any():
            raise RuntimeError("no more")
        return Lowest.act(self, observations, action_masks)


@pytest.mark.parametrize("text", ["kasino-sweden", "overspader players=4 teams=2", "mulle players=3 games=2"])
def test_who_forfeits_a_game_of_high_scores_has_none_and_the_others_have_all_points(tmp_path, text):
    rules = Rules.parse(text)
    games = arena(tmp_path, ("at times", Sometimes), LOW, HIGH, rules=rules, deals=12)
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


# ---------------------------------------------------------------------- cheaters


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


# ---------------------------------------------------------------------- when it stops, and what is refused


def test_an_arena_stops_when_it_is_precise_and_not_before(tmp_path):
    options = {"deals": 900, "chunk": 50}
    games = arena(tmp_path / "unbroken", "tactician", "random", precision=4.0, **options)
    played = len(set(games.deal.tolist()))
    assert 200 <= played < 900
    assert played % 50 == 0
    whole = arena(tmp_path / "whole", "tactician", "random", **options)
    for deals in range(200, played + 1, 50):
        part = arena(tmp_path / str(deals), "tactician", "random", deals=deals, chunk=50)
        assert np.array_equal(part.scores, whole.scores[: 2 * deals])
        assert (payoffs(part).widest <= 4.0) == (deals == played)

    def stop(done, total):
        if done == 400:
            raise KeyboardInterrupt

    for progress in (stop, None):  # cut off just before it is looked whether it is precise
        if progress:
            with pytest.raises(KeyboardInterrupt):
                arena(tmp_path / "again", "tactician", "random", precision=4.0, progress=progress, **options)
        else:
            again = arena(tmp_path / "again", "tactician", "random", precision=4.0, **options)
    assert same_games(again, games)
    assert arena(tmp_path / "soon", LOW, ("twin", Lowest), precision=0.1, **options).deal.max() == 199


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"agents": ("greedy",)}, "an arena needs at least two agents, not 1"),
        ({"agents": ("greedy", "greddy")}, "unknown agent 'greddy'"),
        ({"agents": ("greedy", "runs/none")}, "there is no model folder 'runs/none'"),
        ({"agents": ("greedy", "random", "greedy()")}, "greedy is named twice"),
        ({"agents": (LOW, ("lowest", Highest))}, "lowest is named twice"),
        ({"agents": (LOW, ("other", lambda rules, seed: Lowest(Rules.preset("howto"))))}, "other was made for other"),
        ({"deals": 0}, "deals is at least 1, not 0"),
        ({"chunk": 0}, "chunk is at least 1, not 0"),
        ({"seed": -1}, "seed is at least 0, not -1"),
        ({"precision": -0.5}, "precision is above 0, not -0.5"),
        ({"deals_from": "tst"}, "no list of deals 'tst' .did you mean 'test'"),
        ({"deals_from": -4}, "a seed is a whole number from 0 on"),
    ],
)
def test_a_bad_arena_is_refused_and_nothing_written(tmp_path, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        run_arena(ArenaSettings(**{"agents": (LOW, HIGH), "game": RULES, "out": tmp_path / "new", **options}))
    assert not list(tmp_path.iterdir())


def test_with_first_all_matches_hold_one_of_the_first_agents(tmp_path):
    settings = ArenaSettings(("greedy", "random", "tactician"), RULES, tmp_path, deals=4, first=1)
    games = run_arena(settings)
    assert settings.num_games == len(games.agents) == 4 * 2 * 2
    assert (games.agents == 0).any(axis=1).all()
    assert "--first 1" in settings.line
    with pytest.raises(ValueError, match="an arena with first 1, not 2"):
        run_arena(dataclasses.replace(settings, first=2))
    with pytest.raises(ValueError, match="first is a number of the 3 agents, or 0"):
        dataclasses.replace(settings, first=4)
