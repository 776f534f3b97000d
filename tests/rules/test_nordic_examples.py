"""The worked examples of the description of Nordic casino, each laid out and played; its suits are chosen."""

import numpy as np
import pytest
from support.relatives import captures, lay, play

from krypenv import Game, Rules

SWEDEN = "kasino-sweden players=2"
FINLAND = "kasino-finland players=2"
FOURS_AND_FIVES = "4C 4D 4H 4S 5C 5D 5H 5S"


# ---------------------------------------------------------------------- what a card may take


def test_a_nine_takes_the_nine():
    game = lay(SWEDEN, "7C 5D 9H QC", "2C 9C TC KD", "4C 4D 4H 4S")
    assert captures(game, "9C") == {"", "9H"}
    for other in ("2C", "TC", "KD"):
        assert captures(game, other) == {""}


def test_without_a_capture_any_card_is_left_on_the_table():
    hand = "2C 8D TC KD"
    for card in hand.split():
        game = lay(SWEDEN, "7C 5D 9H QC", hand, "4C 4D 4H 4S")
        assert captures(game, card) == {""}
        play(game, card)
        assert len(game.table) == 5


def test_a_queen_takes_three_cards_or_a_four_takes_ace_and_three():
    game = lay(SWEDEN, "2C 3D 7H AC", "QC 4C", "6C 6D")
    assert captures(game, "QC") == {"", "2C 3D 7H"}
    assert captures(game, "4C") == {"", "AC 3D"}
    assert play(game, "4C", "AC 3D") == [1, 0]  # the better choice, for the ace


def test_the_queen_of_spades_takes_lillan_and_a_spade_more():
    game = lay(SWEDEN, "2S 3D 7H AC", "QS 4C", "6C 6D")
    assert play(game, "QS", "2S 3D 7H") == [1, 0]
    assert [card for card in game.captured(0) if card.endswith("S")] == ["2S", "QS"]
    assert len(game.captured(0)) == 4


def test_a_nine_takes_a_nine_and_four_three_two():
    game = lay(SWEDEN, "9C 4D 3H 2C", "9D", "KC")
    assert captures(game, "9D") == {"", "9C", "2C 4D 3H", "2C 9C 4D 3H"}
    play(game, "9D", "9C 4D 3H 2C")
    assert game.sweeps(0) == 1


def test_a_two_is_in_one_captured_set_or_the_other():
    game = lay(SWEDEN, "2C 3D 5H 8C", "TC", "KC")
    assert captures(game, "TC") == {"", "2C 3D 5H", "2C 8C"}


def test_an_ace_takes_as_fourteen_what_a_king_leaves():
    game = lay(SWEDEN, "AC 4D 9H KC", "AD KD", "6C 6D")
    assert captures(game, "KD") == {"", "4D 9H", "KC", "KC 4D 9H"}
    assert captures(game, "AD") == {"", "AC", "AC KC", "AC 4D 9H"}
    assert play(game.copy(), "KD", "4D 9H KC") == [0, 0]
    assert play(game, "AD", "AC 4D 9H") == [2, 0]


# ---------------------------------------------------------------------- tabbe


def test_tabbe_with_a_nine_on_three_six_and_nine():
    game = lay(SWEDEN, "3C 6D 9H", "9C 2D", "KC KD")
    assert play(game, "9C", "3C 6D 9H") == [1, 0]
    assert (game.table, game.sweeps(0)) == ([], 1)


def test_tabbe_after_the_player_before_left_a_five():
    game = lay(SWEDEN, "9C 5D", "9H 2D", "5C KC", more="captured 0: rest; stock: -")
    play(game, "9H", "9C")
    assert play(game, "5C", "5D") == [0, 1]
    assert captures(game, "2D") == {""}  # who comes after must put a card on the empty table
    play(game, "2D")
    assert game.table == ["2D"]


def test_tabbe_with_an_ace_on_two_aces_two_four_and_six():
    game = lay(SWEDEN, "AC AD 2C 4D 6H", "AH KC 3C", "QC QD QH")
    assert "AC 2C AD 4D 6H" in captures(game, "AH")
    assert play(game, "AH", "AC AD 2C 4D 6H") == [3 + 1, 0]


@pytest.mark.parametrize(("card", "aces"), [("AH", 3), ("2C", 2)])
def test_tabbe_with_an_ace_or_a_two_on_two_aces(card, aces):
    game = lay(SWEDEN, "AC AD", "AH 2C", "QC QD")
    assert play(game, card, "AC AD") == [aces + 1, 0]


def test_tabbe_with_an_ace_that_takes_an_ace_as_fourteen_and_one_as_one():
    game = lay(SWEDEN, "AC AD 5H 8C", "AH QD", "QC QH")
    assert play(game, "AH", "AC AD 5H 8C") == [3 + 1, 0]


# ---------------------------------------------------------------------- deal and end of play


@pytest.mark.parametrize(("players", "deals"), [(2, 6), (3, 4), (4, 3)])
def test_so_many_deals_use_up_the_pack(players, deals):
    rules = Rules.preset("kasino-sweden", players=players)
    game = Game(rules, seed=players)
    assert len(rules.deal_sizes()) == deals
    assert [len(game.hand(seat)) for seat in range(players)] == [4] * players
    assert len(game.table) == 4
    assert game.stock_size == 52 - 4 - 4 * players


def test_the_next_deal_puts_no_cards_on_the_table():
    game = lay(SWEDEN, "9C KC", "", "5D", more="captured 0: rest; stock: 2C 3C 4C 5C 6C 7C 8C 2H")
    play(game, "5D")
    assert game.table == ["9C", "KC", "5D"]
    assert (game.turn, game.hand(0)) == (0, ["2C", "3C", "6C", "7C"])


def test_the_last_card_of_the_dealer_takes_all_for_tabbe_and_sistan():
    game = lay(SWEDEN, "9C 2D 7H", "", "9D", more="captured 0: rest; stock: -")
    assert game.turn == game.dealer == 1
    play(game, "9D", "9C 2D 7H")
    assert game.scores() == [4 + 2 + 1 + 2 + 1, 1 + 1]
    assert game.sweeps(1) == 1


def test_the_last_card_of_the_dealer_takes_a_part_for_sistan_alone():
    game = lay(SWEDEN, "9C 2D", "", "9D", more="captured 0: rest; stock: -")
    play(game, "9D", "9C")
    assert game.captured(1) == ["9C", "2D", "9D"]
    assert game.scores() == [4 + 2 + 1 + 2 + 1, 1]
    assert game.sweeps(1) == 0


def test_what_is_left_goes_to_the_king_that_captured_last():
    rules = "kasino-sweden players=3"
    more = "captured 1: rest; stock: -"
    game = lay(rules, "2C 7D 8H TC KC", "KD", "3C", "AC", more=more)
    play(game, "KD", "KC")
    assert captures(game, "3C") == {""}
    play(game, "3C")
    assert game.table == ["2C", "3C", "TC", "7D", "8H"]
    assert captures(game, "AC") == {""}
    play(game, "AC")
    assert game.captured(0) == ["AC", "2C", "3C", "TC", "KC", "7D", "KD", "8H"]
    assert game.scores() == [1 + 1, 3 + 2 + 1 + 2 + 1, 0]


# ---------------------------------------------------------------------- scores


def ended(rules, piles, last_card="KC", taken="KD"):
    """A finished game in which the last seat captures at the end; the other cards are in its own pile."""
    players = Rules.parse(rules).players
    hands = [""] * (players - 1) + [last_card]
    told = "; ".join(f"captured {seat}: {cards}" for seat, cards in piles.items())
    game = lay(rules, taken, *hands, more=f"{told}; stock: -; last-capturer: {next(iter(piles))}")
    play(game, last_card, taken)
    return game


def test_points_without_tabbar_and_ties_are_eleven():
    for seed in range(5):
        game = Game(Rules.preset("kasino-sweden", players=3), seed=seed)
        rng = np.random.default_rng(seed)
        while not game.is_over:
            game.act(int(rng.choice(np.flatnonzero(game.action_mask()))))
        won = [game.captured(seat) for seat in range(3)]
        spades = [sum(card[1] == "S" for card in pile) for pile in won]
        missing = 2 * (spades.count(max(spades)) > 1) + (list(map(len, won)).count(max(map(len, won))) > 1)
        assert sum(game.scores()) - sum(game.sweeps(seat) for seat in range(3)) == 11 - missing


def test_seven_and_ten_spades_are_one_and_four_points_in_overspader():
    spades = [f"{rank}S" for rank in "A23456789TJQK"]
    for count, points in [(6, 0), (7, 1), (10, 4), (13, 7)]:
        own = [*spades[13 - count :], "3C"]
        swedish, over = (
            ended(f"{name} players=2", {0: " ".join(own), 1: "rest"}).scores()[0]
            for name in ("kasino-sweden", "overspader")
        )
        cards = sum({"AS": 1, "2S": 1}.get(card, 0) for card in own)
        assert over == cards + points
        assert swedish == cards + 2 * (count >= 7)


# ---------------------------------------------------------------------- tactics


def test_tactics_a_queen_or_three_cards_with_a_nine():
    game = lay(SWEDEN, "QS 9C 7D 2H", "QC 9H", "6C 6D")
    assert captures(game, "QC") == {"", "QS"}
    assert captures(game, "9H") == {"", "9C", "7D 2H", "9C 7D 2H"}


def test_tactics_three_spades_and_four_cards_with_a_nine():
    game = lay(SWEDEN, "2C 3S 4S KC", "2S 9S", "6C 6D")
    assert captures(game, "2S") == {"", "2C"}
    assert captures(game, "9S") == {"", "2C 3S 4S"}
    play(game, "9S", "2C 3S 4S")
    assert len(game.captured(0)) == 4
    assert sum(card.endswith("S") for card in game.captured(0)) == 3


def test_tactics_a_ten_is_left_for_storan():
    game = lay("kasino-sweden players=3", "2C 5D 8H QC", "TS TD", "6C 6D", "6H 6S")
    assert captures(game, "TD") == {"", "2C 8H"}
    play(game, "TS")
    for card in ("6C", "6H"):
        play(game, card)
    assert "2C 8H TS" in captures(game, "TD")
    play(game, "TD", "2C 8H TS")
    assert len(game.captured(0)) == 4


def test_tactics_a_queen_takes_five_and_seven_and_leaves_a_queen():
    game = lay(SWEDEN, "3C 5D 7H QC", "QD 2C", "3D 6D")
    assert captures(game, "QD") == {"", "QC", "5D 7H", "QC 5D 7H"}
    play(game, "QD", "5D 7H")
    assert game.table == ["3C", "QC"]
    play(game, "3D", "3C")
    assert game.sweeps(1) == 0


# ---------------------------------------------------------------------- Mulle and Finland


def test_mulle_of_a_nine_scores_five():
    game = lay("mulle players=2", "9S 4C KC", "9S 2C", "QC")
    assert play(game, "9S", "9S") == [5, 0]


def test_no_mulle_where_others_are_taken_too():
    game = lay("mulle players=2", "9S 4C 5C KC", "9S 2C", "QC")
    assert play(game, "9S", "9S 4C 5C") == [0, 0]


@pytest.mark.parametrize(("players", "last_hands"), [(2, [5, 4]), (3, [3, 3, 3]), (4, [5, 5, 5, 4])])
def test_mulle_deals_five_and_at_last_as_far_as_the_cards_go(players, last_hands):
    rules = Rules.preset("mulle", players=players)
    sizes = rules.deal_sizes()
    assert sizes[0] == ((5,) * players, 5)
    assert sizes[-1] == (tuple(last_hands), 0)
    assert all(size == ((5,) * players, 0) for size in sizes[1:-1])


def test_finnish_values_from_the_hand():
    game = lay(FINLAND, "AC 4D 9H KC", "AD 2S TD 2C", "QC QD QH QS")
    assert captures(game, "AD") == {"", "AC KC", "AC 4D 9H"}  # no single ace
    assert captures(game, "2C") == {""}
    assert captures(game, "2S") == {""}
    assert captures(game, "TD") == {""}
    game = lay(FINLAND, "2S TD KC 6C", "2D 2H TC 2C", "QC QD QH QS")
    assert captures(game, "2D") == {"", "2S"}
    assert captures(game, "TC") == {"", "TD"}
    game = lay(FINLAND, "2C TC KC 6C", "2S TD", "QC QD")
    assert captures(game, "2S") == {"", "2C KC"}
    assert captures(game, "TD") == {"", "6C TC"}


def test_finnish_game_has_ten_points():
    game = ended("kasino-finland players=2", {0: "rest"})
    assert game.scores() == [10, 0]
    assert game.last_capturer == 1


def test_finnish_sweeps_of_the_last_deal_do_not_count():
    game = lay(FINLAND, "3C", "3D 2C", "QC QD")
    assert play(game, "3D", "3C") == [0, 0]
    assert game.sweeps(0) == 1


def test_finnish_sweeps_cancel_where_both_have_one():
    game = lay(FINLAND, "3C", "3D 2C", "QD AC", more=f"captured 1: rest; stock: {FOURS_AND_FIVES}")
    assert play(game, "3D", "3C") == [1, 0]
    play(game, "QD")
    play(game, "2C")
    assert play(game, "AC", "2C QD") == [-1, 1 + 1 - 1]  # an ace and a sweep, and both lose a sweep


@pytest.mark.parametrize(("total", "worth"), [(9, 1), (10, 0)])
def test_finnish_sweeps_do_not_count_once_a_player_has_ten(total, worth):
    more = f"captured 1: KC KD KH QC QH JC; stock: rest; totals: 0 {total}; game: 2"
    game = lay(f"{FINLAND} games=0 threshold=16", "3C 7C", "TC 9D", "QD 8C", more=more)
    assert play(game, "TC", "3C 7C") == [worth, 0]


@pytest.mark.parametrize("total", [14, 15])
def test_the_first_finn_to_sixteen_wins_in_the_middle_of_a_game(total):
    more = f"captured 1: KC KD 3H QC QH; stock: rest; totals: {total} 3; game: 2"
    game = lay(f"{FINLAND} games=0 threshold=16", "AC 8C KH", "JD AD", "QD 8D", more=more)
    play(game, "AD", "AC KH")  # two aces
    assert game.is_over
    assert game.session_over
    assert game.scores() == [2, 0]  # no majorities
    assert game.totals == [total + 2, 3]
