"""What an action costs and leads to, from what the seat to act sees: its capture, points, sweeps, and what it leaves.

If an action leaves several captures to choose from, the one with the lowest cost counts: points and own sweeps, minus
the expected sweep of the next seat. Where captures are optional it is the one that is worth most now (K2).
"""

from __future__ import annotations

import numpy as np

from krypenv.cards import MAX_BUILD, NUM_KINDS, NUM_RANKS, NUM_SUITS, STOP, TAKE
from krypenv.kernels.builds import sweep_builds
from krypenv.kernels.captures import captures_of, find_sweep_values
from krypenv.kernels.compiled import (
    BUILD_OWNER,
    BUILDING,
    BUILT,
    BUILT_TWIN,
    NIBBLE,
    bit_index,
    fits,
    hand_value_of,
    sum_of,
    support,
    table_value_of,
)
from krypenv.kernels.gains import choose_cards, find_best, price_of, search_best
from krypenv.kernels.outlook import chance_of_sweep
from krypenv.kernels.scoring import cost_of, sweeps_of
from krypenv.observation import LAYOUT
from krypenv.runtime.jit import kernel, other_kernel

_HAND, _TABLE, _ASIDE, _TAKEN, _CAPTURER = (
    LAYOUT[name].start for name in ("hand", "table", "set_aside", "taken", "last_capturer")
)
_NEVER = 1e9  # more than anything is worth


@kernel
def weigh_action(compiled: np.record, seen: np.ndarray, action: int, outlook: np.record, scratch: np.record) -> float:
    """Weigh a legal action: write its consequences into `outlook`, return its cost; call `read_outlook` first."""
    if compiled.optional:
        return weigh_optional(compiled, seen, action, outlook, scratch)
    taking = action >= TAKE
    card = outlook.card if taking else action
    count = captures_of(compiled, card, outlook.ranks, scratch)
    outlook.creeps = count == 0
    needed = outlook.taken_ranks
    if count == 0:
        scratch.captures[0], count, needed = 0, 1, 0
    if taking:
        outlook.forced[action - TAKE] += 1
        needed += np.int64(1) << NIBBLE * ((action - TAKE) % NUM_RANKS)
    best, chosen, weighed = _NEVER, np.int64(-1), np.int64(-1)
    least = np.int64(_NEVER)
    for at in range(count):
        capture = scratch.captures[at]
        if fits(needed, capture):
            cost = _weigh_capture(compiled, seen, card, capture, outlook, scratch)
            weighed = capture
            least = min(least, outlook.points)
            if cost < best:
                best, chosen = cost, capture
    if weighed != chosen:
        _weigh_capture(compiled, seen, card, chosen, outlook, scratch)
    if taking:
        outlook.forced[action - TAKE] -= 1
    outlook.least_points, outlook.capture = least, chosen
    return best


@kernel
def _weigh_capture(
    compiled: np.record, seen: np.ndarray, card: int, capture: int, outlook: np.record, scratch: np.record
) -> float:
    """Weigh one capture (0: the card creeps): it takes of each rank the forced cards, and then the cheapest."""
    total = outlook.total
    points = np.int64(compiled.card_points[card]) if capture else np.int64(0)
    ranks = support(capture)
    while ranks != 0:
        bit = ranks & -ranks
        ranks ^= bit
        rank = bit_index(bit)
        wanted = capture >> NIBBLE * rank & 15
        total -= wanted * table_value_of(compiled, rank)
        points += _cheapest(compiled, seen, rank, wanted, outlook)
    left = outlook.ranks - capture
    outlook.sweeps = 0.0
    if left == 0 and capture:
        outlook.sweeps = sweeps_of(compiled, card, outlook.ranks, seen[_TABLE + card])
    if capture == 0:
        left += np.int64(1) << NIBBLE * (card % NUM_RANKS)
        total += table_value_of(compiled, card)
    if outlook.deal_ends:
        left, points = _end_deal(compiled, seen, card, capture, left, points, outlook)
        total = sum_of(compiled, left)
    outlook.points, outlook.left = points, left
    _expect_sweep(compiled, np.int64(find_sweep_values(compiled, left, total, scratch)), outlook)
    return cost_of(compiled, points, outlook.sweeps, outlook.chance)


@other_kernel
def weigh_optional(compiled: np.record, seen: np.ndarray, action: int, outlook: np.record, scratch: np.record) -> float:
    """Weigh an action where captures are optional: its best capture is the one worth most now (K2)."""
    gains = outlook.gains
    card = np.int64(outlook.card if action >= TAKE else action)
    ranks = find_best(compiled, card, action, seen[_TABLE:], seen[_TAKEN:], gains)
    gains.wanted = 1
    outlook.lays, outlook.built, outlook.builds_left = False, 0, 0
    if compiled.building:
        weigh_build(compiled, seen, card, action, outlook)
        if outlook.lays:
            return weigh_laid(compiled, card, ranks, outlook, scratch)
    search_best(compiled, card, ranks, outlook.sweeps_count, gains, scratch)
    capture = np.int64(gains.captures[0])
    choose_cards(compiled, card, capture, gains)
    if gains.values[0] == -_NEVER:
        gains.values[0] = 0.0
    captures = capture != 0 or outlook.built != 0
    outlook.creeps, outlook.capture, outlook.gain = not captures, capture, gains.values[0]
    points, least = np.int64(0), np.int64(0)
    for kind in range(NUM_KINDS):
        points += gains.chosen[kind] * compiled.card_points[kind]
        least += gains.forced[kind] * compiled.card_points[kind]
    points += captures * compiled.card_points[card]
    least += (gains.least != 0) * compiled.card_points[card]
    outlook.sweeps = 0
    if captures and capture == ranks and gains.clears:
        is_alone = outlook.built == 0
        outlook.sweeps = sweeps_of(compiled, card, ranks, seen[_TABLE + card]) if is_alone else 1
    left = ranks - capture
    if not captures:
        left += np.int64(1) << NIBBLE * (card % NUM_RANKS)
    if outlook.deal_ends:
        taken = ranks if outlook.built else capture  # who takes a build with the last card has all that is left
        left, points = _end_deal(compiled, seen, card, taken, left, points, outlook)
    if outlook.built:
        points += points_of_build(compiled, seen, np.int64(outlook.built))
    outlook.least_points, outlook.points, outlook.left = least, points, left
    return _cost_of_next_sweep(compiled, left, outlook, scratch) - gains.values[0]


@kernel
def _expect_sweep(compiled: np.record, values: int, outlook: np.record) -> None:
    """Write which hand values sweep what an action leaves, as bits, and the chance that the next seat holds one."""
    outlook.sweepers = values
    outlook.chance = chance_of_sweep(compiled, outlook, values) if values != 0 else 0.0


@kernel
def _cost_of_next_sweep(compiled: np.record, left: int, outlook: np.record, scratch: np.record) -> float:
    """Compute the expected cost of a sweep by the next seat, and write the hand values that make one.

    `left` are the loose cards that the action leaves, packed; a sweep takes these and all builds (B6).
    """
    values = np.int64(find_sweep_values(compiled, left, sum_of(compiled, left), scratch))
    if compiled.building:
        values = sweep_builds(values, left, np.int64(outlook.builds_left))
    _expect_sweep(compiled, values, outlook)
    next_sweeps = outlook.chance if compiled.previous_pays else 0.0
    return next_sweeps * -compiled.lead_sign * compiled.sweep_points


@other_kernel
def weigh_build(compiled: np.record, seen: np.ndarray, card: int, action: int, outlook: np.record) -> None:
    """Add the build of the card's value to all its captures, if it is to be taken, and note which builds stay (B1, B6).

    A player for few points takes it only to keep a promise (B5).
    """
    gains, owners = outlook.gains, compiled.blocks[BUILD_OWNER]
    value = hand_value_of(compiled, card)
    owns = False
    for other in range(1, MAX_BUILD + 1):
        owns |= seen[owners + other - 1] == 1
        outlook.builds_left |= np.int64(seen[owners + other - 1] != 0) << other
    outlook.lays = seen[compiled.blocks[BUILDING]] != 0
    owner = seen[owners + value - 1]
    cards = np.int64(0)  # of the value that stay in the hand
    for kind in range(NUM_KINDS):
        if hand_value_of(compiled, kind) == value:
            cards += seen[_HAND + kind] - np.int64(action == kind)
    must = owner == 1 and cards == 0
    if not outlook.lays and owner != 0 and action != STOP and (compiled.lead_sign < 0 or must):
        outlook.built = value
        outlook.builds_left ^= np.int64(1) << value
        for kind in range(NUM_KINDS):
            price = price_of(compiled, kind, gains.card_price, gains.spade_price) + (kind == card) * gains.copy_price
            gains.start += built_copies(compiled, seen, kind, value) * price
        gains.nothing = gains.start
    elif owns:  # and may not trail, if there is anything else
        gains.nothing = -_NEVER
    gains.clears = outlook.builds_left == 0
    if outlook.built and gains.clears and outlook.ranks == 0 and outlook.sweeps_count:
        gains.nothing -= compiled.lead_sign * compiled.sweep_points


@other_kernel
def weigh_laid(compiled: np.record, card: int, ranks: int, outlook: np.record, scratch: np.record) -> float:
    """Weigh an action that goes on with a build, or ends one: it takes nothing (B2)."""
    gains = outlook.gains
    outlook.creeps, outlook.capture, outlook.gain = False, 0, 0.0
    outlook.least_points, outlook.points, outlook.sweeps = 0, 0, 0
    choose_cards(compiled, card, np.int64(0), gains)
    left = ranks - gains.least
    outlook.left = left
    return _cost_of_next_sweep(compiled, left, outlook, scratch)


@kernel
def built_copies(compiled: np.record, seen: np.ndarray, kind: int, value: int) -> int:
    """Count the copies of a kind in the build of a value, or with 0 in all builds."""
    copies = np.int64(0)
    for block in (BUILT, BUILT_TWIN):
        lies_in = seen[compiled.blocks[block] + kind]
        copies += lies_in != 0 and (value == 0 or lies_in == value)
    return copies


@kernel
def points_of_build(compiled: np.record, seen: np.ndarray, value: int) -> int:
    """Count the points of a build's cards."""
    points = np.int64(0)
    for kind in range(NUM_KINDS):
        points += built_copies(compiled, seen, kind, value) * compiled.card_points[kind]
    return points


@kernel
def cost_now(compiled: np.record, outlook: np.record) -> float:
    """Compute the immediate cost of the action weighed last, without what it leaves to the next seat."""
    if not compiled.is_main and compiled.optional:
        return -outlook.gain
    points = outlook.least_points if compiled.lead_sign > 0 else outlook.points
    return cost_of(compiled, points, outlook.sweeps, 0.0)


@kernel
def _cheapest(compiled: np.record, seen: np.ndarray, rank: int, wanted: int, outlook: np.record) -> int:
    """Count the points of the cheapest `wanted` table cards of a rank that contain the forced ones.

    With a high goal, these are the dearest cards.
    """
    points = np.int64(0)
    for suit in range(NUM_SUITS):
        kind = suit * NUM_RANKS + rank
        points += outlook.forced[kind] * compiled.card_points[kind]
        wanted -= outlook.forced[kind]
    price = np.int64(compiled.first_price)
    while wanted > 0:
        for suit in range(NUM_SUITS):
            kind = suit * NUM_RANKS + rank
            if compiled.card_points[kind] == price:
                count = min(seen[_TABLE + kind] - outlook.forced[kind], wanted)
                points += count * price
                wanted -= count
        price += compiled.lead_sign
    return points


@kernel
def _end_deal(
    compiled: np.record, seen: np.ndarray, card: int, capture: int, left: int, points: int, outlook: np.record
) -> tuple[int, int]:
    """Compute table and points after the last play of a deal: cards are set aside, or at the end given away."""
    ends = outlook.game_ends
    takes_rest = ends and (capture != 0 or seen[_CAPTURER] != 0)
    if takes_rest:
        points = np.int64(compiled.card_points[card])
        for kind in range(NUM_KINDS):
            points += (np.int64(seen[_TABLE + kind]) + seen[_ASIDE + kind]) * compiled.card_points[kind]
    if ends:
        return np.int64(0), points
    for kind in range(NUM_KINDS):
        if compiled.is_aside[kind]:
            rank = kind % NUM_RANKS
            stays = left >> NIBBLE * rank & 15
            # if only some cards of a rank are set aside (V3), assume that the capture left those
            count = min(np.int64(seen[_TABLE + kind]) + (capture == 0 and kind == card), stays)
            left -= count << NIBBLE * rank
    return left, points
