"""The course of a game, as kernels over one row of the state: deal, play, take, sweep, end."""

from __future__ import annotations

import numpy as np

from krypenv.cards import NO_CARD, NO_SEAT, NUM_KINDS, STOP, TAKE, TAKE_BUILD
from krypenv.kernels.builds import begin_choice, choose_build, clear_builds, limit_plays, offer_choices
from krypenv.kernels.captures import captures_of, find_captures, find_legal_takes, find_sweep_values
from krypenv.kernels.compiled import NEVER, PLAY_ON, count_bits, hand_value_of, kinds_of_values, support
from krypenv.kernels.completing import complete_chosen, complete_play, count_capture, lay_down, take
from krypenv.kernels.deals import add_to_table, deal, leader_of, put_aside, shuffle_deck
from krypenv.kernels.optional import offer_unions
from krypenv.kernels.scoring import (
    count_cards,
    count_pile,
    ends_at_once,
    is_shared,
    is_void,
    score_of,
    settle_game,
    sum_over,
    void_sweeps_of,
)
from krypenv.runtime.jit import kernel, other_kernel
from krypenv.state import MAY_STOP

PLAYING, DEAL_OVER, GAME_OVER = 0, 1, 2  # what a play leads to


@kernel
def begin_game(compiled: np.record, game: np.record, scratch: np.record) -> None:
    """Begin a game with the deck in the row; the dealer, the totals and the game number stay (R4, R5)."""
    for seat in range(compiled.players):
        game.hand_kinds[seat] = 0
        game.hand_size[seat] = 0
        game.points[seat] = 0
        game.sweeps[seat] = 0
        game.bonus[seat] = 0
        if not compiled.is_main:
            game.void_sweeps[seat] = 0
            game.mulles[seat] = 0
            game.cards_won[seat] = 0
            game.spades_won[seat] = 0
            game.mulle_scores[seat] = 0
        for kind in range(NUM_KINDS):
            game.hands[seat, kind] = 0
    for kind in range(NUM_KINDS):
        game.table[kind] = 0
        game.set_aside[kind] = 0
        game.seen[kind] = 0
        game.taken[kind] = 0
    game.table_ranks = 0
    game.taken_ranks = 0
    game.table_sum = 0
    game.next_card = 0
    game.deal_number = 0
    game.pending = NO_CARD
    game.last_card = NO_CARD
    game.last_seat = NO_SEAT
    game.last_sweep = 0
    game.last_capturer = NO_SEAT
    game.cut_short = False
    game.over = False
    if compiled.building:
        clear_builds(game)
    deal(compiled, game)
    if count_bits(support(game.table_ranks)) == 1:
        game.bonus[leader_of(compiled, game)] = compiled.initial_match_bonus
    put_aside(compiled, game)
    refresh(compiled, game, scratch)


@kernel
def refresh(compiled: np.record, game: np.record, scratch: np.record) -> None:
    """Find which hand values sweep the table, and the legal plays of the seat to act (R10)."""
    allow_plays(compiled, game, sweep_values_of(compiled, game, scratch))


@kernel
def sweep_values_of(compiled: np.record, game: np.record, scratch: np.record) -> int:
    """Find the hand values that take the whole table of a game, as bits (R9); none if play doesn't depend on them."""
    return find_sweep_values(compiled, game.table_ranks, game.table_sum, scratch)


@kernel
def allow_plays(compiled: np.record, game: np.record, sweeps: int) -> None:
    """Write the legal plays of the seat to act, given the hand values that sweep the table, as bits (R10)."""
    game.sweep_values = sweeps
    plays = game.hand_kinds[game.seat]
    if compiled.forced_sweep and sweeps != 0:
        forced = plays & kinds_of_values(compiled, sweeps)
        if forced != 0:
            plays = forced
    game.legal_plays = plays
    game.legal_takes = 0


@kernel
def prepare(compiled: np.record, game: np.record, scratch: np.record) -> None:
    """Work out what is legal, and whether the game is over, from the table and the hands."""
    if game.pending == NO_CARD and is_game_over(compiled, game):
        game.over = True
        return
    refresh(compiled, game, scratch)
    game.legal_builds = 0
    if game.pending != NO_CARD:
        offer_takes(compiled, game, scratch)
    elif compiled.building:
        limit_plays(compiled, game)


@kernel
def act(compiled: np.record, game: np.record, action: int, scratch: np.record) -> None:
    """Carry out a legal action of the seat to act: play a card, take a table card for the card just played, or stop."""
    if not compiled.is_main:
        act_any(compiled, game, action, scratch)
        return
    if action < TAKE:
        lay_down(game, action)
    else:
        take(game, action - TAKE)
    value = hand_value_of(compiled, game.pending)
    count = find_captures(compiled, value, game.table_ranks, scratch)
    game.legal_plays = 0
    game.legal_takes = find_legal_takes(game, count, scratch)
    if game.legal_takes == 0:
        complete_play(compiled, game, np.int64(game.pending), count, scratch)
        pass_turn(compiled, game, scratch)


@other_kernel
def act_any(compiled: np.record, game: np.record, action: int, scratch: np.record) -> None:
    """Carry out a legal action under any rules: captures may be optional (K2), cards may be built (B).

    A play with an optional capture is complete when it stops, takes a build, or nothing more may be taken.
    """
    game.legal_takes, game.legal_builds, count = 0, 0, 0
    if action < TAKE:
        lay_down(game, action)
        begin_choice(game)
    elif action < STOP:
        take(game, action - TAKE)
    elif action > STOP:
        choose_build(game, action)
    if action != STOP and action < TAKE_BUILD:
        count = offer_takes(compiled, game, scratch)
    if game.legal_takes & ~MAY_STOP | game.legal_builds != 0:
        return
    if compiled.optional:
        complete_chosen(compiled, game, np.int64(game.pending))
    else:
        seat, table, is_sweep_void = game.seat, game.table_ranks, is_void(compiled, game)
        complete_play(compiled, game, np.int64(game.pending), count, scratch)
        if count != 0:
            count_capture(compiled, game, seat, table - game.table_ranks, is_sweep_void)
    if ends_at_once(compiled, game):
        end_game(compiled, game)
        return
    pass_turn(compiled, game, scratch)
    if compiled.building:
        limit_plays(compiled, game)


@kernel
def offer_takes(compiled: np.record, game: np.record, scratch: np.record) -> int:
    """Write what the pending card may take next; return its number of maximal captures, 0 for optional ones (R7)."""
    game.legal_plays = 0
    if compiled.optional:
        offer_optional(compiled, game, scratch)
        return 0
    count = captures_of(compiled, game.pending, game.table_ranks, scratch)
    game.legal_takes = find_legal_takes(game, count, scratch)
    return count


@other_kernel
def offer_optional(compiled: np.record, game: np.record, scratch: np.record) -> None:
    """Write what the pending card may take or build next; who must sweep takes everything at once (K2, B)."""
    if compiled.building:
        offer_choices(compiled, game, scratch)
    elif compiled.forced_sweep and compiled.hand_choice[game.pending] & game.sweep_values != 0:
        for kind in range(NUM_KINDS):
            game.taken[kind] = game.table[kind]
        game.taken_ranks = game.table_ranks
        game.legal_takes = MAY_STOP
    else:
        offer_unions(compiled, game, scratch)


@kernel
def pass_turn(compiled: np.record, game: np.record, scratch: np.record) -> None:
    """Move on to the next decision after a play, in this deal or the next one, or end the game with its last card.

    (Calling `end_play`, with a branch for each outcome, makes a game 3% slower.)
    """
    if is_played_out(compiled, game):
        end_game(compiled, game)
        return
    if not find_next_seat(compiled, game):
        put_aside(compiled, game)
        deal(compiled, game)
    refresh(compiled, game, scratch)


@kernel
def end_play(compiled: np.record, game: np.record) -> int:
    """Give the turn to the next seat with cards, or end the deal or the game; return PLAYING, DEAL_OVER or GAME_OVER.

    When the deal is over, the cards of R6 have been set aside and the next ones are not dealt yet.
    """
    if is_game_over(compiled, game):
        end_game(compiled, game)
        return GAME_OVER
    if find_next_seat(compiled, game):
        return PLAYING
    put_aside(compiled, game)
    return DEAL_OVER


@kernel
def is_game_over(compiled: np.record, game: np.record) -> bool:
    """Check whether the game is over after the last play: all cards have been played (R13), or at once (F6)."""
    return is_played_out(compiled, game) or (not compiled.is_main and ends_at_once(compiled, game))


@kernel
def is_played_out(compiled: np.record, game: np.record) -> bool:
    """Check whether all cards have been played (R13)."""
    if game.next_card != compiled.deck_size:
        return False
    for seat in range(compiled.players):
        if game.hand_size[seat] > 0:
            return False
    return True


@kernel
def may_be_last(compiled: np.record, game: np.record) -> bool:
    """Check whether the play to be made or completed may be the last of the game: no other card is left.

    Where a session can end at once, any play may be (F6).
    """
    if compiled.threshold_at_once and compiled.threshold < NEVER:
        return True
    cards = compiled.deck_size - np.int64(game.next_card)
    for seat in range(compiled.players):
        cards += game.hand_size[seat]
    return cards <= 1


@kernel
def find_next_seat(compiled: np.record, game: np.record) -> bool:
    """Give the turn to the next seat with cards (H3); return whether there is one."""
    seat = game.seat
    for _ in range(compiled.players):
        seat += 1
        if seat == compiled.players:
            seat = 0
        if game.hand_size[seat] > 0:
            game.seat = seat
            return True
    return False


@kernel
def end_game(compiled: np.record, game: np.record) -> None:
    """Give what is left to the seat with the last capture, if any, and count what the end is worth (R13, V2, K4, K5).

    A game that ends at once, by its threshold, is left as it is (F6).
    """
    seat = game.last_capturer
    game.cut_short = ends_at_once(compiled, game)
    if seat != NO_SEAT and not game.cut_short:
        if compiled.counts_piles:
            count_pile(game, seat, game.table)
            count_pile(game, seat, game.set_aside)
        for card in range(NUM_KINDS):
            count = np.int64(game.table[card]) + game.set_aside[card]
            count_cards(compiled, game, seat, card, count)
            add_to_table(compiled, game, card, -np.int64(game.table[card]))
            game.set_aside[card] = 0
    if not game.cut_short:
        settle_game(compiled, game)
    game.over = True
    game.sweep_values = 0
    game.legal_plays = 0
    game.legal_takes = 0


@kernel
def end_session(compiled: np.record, game: np.record) -> bool:
    """Add the scores of a finished game to the totals; return whether the session is over too (R15, H5, K6)."""
    for seat in range(compiled.players):
        game.totals[seat] += score_of(compiled, game, seat)
        game.total_points[seat] += game.points[seat]
        game.total_sweeps[seat] += game.sweeps[seat]
        if not compiled.counts_plainly:
            game.total_void_sweeps[seat] += void_sweeps_of(compiled, game, seat)
    if compiled.games != 0 and game.game_number >= compiled.games:
        return True
    reached = False
    for side in range(compiled.teams):
        reached |= sum_over(compiled, game.totals, side) >= compiled.threshold
    return reached and (compiled.tie_break != PLAY_ON or not is_shared(compiled, game, False))


@kernel
def next_game(compiled: np.record, game: np.record, scratch: np.record) -> None:
    """Deal the session's next game: the dealer moves one seat to the left (R15)."""
    game.dealer = leader_of(compiled, game)
    game.game_number += 1
    shuffle_deck(compiled, game)
    begin_game(compiled, game, scratch)


@kernel
def first_game(compiled: np.record, game: np.record, scratch: np.record) -> None:
    """Deal the first game of a new session: the last seat deals (R5)."""
    for seat in range(compiled.players):
        game.totals[seat] = 0
        game.total_points[seat] = 0
        game.total_sweeps[seat] = 0
        game.total_void_sweeps[seat] = 0
    game.dealer = compiled.players - 1
    game.game_number = 1
    shuffle_deck(compiled, game)
    begin_game(compiled, game, scratch)
