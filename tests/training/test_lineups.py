"""Who meets whom in an arena, balanced over places and neighbours, and the lists of deals."""

import hashlib
from collections import Counter
from itertools import pairwise, permutations

import numpy as np
import pytest
from support.arenas import RULES, Highest, Lowest

from krypenv import Engine
from krypenv.cards import card_name
from krypenv.training import deal_seeds, duplicate_match
from krypenv.training.evaluation.arena.lineups import circular_orders, matches, seatings
from krypenv.training.evaluation.matches.deal_lists import describe_list

# ---------------------------------------------------------------------- who meets whom


@pytest.mark.parametrize("sides", range(2, 7))
def test_in_the_circular_orders_each_follows_each_equally_often(sides):
    orders = circular_orders(sides)
    assert len(set(orders)) == len(orders)
    assert all(sorted(order) == list(range(sides)) for order in orders)
    behind = Counter(pair for order in orders for pair in pairwise((*order, order[0])))
    assert len(behind) == sides * (sides - 1)
    assert len(set(behind.values())) == 1


def test_up_to_four_sides_sit_in_every_order():
    for sides in (2, 3, 4):
        assert sorted(seatings(tuple(range(sides)))) == sorted(permutations(range(sides)))


@pytest.mark.parametrize("sides", range(2, 7))
def test_every_match_is_balanced_and_every_two_agents_meet_equally_often(sides):
    for agents in range(2, 8):
        played = matches(agents, sides)
        members = [tuple(sorted(each[0])) for each in played]
        assert len(set(members)) == len(members)
        meetings = Counter((one, other) for table in members for one in table for other in table if one < other)
        assert len(meetings) == agents * (agents - 1) // 2
        assert len(set(meetings.values())) == 1
        for match in played:
            count = Counter(match[0])
            assert len(count) >= 2
            assert all(Counter(seating) == count for seating in match)
            places = Counter((place, agent) for seating in match for place, agent in enumerate(seating))
            for (_, agent), times in places.items():
                assert times * sides == len(match) * count[agent]
            behind = Counter(pair for seating in match for pair in pairwise((*seating, seating[0])))
            for (before, after), times in behind.items():
                others = count[after] - (before == after)
                assert times * (sides - 1) == len(match) * count[before] * others


# ---------------------------------------------------------------------- deals


@pytest.mark.parametrize(
    ("source", "first_cards", "digest"),
    [
        ("dev", "3C 8D QH KH 3H 5D TS TC", "5b78dc46aef76d6c"),
        ("test", "AS 4C JS 6D 2S TH 4S 9C", "aa9c29c15c6b1a0d"),
    ],
)
def test_the_lists_of_deals_never_change(source, first_cards, digest):
    decks = Engine(RULES, 100, deal_seeds(source, 100)).state.deck[:, : RULES.deck_size]
    assert " ".join(card_name(card) for card in decks[0, :8]) == first_cards
    assert hashlib.sha256(np.ascontiguousarray(decks).tobytes()).hexdigest()[:16] == digest


def test_a_longer_list_begins_with_the_shorter_one():
    for source in ("dev", "test", 7):
        assert deal_seeds(source, 50)[:20].tolist() == deal_seeds(source, 20).tolist()
    assert deal_seeds("7", 5).tolist() == deal_seeds(7, 5).tolist()
    assert len({int(seed) for source in ("dev", "test", 0, 1) for seed in deal_seeds(source, 500)}) == 2000
    assert [describe_list(source) for source in ("dev", "test", "7", 7)] == ["dev v1", "test v1", "seed 7", "seed 7"]


def test_a_duplicate_match_takes_a_list_of_deals():
    test, again, seven, seventh = (
        duplicate_match(Lowest(RULES), Highest(RULES), RULES, deals=20, luck="off", **deals)
        for deals in ({"deals_from": "test"}, {"deals_from": "test", "seed": 5}, {"seed": 7}, {"deals_from": 7})
    )
    assert (test.margin, test.deals_from, again.margin) == (again.margin, "test v1", test.margin)
    assert seven.margin == seventh.margin != test.margin
