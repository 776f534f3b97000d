"""Compiled rules, the record that the kernels read: who is dealt what, capture values, groups, points."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from functools import cache, lru_cache

import numpy as np

from krypenv.cards import NUM_KINDS, NUM_RANKS, PICTURES, SPADES
from krypenv.families.bounds import (
    FIRST_LONER,
    LILLAN,
    MAX_FITTING,
    MAX_PLAYERS,
    NUM_VALUES,
    STORAN,
    Choices,
    capture_values,
    matching_ranks,
    may_crowd,
    mulle_values,
    rank_classes,
)
from krypenv.observation import EXTRA, has_extra_features
from krypenv.rules import Rules
from krypenv.runtime.jit import SPARES, handle, kernel, leading_zeros, records, trailing_zeros
from krypenv.state import MAX_DECK

TABLE = 127  # the destination of a dealt card that goes to the table
NIBBLE = 4  # a multiset of ranks is one int64: four bits a rank, ace lowest; a rank has at most 8 cards
MAX_SUM = NUM_VALUES * MAX_DECK
NUM_CLASSES = NUM_RANKS + 2  # cards with the same hand values: the ranks, and lillan and storan if they differ (F1)
NEVER = 1 << 40  # points that are never reached
SHARE, BY_SPADES, FINNISH, PLAY_ON = range(4)  # tie breaks
(
    CARDS_WON, SPADES_WON, COUNTED_SWEEPS, MULLES, TOTALS, SPECIAL,
    MULLE_SCORES, BUILT, BUILT_TWIN, BUILD_OWNER, BUILD_MULTIPLE, BUILDING,
) = range(len(EXTRA))  # blocks of an observation  # fmt: skip
MAX_GROUPS = NUM_VALUES * MAX_FITTING  # groups of all values together; `Rules` enforces MAX_FITTING

# A field with the name of one of `Rules` is a copy of it, with NEVER for None.
COMPILED = np.dtype(
    [
        ("players", np.int64),  # P
        ("teams", np.int64),  # number of sides
        ("relative_team", np.int64, (MAX_PLAYERS,)),  # side of each place, counted from that of place 0 (R16)
        ("entries", np.int64),  # of an observation without the features ("size" is taken: numpy's records have one)
        ("extra_features", np.bool_),  # whether the features block has its extra columns
        ("blocks", np.int64, (len(EXTRA),)),  # where the blocks of K7 begin in an observation; 0: not there
        ("games", np.int64),  # games in a session, 0 for no limit
        ("threshold", np.int64),  # points that end a session, NEVER if there is no threshold
        ("threshold_at_once", np.bool_),  # F6
        ("tie_break", np.int64),  # SHARE, BY_SPADES (K6), FINNISH (F7) or PLAY_ON (K6)
        ("is_main", np.bool_),  # maximal captures by one value a rank, and nothing counts but what Krypkasino counts
        ("optional", np.bool_),  # K2 instead of R7
        ("building", np.bool_),  # B1
        ("forced_sweep", np.bool_),  # R10
        ("identical_sweep", np.int64),  # sweeps that a lone card's identical copy makes (R11, K3)
        ("rank_sweep", np.int64),  # and another card of its rank (H4)
        ("lead_sign", np.int64),  # 1 if fewer points are better, -1 if more are
        ("sweep_points", np.int64),  # R9
        ("previous_pays", np.bool_),  # R9, not K3
        ("counts_plainly", np.bool_),  # whether scores are those of R14, without K3, F4, F5 and M2
        ("judges_sweeps", np.bool_),  # whether some sweeps don't count (F5)
        ("last_deal_sweeps", np.bool_),  # F5
        ("sweep_limit", np.int64),  # F5, NEVER without
        ("sweeps_cancel", np.bool_),  # F4
        ("last_capture_points", np.int64),  # V2, S3
        ("initial_match_bonus", np.int64),  # H5
        ("counts_piles", np.bool_),  # whether cards and spades won are counted (K5)
        ("most_spades_points", np.int64),  # K5
        ("two_share", np.bool_),  # F3
        ("most_cards_points", np.int64),  # K5
        ("spades_above", np.int64),  # O1, NEVER without
        ("mulle_points", np.int64),  # M2
        ("mulle_by_value", np.bool_),  # G2
        ("deck_size", np.int64),  # D
        ("deck", np.int8, (MAX_DECK,)),  # the deck in order of kinds
        ("deck_counts", np.int8, (NUM_KINDS,)),  # copies of each kind in it
        ("num_spades", np.int64),
        ("destination", np.int8, (MAX_DECK,)),  # for each place in the deck, the seat counted from the leader, or TABLE
        ("num_deals", np.int64),
        ("deal_start", np.int64, (MAX_DECK + 1,)),  # where in the deck each deal begins, and where the last one ends
        ("laid", np.int64, (MAX_DECK + 1,)),  # cards that the first n deals put on the table
        ("hand_value", np.int64, (NUM_KINDS,)),  # capture value from the hand, by kind; of two the lower one
        ("table_value", np.int64, (NUM_KINDS,)),  # and on the table; of two values NUM_VALUES, which no group can have
        ("lowest_value", np.int64, (NUM_KINDS,)),  # on the table, of two values the lower one
        ("sum_value", np.int64, (NUM_KINDS,)),  # what a card adds to a state's table sum; 0 if nobody asks for sweeps
        ("hand_choice", np.int64, (NUM_KINDS,)),  # bits of all hand values of a kind
        ("chooses_value", np.bool_),  # whether some kind has two hand values
        ("table_choice", np.int64, (NUM_RANKS,)),  # bits of all table values of a rank
        ("varied_ranks", np.int64),  # bits of the ranks with two table values
        ("may_crowd", np.bool_),  # whether cards dealt and crept could exceed MAX_SUBSETS
        ("matches", np.int8, (NUM_RANKS,)),  # 1 if the two are equal, so a card takes all others of its rank
        ("card_points", np.int64, (NUM_KINDS,)),
        ("first_price", np.int64),  # points of the card to take first: the fewest, or for a high goal the most
        ("may_cut", np.bool_),  # whether a seat may have more points than an observation shows (127)
        ("point_kinds", np.int64),  # bits of the kinds that cost points
        ("is_aside", np.int8, (NUM_KINDS,)),  # 1 if set aside between deals
        ("aside_ranks", np.int64),  # packed: 15 at each rank with such a kind
        ("value_kinds", np.int64, (NUM_VALUES,)),  # bits of the kinds with this hand value
        ("class_of", np.int64, (NUM_KINDS,)),  # class of each kind: cards of a class have the same hand values
        ("class_rank", np.int64, (NUM_CLASSES,)),  # and the rank 0..12 of each class
        ("has_special", np.bool_),  # whether there are other classes than ranks (F1)
        ("value_classes", np.int64, (NUM_VALUES,)),  # bits of the classes with this hand value
        ("groups", np.int64, (MAX_GROUPS,)),  # multisets of ranks that sum to a value, by value and highest rank
        ("group_start", np.int64, (NUM_VALUES, NUM_RANKS + 1)),  # where those of a value with highest rank r begin
        ("group_ranks", np.int64, (NUM_VALUES,)),  # bits of the ranks that are in groups of a value
        ("group_values", np.int32, (1 << NUM_RANKS,)),  # bits of the values that have a group within a set of ranks
        ("divisors", np.int32, (MAX_SUM + 1,)),  # bits of the values that divide a sum
        ("mulle_value", np.int64, (NUM_KINDS,)),  # what a mulle with each kind counts (G2)
    ],
    align=True,
)
# The mark comes first: behind the other fields, Numba would take these records for records of `COMPILED`.
MAIN_COMPILED = np.dtype([(SPARES, np.bool_), *((name, COMPILED[name]) for name in COMPILED.names or ())], align=True)


@kernel
def hand_value_of(compiled: np.record, card: int) -> int:
    """Look up the hand value of a card kind, or of a rank 0..12 (R2); of two values the lower one."""
    return compiled.hand_value[card]


@kernel
def table_value_of(compiled: np.record, card: int) -> int:
    """Look up the table value of a card kind, or of a rank 0..12 (R2); NUM_VALUES if it has two."""
    return compiled.table_value[card]


@kernel
def sum_of(compiled: np.record, ranks: int) -> int:
    """Sum the table values of a packed multiset of ranks."""
    total = np.int64(0)
    while ranks != 0:
        rank = trailing_zeros(np.int64(ranks)) // NIBBLE
        count = ranks >> NIBBLE * rank & 15
        ranks ^= count << NIBBLE * rank
        total += count * compiled.table_value[rank]
    return total


@kernel
def classes_of_values(compiled: np.record, values: int) -> int:
    """Find the classes that have one of some hand values, both as bits; most classes are ranks."""
    classes = np.int64(0)
    while values != 0:
        classes |= compiled.value_classes[trailing_zeros(np.int64(values))]
        values &= values - 1
    return classes


@kernel
def kinds_of_values(compiled: np.record, values: int) -> int:
    """Find the kinds that have one of some hand values, both as bits."""
    kinds = np.int64(0)
    while values != 0:
        kinds |= compiled.value_kinds[trailing_zeros(np.int64(values))]
        values &= values - 1
    return kinds


def asks_for_sweeps(rules: Rules) -> bool:
    """Check whether play depends on who could sweep the table: not if captures are optional and no sweep is forced."""
    return rules.capture == "maximal" or rules.forced_sweep


def lead_sign(rules: Rules) -> int:
    """Give the sign of a lead: 1 if fewer points are better, -1 if more are."""
    return 1 if rules.goal == "low" else -1


def pack_ranks(ranks: list[int]) -> int:
    """Pack a multiset of ranks (1..13) into an int, four bits a rank."""
    return sum(1 << NIBBLE * (rank - 1) for rank in ranks)


def find_groups(rules: Rules, value: int) -> list[int]:
    """List all packed multisets of ranks in the deck whose table values can sum to a value (R7, S1), sorted.

    Of a rank with two values each card may have either.
    """
    _, table_values = capture_values(rules)
    if value >= FIRST_LONER:
        return [pack_ranks([rank]) for rank in PICTURES if value in table_values[rank - 1]]
    return sorted(_groups_by_sum(table_values, rules.ranks, rules.packs * len(rules.suits))(NUM_RANKS, value))


@lru_cache(maxsize=64)
def _groups_by_sum(table_values: Choices, ranks: tuple[int, ...], copies: int) -> Callable[[int, int], set[int]]:
    """Return the packed multisets of the ranks up to one that can sum to a value, as a function of both."""

    @cache
    def extend(rank: int, left: int) -> set[int]:
        if rank == 0:
            return {0} if left == 0 else set()
        groups = set(extend(rank - 1, left))
        sums = {0}
        for count in range(1, copies + 1 if rank in ranks else 1):
            sums = {total + value for total in sums for value in table_values[rank - 1] if total + value <= left}
            groups |= {
                (count << NIBBLE * (rank - 1)) + rest for total in sums for rest in extend(rank - 1, left - total)
            }
        return groups

    return extend


@lru_cache(maxsize=256)
def compile_rules(rules: Rules) -> np.ndarray:
    """Compile rules into the record that kernels read; equal rules share one array, which never changes.

    It is (1,) of `COMPILED`, or of `MAIN_COMPILED` for rules like the main game's. For these, kernels are compiled
    without what only other rules run (`other_kernel`).
    """
    array = _compile(rules)
    if array.is_main[0]:
        marked = records(MAIN_COMPILED, 1)
        for name in COMPILED.names or ():
            marked[name] = array[name]
        array = marked
    return handle(array)


def _compile(rules: Rules) -> np.recarray:
    """Compile rules into an array, (1,) of `COMPILED`."""
    array = records(COMPILED, 1)
    compiled = array[0]
    kinds = np.arange(NUM_KINDS)
    for name in (name for name in COMPILED.names or () if hasattr(rules, name) and name != "tie_break"):
        value = getattr(rules, name)
        array[name] = NEVER if value is None else value
    compiled.teams = rules.num_teams
    compiled.relative_team[:] = np.arange(MAX_PLAYERS) % rules.num_teams
    compiled.tie_break = ("share", "spades", "finnish", "play_on").index(rules.tie_break)
    compiled.optional = rules.capture == "optional"
    compiled.identical_sweep = 1 if rules.double_sweep == "none" else 2
    compiled.rank_sweep = 2 if rules.double_sweep == "rank" else 1
    compiled.lead_sign = lead_sign(rules)
    _copy_points(rules, compiled)
    compiled.deck[: rules.deck_size] = np.repeat(kinds, rules.deck_counts)
    compiled.matches[:], compiled.may_crowd = matching_ranks(rules), may_crowd(rules)
    compiled.is_aside[:] = rules.aside_kinds
    for kind in map(int, np.flatnonzero(rules.deck_counts)):
        if compiled.is_aside[kind]:
            compiled.aside_ranks |= 15 << NIBBLE * (kind % NUM_RANKS)
        compiled.point_kinds |= int(compiled.card_points[kind] != 0) << kind
    _list_values(rules, compiled)
    counts_more = compiled.counts_piles or rules.threshold_at_once or not compiled.counts_plainly
    compiled.is_main = not (compiled.optional or compiled.chooses_value or compiled.has_special or counts_more)
    compiled.extra_features = has_extra_features(rules)
    for name, block in rules.layout.items():
        compiled.entries = block.stop
        if name in EXTRA:
            compiled.blocks[EXTRA.index(name)] = block.start
    _plan_deals(rules, compiled)
    _list_groups(rules, compiled)
    sums = np.arange(MAX_SUM + 1)
    for value in map(int, np.flatnonzero(compiled.value_kinds)):
        compiled.divisors[(sums % value == 0) | (compiled.varied_ranks != 0)] |= 1 << value
    if not asks_for_sweeps(rules):
        compiled.divisors[0] = 0
    return array


def _copy_points(rules: Rules, compiled: np.record) -> None:
    """Write what counts points, and which sweeps count."""
    compiled.previous_pays = rules.sweep_payer == "seat_before"
    compiled.judges_sweeps = rules.sweep_limit is not None or not rules.last_deal_sweeps
    counts_more = compiled.judges_sweeps or rules.sweeps_cancel or "mulles" in rules.layout
    compiled.counts_plainly = compiled.previous_pays and not counts_more
    compiled.counts_piles = "cards_won" in rules.layout
    compiled.two_share = rules.spades_tie == "two_share"
    compiled.mulle_value[:] = mulle_values(rules)
    compiled.num_spades = rules.deck_counts[SPADES * NUM_RANKS :].sum()
    compiled.first_price = 0 if rules.goal == "low" else rules.card_points.max()
    points = rules.total_points + rules.most_spades_points + rules.most_cards_points + compiled.num_spades
    mulles = rules.mulle_points * rules.deck_size // 2
    compiled.may_cut = points + abs(rules.initial_match_bonus) + mulles >= 127


def _list_values(rules: Rules, compiled: np.record) -> None:
    """Write the values of each kind and rank, and which kinds have each value from the hand (R2, S1, F1)."""
    hands, table = capture_values(rules)
    compiled.class_of[:] = rank_classes(rules)
    compiled.has_special = rules.lillan_hand_value is not None or rules.storan_hand_value is not None
    compiled.class_rank[:] = [*range(NUM_RANKS), LILLAN % NUM_RANKS, STORAN % NUM_RANKS]
    compiled.chooses_value = any(len(choice) > 1 for choice in hands)
    for rank in range(NUM_RANKS):
        compiled.table_choice[rank] = sum(1 << value for value in table[rank])
        compiled.varied_ranks |= int(len(table[rank]) > 1) << rank
    for kind in range(NUM_KINDS):
        values = table[kind % NUM_RANKS]
        compiled.hand_value[kind] = min(hands[kind])
        compiled.lowest_value[kind] = min(values)
        compiled.table_value[kind] = values[0] if len(values) == 1 else NUM_VALUES
        if asks_for_sweeps(rules):
            compiled.sum_value[kind] = compiled.table_value[kind]
        compiled.hand_choice[kind] = sum(1 << value for value in hands[kind])
        for value in hands[kind] if rules.deck_counts[kind] else ():
            compiled.value_kinds[value] |= 1 << kind
            compiled.value_classes[value] |= 1 << compiled.class_of[kind]


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
    count, values, starts, used = 0, compiled.group_values, compiled.group_start, compiled.group_ranks
    for value in range(NUM_VALUES):
        groups = find_groups(rules, value) if compiled.value_kinds[value] else []
        for top in range(NUM_RANKS + 1):
            starts[value, top] = count + bisect_left(groups, 1 << NIBBLE * top)
        compiled.groups[count : count + len(groups)] = groups
        count += len(groups)
        for group in groups:
            ranks = sum(1 << rank for rank in range(NUM_RANKS) if group >> NIBBLE * rank & 15)
            values[ranks] |= 1 << value
            used[value] |= ranks
    for rank in range(NUM_RANKS):  # a group within a set of ranks is within every larger set
        has_rank = np.arange(1 << NUM_RANKS) >> rank & 1 == 1
        values[has_rank] |= values[~has_rank]


# ---------------------------------------------------------------------- packed multisets of ranks, and bits

_LOW = 0x0F0F0F0F0F0F0F  # every second rank of a packed multiset
_GUARD = 0x10101010101010
ONES = 0x1111111111111  # bit 0 of every rank


@kernel
def bit_index(bit: int) -> int:
    """Find the position of the only set bit."""
    return trailing_zeros(np.int64(bit))


@kernel
def count_bits(bits: int) -> int:
    """Count the set bits of a number below 2**62."""
    bits -= bits >> 1 & 0x5555555555555555
    bits = (bits & 0x3333333333333333) + (bits >> 2 & 0x3333333333333333)
    bits = (bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0F
    bits += bits >> 8
    bits += bits >> 16
    return (bits + (bits >> 32)) & 127


@kernel
def fits(part: int, whole: int) -> bool:
    """Check whether a packed multiset is contained in another."""
    even = ((whole & _LOW) | _GUARD) - (part & _LOW)
    odd = ((whole >> NIBBLE & _LOW) | _GUARD) - (part >> NIBBLE & _LOW)
    return even & odd & _GUARD == _GUARD


@kernel
def support(ranks: int) -> int:
    """Find the ranks in a packed multiset, as bits."""
    flags = (ranks | ranks >> 1 | ranks >> 2 | ranks >> 3) & ONES
    flags = (flags | flags >> 3) & 0x03030303030303
    flags = (flags | flags >> 6) & 0x000F000F000F000F
    flags = (flags | flags >> 12) & 0x000000FF000000FF
    return (flags | flags >> 24) & 0x1FFF


@kernel
def highest(ranks: int) -> int:
    """Find the highest rank, 0..12, in a multiset that is not empty."""
    return (63 - leading_zeros(np.int64(ranks))) // NIBBLE


@kernel
def highest_beyond(ranks: int, others: int) -> int:
    """Find the highest rank, 0..12, of which a multiset has more copies than another; there must be one."""
    even = ((others & _LOW) | _GUARD) - (ranks & _LOW)
    odd = ((others >> NIBBLE & _LOW) | _GUARD) - (ranks >> NIBBLE & _LOW)
    return highest((~even & _GUARD) >> NIBBLE | (~odd & _GUARD))


@kernel
def takes_whole_ranks(capture: int, table: int) -> bool:
    """Check whether a capture takes all cards of its ranks, so that it leaves no choice between kinds."""
    rest = table - capture
    left = (rest | rest >> 1 | rest >> 2 | rest >> 3) & ONES
    used = (capture | capture >> 1 | capture >> 2 | capture >> 3) & ONES
    return left & used == 0
