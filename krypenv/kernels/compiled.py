"""Compiled rules, the record that the kernels read: who is dealt what, capture values, groups, points."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from krypenv.cards import NUM_KINDS, NUM_RANKS, NUM_SUITS, PICTURES
from krypenv.families.bounds import FIRST_LONER, MAX_FITTING, NUM_VALUES, capture_values, may_crowd
from krypenv.kernels.state import MAX_DECK
from krypenv.rules import MAX_PLAYERS, Rules
from krypenv.runtime.jit import handle, kernel, records, trailing_zeros

TABLE = 127  # the destination of a dealt card that goes to the table
NIBBLE = 4  # a multiset of ranks is one int64: four bits a rank, ace lowest; a rank has at most 8 cards
MAX_SUM = 16 * MAX_DECK
MAX_GROUPS = NUM_VALUES * MAX_FITTING  # groups of all values together; `Rules` enforces MAX_FITTING

COMPILED = np.dtype(
    [
        ("players", np.int64),  # P
        ("teams", np.int64),  # number of sides
        ("relative_team", np.int64, (MAX_PLAYERS,)),  # side of each place, counted from that of place 0 (R16)
        ("games", np.int64),  # games in a session, 0 for no limit
        ("threshold", np.int64),  # points that end a session, a huge number if there is no threshold
        ("forced_sweep", np.bool_),  # R10
        ("doubles_by_rank", np.bool_),  # H4 instead of R11
        ("lead_sign", np.int64),  # 1 if fewer points are better, -1 if more are
        ("sweep_points", np.int64),  # R9
        ("last_capture_points", np.int64),  # V2
        ("initial_match_bonus", np.int64),  # H5
        ("deck_size", np.int64),  # D
        ("deck", np.int8, (MAX_DECK,)),  # the deck in order of kinds
        ("deck_counts", np.int8, (NUM_KINDS,)),  # copies of each kind in it
        ("destination", np.int8, (MAX_DECK,)),  # for each place in the deck, the seat counted from the leader, or TABLE
        ("num_deals", np.int64),
        ("deal_start", np.int64, (MAX_DECK + 1,)),  # where in the deck each deal begins, and where the last one ends
        ("laid", np.int64, (MAX_DECK + 1,)),  # cards that the first n deals put on the table
        ("hand_value", np.int64, (NUM_KINDS,)),  # capture value from the hand, by kind
        ("table_value", np.int64, (NUM_KINDS,)),  # and on the table
        ("may_crowd", np.bool_),  # whether cards dealt and crept could exceed MAX_SUBSETS
        ("matches", np.int8, (NUM_RANKS,)),  # 1 if the two are equal, so a card takes all others of its rank
        ("card_points", np.int64, (NUM_KINDS,)),
        ("may_cut", np.bool_),  # whether a seat may have more points than an observation shows (127)
        ("point_kinds", np.int64),  # bits of the kinds that cost points
        ("is_aside", np.int8, (NUM_KINDS,)),  # 1 if set aside between deals
        ("aside_ranks", np.int64),  # packed: 15 at each rank with such a kind
        ("value_kinds", np.int64, (NUM_VALUES,)),  # bits of the kinds with this hand value
        ("value_ranks", np.int64, (NUM_VALUES,)),  # bits of the ranks with this hand value
        ("groups", np.int64, (MAX_GROUPS,)),  # multisets of ranks that sum to a value, by value and highest rank
        ("group_start", np.int64, (NUM_VALUES, NUM_RANKS + 1)),  # where those of a value with highest rank r begin
        ("group_ranks", np.int64, (NUM_VALUES,)),  # bits of the ranks that are in groups of a value
        ("group_values", np.int32, (1 << NUM_RANKS,)),  # bits of the values that have a group within a set of ranks
        ("divisors", np.int32, (MAX_SUM + 1,)),  # bits of the values that divide a sum
    ],
    align=True,
)


@kernel
def hand_value_of(compiled: np.record, card: int) -> int:
    """Return the capture value of a card kind from the hand (R2)."""
    return compiled.hand_value[card]


@kernel
def table_value_of(compiled: np.record, card: int) -> int:
    """Return the capture value of a card kind on the table (R2)."""
    return compiled.table_value[card]


@kernel
def rank_in_hand(compiled: np.record, rank: int) -> int:
    """Return the hand value of a rank, 0..12, for kernels that know cards by rank: all its kinds have the same."""
    return compiled.hand_value[rank]


@kernel
def rank_on_table(compiled: np.record, rank: int) -> int:
    """Return the table value of a rank, 0..12, for kernels that know cards by rank: all its kinds have the same."""
    return compiled.table_value[rank]


@kernel
def sum_of(compiled: np.record, ranks: int) -> int:
    """Return the sum of the table values of a packed multiset of ranks."""
    total = np.int64(0)
    while ranks != 0:
        rank = trailing_zeros(np.int64(ranks)) // NIBBLE
        count = ranks >> NIBBLE * rank & 15
        ranks ^= count << NIBBLE * rank
        total += count * rank_on_table(compiled, rank)
    return total


@kernel
def ranks_of_values(compiled: np.record, values: int) -> int:
    """Return the ranks that have one of some hand values, both as bits."""
    ranks = np.int64(0)
    while values != 0:
        ranks |= compiled.value_ranks[trailing_zeros(np.int64(values))]
        values &= values - 1
    return ranks


@kernel
def kinds_of_values(compiled: np.record, values: int) -> int:
    """Return the kinds that have one of some hand values, both as bits."""
    kinds = np.int64(0)
    while values != 0:
        kinds |= compiled.value_kinds[trailing_zeros(np.int64(values))]
        values &= values - 1
    return kinds


def lead_sign(rules: Rules) -> int:
    """Return 1 if fewer points are better, -1 if more are."""
    return 1 if rules.goal == "low" else -1


def pack_ranks(ranks: list[int]) -> int:
    """Return a multiset of ranks (1..13) as an int, four bits a rank."""
    return sum(1 << NIBBLE * (rank - 1) for rank in ranks)


def find_groups(rules: Rules, value: int) -> list[int]:
    """Return all packed multisets of ranks in the deck whose table values sum to a value (R7), by highest rank."""
    _, table_value = capture_values(rules)
    copies = rules.packs * len(rules.suits)

    def extend(rank: int, left: int) -> list[int]:
        if left == 0:
            return [0]
        if rank == 0:
            return []
        most = min(copies, left // table_value[rank - 1]) if rank in rules.ranks else 0
        return [
            (count << NIBBLE * (rank - 1)) + rest
            for count in range(most + 1)
            for rest in extend(rank - 1, left - count * table_value[rank - 1])
        ]

    if value >= FIRST_LONER:
        return [pack_ranks([rank]) for rank in PICTURES if table_value[rank - 1] == value]
    return sorted(extend(NUM_RANKS, value))


@lru_cache(maxsize=64)
def compile_rules(rules: Rules) -> np.ndarray:
    """Return compiled rules, (1,) of `COMPILED`; equal rules share one array, which never changes."""
    array = records(COMPILED, 1)
    compiled = array[0]
    kinds = np.arange(NUM_KINDS)
    hand_value, table_value = capture_values(rules)
    compiled.players, compiled.teams, compiled.games = rules.players, rules.num_teams, rules.games
    compiled.relative_team[:] = np.arange(MAX_PLAYERS) % rules.num_teams
    compiled.threshold = rules.threshold or 1 << 40
    compiled.forced_sweep, compiled.doubles_by_rank = rules.forced_sweep, rules.double_sweep == "rank"
    compiled.lead_sign = lead_sign(rules)
    compiled.sweep_points, compiled.last_capture_points = rules.sweep_points, rules.last_capture_points
    compiled.initial_match_bonus = rules.initial_match_bonus
    compiled.deck_size, compiled.deck_counts[:] = rules.deck_size, rules.deck_counts
    compiled.deck[: rules.deck_size] = np.repeat(kinds, rules.deck_counts)
    compiled.hand_value[:], compiled.table_value[:] = np.tile(hand_value, NUM_SUITS), np.tile(table_value, NUM_SUITS)
    compiled.may_crowd = may_crowd(rules)
    compiled.matches[:] = np.array(hand_value) == table_value
    compiled.may_cut = rules.total_points + abs(rules.initial_match_bonus) >= 127
    compiled.card_points[:], compiled.is_aside[:] = rules.card_points, rules.aside_kinds
    for kind in map(int, np.flatnonzero(rules.deck_counts)):
        if compiled.is_aside[kind]:
            compiled.aside_ranks |= 15 << NIBBLE * (kind % NUM_RANKS)
        compiled.point_kinds |= int(compiled.card_points[kind] != 0) << kind
        compiled.value_kinds[compiled.hand_value[kind]] |= 1 << kind
        compiled.value_ranks[compiled.hand_value[kind]] |= 1 << kind % NUM_RANKS
    _plan_deals(rules, compiled)
    _list_groups(rules, compiled)
    sums = np.arange(MAX_SUM + 1)
    for value in map(int, np.flatnonzero(compiled.value_ranks)):
        compiled.divisors[sums % value == 0] |= 1 << value
    return handle(array)


def _plan_deals(rules: Rules, compiled: np.record) -> None:
    """Write who gets each card of the deck: in batches (R4), and any rest one card at a time (H3)."""
    destination: list[int] = []
    starts = [0]
    for batches in rules.deal_batches():
        for hand, table in batches:
            destination += [seat for seat in range(rules.players) for _ in range(hand)] + [TABLE] * table
        starts.append(len(destination))
    rest = rules.deck_size - len(destination)
    if rest:
        destination += [place % rules.players for place in range(rest)]
        starts.append(len(destination))
    compiled.destination[: len(destination)] = destination
    compiled.deal_start[: len(starts)] = starts
    compiled.laid[: len(starts)] = [destination[:start].count(TABLE) for start in starts]
    compiled.num_deals = len(starts) - 1


def _list_groups(rules: Rules, compiled: np.record) -> None:
    """Write the groups of each hand value in the deck (R7), and which values have one within each set of ranks."""
    count = 0
    for value in range(NUM_VALUES):
        found = find_groups(rules, value) if compiled.value_ranks[value] else []
        for top in range(NUM_RANKS + 1):
            compiled.group_start[value, top] = count + sum(group < 1 << NIBBLE * top for group in found)
        compiled.groups[count : count + len(found)] = found
        count += len(found)
        for group in found:
            support = sum(1 << rank for rank in range(NUM_RANKS) if group >> NIBBLE * rank & 15)
            compiled.group_values[support] |= 1 << value
            compiled.group_ranks[value] |= support
    for rank in range(NUM_RANKS):  # a group within a set of ranks is within every larger set
        has_rank = np.arange(1 << NUM_RANKS) >> rank & 1 == 1
        compiled.group_values[has_rank] |= compiled.group_values[~has_rank]
