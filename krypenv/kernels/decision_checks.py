"""Checks of observations and masks from outside, made before a kernel reads them.

Kernels trust their rows: too large a count would be written past the end of an array, a wrong one counted down forever.
`find_unsound` is quick and makes every kernel that reads observations safe. Whether a game can show an observation is
decided by `krypenv.worlds.determinize`, which builds one. `krypenv.worlds.invariants` checks states.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.cards import BUILD, MAX_BUILD, NUM_KINDS, NUM_RANKS, NUM_SUITS, STOP, TAKE
from krypenv.families.bounds import MAX_SUBSETS
from krypenv.kernels.compiled import BUILD_MULTIPLE, BUILD_OWNER, BUILDING, BUILT, BUILT_TWIN, compile_rules
from krypenv.observation import LAYOUT
from krypenv.rules import Rules
from krypenv.runtime.jit import for_kernels, kernel, other_kernel

_HAND, _TABLE, _SEEN, _ASIDE, _PENDING, _TAKEN = (
    LAYOUT[name].start for name in ("hand", "table", "seen", "set_aside", "pending", "taken")
)
_HAND_SIZE, _DEALS_LEFT = (LAYOUT[name].start for name in ("hand_size", "deals_left"))
Rows = npt.NDArray[np.int8]

# What can be wrong with an observation, a mask or a state.
SOUND, CARDS, TABLE_CARDS, PLAY, HANDS, TURN, POINTS, SESSION, LEGAL, KNOWN, HOLDS, SHOWN, MASK, BUILDS = range(14)
FAULTS = {
    CARDS: "the cards that it shows are not those of the deck, each in one place",
    TABLE_CARDS: "play can't lead to these cards on the table",
    PLAY: "the unfinished play can't have been begun",
    HANDS: "the hands and the stock don't have the cards that this deal leaves them",
    TURN: "the dealer, the turn or the last capture can't be right",
    POINTS: "the points or the sweeps are not those of the cards captured",
    SESSION: "the games and the totals of the session can't be right",
    LEGAL: "what is legal is not what the table and the hands make legal",
    KNOWN: "nothing in this deal shows that a seat can't hold such ranks",
    HOLDS: "no deal of the unseen cards gives each seat cards that it can hold",
    SHOWN: "no game shows it",
    BUILDS: "play can't lead to these builds",
    MASK: "the action mask is not the one that belongs to it",
}


def describe_fault(rules: Rules | str, what: str, fault: int) -> str:
    """Describe in a sentence a fault of an observation or a state."""
    return f"{what} is not from a game of {rules}: {FAULTS[fault]}"


@kernel
def fault_of(compiled: np.record, seen: np.ndarray) -> int:
    """Check that kernels can read an observation, (>= compiled.entries,) int8, safely; return its fault or SOUND.

    The sums are bytes, because loops over bytes are fast. One overflows only where a count above 3 is reported anyway.
    """
    bits, misplaced = np.int8(0), np.int8(0)  # set if a count is not 0 to 3, and if a card can't be set aside
    signs = np.int8(0)  # negative if there is more of a kind than there may be
    shown, own, laid, pending, taken = np.int8(0), np.int8(0), np.int8(0), np.int8(0), np.int8(0)
    for kind in range(NUM_KINDS):
        hand, table, aside = seen[_HAND + kind], seen[_TABLE + kind], seen[_ASIDE + kind]
        played, take, known = seen[_PENDING + kind], seen[_TAKEN + kind], seen[_SEEN + kind]
        bits = np.int8(bits | hand | table | aside | played | take | known)
        misplaced = np.int8(misplaced | (aside & np.int8(compiled.is_aside[kind] - 1)))
        lying = np.int8(np.int8(hand + table) + np.int8(aside + played))
        signs = np.int8(signs | np.int8(known - lying))
        signs = np.int8(signs | np.int8(compiled.deck_counts[kind] - known) | np.int8(table - take))
        shown = np.int8(shown + known)
        own = np.int8(own + hand)
        laid = np.int8(laid + table)
        pending = np.int8(pending + played)
        taken = np.int8(taken | take)
    if bits & ~3 != 0 or signs < 0 or misplaced != 0:
        return CARDS
    if pending > 1 or (pending == 0 and taken != 0):
        return PLAY

    number = compiled.num_deals - seen[_DEALS_LEFT]
    if number < 1 or number > compiled.num_deals:
        return HANDS
    held, signs = np.int64(0), np.int8(0)  # of the other hands
    for place in range(1, compiled.players):
        held += seen[_HAND_SIZE + place]
        signs = np.int8(signs | seen[_HAND_SIZE + place])
    if signs < 0 or seen[_HAND_SIZE] != own or held != compiled.deal_start[number] - shown:
        return HANDS
    if compiled.building:
        return fault_of_builds(compiled, seen)
    if laid <= compiled.laid[number] and not compiled.may_crowd:
        return SOUND
    return fault_of_table(compiled, seen[_TABLE : _TABLE + NUM_KINDS], number)


@other_kernel
def fault_of_builds(compiled: np.record, seen: np.ndarray) -> int:
    """Check the builds of an observation in the same way (B1)."""
    built, twin, owner = compiled.blocks[BUILT], compiled.blocks[BUILT_TWIN], compiled.blocks[BUILD_OWNER]
    lying = np.int64(0)  # values of the builds in which some card lies
    pending = np.int64(0)
    for kind in range(NUM_KINDS):
        lower, higher = np.int64(seen[built + kind]), np.int64(seen[twin + kind])
        if min(lower, higher) < 0 or max(lower, higher) > MAX_BUILD or (higher != 0 and higher < lower):
            return BUILDS
        lying |= np.int64(1) << lower | np.int64(1) << higher
        here = np.int64(seen[_HAND + kind] + seen[_TABLE + kind]) + seen[_ASIDE + kind] + seen[_PENDING + kind]
        if here + np.int64(lower != 0) + np.int64(higher != 0) > seen[_SEEN + kind] or (lower == 0 and higher != 0):
            return CARDS
        pending += seen[_PENDING + kind]
    for value in range(1, MAX_BUILD + 1):
        place = seen[owner + value - 1]
        if place < 0 or place > compiled.players or (place != 0) != (lying >> value & 1):
            return BUILDS
        if seen[compiled.blocks[BUILD_MULTIPLE] + value - 1] & ~1 != 0:
            return BUILDS
    building = seen[compiled.blocks[BUILDING]]
    if building < 0 or building > MAX_BUILD:
        return PLAY
    return PLAY if building != 0 and (pending == 0 or compiled.value_kinds[building] == 0) else SOUND


@kernel
def fault_of_table(compiled: np.record, table: np.ndarray, number: int) -> int:
    """Check that play can lead to a table, (52,) int8 counts, in deal `number`; return TABLE_CARDS or SOUND.

    A rank whose cards take each other is there twice only if a deal put it there (`krypenv.families.bounds`).
    """
    beyond = np.int8(0)
    for rank in range(NUM_RANKS):
        count = np.int8(table[rank] + table[NUM_RANKS + rank])
        count = np.int8(count + np.int8(table[2 * NUM_RANKS + rank] + table[3 * NUM_RANKS + rank]))
        beyond = np.int8(beyond + (np.int8(max(count, np.int8(1)) - 1) & np.int8(-compiled.matches[rank])))
    if compiled.may_crowd and count_choices(table) > MAX_SUBSETS:
        return TABLE_CARDS
    return TABLE_CARDS if beyond > compiled.laid[number] else SOUND


@kernel
def count_choices(table: np.ndarray) -> float:
    """Count the sub-multisets of ranks of a table, (52,) int8 counts."""
    choices = 1.0
    for rank in range(NUM_RANKS):
        count = 1.0
        for suit in range(NUM_SUITS):
            count += table[suit * NUM_RANKS + rank]
        choices *= count
    return choices


@kernel
def fault_of_mask(compiled: np.record, seen: np.ndarray, mask: np.ndarray) -> int:
    """Check that a mask, (105,) int8, can belong to a sound observation; return MASK or SOUND.

    A mask allows some of the cards in hand or, while a capture is being chosen, some of the table cards not yet taken,
    and if captures are optional perhaps to stop.
    """
    bits, signs = np.int8(0), np.int8(0)
    pending, plays, takes = np.int8(0), np.int8(0), np.int8(0)
    for kind in range(NUM_KINDS):
        play, take = mask[kind], mask[TAKE + kind]
        bits = np.int8(bits | play | take)
        signs = np.int8(signs | np.int8(seen[_HAND + kind] - play))
        signs = np.int8(signs | np.int8(seen[_TABLE + kind] - np.int8(seen[_TAKEN + kind] + take)))
        pending = np.int8(pending + seen[_PENDING + kind])
        plays = np.int8(plays | play)
        takes = np.int8(takes | take)
    may_stop = np.int64(compiled.optional and pending == 1)  # more than whether the mask is right is not checked here
    if compiled.building:
        builds = np.int8(0)
        for action in range(BUILD, len(mask)):
            builds = np.int8(builds | mask[action])
        if builds & ~1 != 0 or (builds == 1 and pending == 0):
            return MASK
        takes = np.int8(takes | builds)
    is_sound = bits & ~1 == 0 and signs >= 0 and plays == 1 - pending and takes == pending
    return SOUND if is_sound and mask[STOP] >= 0 and mask[STOP] <= may_stop else MASK


@kernel
def find_unsound(compiled: np.ndarray, observations: np.ndarray, masks: np.ndarray) -> tuple[int, int]:
    """Find the first faulty row of observations, (B, >= 433) int8, and masks, (B, 105) int8, and its fault.

    If there is none, the row is B.
    """
    for row in range(len(observations)):
        fault = fault_of(compiled[0], observations[row])
        if fault == SOUND:
            fault = fault_of_mask(compiled[0], observations[row], masks[row])
        if fault != SOUND:
            return row, fault
    return len(observations), SOUND


def check_decisions(rules: Rules, observations: npt.ArrayLike, action_masks: npt.ArrayLike) -> tuple[Rows, Rows]:
    """Check observations, (B, 433 or more), and masks, (B, 105); return both as int8, safe for every kernel.

    Raises ValueError for other shapes, and for a row that is plainly no observation of the seat to act under these
    rules; `krypenv.worlds.determinize.check_genuine` checks fully.
    """
    seen, masks = np.asarray(observations), np.asarray(action_masks)
    size, actions = rules.observation_size, rules.num_actions
    if seen.ndim != 2 or seen.shape[1] < size or masks.shape != (len(seen), actions):
        raise ValueError(
            f"an agent acts on observations (B, {size} or more) and action masks (B, {actions}), "
            f"not on {seen.shape} and {masks.shape}"
        )
    seen, masks = as_bytes(seen, "observations"), as_bytes(masks, "action masks")
    row, fault = find_unsound(compile_rules(rules), seen, masks)
    if fault != SOUND:
        if not masks[row].any():
            raise ValueError(f"row {row} has no legal action")
        raise ValueError(describe_fault(rules, f"observation {row}", fault))
    return seen, masks


def as_bytes(array: npt.NDArray[Any], what: str) -> Rows:
    """Convert an array to int8 for kernels; raise ValueError if that changes a number."""
    if array.dtype == np.int8:
        return for_kernels(array)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{what} are numbers of type int8, not {array.dtype}")
    with np.errstate(invalid="ignore"):
        numbers = array.astype(np.int8)
    if not (numbers == array).all():
        raise ValueError(f"{what} are whole numbers from -128 to 127, as in int8, and these {array.dtype} are not")
    return for_kernels(numbers)
