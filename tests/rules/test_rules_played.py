"""Every ruling of docs/rulings.md, played through the face of `Game`; each test bears its id."""

import numpy as np
import pytest
from support.games import gained, lay, play_out, texts

from krypenv import Game, IllegalMove, Move, Rules
from krypenv.cards import card_names, parse_card

ACES = Rules.preset("krypkasino", ranks=(1,), first_deal=((2, 0),), later_deal=((2, 0),))


def stack(rules, first=""):
    """A deck that begins with some cards and goes on with the others in the order of kinds."""
    left = rules.deck_counts.astype(int)
    for name in first.split():
        left[parse_card(name)] -= 1
    return [*first.split(), *card_names(left)]


def test_r1_the_deck_is_checked():
    rules = Rules.preset("krypkasino")
    deck = stack(rules)
    assert sorted(Game(rules, deck=reversed(deck)).deck) == sorted(deck)
    with pytest.raises(
        ValueError, match="the deck has 1 of AC, and that of krypkasino players=2 has 2 of it and 104 cards in all"
    ):
        Game(rules, deck=deck[1:])
    with pytest.raises(ValueError, match="the deck has 3 of KS, and"):
        Game(rules, deck=[*deck, "KS"])
    with pytest.raises(ValueError, match="'1S' is no card"):
        Game(rules, deck=["1S", *deck[1:]])


def test_r2_an_ace_takes_king_and_ace():
    assert "ADxACKC" in texts(lay("AC KC 2C", "AD QC", "2D 3D"))
    assert texts(lay("AC 2C", "AD QC", "2D 3D")) == ["QC", "AD"]


def test_r3_points_of_the_cards():
    game = Game.from_position("rules: krypkasino; captured 0: TD 2S AS 3S AC 4C; captured 1: rest; last-capturer: 1")
    assert game.points(0) == 3 + 2 + 2 + 1 + 1
    assert game.points(0) + game.points(1) == 42


@pytest.mark.parametrize(
    ("players", "first", "later"),
    [
        (2, "000111tt000111tt", "00110011"),
        (3, "000111222ttt001122tt", "001122001122"),
        (4, "000111222333tt00112233tt", "0011223300112233"),
        (5, "0011223344tt0011223344tt", "00112233440011223344"),
        (6, "000111222333444555tt001122334455", "001122334455001122334455"),
    ],
)
def test_r4_deals_in_batches(players, first, later):
    rules = Rules.preset("krypkasino", players=players)
    game = Game(rules, seed=players)
    deck = game.deck

    def dealt(order, start, to):
        return sorted(deck[start + at] for at, who in enumerate(order) if who == to)

    assert [sorted(game.hand(seat)) for seat in range(players)] == [dealt(first, 0, str(s)) for s in range(players)]
    assert sorted(game.table + game.set_aside) == dealt(first, 0, "t")
    while game.deal_number == 1:
        game.push(game.legal_moves()[0])
    assert [sorted(game.hand(seat)) for seat in range(players)] == [
        dealt(later, len(first), str(seat)) for seat in range(players)
    ]
    assert game.stock_size == 104 - len(first) - len(later)


def test_r5_leader_is_left_of_the_dealer_in_every_deal():
    rules = Rules.preset("krypkasino", players=3)
    assert (Game(rules, seed=1).dealer, Game(rules, seed=1).turn) == (2, 0)
    game = Game(rules, seed=1, dealer=0)
    deal = 0
    while not game.is_over:
        if game.deal_number != deal:
            deal = game.deal_number
            assert game.turn == 1
        game.push(game.legal_moves()[0])
    assert (deal, game.dealer) == (8, 0)
    with pytest.raises(ValueError, match="seat 3 can't deal; the seats are 0 to 2"):
        Game(rules, dealer=3)


def test_r6_pictures_are_set_aside_without_a_sweep():
    rules = Rules.preset("krypkasino")
    game = Game(rules, deck=stack(rules, "2C 3C 4C 5C 6C 7C KD QD 8C 9C TC 2H 3H 4H JD JS"))
    assert game.table == []
    assert game.set_aside == ["JD", "QD", "KD", "JS"]
    assert game.scores() == [0, 0]

    game = lay("5C KD", "-", "2C", more="captured 0: rest; stock: 3C 4C 5D 6C 7C 8C 9C TC")
    game.push("2C")
    assert (game.table, game.set_aside) == (["2C", "5C"], ["KD"])

    game = lay("5C KD", "-", "2C", more="captured 0: rest")  # not after the last hands
    game.push("2C")
    assert game.is_over
    assert {"2C", "5C", "KD"} <= set(game.captured(0))


def test_r7_capture_is_maximal():
    game = lay("AC 2C 3C 3D 4C 5C", "6C JC", "2D 3S")
    assert texts(game)[0] == "6CxAC2C3C4C5C3D#"
    game = lay("AC 2C 3C 3D 4C 5C KC", "6C JC", "2D 3S")
    assert [move for move in texts(game) if move.startswith("6C")] == ["6CxAC2C3C4C5C3D"]


def test_r7_several_captures_are_a_choice_in_stages():
    game = lay("4C 4D 8C TC", "QC 2C", "2D 3S")  # 8 + 4 with either 4
    assert [move for move in texts(game) if move.startswith("Q")] == ["QCx4C8C", "QCx8C4D"]
    game.act(parse_card("QC"))
    assert game.pending == "QC"
    assert game.turn == 0
    assert game.legal_actions() == [52 + parse_card("4C"), 52 + parse_card("4D")]
    assert texts(game) == ["QCx4C8C", "QCx8C4D"]
    game.act(52 + parse_card("4D"))
    assert game.last_move == Move("QC", ("8C", "4D"), 0)


def test_r8_creep():
    game = lay("4C 9C", "2C 3C", "2D 3D")
    game.push("2C")
    assert game.table == ["2C", "4C", "9C"]
    assert game.last_move == Move("2C", (), 0)


def test_r9_sweep_pays_five():
    assert gained(lay("2H 5H", "7H KC", "4D 3D"), "7Hx2H5H#") == [5, -5]


def test_r10_forced_sweep():
    game = lay("2H 5H", "7H 7C", "4D 3D")
    assert texts(game) == ["7Cx2H5H#", "7Hx2H5H#"]
    game = lay("2H 5H", "7H KC", "4D 3D")
    assert texts(game) == ["7Hx2H5H#"]
    with pytest.raises(IllegalMove, match="KC is illegal; seat 0 may 7Hx2H5H#"):
        game.push("KC")


def test_r11_double_sweep_by_the_identical_copy():
    assert gained(lay("5H", "5H 5C", "4D 3D"), "5Hx5H##") == [10, -10]
    assert gained(lay("5H", "5H 5C", "4D 3D"), "5Cx5H#") == [5, -5]
    assert gained(lay("5H 2H 3D", "5H KC", "4D 3C"), "5Hx3D2H5H#") == [5, -5]
    assert texts(lay("AH", "AH KC", "4D 3D")) == ["KC", "AH"]


def test_r12_credit_across_a_deal_and_for_the_first_layout():
    game = lay("6C KC", "-", "4C", more="captured 0: rest; stock: TC 3C 5C 5C 7C 8C 9C 2D")
    assert gained(game, "4C", "TCx4C6C#") == [5, -5]
    rules = Rules.preset("krypkasino", players=3)
    game = Game(rules, deck=stack(rules, "8C 2C 3C 4C 5C 6C 7C 9C TC 5D JC QC KC AC 9D TC 9C 9H 3H KD"))
    assert game.announcement == "sweep for an 8"
    assert game.table == ["5D", "3H"]
    assert gained(game, "8Cx5D3H") == [5, 0, -5]


def test_r13_rest_goes_to_the_last_capturer_without_a_sweep():
    game = lay("2H TS", "TH", "KD", more="captured 1: rest; last-capturer: 1; aside: KS")
    assert gained(game, "THxTS", "KD") == [1 + 1, 0]
    assert game.table == game.set_aside == []
    assert {"TH", "TS", "2H", "KD", "KS"} == set(game.captured(0))
    assert game.sweeps(0) == 0


def test_r13_last_play_that_empties_the_table_is_a_sweep():
    game = lay("4H", "3H", "7D", more="captured 1: rest; aside: KH")
    assert gained(game, "3H", "7Dx3H4H#") == [-5, 5]


def test_r15_session_moves_the_dealer_and_adds_up():
    rules = Rules.preset("krypkasino", players=3, games=3)
    game, totals = Game(rules, seed=4), np.zeros(3, int)
    with pytest.raises(ValueError, match="when this one is over"):
        game.next_game()
    for number in (1, 2, 3):
        assert (game.game_number, game.dealer, game.totals) == (number, (number + 1) % 3, totals.tolist())
        assert Game.replay(game.record()).record() == game.record()
        play_out(game)
        totals += game.scores()
        assert game.totals == totals.tolist()
        assert game.session_over == (number == 3)
        assert Game.from_position(game.position()).totals == game.totals
        if number < 3:
            game = game.next_game()
    with pytest.raises(ValueError, match="the session is over after game 3"):
        game.next_game()


def test_r16_team_wins_by_its_sum():
    text = (
        "rules: krypkasino players=4 teams=2; captured 0: TD TD; captured 1: 2S 2S; captured 3: rest; last-capturer: 3"
    )
    game = Game.from_position(text)
    assert game.scores() == [6, 4, 0, 32]
    assert str(game).endswith("The game is over: seat 0 and seat 2 win.")


def test_r17_without_a_capture_the_cards_belong_to_nobody():
    game = play_out(Game(ACES, seed=1))
    assert game.scores() == [0, 0]
    assert game.captured(0) == game.captured(1) == []
    assert len(game.table) == 8
    assert Game.from_position(game.position()).position() == game.position()


def test_v1_six_cards_on_the_table():
    game = Game(Rules.preset("krypkasino", first_deal="six_table"), seed=2)
    deck = game.deck
    assert sorted(game.hand(0)) == sorted(deck[0:3] + deck[9:11])
    assert sorted(game.table + game.set_aside) == sorted(deck[6:9] + deck[13:16])
    assert game.stock_size == 88


def test_v2_last_capture_counts_one():
    game = lay("2H", "2C", "KD", rules="krypkasino players=2 last_capture_points=1", more="captured 1: rest; stock: -")
    assert gained(game, "2Cx2H#", "KD") == [5 + 1, -5]
    assert sum(game.scores()) == 43


def test_v3_spades_are_set_aside():
    rules = "krypkasino players=2 set_aside=spades"
    game = lay("5S KD", "-", "2S", rules=rules, more="captured 0: rest; stock: 3C 4C 5D 6C 7C 8C 9C TC")
    game.push("2S")
    assert (game.table, game.set_aside) == (["KD"], ["2S", "5S"])


def test_h1_four_cards_each_and_no_pictures_aside():
    rules = Rules.preset("howto")
    game = Game(rules, deck=stack(rules, "2C 3C 4C 5C 6C 7C 8C 9C JD QD KD TC"))
    assert game.hand(0) == ["2C", "3C", "6C", "7C"]
    assert game.table == ["TC", "JD", "QD", "KD"]
    assert game.set_aside == []
    assert game.stock_size == 92


def test_h2_pictures_take_and_are_taken_by_their_rank_alone():
    rules = "howto players=2"
    assert texts(lay("AC KC 5C 8C", "AD KD", "2D 3D", rules=rules)) == ["ADxAC5C8C", "KDxKC"]
    assert texts(lay("AC KC", "AD QD", "2D 3D", rules=rules)) == ["AD", "QD"]


@pytest.mark.parametrize(("players", "last_hands"), [(2, [2, 2]), (3, [2, 1, 1]), (4, [1, 1, 1, 1])])
def test_h3_short_last_deal_goes_one_card_at_a_time(players, last_hands):
    game = Game(Rules.preset("howto", players=players), seed=3)
    while game.stock_size > 0:
        game.push(game.legal_moves()[0])
    assert [len(game.hand(seat)) for seat in range(players)] == last_hands
    assert sorted(game.hand(0)) == sorted(game.deck[-4:][::players])
    turns = []
    while not game.is_over:
        turns.append(game.turn)
        game.push(game.legal_moves()[0])
    assert turns == {2: [0, 1, 0, 1], 3: [0, 1, 2, 0], 4: [0, 1, 2, 3]}[players]


def test_h4_any_card_of_the_rank_sweeps_twice():
    assert texts(lay("5H", "5C KC", "4D 3D", rules="howto players=2")) == ["5Cx5H##"]


def test_h5_house_rules():
    free = lay("2H 5H", "7H KC", "4D 3D", rules="howto players=2 forced_sweep=False")
    assert texts(free) == ["KC", "7Hx2H5H#"]
    assert sum(play_out(Game(Rules.preset("howto", storan_points=0), seed=1)).scores()) == 36
    assert len(Game(Rules.preset("howto", packs=1), seed=1).deck) == 52
    rules = Rules.preset("howto", initial_match_bonus=-5)
    game = Game(rules, deck=stack(rules, "2C 3C 4C 5C 6C 7C 8C 9C JD JS JH JC"))
    assert game.scores() == [-5, 0]
    assert Game.from_position(game.position()).scores() == [-5, 0]
