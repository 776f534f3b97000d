"""Duplicate matches: the interval, the symmetry of the deals, the sums of the figures, the order of the agents."""

import json
import math
import statistics

import numpy as np
import pytest
from support.arenas import HIGH, LOW, RELATIVES, Highest, Lowest, arena

from krypenv import Engine, Game, Rules
from krypenv.training import duplicate_match, evaluate, format_table
from krypenv.training.evaluation.arena.shards import breaks_ties
from krypenv.training.evaluation.arena.standings import print_standings, standings
from krypenv.training.evaluation.matches import duplicate_deals
from krypenv.training.evaluation.matches.deal_lists import deal_seeds
from krypenv.training.evaluation.matches.margins import interval
from krypenv.training.evaluation.matches.match_tables import print_matches
from krypenv.training.evaluation.matches.mixed_table import play_table

RULES = Rules.preset("krypkasino")
KRYPKASINO = [
    "krypkasino",
    "krypkasino players=5",
    "krypkasino players=6 teams=3",
    "krypkasino players=6 teams=2",
    "krypkasino last_capture_points=1",
    "krypkasino games=2",
    "krypkasino players=3 games=0 threshold=60",
]
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
    assert (mean - low, high - mean) == pytest.approx((quantile * error, quantile * error), rel=1e-6)


@pytest.mark.parametrize("size", [2, 3, 6, 40])
def test_the_interval_holds_the_known_mean_in_95_of_100_samples(size):
    samples = np.random.default_rng(1).normal(7.0, 20.0, (20_000, size))
    inside = [low <= 7.0 <= high for _, low, high in map(interval, samples)]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.005)


def test_the_interval_of_a_sample_done_by_hand():
    mean, low, high = interval(np.array([1.0, 2.0, 6.0]))
    half = 4.302653 * math.sqrt(7) / math.sqrt(3)
    assert (mean, low, high) == pytest.approx((3, 3 - half, 3 + half))


def test_a_single_deal_has_no_bounds():
    result = duplicate_match("greedy", "random", RULES, deals=1)
    assert (result.low, result.high) == (-math.inf, math.inf)
    assert result.to_json()["low"] is None
    json.dumps(result.to_json(), allow_nan=False)


# ---------------------------------------------------------------------- duplicate deals


@pytest.mark.parametrize(
    "rules", [RULES, Rules.preset("mini-high"), Rules.preset("krypkasino", players=4, teams=2)], ids=str
)
def test_against_itself_the_margin_is_zero_and_a_swap_negates_it(rules):
    low, high = Lowest(rules), Highest(rules)
    itself = duplicate_match(low, low, rules, deals=50, seed=4)
    assert (itself.margin, itself.low, itself.high) == (0, 0, 0)
    assert itself.win_rate == pytest.approx((1 - itself.tie_rate) / 2)
    there = duplicate_match(low, high, rules, deals=50, seed=4)
    back = duplicate_match(high, low, rules, deals=50, seed=4)
    assert there.margin != 0
    assert (there.margin, there.low, there.high) == pytest.approx((-back.margin, -back.high, -back.low))
    assert there.own == back.opponents
    assert there.win_rate + back.win_rate + there.tie_rate == pytest.approx(1)


def test_against_itself_with_ties_at_random_the_interval_holds_zero():
    for rules in (RULES, Rules.preset("krypkasino", players=5)):
        result = duplicate_match("tactician", "tactician", rules, deals=500, seed=2)
        assert result.low < 0 < result.high


@pytest.mark.parametrize(("players", "teams"), [(2, None), (3, None), (6, None), (4, 2), (6, 3)])
def test_a_better_agent_has_a_margin_above_zero(players, teams):
    rules = Rules.preset("krypkasino", players=players, teams=teams)
    ladder = ["random", "greedy", "tactician", "tactician(shed=True)"]
    deals = [2000, 300, 2000]
    rungs = 3 if players == 2 else 2
    for worse, better, count in list(zip(ladder, ladder[1:], deals, strict=False))[:rungs]:
        result = duplicate_match(better, worse, rules, deals=count, seed=1)
        assert result.low > 0, str(result)
        assert result.games == count * rules.num_teams


def test_same_seed_same_figures_whatever_the_threads():
    first = duplicate_match("tactician", "greedy", RULES, deals=200, seed=9)
    assert figures(first) == figures(duplicate_match("tactician", "greedy", RULES, deals=200, seed=9, threads=2))
    assert first.margin != duplicate_match("tactician", "greedy", RULES, deals=200, seed=10).margin


def test_a_match_in_parts_is_the_same_match(monkeypatch):
    whole = duplicate_match(Lowest(RULES), Highest(RULES), RULES, deals=40, seed=9)
    seen = []
    monkeypatch.setattr(duplicate_deals, "CHUNK", 25)
    parts = duplicate_match(
        Lowest(RULES), Highest(RULES), RULES, deals=40, seed=9, progress=lambda *done: seen.append(done)
    )
    assert figures(whole) == figures(parts)
    assert seen == [(24, 80), (48, 80), (72, 80), (80, 80)]


# ---------------------------------------------------------------------- the figures


@every_game
def test_the_points_add_up(text):
    """Sweeps that somebody pays for sum to nothing; without them, the scores are the points of all cards."""
    rules = Rules.parse(text)
    others, sign = rules.num_teams - 1, 1 if rules.goal == "high" else -1
    result = duplicate_match(Highest(rules), "random", rules, deals=12, seed=1)
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


@every_relative
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


@every_relative
def test_k6_f7_wins_are_counted_after_the_tie_break(text):
    """The same games, played beside the match, with the ranks of the sides worked out one by one."""
    rules = Rules.parse(text)
    sides, sign = rules.num_teams, 1 if rules.goal == "high" else -1
    deals = 40
    engine = Engine(rules, deals * sides, seed=np.repeat(deal_seeds(4, deals), sides))
    lineup = np.tile(1 - np.eye(sides, dtype=np.int64), (deals, 1))
    played = play_table(engine, [Lowest(rules), Highest(rules)], lineup)
    assert played.tie_breaks.any() == breaks_ties(rules)
    wins = ties = equal = 0
    for row, (scores, keys) in enumerate(zip(played.scores.tolist(), played.tie_breaks.tolist(), strict=True)):
        totals = of_sides(rules, scores)
        ranks = [(sign * total, sign * key) for total, key in zip(totals, keys, strict=False)]
        is_best, alone = ranks[row % sides] == max(ranks), ranks.count(max(ranks)) == 1
        wins, ties = wins + (is_best and alone), ties + (is_best and not alone)
        equal += totals.count(max(totals, key=lambda total: sign * total)) > 1
    result = duplicate_match(Lowest(rules), Highest(rules), rules, deals=deals, seed=4)
    assert (result.win_rate, result.tie_rate) == pytest.approx((wins / len(played.scores), ties / len(played.scores)))
    assert wins > 0 or rules.goal == "low"
    assert ties <= equal


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


def test_evaluate_plays_each_opponent():
    results = evaluate("tactician", ["random", "greedy"], RULES, deals=20, seed=1)
    assert [result.opponent for result in results] == ["random", "greedy"]
    assert figures(results[1]) == figures(duplicate_match("tactician", "greedy", RULES, deals=20, seed=1))
    table = format_table(results)
    assert f"{results[0].margin:+.2f}" in table
    assert "sweeps taken" in str(results[1])


def test_matches_are_checked_before_the_first_is_played_and_progress_counts_all():
    told = []
    with pytest.raises(ValueError, match="did you mean 'greedy'"):
        evaluate("tactician", ["random", "gredy"], RULES, deals=5, progress=lambda *games: told.append(games))
    assert told == []
    evaluate("tactician", ["random", "greedy"], RULES, deals=5, progress=lambda *games: told.append(games))
    assert told == [(10, 20), (20, 20)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: duplicate_match("greedy", "random", RULES, deals=0), "at least one deal, not 0"),
        (lambda: duplicate_match("greedy", "random", RULES, seed=-1), "a seed is a whole number from 0 on"),
        (lambda: duplicate_match("gredy", "random", RULES), "did you mean 'greedy'"),
        (lambda: duplicate_match(Lowest(Rules.preset("howto")), "random", RULES), "lowest was made for other rules"),
    ],
)
def test_a_bad_match_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
