"""Points of one's own: what cards, ranks and suits count in place of the rulebook's points."""

import numpy as np
import pytest

from krypenv import Rules
from krypenv.cards import parse_card
from krypenv.kernels.compiled import compile_rules
from krypenv.rules import as_rules

HEARTS = {"H": 1, "QS": 13, "S": 0, "A": 0, "TD": 0}  # those of the game of hearts


def points_of(points, *cards, **fields):
    rules = Rules.preset("krypkasino", custom_points=points, **fields)
    assert (compile_rules(rules)["card_points"][0] == rules.card_points).all()
    return rules.card_points[[parse_card(card) for card in cards]].tolist()


@pytest.mark.parametrize(
    ("points", "cards", "counts"),
    [
        ({}, ["TD", "2S", "AS", "KS", "AH", "5C"], [3, 2, 2, 1, 1, 0]),  # the rulebook's (R3)
        (HEARTS, ["QS", "2H", "AH", "AS", "2S", "TD", "KS"], [13, 1, 1, 0, 0, 0, 0]),
        ({"QS": 13}, ["QS", "KS", "AS", "TD"], [13, 1, 2, 3]),  # what isn't named stays as it is
        ({"S": 2}, ["2S", "AS", "9S", "AH"], [2, 2, 2, 1]),
        ({"S": 2, "A": 5}, ["AS", "2S", "AC"], [7, 2, 5]),  # a rank and a suit add up
        ({"AS": 0, "S": 2, "A": 5}, ["AS", "2S", "AC"], [0, 2, 5]),  # a card goes before both
    ],
)
def test_what_cards_count(points, cards, counts):
    assert points_of(points, *cards) == counts


def test_a_card_goes_before_every_other_field():
    assert points_of("AS:3,TD:0,2S:9", "AS", "TD", "2S", spade_ace_points=7, storan_points=5) == [3, 0, 9]


@pytest.mark.parametrize(
    "points", [HEARTS, "QS:13, h:1 ,s:0,a:0,10♦:0", {"h": np.int64(1), "qs": 13, "a": 0, "TD": 0, "S": 0}]
)
def test_all_forms_are_one_text(points):
    rules = Rules.preset("krypkasino", custom_points=points)
    assert rules == Rules.preset("krypkasino", custom_points=HEARTS)
    assert str(rules) == "krypkasino players=2 custom_points=H:1+S:0+A:0+TD:0+QS:13"
    assert Rules.parse(str(rules)) == rules == as_rules({"players": 2, "custom_points": dict(HEARTS)})
    assert rules.total_points == 2 * (13 + 13)


@pytest.mark.parametrize(
    ("points", "sentence"),
    [
        ({"QS": 21}, "custom_points of QS are a whole number from 0 to 20, not 21"),
        ("QS:-1", "custom_points of QS are a whole number from 0 to 20, not -1"),
        ("QS", "custom_points of QS are a whole number from 0 to 20, not ''"),
        ({"X": 1}, "custom_points name cards, ranks A 2-9 T J Q K or suits C D H S, as in QS:13+H:1, not 'X'"),
        ({7: 1}, "custom_points name cards, ranks A 2-9 T J Q K or suits C D H S, as in QS:13+H:1, not 7"),
        ("QS:1,qs:2", "custom_points say twice what QS counts"),
        (13, "custom_points are cards, ranks or suits with points, as in QS:13+H:1, not 13"),
    ],
)
def test_others_are_refused_in_one_sentence(points, sentence):
    with pytest.raises(ValueError, match="custom_points") as refused:
        Rules.preset("krypkasino", custom_points=points)
    assert str(refused.value) == sentence
