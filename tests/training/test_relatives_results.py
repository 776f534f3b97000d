"""Matches and arenas of Kasino and Mulle: parts of the score, wins after tie breaks, forfeits, results."""

import numpy as np
import pytest
from support.arenas import HIGH, LOW, Highest, Lowest, Raising, arena, same_games
from support.commands import krypenv

from krypenv import Engine, Game, Rules
from krypenv.rewards import all_points, most_points
from krypenv.training import ArenaSettings, duplicate_match, load_games
from krypenv.training.evaluation.arena.payoffs import payoffs
from krypenv.training.evaluation.arena.shards import breaks_ties, forfeit_scores
from krypenv.training.evaluation.arena.standings import print_standings, standings
from krypenv.training.evaluation.arena.stored_games import read_results
from krypenv.training.evaluation.matches.deal_lists import deal_seeds
from krypenv.training.evaluation.matches.margins import leads_over_others
from krypenv.training.evaluation.matches.match_tables import print_matches
from krypenv.training.evaluation.matches.mixed_table import play_table

RULES = [
    "kasino-sweden",
    "kasino-sweden players=3 goal=low",
    "kasino-sweden games=0 threshold=16",
    "overspader players=4 teams=2",
    "kasino-finland",
    "kasino-finland players=3",
    "kasino-finland players=4 teams=2 games=2",
    "kasino-finland games=0 threshold=16",
    "mulle",
    "mulle players=4 teams=2",
    "mulle players=3",
]
every_rules = pytest.mark.parametrize("text", RULES)


def names_of(pile):
    """How many spades and cards a list of names has."""
    return sum(name[1] == "S" for name in pile), len(pile)


def of_sides(rules, numbers):
    """The sums of numbers by seat over the members of each side."""
    return [sum(numbers[side :: rules.num_teams]) for side in range(rules.num_teams)]


def majorities(rules, spades, cards):
    """What each side gets for its spades and its cards, by the rulebook (K5, S3, F3, O1)."""
    got = [0] * len(spades)
    for counts, points, may_share in (
        (spades, rules.most_spades_points, rules.spades_tie == "two_share"),
        (cards, rules.most_cards_points, False),
    ):
        first = [side for side, count in enumerate(counts) if count == max(counts) and count]
        if len(first) == 1:
            got[first[0]] += points
        elif len(first) == 2 and may_share and len(counts) > 2:
            for side in first:
                got[side] += points // 2
    if rules.spades_above is not None:
        got = [points + max(0, count - rules.spades_above) for points, count in zip(got, spades, strict=True)]
    return got


@every_rules
def test_f4_f5_what_a_sweep_counts_is_what_is_left_of_the_score(text):
    """Score less cards, majorities, last capture and mulles: that is what the sweeps that count have brought."""
    rules = Rules.parse(text)
    if rules.games == 0:
        return
    engine = Engine(rules, 1, seed=[11])
    for _ in range(12):
        game, games = Game(rules, seed=None, deck=engine_deck(engine)), []
        sweeps, mulles, rest = np.zeros(rules.num_teams), np.zeros(rules.num_teams), np.zeros(rules.num_teams)
        while True:
            action = int(engine.action_mask[0].argmax())
            game.act(action)
            if game.is_over:
                games.append(game)
                spades, cards = zip(*(names_of(game.captured(seat)) for seat in range(rules.players)), strict=True)
                got = np.array(majorities(rules, of_sides(rules, spades), of_sides(rules, cards)))
                if game.last_capturer is not None:
                    got[game.last_capturer % rules.num_teams] += rules.last_capture_points
                points = of_sides(rules, [game.points(seat) for seat in range(rules.players)])
                mulles += of_sides(rules, game.state["mulles"][: rules.players].tolist())
                rest += np.array(of_sides(rules, game.scores())) - points - got - rules.mulle_points * mulles
                sweeps += of_sides(rules, [game.sweeps(seat) for seat in range(rules.players)])
                mulles[:] = 0
            engine.step([action])
            if engine.finished[0]:
                break
            if game.is_over:
                game = Game(rules, deck=engine_deck(engine), dealer=int(engine.state.dealer[0]))
        counted = np.array(of_sides(rules, (engine.final_sweeps[0] - engine.final_void_sweeps[0]).tolist()))
        np.testing.assert_array_equal(counted * rules.sweep_points, rest)
        assert (counted <= sweeps).all()
        assert (counted >= 0).all()
        if not rules.sweeps_cancel:
            np.testing.assert_array_equal(counted, sweeps)


def engine_deck(engine):
    """The deck of the only game of an engine, as names."""
    return Game.from_state(engine.rules, engine.state[0], np.zeros((engine.rules.players, 52), int)).deck


@every_rules
def test_the_parts_of_a_score_add_up_and_nobody_pays_for_a_sweep(text):
    rules = Rules.parse(text)
    result = duplicate_match(Highest(rules), "random", rules, deals=30, seed=1)
    others = rules.num_teams - 1
    sign = 1 if rules.goal == "high" else -1
    assert result.margin == pytest.approx(sign * (result.own.score - result.opponents.score))
    assert result.own.sweeps_set_up == result.opponents.sweeps_set_up == 0
    for side in (result.own, result.opponents):
        assert min(side.cards, side.sweeps_taken, side.bonus) >= 0
    if rules.games:
        cards = result.own.cards + others * result.opponents.cards
        most = rules.games * int(rules.deck_counts @ rules.card_points.astype(int))
        assert cards <= most
        if not rules.threshold_at_once:
            assert cards == pytest.approx(most)  # somebody captures in each game


@every_rules
def test_k6_f7_wins_are_counted_after_the_tie_break(text):
    """The same games, played beside the match, with the ranks of the sides worked out one by one."""
    rules = Rules.parse(text)
    sides, sign = rules.num_teams, 1 if rules.goal == "high" else -1
    engine = Engine(rules, 100 * sides, seed=np.repeat(deal_seeds(4, 100), sides))
    lineup = np.tile(1 - np.eye(sides, dtype=np.int64), (100, 1))
    played = play_table(engine, [Lowest(rules), Highest(rules)], lineup)
    assert played.tie_breaks.any() == breaks_ties(rules)
    wins = ties = equal = 0
    for row, (scores, keys) in enumerate(zip(played.scores.tolist(), played.tie_breaks.tolist(), strict=True)):
        totals = of_sides(rules, scores)
        ranks = [(sign * total, sign * key) for total, key in zip(totals, keys, strict=False)]
        is_best, alone = ranks[row % sides] == max(ranks), ranks.count(max(ranks)) == 1
        wins, ties = wins + (is_best and alone), ties + (is_best and not alone)
        equal += totals.count(max(totals, key=lambda total: sign * total)) > 1
    result = duplicate_match(Lowest(rules), Highest(rules), rules, deals=100, seed=4)
    assert (result.win_rate, result.tie_rate) == pytest.approx((wins / len(played.scores), ties / len(played.scores)))
    assert wins > 0 or rules.goal == "low"
    assert ties <= equal


@every_rules
def test_an_arena_keeps_what_decides_between_equal_scores(tmp_path, text):
    rules = Rules.parse(text)
    games = arena(tmp_path, LOW, HIGH, "random", rules=rules, deals=25)
    assert same_games(games, load_games(tmp_path))
    assert (games.tie_breaks is not None) == breaks_ties(rules)
    again = load_games(tmp_path)
    if breaks_ties(rules):
        np.testing.assert_array_equal(games.tie_breaks, again.tie_breaks)
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


@pytest.mark.parametrize(("text", "has"), [("kasino-sweden", True), ("krypkasino", False)])
def test_results_have_tie_breaks_if_and_only_if_the_rules_break_ties(tmp_path, text, has):
    arena(tmp_path, LOW, HIGH, rules=Rules.parse(text), deals=3)
    assert [("tie_breaks" in chunk) for chunk in read_results(tmp_path).results.values()] == [has]


def test_the_tables_say_which_scores_are_good(tmp_path, capsys):
    high, low = Rules.preset("kasino-sweden"), Rules.preset("mini-low")
    print_matches([duplicate_match(Lowest(high), "random", high, deals=3)])
    assert "margin: the agent's mean score minus the opponents', in points a game; high scores are good" in (
        capsys.readouterr().out.replace("\n", " ")
    )
    print_matches([duplicate_match(Lowest(low), "random", low, deals=3)])
    assert "the opponents' mean score minus the agent's, in points a game; low scores are good" in (
        capsys.readouterr().out.replace("\n", " ")
    )
    print_standings(standings(arena(tmp_path, LOW, HIGH, rules=high, deals=3)))
    assert "margin: the agent's mean score minus the others', in points a game" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["kasino-sweden", "overspader", "kasino-finland", "mulle"])
@pytest.mark.parametrize("size", [(), ("--players", 3), ("--players", 4), ("--players", 4, "--teams", 2)], ids=str)
def test_the_commands_take_every_preset(name, size, tmp_path):
    done = krypenv("evaluate", "greedy", "--against", "random", "--rules", name, *size, "--deals", 4)
    assert done.exit_code == 0, done.output
    assert "high scores are good" in " ".join(done.output.split())
    words = ("random", "greedy", "--rules", name, *size, "--deals", 2, "--out", tmp_path)
    done = krypenv("arena", *words, "--report")
    assert done.exit_code == 0, done.output
    assert len(load_games(tmp_path).deal) == ArenaSettings(
        ("random", "greedy"), Rules.preset(name, **dict(zip(("players", "teams"), size[1::2], strict=False))),
        tmp_path / "x", deals=2,
    ).num_games  # fmt: skip
    page = next(tmp_path.glob("*.html")).read_text()
    assert "The margin is the agent&#39;s mean score minus that of the others" in page
