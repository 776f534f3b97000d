"""Limits on the work that rules can cause. `Rules` enforces them, so that no step of a game takes forever.

The searches of `krypenv.kernels.captures` look at each sub-multiset of the ranks on the table at most once. A table
with n cards of a rank offers n + 1 choices of them, so the number of sub-multisets is a product over the ranks.
"""

from __future__ import annotations

from functools import lru_cache

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
    """Return the hand values of each kind, 52, and the table values of each rank, 13.

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
    """Return what a mulle with each kind counts where it counts the hand value (G2), 52; of two values the lower one.

    Pictures that belong to no sum count their own hand value too: 11 to 13, unless `hand_values` says otherwise.
    """
    values = [min(value) if isinstance(value, tuple) else value for value in rules.hand_values] * NUM_SUITS
    for kind, special in ((LILLAN, rules.lillan_hand_value), (STORAN, rules.storan_hand_value)):
        if special is not None:
            values[kind] = special
    return tuple(values)


def rank_classes(rules: Fields) -> tuple[int, ...]:
    """Return the class of each kind, 52: its rank, 0..12, or 13 and 14 for lillan and storan with values of their own.

    All cards of a class have the same hand values.
    """
    classes = list(range(NUM_RANKS)) * NUM_SUITS
    if rules.lillan_hand_value is not None:
        classes[LILLAN] = NUM_RANKS
    if rules.storan_hand_value is not None:
        classes[STORAN] = NUM_RANKS + 1
    return tuple(classes)


def matching_ranks(rules: Fields) -> list[bool]:
    """Return for each rank, 13, whether any card of it must take all others of its rank, so that two never lie there.

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
    copies = rules.packs * len(rules.suits)
    in_deck = rules.deck_counts
    values = {value for kind, choice in enumerate(hands) if in_deck[kind] for value in choice}
    reason = _find_crowd(tuple(sorted(values)), tuple(table[rank - 1] for rank in rules.ranks), copies)
    if not reason and rules.capture == "maximal" and bound_subsets(*_table_of(rules)) > MAX_SUBSETS:
        reason = (
            f"tables can get so large in this game that finding captures could take forever (over {MAX_SUBSETS:,} "
            "choices of ranks on one table); deal fewer cards to the table, or give fewer ranks a hand value that "
            "differs from their table value"
        )
    if reason:
        raise ValueError(reason)


@lru_cache(maxsize=1024)
def _find_crowd(hand_values: tuple[int, ...], table_values: Choices, copies: int) -> str:
    """Return a sentence about a value with more groups than there is room for, or an empty text."""
    ways = count_groups(table_values, copies)
    for value in (value for value in hand_values if value < FIRST_LONER):
        groups = ways[value]
        if groups > MAX_FITTING:
            return (
                f"by these table values {groups:,} sets of ranks sum to {value}, and the engine has room for "
                f"{MAX_FITTING} of a value; give the ranks larger table values, or the deck fewer ranks or copies"
            )
    return ""


def may_crowd(rules: Fields) -> bool:
    """Return whether the cards dealt and crept, without any captures, could exceed MAX_SUBSETS sub-multisets.

    That matters only where captures are maximal: optional ones are found without a list of sub-multisets.
    """
    _, matching, _, copies, dealt = _table_of(rules)
    return rules.capture == "maximal" and _loose_bound(matching, copies, dealt) > MAX_SUBSETS


Played = tuple[tuple[tuple[int, ...], ...], tuple[bool, ...], Choices, int, tuple[int, ...]]


def _table_of(rules: Fields) -> Played:
    """Return the arguments of `bound_subsets`."""
    hands, table = capture_values(rules)
    matching = matching_ranks(rules)
    of_ranks = [rank - 1 for rank in rules.ranks]
    choices = {hands[suit * NUM_RANKS + rank] for rank in of_ranks for suit in rules.suits}
    return (
        tuple(sorted(choices)),
        tuple(matching[rank] for rank in of_ranks),
        tuple(table[rank] for rank in of_ranks),
        rules.packs * len(rules.suits),
        tuple(to_table for _, to_table in rules.deal_sizes()),
    )


def count_groups(table_values: Choices, copies: int) -> list[int]:
    """Return for each sum below FIRST_LONER how many multisets of ranks, at most `copies` of each, add up to it.

    A rank with two values counts as two ranks, which is never too few.
    """
    ways = [1] + [0] * (FIRST_LONER - 1)
    for one in (value for choice in table_values for value in choice):
        ways = [
            sum(ways[total - count * one] for count in range(min(copies, total // one) + 1))
            for total in range(FIRST_LONER)
        ]
    return ways


@lru_cache(maxsize=1024)
def bound_subsets(
    hand_values: Choices, matching: tuple[bool, ...], table_values: Choices, copies: int, dealt: tuple[int, ...]
) -> int:
    """Return an upper bound on the number of sub-multisets of any table that play can lead to, if captures are maximal.

    Args:
        hand_values: the values of each card in the deck, without repetitions.
        matching: for each rank in the deck whether its cards take each other.
        table_values: of each rank in the deck.
        copies: cards of each rank.
        dealt: cards that each deal puts on the table.

    A card of a matching rank creeps only if no other of its rank is on the table. So beyond one card of
    each such rank, the table has at most as many as were dealt to it. That gives the first bound. If it is too large, a
    second one uses that a table onto which a card creeps has no group of that card's values: every later table is
    contained in such a table plus that card and what was dealt since. Captures and setting aside only remove cards.
    """
    bound = _loose_bound(matching, copies, dealt)
    if bound <= MAX_SUBSETS:
        return bound
    extra = sum(dealt)
    first, rest = _spread([0] * len(matching), copies, dealt[0]), sum(dealt[1:])
    if first > MAX_SUBSETS:
        return first
    crept_on = _without_a_group(hand_values, table_values, matching, copies, extra, MAX_SUBSETS >> rest + 1)
    return max(first, min(crept_on << rest + 1, (copies + 1) ** len(matching)))


def _loose_bound(matching: tuple[bool, ...], copies: int, dealt: tuple[int, ...]) -> int:
    return _spread([1 if equal else copies for equal in matching], copies, sum(dealt))


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


def _without_a_group(
    hand: Choices, table: Choices, matching: tuple[bool, ...], copies: int, extra: int, enough: int
) -> int:
    """Return the most sub-multisets of a table without a group of some card's values; stop once they exceed `enough`.

    Goes through the ranks, and keeps the most for each set of reachable sums, as bits, and each number of cards beyond
    one of a matching rank.
    """
    in_sums = (1 << FIRST_LONER) - 1
    most = {(1, 0): 1}
    for values, equal in zip(table, matching, strict=True):
        longer: dict[tuple[int, int], int] = {}
        for (sums, beyond), subsets in most.items():
            for count in range(copies + 1):
                if count:
                    before = sums
                    for value in values:
                        sums |= 1 << value if value >= FIRST_LONER else (before & in_sums) << value & in_sums
                now = beyond + max(0, count - 1) * equal
                if now > extra or all(any(sums >> each & 1 for each in choice) for choice in hand):
                    break
                longer[sums, now] = max(longer.get((sums, now), 0), subsets * (count + 1))
        most = longer
        if max(most.values()) > enough:
            break
    return max(most.values())
