"""The invariants of a state: what is true of every game that play can reach. States from outside must keep them."""

from __future__ import annotations

import numpy as np

from krypenv.cards import MAX_BUILD, NO_CARD, NO_SEAT, NUM_KINDS, NUM_RANKS, SPADES
from krypenv.kernels.builds import LIES_IN, NUM_PAIRS, copies_built, copies_in, ranks_of_build
from krypenv.kernels.captures import borrow_scratch
from krypenv.kernels.compiled import NIBBLE, TABLE, compile_rules, kinds_of_values, sum_of
from krypenv.kernels.deals import leader_of
from krypenv.kernels.decision_checks import (
    BUILDS,
    CARDS,
    HANDS,
    HOLDS,
    KNOWN,
    LEGAL,
    PLAY,
    POINTS,
    SESSION,
    SOUND,
    TABLE_CARDS,
    TURN,
    describe_fault,
    fault_of_table,
)
from krypenv.kernels.play import prepare
from krypenv.kernels.scoring import ends_at_once, settled_points
from krypenv.kernels.unions import is_union
from krypenv.rules import Rules
from krypenv.runtime.jit import for_kernels, handle, kernel, other_kernel
from krypenv.state import GAME, MAY_STOP, State, allocate
from krypenv.worlds.hidden import missing_promises

MOST_POINTS = 1_000_000  # of a seat in one game, in a state from outside
MOST_GAMES = 1_000_000  # in a session without a limit
MOST_TOTAL = 1_000_000_000  # of a seat in the session
_BUILDS = (2 << MAX_BUILD) - 2  # bits of the values that a build may have


def check_state(rules: Rules, state: State, num_games: int | None = None) -> np.ndarray:
    """Check a state from outside; return it as kernels take it, to be read.

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
        raise ValueError(describe_fault(rules, f"game {row}", fault))
    return games


@kernel
def find_broken(compiled: np.ndarray, state: np.ndarray, twin: np.ndarray, scratch: np.ndarray) -> tuple[int, int]:
    """Find the first row with a fault, and the fault, or B and SOUND. A game that is over counts as a fault."""
    for row in range(len(state)):
        fault = TURN if state[row].over else fault_of_state(compiled[0], state[row], twin, scratch[0])
        if fault != SOUND:
            return row, fault
    return len(state), SOUND


@kernel
def fault_of_state(compiled: np.record, game: np.record, twin: np.ndarray, scratch: np.record) -> int:
    """Find an invariant that a game breaks, or SOUND. `twin` is scratch, (1,) of `GAME`."""
    fault = fault_before_legality(compiled, game, twin, scratch)
    if fault == SOUND and not game.over:
        twin[0] = game
        prepare(compiled, twin[0], scratch)
        is_legal = twin[0].legal_plays == game.legal_plays and twin[0].legal_takes == game.legal_takes
        is_legal &= twin[0].legal_builds == game.legal_builds
        is_legal &= twin[0].sweep_values == game.sweep_values
        fault = fault_of_legality(compiled, game) if is_legal else LEGAL
    return fault


@kernel
def fault_of_legality(compiled: np.record, game: np.record) -> int:
    """Check that the seat to act has a legal move, and that its begun play evaded no forced sweep (R10)."""
    moves = game.legal_plays if game.pending == NO_CARD else game.legal_takes & ~MAY_STOP | game.legal_builds
    if moves == 0 and not game.over:
        return LEGAL
    sweeps = kinds_of_values(compiled, np.int64(game.sweep_values))  # who holds one must play it (R10)
    is_forced = game.pending != NO_CARD and compiled.forced_sweep and game.hand_kinds[game.seat] & sweeps != 0
    return PLAY if is_forced else SOUND


@kernel
def fault_before_legality(compiled: np.record, game: np.record, twin: np.ndarray, scratch: np.record) -> int:
    """Find a fault as `fault_of_state` does, but not in the legal actions. `twin` is scratch, (1,) of `GAME`."""
    fault = _fault_of_numbers(compiled, game)
    if fault == SOUND:
        fault = _fault_of_cards(compiled, game, twin[0])
    if fault == SOUND:
        fault = fault_of_table(compiled, game.table, np.int64(game.deal_number))
    if fault == SOUND:
        fault = _fault_of_turn(compiled, game, twin[0])
    if fault == SOUND:
        fault = _fault_of_points(compiled, game)
    if fault == SOUND and compiled.building:
        fault = _fault_of_builds(compiled, game, scratch)
    return fault


@kernel
def _is_seat(compiled: np.record, seat: int) -> bool:
    return seat >= 0 and seat < compiled.players


@kernel
def _fault_of_numbers(compiled: np.record, game: np.record) -> int:
    """Check the bounds of each number, so that the other checks may use it as an index."""
    number = game.deal_number
    if number < 1 or number > compiled.num_deals or game.next_card != compiled.deal_start[number]:
        return HANDS
    if not _is_seat(compiled, game.seat) or not _is_seat(compiled, game.dealer):
        return TURN
    for seat in (game.last_seat, game.last_capturer):
        if seat != NO_SEAT and not _is_seat(compiled, seat):
            return TURN
    for card in (game.pending, game.last_card):
        if card != NO_CARD and (card < 0 or card >= NUM_KINDS):
            return PLAY
    if game.last_sweep < 0 or game.last_sweep > 2:
        return PLAY
    if game.build_value < 0 or game.build_value > compiled.building * MAX_BUILD:
        return PLAY
    builds = game.builds | game.multiple_builds | game.taken_builds
    if builds & ~(compiled.building * _BUILDS) != 0 or (game.legal_builds != 0 and not compiled.building):
        return BUILDS
    if game.game_number < 1 or game.game_number > (compiled.games or MOST_GAMES):
        return SESSION
    for seat in range(compiled.players):
        if max(abs(np.int64(game.points[seat])), abs(np.int64(game.bonus[seat]))) > MOST_POINTS:
            return POINTS
        if game.sweeps[seat] > compiled.deck_size:
            return POINTS
        if min(game.sweeps[seat], game.void_sweeps[seat], game.mulles[seat], game.mulle_scores[seat]) < 0:
            return POINTS
        most = max(abs(np.int64(game.totals[seat])), abs(np.int64(game.total_points[seat])))
        if max(most, abs(np.int64(game.total_sweeps[seat]))) > MOST_TOTAL:
            return SESSION
        if game.game_number == 1 and game.totals[seat] != 0:
            return SESSION
    return SOUND


@kernel
def _lying(compiled: np.record, game: np.record, kind: int) -> int:
    """Count the copies of a kind on the table, in builds and aside, without the pending card."""
    lying = np.int64(game.table[kind]) + game.set_aside[kind]
    if compiled.building:
        lying += copies_built(game, kind)
    return lying


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
        table, aside, taken = np.int64(game.table[kind]), np.int64(game.set_aside[kind]), np.int64(game.taken[kind])
        if left[kind] != compiled.deck_counts[kind] or min(table, aside, taken) < 0:
            return CARDS
        if _lying(compiled, game, kind) + (game.pending == kind) > game.seen[kind] or taken > left[kind]:
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
    """Check the turn, and that the sizes of the hands agree with the plays of this deal (R4, R5, H3).

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
        for step in range(1, players):
            if left[(seat + step) % players] > 0:
                seat = (seat + step) % players
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
    """Check that points and piles are those of the cards captured (R14, R17, K5), and that somebody captured them."""
    cards, points, spades, lying = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for kind in range(NUM_KINDS):
        here = _lying(compiled, game, kind)
        captured = game.seen[kind] - here - (game.pending == kind)
        cards += captured
        spades += captured * (kind >= SPADES * NUM_RANKS)
        points += captured * compiled.card_points[kind]
        lying += here
    if (cards == 0) != (game.last_capturer == NO_SEAT):
        return TURN
    if game.over and not game.cut_short and game.last_capturer != NO_SEAT and lying > 0:
        return TABLE_CARDS
    sweeps, bonus = np.int64(0), np.int64(0)
    most_mulles = compiled.deck_size // 2 if compiled.mulle_points != 0 or compiled.mulle_by_value else 0
    for seat in range(compiled.players):
        won, own_spades = np.int64(game.cards_won[seat]), np.int64(game.spades_won[seat])
        points -= game.points[seat]
        sweeps += game.sweeps[seat]
        bonus += game.bonus[seat]
        if game.over and not game.cut_short:
            bonus -= settled_points(compiled, game, seat)
        if game.bonus[seat] != 0 and seat != leader_of(compiled, game) and not game.over:
            return POINTS
        if game.void_sweeps[seat] > (game.sweeps[seat] if compiled.judges_sweeps else 0):
            return POINTS
        if game.mulles[seat] > most_mulles:
            return POINTS
        if game.mulle_scores[seat] > (game.mulles[seat] * MAX_BUILD if compiled.mulle_by_value else 0):
            return POINTS
        if compiled.counts_piles:
            if own_spades < 0 or own_spades > won or won == 1 or (won == 0 and game.points[seat] != 0):
                return POINTS
            if game.sweeps[seat] > won or 2 * game.mulles[seat] > won:
                return POINTS
            cards -= won
            spades -= own_spades
    if points != 0 or (compiled.counts_piles and (cards != 0 or spades != 0)):
        return POINTS
    if not compiled.counts_piles and sweeps > cards:
        return POINTS
    if (game.cut_short or not game.over) and game.cut_short != ends_at_once(compiled, game):
        return SESSION
    # where observations cut off points, a sampled end of a game has a bonus that accounts for the others
    is_made_up = compiled.may_cut and game.over
    return SOUND if is_made_up or bonus == 0 or bonus == compiled.initial_match_bonus else POINTS


@other_kernel
def _fault_of_builds(compiled: np.record, game: np.record, scratch: np.record) -> int:
    """Check the builds, their groups and owners, and that these hold what they promised (B1 to B6)."""
    if game.pending != NO_CARD and game.taken_builds != 0:
        return PLAY
    for kind in range(NUM_KINDS):
        pair = LIES_IN[game.built[kind]]
        lies_in = np.int64(1) << pair[0] | np.int64(1) << pair[1]
        if game.built[kind] >= NUM_PAIRS or lies_in & ~(np.int64(game.builds) | 1) != 0:
            return BUILDS
    for value in range(MAX_BUILD + 1):
        if game.builds >> value & 1 == 0:
            if game.build_owner[value] != 0 or game.multiple_builds >> value & 1:
                return BUILDS
            continue
        ranks, cards = ranks_of_build(game, value), 0
        for kind in range(NUM_KINDS):
            cards += copies_in(game, value, kind)
        if not _is_seat(compiled, game.build_owner[value]) or cards < 2 or compiled.value_kinds[value] == 0:
            return BUILDS
        is_multiple = game.multiple_builds >> value & 1 == 1
        if is_multiple != (sum_of(compiled, ranks) != value) or not is_union(compiled, value, ranks, False, scratch):
            return BUILDS
        if game.over and not game.cut_short:
            return BUILDS
    for seat in range(compiled.players):
        if not game.cut_short and missing_promises(compiled, game, seat) != 0:
            return HOLDS
    return SOUND
