"""What `Rules` refuse because the kernels could not hold it or would never end, and the searches at their bounds."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from support.games import RULES
from support.reference_captures import list_unions

from krypenv import Engine, Rules
from krypenv.families import bounds
from krypenv.families.bounds import MAX_FITTING, MAX_SUBSETS, bound_subsets, capture_values, count_groups
from krypenv.kernels.captures import MAX_CAPTURES, borrow_scratch, find_captures, find_sweep_values, search_subsets
from krypenv.kernels.compiled import NIBBLE, compile_rules, find_groups, pack_ranks
from krypenv.kernels.unions import list_groups
from krypenv.runtime.jit import kernel

MAIN = Rules.preset("krypkasino")


@kernel
def _search(compiled, value, table, scratch):
    return find_captures(compiled[0], value, table, scratch[0])


@kernel
def _search_subsets(compiled, value, table, scratch):
    return search_subsets(table, list_groups(compiled[0], value, table, scratch[0]), scratch[0])


@kernel
def _sweeps(compiled, table, total, scratch):
    return find_sweep_values(compiled[0], table, total, scratch[0])


def captures_of(count):
    """The captures that a search has left behind, sorted."""
    return sorted(borrow_scratch()["captures"][0, :count].tolist())


def by_brute_force(ranks, value):
    """The maximal captures of a value from table cards of some ranks, packed and sorted; by the slow reference."""
    kinds = sorted(set(ranks))
    stacks = tuple(((rank,), ranks.count(rank)) for rank in kinds)
    return sorted(
        sum(count << NIBBLE * (rank - 1) for rank, count in zip(kinds, capture, strict=True))
        for capture in list_unions(stacks, (value,), maximal=True)
    )


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(1, 13), min_size=1, max_size=13), st.integers(2, 14))
def test_r7_both_searches_find_what_brute_force_finds(ranks, value):
    ranks = [rank for rank in ranks if ranks.count(rank) <= 8]
    compiled, table = compile_rules(MAIN), np.int64(pack_ranks(ranks))
    expected = by_brute_force(ranks, value)
    assert captures_of(_search(compiled, value, table, borrow_scratch())) == expected
    count = _search_subsets(compiled, value, table, borrow_scratch())
    assert [capture for capture in captures_of(count) if capture] == expected  # the empty union if no group lies there
    sweeps = _sweeps(compiled, table, sum(ranks), borrow_scratch())
    assert sweeps >> value & 1 == (expected == [int(table)])


@pytest.mark.parametrize(
    "ranks",
    [
        [1] * 8 + [2] * 8 + [3] * 8 + [4] * 8 + [5] * 8 + [6] * 8,  # 531,441 choices
        [1] * 8 + [2, 4, 6, 8, 10, 12] * 3 + [3, 5, 7],
        [rank for rank in range(1, 13) for _ in range(2)],
    ],
)
def test_a_table_at_the_bound_is_searched_in_time(ranks):
    compiled, table = compile_rules(MAIN), np.int64(pack_ranks(ranks))
    for value in range(2, 15):
        count = _search(compiled, value, table, borrow_scratch())
        assert 0 < count <= MAX_CAPTURES
        first = captures_of(count)[0]
        assert sum((first >> NIBBLE * rank & 15) * (rank + 1) for rank in range(13)) % value == 0
    assert _sweeps(compiled, table, sum(ranks), borrow_scratch()) >= 0


@pytest.mark.parametrize("value", range(1, 17))
@pytest.mark.parametrize("copies", [1, 2, 4, 8])
def test_groups_are_counted_as_they_are_listed(value, copies):
    suits, packs = {1: ((0,), 1), 2: ((0,), 2), 4: ((0, 1), 2), 8: ((0, 1, 2, 3), 2)}[copies]
    rules = Rules.preset(
        "krypkasino", suits=suits, packs=packs, first_deal=((1, 0),), later_deal=((1, 0),), short_last_deal=True
    )
    _, table_values = capture_values(rules)
    assert count_groups(table_values, copies)[value] == len(find_groups(rules, value)) <= MAX_FITTING


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"table_values": (1,) * 13}, "sets of ranks sum to"),
        ({"table_values": (1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 7)}, "sets of ranks sum to"),
        ({"first_deal": ((2, 50),), "short_last_deal": True}, "finding captures could take forever"),
        ({"first_deal": ((2, 100),), "later_deal": ((2, 0),), "short_last_deal": True}, "could take forever"),
        ({"hand_values": (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)}, "could take forever"),
        ({"later_deal": ((1, 1),), "short_last_deal": True}, "could take forever"),
    ],
)
def test_what_the_engine_cannot_hold_is_refused(fields, reason):
    with pytest.raises(ValueError, match=reason) as caught:
        Rules.preset("krypkasino", **fields)
    assert len(str(caught.value).splitlines()) == 1


def test_a_deal_has_as_many_rounds_as_two_packs_have_cards():
    rounds = ((4, 4), *((0, 0) for _ in range(103)))
    Engine(Rules.preset("krypkasino", first_deal=rounds, short_last_deal=True), 1)
    with pytest.raises(ValueError, match="first_deal is"):
        Rules.preset("krypkasino", first_deal=(*rounds, (0, 0)), short_last_deal=True)


def second_bound_of(rules, monkeypatch):
    """What their tables are bounded by if the first bound is just too large."""
    monkeypatch.setattr(bounds, "MAX_SUBSETS", bound_subsets(rules) - 1)
    return bound_subsets(rules)


@pytest.mark.parametrize("text", RULES)
def test_presets_keep_far_from_the_bound(text):
    assert bound_subsets(RULES[text]) < MAX_SUBSETS / 2


@pytest.mark.parametrize(
    "fields",
    [
        {"ranks": (1, 2, 3), "suits": (0, 1)},
        {"ranks": (1, 2, 3), "suits": (0, 1), "hand_values": (14, 3, 5, *range(4, 14))},
        {"ranks": (2, 4, 5), "suits": (0,), "table_values": (1, 2, 3, 2, *range(5, 14))},
    ],
)
@pytest.mark.parametrize("layout", [0, 1, 3])
def test_r8_no_table_that_cards_can_creep_onto_is_above_a_bound(fields, layout, monkeypatch):
    """Every order in which cards can be dealt to a table and creep onto it, in small decks."""
    rules = Rules.preset("krypkasino", **fields, first_deal=((1, layout),), later_deal=((1, 0),), short_last_deal=True)
    copies, values = rules.packs * len(rules.suits), rules.table_values
    bound, seen = min(bound_subsets(rules), second_bound_of(rules, monkeypatch)), set()
    waiting = {tuple(sorted(ranks)) for ranks in itertools.product(rules.ranks, repeat=layout)}
    while waiting:
        table = waiting.pop()
        seen.add(table)
        assert np.prod([table.count(rank) + 1 for rank in rules.ranks]) <= bound
        sums = {0}
        for rank in table:
            sums |= {one + values[rank - 1] for one in sums}
        for rank in rules.ranks:
            longer = tuple(sorted((*table, rank)))
            if longer.count(rank) <= copies and rules.hand_values[rank - 1] not in sums and longer not in seen:
                waiting.add(longer)
    assert len(seen) > 1
