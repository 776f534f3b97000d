"""Limits on the work that rules can cause. `Rules` enforces them, so that no step of a game takes forever.

The searches of `krypenv.kernels.captures` look at each sub-multiset of the ranks on the table at most once. A table
with n cards of a rank offers n + 1 choices of them, so the number of sub-multisets is a product over the ranks.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from krypenv.cards import DIAMONDS, NUM_RANKS, NUM_SUITS, PICTURES, SPADES, TEN, TWO, card_of
from krypenv.families.fields import Fields

LILLAN, STORAN = card_of(TWO, SPADES), card_of(TEN, DIAMONDS)
MAX_PLAYERS = 6
FIRST_LONER = 17  # capture values are 1..16; 17..19 are for pictures that belong to no sum (H2)
NUM_VALUES = 20
MAX_FITTING = 256  # groups of one value, at most; 16 has 231 partitions
MAX_SUBSETS = 1 << 20  # sub-multisets of the ranks on one table, at most

Choices = tuple[tuple[int, ...], ...]  # by rank or by kind: the values that its owner chooses from


def capture_values(rules: Fields) -> tuple[Choices, Choices]:
    """List the hand values of each kind, 52, and the table values of each rank, 13.

    Under H2 each picture has a value of its own.
    """
    hand, table = (
        [value if isinstance(value, tuple) else (value,) for value in values]
        for values in (rules.hand_values, rules.table_values)
    )
    if not rules.pictures_in_sums:
        for value, rank in enumerate(PICTURES, start=FIRST_LONER):
            hand[rank - 1] = table[rank - 1] = (value,)
    hands = hand * NUM_SUITS
    for kind, special in ((LILLAN, rules.lillan_hand_value), (STORAN, rules.storan_hand_value)):
        if special is not None:
            hands[kind] = (special,)
    return tuple(hands), tuple(table)


def mulle_values(rules: Fields) -> tuple[int, ...]:
    """List the points of a mulle with each kind, 52, where it counts the hand value (G2); of two values the lower one.

    Pictures that belong to no sum count their own hand value too: 11 to 13, unless `hand_values` says otherwise.
    """
    values = [min(value) if isinstance(value, tuple) else value for value in rules.hand_values] * NUM_SUITS
    for kind, special in ((LILLAN, rules.lillan_hand_value), (STORAN, rules.storan_hand_value)):
        if special is not None:
            values[kind] = special
    return tuple(values)


def rank_classes(rules: Fields) -> tuple[int, ...]:
    """List the class of each kind, 52: its rank, 0..12, or 13 and 14 for lillan and storan with values of their own.

    All cards of a class have the same hand values.
    """
    classes = list(range(NUM_RANKS)) * NUM_SUITS
    if rules.lillan_hand_value is not None:
        classes[LILLAN] = NUM_RANKS
    if rules.storan_hand_value is not None:
        classes[STORAN] = NUM_RANKS + 1
    return tuple(classes)


def matching_ranks(rules: Fields) -> list[bool]:
    """List for each rank, 13, whether any card of it must take all others of its rank; then no two of them creep.

    That is so if captures are maximal and each of its kinds has one of the table values from the hand.
    """
    hands, table = capture_values(rules)
    return [
        rules.capture == "maximal"
        and all(set(hands[suit * NUM_RANKS + rank]) & set(table[rank]) for suit in rules.suits)
        for rank in range(NUM_RANKS)
    ]


def check_bounds(rules: Fields) -> None:
    """Raise ValueError for rules with more groups or larger tables than the engine has room for."""
    hands, table = capture_values(rules)
    ways = count_groups(tuple(table[rank - 1] for rank in rules.ranks), rules.packs * len(rules.suits))
    values = {value for kind in np.flatnonzero(rules.deck_counts) for value in hands[kind]}
    for value in sorted(values):
        if value < FIRST_LONER and ways[value] > MAX_FITTING:
            raise ValueError(
                f"by these table values {ways[value]:,} sets of ranks sum to {value}, and the engine has room for "
                f"{MAX_FITTING} of a value; give the ranks larger table values, or the deck fewer ranks or copies"
            )
    if rules.capture == "maximal" and bound_subsets(rules) > MAX_SUBSETS:
        raise ValueError(
            f"tables can get so large in this game that finding captures could take forever (over {MAX_SUBSETS:,} "
            "choices of ranks on one table); deal fewer cards to the table, or give fewer ranks a hand value that "
            "differs from their table value"
        )


def count_groups(table_values: Choices, copies: int) -> list[int]:
    """Count for each sum below FIRST_LONER the multisets of ranks, at most `copies` of each, that add up to it.

    A rank with two values counts as two ranks, which is never too few.
    """
    ways = [1] + [0] * (FIRST_LONER - 1)
    for value in (value for choice in table_values for value in choice):
        ways = [
            sum(ways[total - count * value] for count in range(min(copies, total // value) + 1))
            for total in range(FIRST_LONER)
        ]
    return ways


def may_crowd(rules: Fields) -> bool:
    """Check whether the cards dealt and crept, without any captures, could exceed MAX_SUBSETS sub-multisets.

    That matters only where captures are maximal: optional ones are found without a list of sub-multisets.
    """
    return rules.capture == "maximal" and _loose_bound(rules) > MAX_SUBSETS


def bound_subsets(rules: Fields) -> int:
    """Bound the number of sub-multisets of ranks of any table that play can lead to, if captures are maximal.

    A card of a matching rank creeps only if no other of its rank is on the table. So beyond one card of each such rank,
    the table has at most as many as were dealt to it. That gives the first bound. If it is too large, a second one uses
    that a table onto which a card creeps has no group of that card's values: every later table is contained in such a
    table plus that card and what was dealt since. Captures and setting aside only remove cards.
    """
    bound = _loose_bound(rules)
    if bound <= MAX_SUBSETS:
        return bound
    hands, table = capture_values(rules)
    matching, copies = matching_ranks(rules), rules.packs * len(rules.suits)
    ranks = [rank - 1 for rank in rules.ranks]
    dealt = [to_table for _, to_table in rules.deal_sizes()]
    first, later = _spread([0] * len(ranks), copies, dealt[0]), sum(dealt[1:])
    if first > MAX_SUBSETS:
        return first
    crept_on = _without_a_group(
        tuple(sorted({hands[suit * NUM_RANKS + rank] for rank in ranks for suit in rules.suits})),
        tuple((table[rank], matching[rank]) for rank in ranks),
        copies,
        sum(dealt),
        MAX_SUBSETS >> later + 1,
    )
    return max(first, min(crept_on << later + 1, (copies + 1) ** len(ranks)))


def _loose_bound(rules: Fields) -> int:
    """Bound the sub-multisets of a table by the cards dealt to it and those that may creep."""
    copies, matching = rules.packs * len(rules.suits), matching_ranks(rules)
    counts = [1 if matching[rank - 1] else copies for rank in rules.ranks]
    return _spread(counts, copies, sum(to_table for _, to_table in rules.deal_sizes()))


def _spread(counts: list[int], copies: int, more: int) -> int:
    """Count the most sub-multisets of a table with these cards of each rank and `more` cards of any rank."""
    counts = list(counts)
    for _ in range(more):
        rarest = counts.index(min(counts))  # one more card of the rarest rank makes the largest difference
        counts[rarest] = min(counts[rarest] + 1, copies)
    return math.prod(count + 1 for count in counts)


@lru_cache(maxsize=1024)
def _without_a_group(
    hand_values: Choices, ranks: tuple[tuple[tuple[int, ...], bool], ...], copies: int, extra: int, enough: int
) -> int:
    """Count the most sub-multisets of a table without a group of some card's values; stop once they exceed `enough`.

    `ranks` are the table values of each rank in the deck, and whether it is matching; a table has at most `extra` cards
    beyond one of a matching rank. Goes through the ranks, and keeps the most for each set of reachable sums, as bits,
    and each number of such cards.
    """
    in_sums = (1 << FIRST_LONER) - 1
    most = {(1, 0): 1}
    for values, is_matching in ranks:
        longer: dict[tuple[int, int], int] = {}
        for (sums, beyond), subsets in most.items():
            for count in range(copies + 1):
                if count:
                    before = sums
                    for value in values:
                        sums |= 1 << value if value >= FIRST_LONER else (before & in_sums) << value & in_sums
                now = beyond + max(0, count - 1) * is_matching
                if now > extra or all(any(sums >> value & 1 for value in choice) for choice in hand_values):
                    break
                longer[sums, now] = max(longer.get((sums, now), 0), subsets * (count + 1))
        most = longer
        if max(most.values()) > enough:
            break
    return max(most.values())
