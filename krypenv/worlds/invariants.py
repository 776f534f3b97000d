"""The invariants of a state: what is true of every game that play can lead to. States from outside must keep them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.cards import BUILD, MAX_BUILD, NO_CARD, NO_SEAT, NUM_ACTIONS, NUM_KINDS, NUM_RANKS, SPADES, STOP, TAKE
from krypenv.kernels.builds import copies_built
from krypenv.kernels.captures import borrow_scratch
from krypenv.kernels.compiled import (
    NIBBLE,
    TABLE,
    compile_rules,
    kinds_of_values,
)
from krypenv.kernels.deals import leader_of
from krypenv.kernels.decision_checks import (
    BUILDS,
    CARDS,
    HANDS,
    HOLDS,
    KNOWN,
    LEGAL,
    MASK,
    PLAY,
    POINTS,
    SESSION,
    SOUND,
    TABLE_CARDS,
    TURN,
    Rows,
    as_bytes,
    fault_of_table,
    tell_fault,
)
from krypenv.kernels.play import prepare
from krypenv.kernels.scoring import ends_at_once, settled_bonus
from krypenv.rules import Rules
from krypenv.runtime.jit import for_kernels, handle, kernel, rare_kernel
from krypenv.state import GAME, MAY_STOP, State, allocate
from krypenv.worlds.build_invariants import fault_of_builds, is_seat

MOST_POINTS = 1_000_000  # of a seat in one game, in a state from outside
_BUILDS = (2 << MAX_BUILD) - 2  # bits of the values that a build may have
MOST_GAMES = 1_000_000  # in a session without a limit
MOST_TOTAL = 1_000_000_000  # of a seat in the session


def check_state(rules: Rules, state: State, num_games: int | None = None) -> np.ndarray:
    """Return a state as kernels take it, to be read.

    Raises ValueError unless it consists of unfinished games under some rules and keeps every invariant.
    """
    if not isinstance(state, np.ndarray) or state.dtype.fields != GAME.fields or state.ndim != 1:
        kind = f"{state.dtype} of shape {state.shape}" if isinstance(state, np.ndarray) else type(state).__name__
        raise ValueError(f"a state is an array of krypenv.state.GAME, one record a game, not {kind:.80}")
    if num_games is not None and len(state) != num_games:
        raise ValueError(f"this is a state of {len(state)} games, and there are {num_games}")
    games = handle(for_kernels(state).view(np.recarray))
    row, fault = find_broken(compile_rules(rules), games, handle(allocate(1)), borrow_scratch())
    if fault != SOUND:
        raise ValueError(tell_fault(rules, f"game {row}", fault))
    return games


def check_states(rules: Rules, state: State, action_masks: npt.ArrayLike) -> tuple[np.ndarray, Rows]:
    """Return a state and its masks, (B, 105) int8, as kernels take them, to be read.

    Raises ValueError unless the state is valid and the masks are its own.
    """
    games = check_state(rules, state)
    masks = np.asarray(action_masks)
    shape = (len(state), rules.num_actions)
    if masks.shape != shape:
        raise ValueError(f"{len(state)} games have action masks {shape}, not {masks.shape}")
    masks = as_bytes(masks, "action masks")
    row = find_other_mask(games, masks)
    if row < len(state):
        raise ValueError(tell_fault(rules, f"game {row}", MASK))
    return games, masks


@kernel
def find_other_mask(state: np.ndarray, masks: np.ndarray) -> int:
    """Return the first row whose mask is not that of its game, or B."""
    for row in range(len(state)):
        if not is_mask_of(state[row], masks[row]):
            return row
    return len(state)


@kernel
def is_mask_of(game: np.record, mask: np.ndarray) -> bool:
    """Return whether a mask, (105,) int8, is that of the seat to act."""
    is_mask = mask[STOP] == game.legal_takes >> (STOP - TAKE) & 1
    for kind in range(NUM_KINDS):
        is_mask &= mask[kind] == game.legal_plays >> kind & 1
        is_mask &= mask[TAKE + kind] == game.legal_takes >> kind & 1
    return is_mask and (len(mask) == NUM_ACTIONS or is_build_mask_of(game, mask))


@rare_kernel
def is_build_mask_of(game: np.record, mask: np.ndarray) -> bool:
    """Return whether a mask, (139,) int8, says which builds may be begun or taken (B1, B2)."""
    is_mask = True
    for action in range(BUILD, len(mask)):
        is_mask &= mask[action] == game.legal_builds >> (action - BUILD) & 1
    return is_mask


@kernel
def find_broken(compiled: np.ndarray, state: np.ndarray, twin: np.ndarray, scratch: np.ndarray) -> tuple[int, int]:
    """Return the first row with a fault, and the fault, or B and SOUND. A game that is over counts as a fault."""
    for row in range(len(state)):
        fault = fault_of_state(compiled[0], state[row], False, twin, scratch[0])
        if fault != SOUND:
            return row, fault
    return len(state), SOUND


@kernel
def fault_of_state(
    compiled: np.record, game: np.record, may_be_over: bool, twin: np.ndarray, scratch: np.record
) -> int:
    """Return which invariant a game breaks, or SOUND. `twin` is scratch, (1,) of `GAME`."""
    fault = fault_of_course(compiled, game, may_be_over, twin)
    if fault == SOUND:
        fault = fault_of_builds(compiled, game, scratch)
    if fault == SOUND and not game.over:
        twin[0] = game
        prepare(compiled, twin[0], scratch)
        is_legal = twin[0].legal_plays == game.legal_plays and twin[0].legal_takes == game.legal_takes
        is_legal &= twin[0].legal_builds == game.legal_builds
        moves = game.legal_plays if game.pending == NO_CARD else game.legal_takes & ~MAY_STOP | game.legal_builds
        if not is_legal or twin[0].sweep_values != game.sweep_values or moves == 0:
            fault = LEGAL
        elif game.pending != NO_CARD and compiled.forced_sweep and holds_sweep(compiled, game):
            fault = PLAY
    return fault


@kernel
def holds_sweep(compiled: np.record, game: np.record) -> bool:
    """Return whether the seat to act holds a card that takes the whole table (R10)."""
    return game.hand_kinds[game.seat] & kinds_of_values(compiled, np.int64(game.sweep_values)) != 0


@kernel
def fault_of_course(compiled: np.record, game: np.record, may_be_over: bool, twin: np.ndarray) -> int:
    """Return which invariant a game breaks, apart from what is legal, or SOUND. `twin` is scratch, (1,) of `GAME`."""
    fault = _fault_of_numbers(compiled, game, may_be_over)
    if fault == SOUND:
        fault = _fault_of_cards(compiled, game, twin[0])
    if fault == SOUND:
        fault = fault_of_table(compiled, game.table, np.int64(game.deal_number))
    if fault == SOUND:
        fault = _fault_of_turn(compiled, game, twin[0])
    if fault == SOUND:
        fault = _fault_of_points(compiled, game)
    return fault


@kernel
def _fault_of_numbers(compiled: np.record, game: np.record, may_be_over: bool) -> int:
    """Check each number by itself, so that the other checks may use it as an index."""
    number = game.deal_number
    if number < 1 or number > compiled.num_deals or game.next_card != compiled.deal_start[number]:
        return HANDS
    if not is_seat(compiled, game.seat) or not is_seat(compiled, game.dealer) or (game.over and not may_be_over):
        return TURN
    for seat in (game.last_seat, game.last_capturer):
        if seat != NO_SEAT and not is_seat(compiled, seat):
            return TURN
    for card in (game.pending, game.last_card):
        if card != NO_CARD and (card < 0 or card >= NUM_KINDS):
            return PLAY
    if game.last_sweep < 0 or game.last_sweep > 2:
        return PLAY
    if game.builds & ~(compiled.building * _BUILDS) != 0 or (game.legal_builds != 0 and not compiled.building):
        return BUILDS
    if game.build_value < 0 or game.build_value > MAX_BUILD:
        return PLAY
    if game.game_number < 1 or game.game_number > (compiled.games or MOST_GAMES):
        return SESSION
    for seat in range(compiled.players):
        if abs(np.int64(game.points[seat])) > MOST_POINTS or abs(np.int64(game.bonus[seat])) > MOST_POINTS:
            return POINTS
        if game.sweeps[seat] < 0 or game.sweeps[seat] > compiled.deck_size:
            return POINTS
        if game.void_sweeps[seat] < 0 or game.mulles[seat] < 0:
            return POINTS
        most = max(abs(np.int64(game.totals[seat])), abs(np.int64(game.total_points[seat])))
        if max(most, abs(np.int64(game.total_sweeps[seat]))) > MOST_TOTAL:
            return SESSION
        if game.game_number == 1 and game.totals[seat] != 0:
            return SESSION
    return SOUND


@kernel
def _fault_of_cards(compiled: np.record, game: np.record, twin: np.record) -> int:
    """Check that each card is in one place, and that fields that repeat hands and table agree with them.

    Overwrites `twin`.
    """
    dealt, left = twin.seen, twin.table
    for kind in range(NUM_KINDS):
        dealt[kind] = 0
        left[kind] = 0
    for place in range(compiled.deck_size):
        card = np.int64(game.deck[place])
        if card < 0 or card >= NUM_KINDS:
            return CARDS
        dealt[card] += place < game.next_card
        left[card] += 1
    table_ranks, taken_ranks, table_sum = np.int64(0), np.int64(0), np.int64(0)
    for kind in range(NUM_KINDS):
        if left[kind] != compiled.deck_counts[kind]:
            return CARDS
        table, aside, taken = np.int64(game.table[kind]), np.int64(game.set_aside[kind]), np.int64(game.taken[kind])
        lying = table + aside + (game.pending == kind)
        if compiled.building:
            lying += copies_built(game, kind)
        if min(table, aside, taken) < 0 or lying > game.seen[kind] or taken > compiled.deck_counts[kind]:
            return CARDS
        if aside > 0 and compiled.is_aside[kind] == 0:
            return CARDS
        if game.pending != NO_CARD and taken > table:
            return PLAY
        held = np.int64(0)
        for seat in range(compiled.players):
            if game.hands[seat, kind] < 0:
                return HANDS
            if game.hands[seat, kind] > 0 and game.cannot_hold[seat] >> compiled.class_of[kind] & 1:
                return HOLDS
            held += game.hands[seat, kind]
        if held + game.seen[kind] != dealt[kind]:
            return CARDS
        table_ranks += table << NIBBLE * (kind % NUM_RANKS)
        taken_ranks += taken << NIBBLE * (kind % NUM_RANKS)
        table_sum += table * compiled.sum_value[kind]
    if table_ranks != game.table_ranks or table_sum != game.table_sum:
        return TABLE_CARDS
    return PLAY if game.pending != NO_CARD and taken_ranks != game.taken_ranks else SOUND


@kernel
def _fault_of_turn(compiled: np.record, game: np.record, twin: np.record) -> int:
    """Check that the hands are as large as the plays of this deal have left them, and whose turn it is (R4, R5, H3).

    Overwrites `twin`.
    """
    players, leader, left = compiled.players, leader_of(compiled, game), twin.hand_size
    begun = np.int64(game.pending != NO_CARD)
    for seat in range(players):
        left[seat] = 0
    plays = -begun
    for place in range(compiled.deal_start[game.deal_number - 1], compiled.deal_start[game.deal_number]):
        if compiled.destination[place] != TABLE:
            left[(leader + compiled.destination[place]) % players] += 1
            plays += 1
    for seat in range(players):
        held, kinds = np.int64(0), np.int64(0)
        for kind in range(NUM_KINDS):
            held += game.hands[seat, kind]
            kinds |= np.int64(game.hands[seat, kind] > 0) << kind
        if held != game.hand_size[seat] or kinds != game.hand_kinds[seat]:
            return HANDS
        plays -= held
    if plays < 0:
        return HANDS
    seat, played = leader, np.int64(0)  # bits of the seats that have made a whole play
    for _ in range(plays):
        left[seat] -= 1
        played |= 1 << seat
        for further in range(1, players):
            if left[(seat + further) % players] > 0:
                seat = (seat + further) % players
                break
    left[seat] -= begun
    held, classes = np.int64(0), np.int64(0)  # bits of the classes in the deck
    for kind in range(NUM_KINDS):
        classes |= np.int64(compiled.deck_counts[kind] > 0) << compiled.class_of[kind]
    for other in range(players):
        if left[other] != game.hand_size[other]:
            return HANDS
        held += left[other]
        known = np.int64(game.cannot_hold[other])
        if known != 0 and (known & ~classes != 0 or not compiled.forced_sweep or played >> other & 1 == 0):
            return KNOWN
    if game.cut_short:  # after any play, also the last one of a deal
        is_last = game.seat == game.last_seat or game.last_seat == NO_SEAT
        return SOUND if game.over and begun == 0 and plays > 0 and is_last else TURN
    is_over = held + begun == 0
    if is_over != game.over or (is_over and game.next_card != compiled.deck_size):
        return HANDS
    return SOUND if game.seat == seat else TURN


@kernel
def _fault_of_points(compiled: np.record, game: np.record) -> int:
    """Check that the points are those of the cards captured (R14, R17), and that somebody captured them."""
    cards, points, spades, lying = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for kind in range(NUM_KINDS):
        here = np.int64(game.table[kind]) + game.set_aside[kind]
        if compiled.building:
            here += copies_built(game, kind)
        captured = game.seen[kind] - here - (game.pending == kind)
        cards += captured
        spades += captured * (kind >= SPADES * NUM_RANKS)
        points += captured * compiled.card_points[kind]
        lying += here
    if (cards == 0) != (game.last_capturer == NO_SEAT):
        return TURN
    if game.over and not game.cut_short and game.last_capturer != NO_SEAT and lying > 0:
        return TABLE_CARDS
    if compiled.counts_piles and not _has_piles(compiled, game, cards, spades):
        return POINTS
    sweeps, bonus = np.int64(0), np.int64(0)
    leader = leader_of(compiled, game)
    for seat in range(compiled.players):
        points -= game.points[seat]
        sweeps += game.sweeps[seat]
        bonus += game.bonus[seat]
        if seat != leader and game.bonus[seat] != 0 and not game.over:
            return POINTS
        if game.void_sweeps[seat] > (game.sweeps[seat] if compiled.judges_sweeps else 0):
            return POINTS
        may_be_mulles = compiled.mulle_points != 0 or compiled.mulle_by_value
        if game.mulles[seat] > (compiled.deck_size // 2 if may_be_mulles else 0):
            return POINTS
        most = game.mulles[seat] * MAX_BUILD if compiled.mulle_by_value else 0
        if game.mulle_scores[seat] > most or game.mulle_scores[seat] < 0:
            return POINTS
    bonus -= settled_bonus(compiled, game)
    if points != 0 or sweeps > cards:
        return POINTS
    if game.cut_short:
        if not ends_at_once(compiled, game):
            return SESSION
    elif not game.over and ends_at_once(compiled, game):
        return SESSION
    # where an observation may cut off points, the end of a world makes up the rest
    is_made_up = compiled.may_cut and game.over
    return SOUND if is_made_up or bonus == 0 or bonus == compiled.initial_match_bonus else POINTS


@kernel
def _has_piles(compiled: np.record, game: np.record, cards: int, spades: int) -> bool:
    """Return whether the piles have these cards and spades in all, and each a number that it can have (K5)."""
    for seat in range(compiled.players):
        own: Any = np.int64(game.cards_won[seat])
        own_spades: Any = np.int64(game.spades_won[seat])
        cards -= own
        spades -= own_spades
        if own_spades < 0 or own_spades > own or own == 1 or (own == 0 and game.points[seat] != 0):
            return False
        if game.sweeps[seat] > own or 2 * game.mulles[seat] > own:
            return False
    return cards == 0 and spades == 0
