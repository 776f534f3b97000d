"""Every ruling of docs/rulings.md on Laistokasino, played; each test bears its id."""

import pytest
from support.relatives import captures, finish, lay, play, scores

from krypenv import Game, Rules

TWO, THREE = "laistokasino players=2", "laistokasino players=3"
SESSION = "games=0 threshold=16"
MIDDLE = "captured 0: KC KD KH QC QH JC; stock: rest"  # in the first deal of two, with two cards on the table


@pytest.mark.parametrize("seats", ["players=2", "players=3", "players=4", "players=4 teams=2"])
def test_l1_cards_deals_and_points_are_those_of_finland(seats):
    rules, finland = Rules.parse(f"laistokasino {seats}"), Rules.parse(f"kasino-finland {seats}")
    assert (rules.games, rules.threshold) == (1, None)
    game, twin = Game(rules, seed=3), Game(finland, seed=3)
    assert [game.hand(seat) for seat in range(rules.players)] == [twin.hand(seat) for seat in range(rules.players)]
    assert game.table == twin.table
    assert rules.deal_sizes() == finland.deal_sizes()
    piles = ["2S AC 3S 4S", "TD AD AH AS 5S", "3C 3D", "4C 4D"][: rules.players - 1]
    assert scores(finish(str(rules), *piles, "rest")) == scores(finish(str(finland), *piles, "rest"))


def test_l1_the_lowest_score_wins():
    engine = finish(TWO, "rest", "3C 3D", table="KD 4D")
    assert scores(engine) == [4 + 2 + 1 + 2 + 1, 0]  # aces, storan, lillan, most spades, most cards
    assert engine.rewards[0].tolist() == [0, 1]


def test_l1_the_lowest_score_of_two_teams_wins():
    engine = finish("laistokasino players=4 teams=2", "AC 3C", "TD 4C", "AD 5C", "rest")
    assert scores(engine)[:3] == [1, 2 + 3, 1]  # what is won as a team stands with its first seat
    assert engine.rewards[0].tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize(
    ("table", "card", "takes"),
    [
        ("AC 2C 3C 3D 4C 5C", "6H", {"AC 2C 3C 4C 5C 3D"}),  # A + 5, 2 + 4 and 3 + 3
        ("2C 6C 9D KH", "8D", {"2C 6C"}),
        ("2C 6C 9D KH", "2S", {"2C 6C 9D KH"}),  # fifteen: 2 + K and 6 + 9
        ("AC 2C 9D", "TD", {""}),  # sixteen
        ("AC 2C 9D", "AD", {""}),  # fourteen, and no single ace
        ("AC 2C 9D", "TS", {"AC 9D"}),
        ("2C 3C 4C 5C 8D TH", "AD", {"4C TH", "2C 4C 8D", "2C 3C 4C 5C"}),  # example C
    ],
)
def test_l2_a_card_takes_all_that_it_can_and_a_player_chooses_between_maximal_captures(table, card, takes):
    assert captures(lay(TWO, table, f"{card} KS", "QS JS"), card) == takes


def test_l2_any_card_may_be_played_though_another_could_capture_or_sweep():
    game = lay(TWO, "3C 7C", "TC 3D KS", "QD 8C JC")
    assert sorted(move.card for move in game.legal_moves()) == ["3D", "KS", "TC"]  # one takes, one creeps, one sweeps
    assert play(game, "KS") == [0, 0]
    assert game.table == ["3C", "7C", "KS"]


@pytest.mark.parametrize(
    ("totals", "worth"), [("0 0", 1), ("9 0", 1), ("10 0", 0), ("0 9", 1), ("0 10", 0), ("15 0", 0)]
)
def test_l3_a_sweep_is_a_point_until_some_side_had_ten(totals, worth):
    more = f"{MIDDLE}; totals: {totals}; game: 2"
    game = lay(f"{TWO} {SESSION}", "3C 7C", "TC 9D", "QD 8C", more=more)
    assert play(game, "TC", "3C 7C") == [worth, 0]  # against who makes it, and nobody pays
    assert game.sweeps(0) == 1


def test_l3_sweeps_of_both_sides_cancel():
    more = "captured 0: KC KD; captured 1: QC QH JC JD; stock: rest; last-capturer: 1; sweeps: 0 1"
    game = lay(TWO, "3C 7C", "TC 9D", "QD 8C", more=more)
    assert game.scores() == [0, 1]
    assert play(game, "TC", "3C 7C") == [0, -1]


def test_l3_sweeps_of_the_last_deal_do_not_count():
    game = lay(TWO, "3C", "3D 2C", "QD AC", more="captured 1: rest; stock: -")
    assert play(game, "3D", "3C") == [0, 0]
    assert game.sweeps(0) == 1


@pytest.mark.parametrize("total", [13, 14])
def test_l4_a_session_ends_at_once_when_a_side_reaches_sixteen(total):
    more = f"{MIDDLE}; totals: 3 {total}; game: 2"
    game = lay(f"{TWO} {SESSION}", "3C TD", "5D 9D", "TC 8C", more=more)
    play(game, "5D")
    play(game, "TC", "TD")  # 2 points
    assert game.is_over == game.session_over == (total == 14)
    if game.is_over:
        assert game.table == ["3C", "5D"]  # nobody gets it
        assert game.scores() == [0, 2]


def last_play(rules, *piles, table, last, totals):
    """The last play of the second game of a session, by the last seat."""
    return finish(f"{rules} {SESSION}", *piles, table=table, last=last, totals=totals, game="2")


def test_l4_of_two_the_one_that_reaches_sixteen_at_once_has_lost():
    engine = last_play(TWO, "rest", "3C 3D", table="KC AC 5D", last="AS", totals="9 14")
    assert engine.finished[0]
    assert scores(engine) == [9 + 5, 14 + 2]  # spades and cards would bring seat 0 to seventeen
    assert engine.rewards[0].tolist() == [1, 0]


def test_l4_of_three_the_lowest_total_wins():
    engine = last_play(THREE, "3C 4C", "rest", "3D 4D", table="KC AC 5D", last="AS", totals="9 3 14")
    assert engine.finished[0]
    assert scores(engine) == [9, 3 + 5, 14 + 2]  # spades and cards would bring seat 1 to eleven
    assert engine.rewards[0].tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("table", "last", "totals", "ends"),
    [
        ("KC AC 5D", "9S", "8 14", [8 + 7 + 3, 14]),  # the last card creeps, and seat 0 gets the table
        ("9D AC 5D", "9S", "8 15", [8 + 6 + 3, 15 + 1]),  # both are past it
    ],
)
def test_l4_after_the_last_card_the_lowest_total_of_all_sides_wins(table, last, totals, ends):
    engine = last_play(TWO, "rest", "3C 3D", table=table, last=last, totals=totals)
    assert engine.finished[0]
    assert scores(engine) == ends
    assert engine.rewards[0].tolist() == [0, 1]


def test_l4_play_goes_on_while_no_side_has_sixteen():
    engine = last_play(TWO, "rest", "3C 3D", table="9D AC 5D", last="9S", totals="2 14")
    assert not engine.finished[0]
    assert engine.state.totals[0, :2].tolist() == [2 + 6 + 3, 14 + 1]


def test_l5_a_tie_goes_to_fewer_points_of_cards():
    piles = "3C 3S 4S 5S 6S 7S 8S 9S", "rest"  # most spades and no points, or most cards and all points
    engine = last_play(TWO, *piles, table="KD 2C", last="KC", totals="14 8")
    assert scores(engine) == [16, 16]
    assert engine.rewards[0].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("second", "won"),
    [
        ("AC AD 5S 3D 3H 4H", [0, 1, 0]),  # one spade against two
        ("AC AD 5S 6S 3D 3H", [1, 0, 0]),  # as many spades, and one card more
        ("AC AD 5S 6S 3D", [0.5, 0.5, 0]),
    ],
)
def test_l5_and_then_to_fewer_spades_and_fewer_cards(second, won):
    engine = last_play(THREE, "TD 3S 4S 3C 4C", second, "rest", table="KD", last="KC", totals="5 5 12")
    assert scores(engine) == [5 + 2, 5 + 2, 12 + 3 + 3]
    assert engine.rewards[0].tolist() == won
    single = finish(THREE, "TD 3S 4S 3C 4C", second, "rest", table="KD")  # a single game, too
    assert single.rewards[0].tolist() == won
    assert scores(single) == [2, 2, 3 + 3]
