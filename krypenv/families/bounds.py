"""Limits on the work that rules can cause. `Rules` enforces them, so that no step of a game takes forever.

The searches of `krypenv.kernels.captures` look at each sub-multiset of the ranks on the table at most once. A table
with n cards of a rank offers n + 1 choices of them, so the number of sub-multisets is a product over the ranks.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from krypenv.cards import PICTURES

if TYPE_CHECKING:
    from krypenv.rules import Rules

MAX_PLAYERS = 6
FIRST_LONER = 17  # capture values are 1..16; 17..19 are for pictures that belong to no sum (H2)
NUM_VALUES = 20
MAX_FITTING = 256  # groups of one value, at most; 16 has 231 partitions
MAX_SUBSETS = 1 << 20  # sub-multisets of the ranks on one table, at most

Values = tuple[int, ...]  # by rank


def capture_values(rules: Rules) -> tuple[Values, Values]:
    """Return the hand and the table value of each rank, 13 each; under H2 each picture has a value of its own."""
    hand, table = list(rules.hand_values), list(rules.table_values)
    if not rules.pictures_in_sums:
        for value, rank in enumerate(PICTURES, start=FIRST_LONER):
            hand[rank - 1] = table[rank - 1] = value
    return tuple(hand), tuple(table)


def check_bounds(rules: Rules) -> None:
    """Raise ValueError for rules with more groups or larger tables than the engine has room for."""
    reason = _find_excess(*_table_of(rules))
    if reason:
        raise ValueError(reason)


@lru_cache(maxsize=1024)
def _find_excess(hand_values: Values, table_values: Values, copies: int, dealt: tuple[int, ...]) -> str:
    """Return a sentence about what exceeds its limit, or an empty text; the arguments are those of `bound_subsets`."""
    ways = count_groups(table_values, copies)
    for value in sorted({value for value in hand_values if value < FIRST_LONER}):
        groups = ways[value]
        if groups > MAX_FITTING:
            return (
                f"by these table values {groups:,} sets of ranks sum to {value}, and the engine has room for "
                f"{MAX_FITTING} of a value; give the ranks larger table values, or the deck fewer ranks or copies"
            )
    if bound_subsets(hand_values, table_values, copies, dealt) > MAX_SUBSETS:
        return (
            f"tables can get so large in this game that finding captures could take forever (over {MAX_SUBSETS:,} "
            "choices of ranks on one table); deal fewer cards to the table, or give fewer ranks a hand value that "
            "differs from their table value"
        )
    return ""


def may_crowd(rules: Rules) -> bool:
    """Return whether the cards dealt and crept, without any captures, could exceed MAX_SUBSETS sub-multisets."""
    return _loose_bound(*_table_of(rules)) > MAX_SUBSETS


def _table_of(rules: Rules) -> tuple[Values, Values, int, Values]:
    """Return the arguments of `bound_subsets`."""
    hand, table = capture_values(rules)
    hands, sums = (tuple(values[rank - 1] for rank in rules.ranks) for values in (hand, table))
    return hands, sums, rules.packs * len(rules.suits), tuple(to_table for _, to_table in rules.deal_sizes())


def count_groups(table_values: Values, copies: int) -> list[int]:
    """Return for each sum below FIRST_LONER how many multisets of ranks, at most `copies` of each, add up to it."""
    ways = [1] + [0] * (FIRST_LONER - 1)
    for one in table_values:
        ways = [
            sum(ways[total - count * one] for count in range(min(copies, total // one) + 1))
            for total in range(FIRST_LONER)
        ]
    return ways


def bound_subsets(hand_values: Values, table_values: Values, copies: int, dealt: tuple[int, ...]) -> int:
    """Return an upper bound on the number of sub-multisets of any table that play can lead to.

    Args:
        hand_values, table_values: of the ranks in the deck.
        copies: cards of each rank.
        dealt: cards that each deal puts on the table.

    A card of a rank with two equal values creeps only if no other of its rank is on the table. So beyond one card of
    each such rank, the table has at most as many as were dealt to it. That gives the first bound. If it is too large, a
    second one uses that a table onto which a card creeps has no group of that card's value: every later table is
    contained in such a table plus that card and what was dealt since. Captures and setting aside only remove cards.
    """
    bound = _loose_bound(hand_values, table_values, copies, dealt)
    if bound <= MAX_SUBSETS:
        return bound
    matching = [hand == table for hand, table in zip(hand_values, table_values, strict=True)]
    extra = sum(dealt)
    first, rest = _spread([0] * len(matching), copies, dealt[0]), sum(dealt[1:])
    if first > MAX_SUBSETS:
        return first
    crept_on = _without_a_group(hand_values, table_values, matching, copies, extra, MAX_SUBSETS >> rest + 1)
    return max(first, min(crept_on << rest + 1, (copies + 1) ** len(matching)))


def _loose_bound(hand_values: Values, table_values: Values, copies: int, dealt: tuple[int, ...]) -> int:
    most = [1 if hand == table else copies for hand, table in zip(hand_values, table_values, strict=True)]
    return _spread(most, copies, sum(dealt))


def _spread(counts: list[int], copies: int, more: int) -> int:
    """Return the most sub-multisets of a table with these cards of each rank and `more` cards of any rank."""
    counts = list(counts)
    for _ in range(more):
        least = min(counts)  # one more card of the rarest rank makes the largest difference
        if least == copies:
            break
        counts[counts.index(least)] += 1
    product = 1
    for count in counts:
        product *= count + 1
    return product


def _without_a_group(hand: Values, table: Values, matching: list[bool], copies: int, extra: int, enough: int) -> int:
    """Return the most sub-multisets of a table without a group of some hand value; stop once they exceed `enough`.

    Goes through the ranks, and keeps the most for each set of reachable sums, as bits, and each number of cards beyond
    one of a matching rank.
    """
    in_sums = (1 << FIRST_LONER) - 1
    most = {(1, 0): 1}
    for value, equal in zip(table, matching, strict=True):
        longer: dict[tuple[int, int], int] = {}
        for (sums, beyond), subsets in most.items():
            for count in range(copies + 1):
                if count:
                    sums |= 1 << value if value >= FIRST_LONER else (sums & in_sums) << value & in_sums
                now = beyond + max(0, count - 1) * equal
                if now > extra or all(sums >> each & 1 for each in hand):
                    break
                longer[sums, now] = max(longer.get((sums, now), 0), subsets * (count + 1))
        most = longer
        if max(most.values()) > enough:
            break
    return max(most.values())
