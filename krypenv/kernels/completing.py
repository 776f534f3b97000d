"""One play, as kernels over one row of the state: a card is laid down, takes others, and what it took is counted."""

from __future__ import annotations

import numpy as np

from krypenv.cards import NO_CARD, NUM_KINDS, NUM_RANKS, NUM_SUITS, SPADES
from krypenv.kernels.builds import capture_build, copies_in, lay_together, ranks_of_build
from krypenv.kernels.compiled import NIBBLE, bit_index, classes_of_values, support, takes_whole_ranks
from krypenv.kernels.deals import add_to_table
from krypenv.kernels.scoring import count_cards, count_pile, is_mulle, is_void, sweeps_of
from krypenv.runtime.jit import kernel


@kernel
def take(game: np.record, card: int) -> None:
    """Add a table card to what the pending card takes."""
    game.taken[card] += 1
    game.taken_ranks += np.int64(1) << NIBBLE * (card % NUM_RANKS)


@kernel
def lay_down(game: np.record, card: int) -> None:
    """Move a card of the seat to act from its hand to the middle of the play."""
    for kind in range(NUM_KINDS):
        game.taken[kind] = 0
    game.taken_ranks = 0
    seat = game.seat
    game.pending = card
    game.seen[card] += 1
    game.hands[seat, card] -= 1
    game.hand_size[seat] -= 1
    if game.hands[seat, card] == 0:
        game.hand_kinds[seat] &= ~(np.int64(1) << card)


@kernel
def complete_play(compiled: np.record, game: np.record, card: int, count: int, scratch: np.record) -> None:
    """Creep (R8), or make the one maximal capture left (R7)."""
    table = game.table_ranks
    if count == 0:
        add_to_table(compiled, game, card, 1)
    elif takes_whole_ranks(scratch.captures[0], table) and count == 1:
        take_ranks(compiled, game, game.seat, scratch.captures[0])
    else:
        take_bounds(compiled, game, game.seat, scratch)
    close_play(compiled, game, card, count != 0, table)


@kernel
def complete_chosen(compiled: np.record, game: np.record, card: int) -> None:
    """Lay a build, or leave the card played on the table, or capture what was taken, a build included (K2, B)."""
    seat, capture = game.seat, game.taken_ranks
    if game.build_value != 0:
        lay_together(compiled, game, seat, card)
        close_play(compiled, game, card, False, game.table_ranks)
        return
    if capture == 0 and game.taken_builds == 0:
        add_to_table(compiled, game, card, 1)
        close_play(compiled, game, card, False, game.table_ranks)
        return
    table, has_copy, is_sweep_void = game.table_ranks, False, is_void(compiled, game)
    for kind in range(NUM_KINDS):
        if game.taken[kind] > 0:
            take_copies(compiled, game, seat, kind, np.int64(game.taken[kind]))
    if game.taken_builds != 0:
        value = bit_index(np.int64(game.taken_builds))
        has_copy = copies_in(game, value, card) > 0
        capture += ranks_of_build(game, value)
        table = capture
        capture_build(compiled, game, seat, value)
    close_play(compiled, game, card, True, table)
    count_capture(compiled, game, seat, capture, is_sweep_void)
    if compiled.mulle_by_value and has_copy:
        count_mulle(compiled, game, seat, card)


@kernel
def close_play(compiled: np.record, game: np.record, card: int, captures: bool, table: int) -> None:
    """Count a capture from a table, packed, with its sweep (R9, R11), and note what the seat can't hold (R10)."""
    seat = game.seat
    sweep = 0
    if captures:
        count_cards(compiled, game, seat, card, 1)
        game.last_capturer = seat
        if game.table_ranks == 0 and game.builds == 0:
            sweep = sweeps_of(compiled, card, table, game.taken[card])
            game.sweeps[seat] += sweep
    if compiled.forced_sweep and sweep == 0:  # a seat that did not sweep holds no card that could have (R10)
        game.cannot_hold[seat] |= classes_of_values(compiled, np.int64(game.sweep_values))
    game.pending = NO_CARD
    game.last_card = card
    game.last_seat = seat
    game.last_sweep = sweep


@kernel
def count_capture(compiled: np.record, game: np.record, seat: int, capture: int, void: bool) -> None:
    """Count what only some rules count of the last capture, packed ranks: void sweeps, a mulle, a pile (F5, M2, K5)."""
    card = game.last_card
    game.void_sweeps[seat] += void * game.last_sweep
    if compiled.mulle_points != 0:
        game.mulles[seat] += is_mulle(card, capture, game.taken[card])
    if compiled.mulle_by_value and game.taken[card] > 0:
        count_mulle(compiled, game, seat, card)
    if compiled.counts_piles:
        count_pile(game, seat, game.taken)
        game.cards_won[seat] += 1
        game.spades_won[seat] += card >= SPADES * NUM_RANKS


@kernel
def count_mulle(compiled: np.record, game: np.record, seat: int, card: int) -> None:
    """Count a mulle that scores the hand value of the card played (G2)."""
    game.mulles[seat] += 1
    game.mulle_scores[seat] += compiled.mulle_value[card]


@kernel
def take_ranks(compiled: np.record, game: np.record, seat: int, capture: int) -> None:
    """Move all table cards of the ranks in a capture to a seat."""
    left = support(capture)
    while left != 0:
        bit = left & -left
        left ^= bit
        for suit in range(NUM_SUITS):
            kind = suit * NUM_RANKS + bit_index(bit)
            take_copies(compiled, game, seat, kind, np.int64(game.table[kind]))


@kernel
def take_bounds(compiled: np.record, game: np.record, seat: int, scratch: np.record) -> None:
    """Move the cards of the one capture left to a seat: those taken so far, and those that `scratch.least` requires."""
    table_ranks = game.table_ranks
    for rank in range(NUM_RANKS):
        on_table = table_ranks >> NIBBLE * rank & 15
        for suit in range(NUM_SUITS):
            kind = suit * NUM_RANKS + rank
            least = scratch.least[rank] - (on_table - np.int64(game.table[kind]))
            take_copies(compiled, game, seat, kind, max(np.int64(game.taken[kind]), least))


@kernel
def take_copies(compiled: np.record, game: np.record, seat: int, kind: int, count: int) -> None:
    """Move some copies of a table card to a seat."""
    game.taken[kind] = count
    add_to_table(compiled, game, kind, -count)
    count_cards(compiled, game, seat, kind, count)
