"""The features block: for each legal action its points, its sweeps, and the sweeps that it sets up for the next seat.

All of it follows from the observation and the action mask. If an action leaves several captures to choose from, the
entries describe the one with the lowest cost: points and own sweeps, minus the expected sweep of the next seat.
"""

from __future__ import annotations

import numpy as np

from krypenv.cards import NO_CARD, NUM_KINDS, NUM_RANKS, NUM_SUITS, TAKE
from krypenv.families.bounds import LILLAN, STORAN
from krypenv.kernels.captures import bit_index, borrow_scratch, captures_of, find_sweep_values, fits, support
from krypenv.kernels.checks import check_decisions
from krypenv.kernels.compiled import (
    NIBBLE,
    NUM_CLASSES,
    SPECIAL,
    classes_of_values,
    compile_rules,
    rank_on_table,
    sum_of,
    table_value_of,
)
from krypenv.kernels.observation import LAYOUT, clip_int8
from krypenv.kernels.scoring import cost_of, sweeps_of
from krypenv.rules import Rules
from krypenv.runtime.jit import handle, kernel, records

_ENTRIES: tuple[tuple[str, int, str], ...] = (
    ("creeps", 1, "1 if the card captures nothing"),
    ("least_points", 1, "fewest points that it can take, over all its captures"),
    ("points", 1, "points that the best capture takes"),
    ("sweeps", 1, "sweeps that it makes: 0, 1 or 2"),
    ("chance", 1, "chance in percent that the next seat can sweep what it leaves"),
    ("sweepers", NUM_RANKS, "by rank: unseen cards that the next seat may hold and that would sweep what it leaves"),
)
WIDTH = sum(size for _, size, _ in _ENTRIES)  # entries for each kind
SIZE = NUM_KINDS * WIDTH  # the block is (52, WIDTH), flat: a row for each kind to play or take, other rows zero
COLUMNS: dict[str, slice] = {}
for _name, _size, _ in _ENTRIES:
    _start = max((part.stop for part in COLUMNS.values()), default=0)
    COLUMNS[_name] = slice(_start, _start + _size)
DESCRIPTIONS: dict[str, str] = {name: text for name, _, text in _ENTRIES}

_CREEPS, _LEAST_POINTS, _POINTS, _SWEEPS, _CHANCE, _SWEEPERS = (part.start for part in COLUMNS.values())
_TABLE, _SEEN, _ASIDE, _PENDING, _TAKEN = (LAYOUT[n].start for n in ("table", "seen", "set_aside", "pending", "taken"))
_HAND_SIZE, _CAPTURER, _DEALER = (LAYOUT[n].start for n in ("hand_size", "last_capturer", "dealer"))
_CANNOT_HOLD, _DEALS_LEFT = (LAYOUT[n].start for n in ("cannot_hold", "deals_left"))


FEATURE_SCRATCH = np.dtype(
    [
        ("ranks", np.int64),  # the table as a packed multiset of ranks
        ("total", np.int64),  # and its sum
        ("card", np.int64),  # the card whose capture is being chosen, else NO_CARD
        ("taken_ranks", np.int64),  # what it has taken so far, packed
        ("drawn", np.int64),  # cards that the next seat will hold
        ("pool", np.int64),  # unseen cards that they come from
        ("deal_ends", np.bool_),  # this is the last play of the deal
        ("game_ends", np.bool_),  # this is the last play of the game
        ("unseen", np.int64, (NUM_CLASSES,)),  # the pool by class, which is mostly the rank
        ("forced", np.int8, (NUM_KINDS,)),  # copies that the capture must contain
        # what `weigh` found for an action:
        ("creeps", np.bool_),
        ("least_points", np.int64),
        ("points", np.int64),
        ("sweeps", np.int64),
        ("chance", np.float64),
        ("sweepers", np.int64),  # bits of the hand values that sweep what is left
        ("left", np.int64),  # what is left, packed
    ],
    align=True,
)


def width_of(rules: Rules, features: bool) -> int:
    """Return N, the number of entries of an observation, with or without the features block."""
    return rules.observation_size + (SIZE if features else 0)


def make_feature_scratch(threads: int = 1) -> np.ndarray:
    """Return scratch for some threads, (threads,) of `FEATURE_SCRATCH`: what all actions of a decision share."""
    return handle(records(FEATURE_SCRATCH, threads))


@kernel
def look(compiled: np.record, observation: np.ndarray, feature_scratch: np.record) -> None:
    """Read what the consequences of all actions depend on from an observation, (>= 433,) int8, of the seat to act."""
    pending = False
    for kind in range(NUM_KINDS):
        feature_scratch.forced[kind] = observation[_TAKEN + kind]
        pending |= observation[_PENDING + kind] != 0
    feature_scratch.card = NO_CARD
    feature_scratch.ranks, feature_scratch.total, feature_scratch.taken_ranks = 0, 0, 0
    for rank in range(NUM_RANKS):
        count = np.int64(0)
        for suit in range(NUM_SUITS):
            count += observation[_TABLE + suit * NUM_RANKS + rank]
        feature_scratch.ranks += count << NIBBLE * rank
        feature_scratch.total += count * rank_on_table(compiled, rank)
    if pending:
        for kind in range(NUM_KINDS):
            feature_scratch.taken_ranks += np.int64(observation[_TAKEN + kind]) << NIBBLE * (kind % NUM_RANKS)
            if observation[_PENDING + kind]:
                feature_scratch.card = kind

    own = np.int64(observation[_HAND_SIZE]) - (feature_scratch.card == NO_CARD)
    others = np.int64(0)
    for place in range(1, compiled.players):
        others += observation[_HAND_SIZE + place]
    feature_scratch.deal_ends = own + others == 0
    feature_scratch.game_ends = own + others == 0 and observation[_DEALS_LEFT] == 0
    drawn = np.int64(observation[_HAND_SIZE + 1])
    if (
        feature_scratch.deal_ends and not feature_scratch.game_ends and observation[_DEALER]
    ):  # the seat to the left leads the next deal
        number = compiled.num_deals - observation[_DEALS_LEFT]
        for at in range(compiled.deal_start[number], compiled.deal_start[number + 1]):
            drawn += compiled.destination[at] == 0
    feature_scratch.drawn = drawn
    pool = np.int64(0)
    for rank in range(NUM_RANKS):
        count = np.int64(0)
        if feature_scratch.deal_ends or not observation[_CANNOT_HOLD + rank]:
            for suit in range(NUM_SUITS):
                kind = suit * NUM_RANKS + rank
                count += compiled.deck_counts[kind] - observation[_SEEN + kind]
        feature_scratch.unseen[rank] = count
        pool += count
    if compiled.has_special:
        pool = _part_special(compiled, observation, feature_scratch, pool)
    feature_scratch.pool = pool


@kernel
def _part_special(compiled: np.record, observation: np.ndarray, feature_scratch: np.record, pool: int) -> int:
    """Count lillan and storan by themselves where they have values of their own (F1); return the pool's size."""
    block = compiled.further[SPECIAL]
    for at in range(NUM_CLASSES - NUM_RANKS):
        kind = LILLAN if at == 0 else STORAN
        rank = kind % NUM_RANKS
        feature_scratch.unseen[NUM_RANKS + at] = 0
        if compiled.class_of[kind] == rank:
            continue
        left = np.int64(compiled.deck_counts[kind] - observation[_SEEN + kind])
        free = feature_scratch.deal_ends or not observation[_CANNOT_HOLD + rank]
        if free:
            feature_scratch.unseen[rank] -= left
            pool -= left
        if feature_scratch.deal_ends or block == 0 or not observation[block + at]:
            feature_scratch.unseen[NUM_RANKS + at] = left
            pool += left
    return pool


@kernel
def chance_of_sweep(compiled: np.record, feature_scratch: np.record, values: int) -> float:
    """Return the chance that the next seat holds a card with one of some hand values, given as bits."""
    classes = classes_of_values(compiled, values)
    hits = np.int64(0)
    while classes != 0:
        bit = classes & -classes
        classes ^= bit
        hits += feature_scratch.unseen[bit_index(bit)]
    return chance_of_hit(hits, feature_scratch.pool, feature_scratch.drawn)


@kernel
def chance_of_hit(hits: int, pool: int, drawn: int) -> float:
    """Return the chance that at least one of `hits` cards is among those drawn from their pool (hypergeometric)."""
    if hits == 0:
        return 0.0
    missed = 1.0
    for draw in range(drawn):
        missed *= max(pool - hits - draw, 0) / max(pool - draw, 1)
    return 1.0 - missed


@kernel
def weigh(
    compiled: np.record, observation: np.ndarray, action: int, feature_scratch: np.record, scratch: np.record
) -> float:
    """Write the consequences of a legal action into `feature_scratch` and return its cost; call `look` first."""
    taking = action >= TAKE
    card = feature_scratch.card if taking else action
    extra = np.int64(1) << NIBBLE * ((action - TAKE) % NUM_RANKS) if taking else np.int64(0)
    count = captures_of(compiled, card, feature_scratch.ranks, scratch)
    feature_scratch.creeps = count == 0
    if count == 0:
        best = _weigh_capture(compiled, observation, card, np.int64(0), feature_scratch, scratch)
        feature_scratch.least_points = feature_scratch.points
        return best
    if taking:
        feature_scratch.forced[action - TAKE] += 1
    least = 1e9
    best = 1e9
    best_points, best_sweeps, best_chance, best_values, best_left = 0.0, 0.0, 0.0, 0.0, np.int64(0)
    needed = feature_scratch.taken_ranks + extra
    for at in range(count):
        capture = scratch.captures[at]
        if fits(needed, capture):
            value = _weigh_capture(compiled, observation, card, capture, feature_scratch, scratch)
            least = min(least, feature_scratch.points)
            if value < best:
                best = value
                best_points, best_sweeps = feature_scratch.points, feature_scratch.sweeps
                best_chance, best_values, best_left = (
                    feature_scratch.chance,
                    feature_scratch.sweepers,
                    feature_scratch.left,
                )
    if taking:
        feature_scratch.forced[action - TAKE] -= 1
    feature_scratch.least_points, feature_scratch.points, feature_scratch.sweeps = least, best_points, best_sweeps
    feature_scratch.chance, feature_scratch.sweepers, feature_scratch.left = best_chance, best_values, best_left
    return best


@kernel
def _weigh_capture(
    compiled: np.record,
    observation: np.ndarray,
    card: int,
    capture: int,
    feature_scratch: np.record,
    scratch: np.record,
) -> float:
    """Weigh one capture (0: the card creeps): it takes of each rank the forced cards, and then the cheapest."""
    total = feature_scratch.total
    points = np.int64(compiled.card_points[card]) if capture else np.int64(0)
    ranks = support(capture)
    while ranks != 0:
        bit = ranks & -ranks
        ranks ^= bit
        rank = bit_index(bit)
        wanted = capture >> NIBBLE * rank & 15
        total -= wanted * rank_on_table(compiled, rank)
        points += _cheapest(compiled, observation, rank, wanted, feature_scratch)
    left = feature_scratch.ranks - capture
    feature_scratch.sweeps = 0.0
    if left == 0 and capture:
        feature_scratch.sweeps = sweeps_of(compiled, card, feature_scratch.ranks, observation[_TABLE + card])
    if capture == 0:
        left += np.int64(1) << NIBBLE * (card % NUM_RANKS)
        total += table_value_of(compiled, card)
    if feature_scratch.deal_ends:
        left, points = _end_deal(compiled, observation, card, capture, left, points, feature_scratch)
        total = sum_of(compiled, left)
    feature_scratch.points, feature_scratch.left = points, left
    values = np.int64(find_sweep_values(compiled, left, total, scratch)) if left else np.int64(0)
    feature_scratch.sweepers = values
    feature_scratch.chance = chance_of_sweep(compiled, feature_scratch, values) if values else 0.0
    return cost_of(compiled, points, feature_scratch.sweeps, feature_scratch.chance)


@kernel
def _cheapest(compiled: np.record, observation: np.ndarray, rank: int, wanted: int, feature_scratch: np.record) -> int:
    """Return the points of the cheapest `wanted` table cards of a rank that contain the forced ones."""
    points = np.int64(0)
    for suit in range(NUM_SUITS):
        kind = suit * NUM_RANKS + rank
        points += feature_scratch.forced[kind] * compiled.card_points[kind]
        wanted -= feature_scratch.forced[kind]
    price = np.int64(0)
    while wanted > 0:
        for suit in range(NUM_SUITS):
            kind = suit * NUM_RANKS + rank
            if compiled.card_points[kind] == price:
                count = min(observation[_TABLE + kind] - feature_scratch.forced[kind], wanted)
                points += count * price
                wanted -= count
        price += 1
    return points


@kernel
def _end_deal(
    compiled: np.record,
    observation: np.ndarray,
    card: int,
    capture: int,
    left: int,
    points: int,
    feature_scratch: np.record,
) -> tuple[int, int]:
    """Return table and points after the last play of a deal: cards are set aside, or at the end given away."""
    ends = feature_scratch.game_ends
    takes_rest = ends and (capture != 0 or observation[_CAPTURER] != 0)
    if takes_rest:
        points = np.int64(compiled.card_points[card])
        for kind in range(NUM_KINDS):
            points += (np.int64(observation[_TABLE + kind]) + observation[_ASIDE + kind]) * compiled.card_points[kind]
    if ends:
        return np.int64(0), points
    for kind in range(NUM_KINDS):
        if compiled.is_aside[kind]:
            rank = kind % NUM_RANKS
            stays = left >> NIBBLE * rank & 15
            # if only some cards of a rank are set aside (V3), assume that the capture left those
            count = min(np.int64(observation[_TABLE + kind]) + (capture == 0 and kind == card), stays)
            left -= count << NIBBLE * rank
    return left, points


@kernel
def write_features(
    compiled: np.record,
    observation: np.ndarray,
    plays: int,
    takes: int,
    feature_scratch: np.record,
    scratch: np.record,
    out: np.ndarray,
) -> None:
    """Write the features block of an observation into `out`, (SIZE,) int8; legal plays and takes are bits of kinds."""
    for at in range(SIZE):
        out[at] = 0
    look(compiled, observation, feature_scratch)
    first = 0
    if takes != 0:
        first = TAKE
        plays = takes
    while plays != 0:
        bit = plays & -plays
        plays ^= bit
        kind = bit_index(bit)
        weigh(compiled, observation, first + kind, feature_scratch, scratch)
        write_entries(compiled, feature_scratch, out[kind * WIDTH : (kind + 1) * WIDTH])


@kernel
def write_entries(compiled: np.record, feature_scratch: np.record, out: np.ndarray) -> None:
    """Write what `weigh` found for an action into `out`, (WIDTH or more,) int8 zeros."""
    out[_CREEPS] = np.int64(feature_scratch.creeps)
    out[_LEAST_POINTS] = clip_int8(np.int64(feature_scratch.least_points))
    out[_POINTS] = clip_int8(np.int64(feature_scratch.points))
    out[_SWEEPS] = np.int64(feature_scratch.sweeps)
    out[_CHANCE] = np.int64(100.0 * feature_scratch.chance + 0.5)
    classes = classes_of_values(compiled, np.int64(feature_scratch.sweepers))
    while classes != 0:
        each = bit_index(classes & -classes)
        classes &= classes - 1
        out[_SWEEPERS + compiled.class_rank[each]] += feature_scratch.unseen[each]


@kernel
def _write_all(
    compiled: np.ndarray,
    observations: np.ndarray,
    masks: np.ndarray,
    feature_scratch: np.ndarray,
    scratch: np.ndarray,
    out: np.ndarray,
) -> None:
    for row in range(len(observations)):
        plays, takes = np.int64(0), np.int64(0)
        for kind in range(NUM_KINDS):
            plays |= np.int64(masks[row, kind]) << kind
            takes |= np.int64(masks[row, TAKE + kind]) << kind
        write_features(compiled[0], observations[row], plays, takes, feature_scratch[0], scratch[0], out[row])


def append_features(rules: Rules, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """Return observations with their features block, (B, 1369) int8, from (B, 433) int8 and masks (B, 105) int8.

    Where rules have further blocks, both are longer by them.

    Observations that have the block already are returned unchanged. Raises ValueError if they are not observations.
    """
    size = rules.observation_size
    if np.ndim(observations) == 2 and np.shape(observations)[1] > size:
        return observations
    observations, masks = check_decisions(rules, observations, masks)
    out = np.empty((len(observations), size + SIZE), np.int8)
    out[:, :size] = observations
    _write_all(compile_rules(rules), out, masks, make_feature_scratch(), borrow_scratch(), out[:, size:])
    return out
