"""Sequences of staged actions from the starts of stacked games, counted by the reference and by `Game`.

The counts at the greater depth were made with the reference once: `count_actions(Relative(rules, deck), 8)`.
"""

from __future__ import annotations

import numpy as np
import pytest
from support.counting import count
from support.games import small_first
from support.reference_relatives import Relative, count_actions
from support.relatives import MIXTURES, RELATIVES

from krypenv import Game, Rules
from krypenv.cards import card_name

ALL = RELATIVES | MIXTURES
COUNTS = {
    "kasino-sweden players=2": 2_958,
    "kasino-sweden players=3": 3_658,
    "kasino-finland players=2": 2_958,
    "kasino-finland players=4 teams=2": 5_416,
    "mulle players=2": 15_212,
    "mulle players=3": 17_227,
    "kasino-sweden players=2 forced_sweep=True": 2_802,
    "kasino-finland players=3 capture=maximal forced_sweep=True": 8_178,
    "howto players=2 capture=optional lillan_hand_value=15 storan_hand_value=16": 95,
    "mini-double players=3 capture=optional mulle_points=5 most_cards_points=1": 688,
}


def small_deck(rules: Rules) -> list[int]:
    """Return a deck with small cards in front, always the same."""
    return small_first(rules, np.random.default_rng(4))


@pytest.mark.parametrize("text", COUNTS)
def test_k2_counts_of_staged_actions(text: str) -> None:
    rules = ALL[text]
    assert count(Game(rules, deck=map(card_name, small_deck(rules))), 8) == COUNTS[text]


@pytest.mark.parametrize("text", ALL)
def test_k2_counts_of_staged_actions_are_those_of_the_reference(text: str) -> None:
    rules = ALL[text]
    deck = small_deck(rules)
    assert count(Game(rules, deck=map(card_name, deck)), 4) == count_actions(Relative(rules, deck), 4)


def test_k2_the_stored_counts_are_those_of_the_reference() -> None:
    for text in (
        "kasino-finland players=2",
        "mini-double players=3 capture=optional mulle_points=5 most_cards_points=1",
    ):
        assert count_actions(Relative(ALL[text], small_deck(ALL[text])), 8) == COUNTS[text]
