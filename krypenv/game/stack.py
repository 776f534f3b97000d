"""Entry kernels for one game: `stack` holds its states so far, one record each, the latest last."""

from __future__ import annotations

import numpy as np

from krypenv.cards import NO_CARD
from krypenv.features import write_features
from krypenv.kernels.captures import captures_of, find_sweep_values
from krypenv.kernels.compiled import sum_of
from krypenv.kernels.deals import deal, shuffle_deck, take_back
from krypenv.kernels.decision_checks import SOUND
from krypenv.kernels.observing import note_play, write_history, write_mask, write_observation
from krypenv.kernels.play import act, begin_game, end_session, next_game, prepare, refresh
from krypenv.kernels.scoring import ends_at_once, score_of, settle_game, tie_break_of
from krypenv.runtime.jit import kernel
from krypenv.state import is_legal, seed_game
from krypenv.worlds.build_invariants import fault_of_builds
from krypenv.worlds.invariants import fault_of_course

ILLEGAL, PENDING, PLAYED, DEAL_AWAITED, GAME_ENDED = range(5)  # what an action leads to, in `follow`


@kernel
def step_game(compiled: np.ndarray, stack: np.ndarray, at: int, action: int, scratch: np.ndarray) -> bool:
    """Copy state `at` to `at + 1` and carry out an action there; if it is illegal, return False and do nothing."""
    if not is_legal(stack[at], action):
        return False
    stack[at + 1] = stack[at]
    act(compiled[0], stack[at + 1], action, scratch[0])
    return True


@kernel
def list_captures(compiled: np.ndarray, stack: np.ndarray, at: int, scratch: np.ndarray) -> int:
    """Put the captures of the pending card into `scratch.captures`, as packed ranks, and return their number."""
    game = stack[at]
    return captures_of(compiled[0], game.pending, game.table_ranks, scratch[0])


@kernel
def shuffle_stack(compiled: np.ndarray, stack: np.ndarray, seed: np.uint64) -> None:
    """Seed the streams of the first state and shuffle its deck as many times as its game number says."""
    seed_game(stack[0], seed)
    for _ in range(stack[0].game_number):
        shuffle_deck(compiled[0], stack[0])


@kernel
def begin_stack(compiled: np.ndarray, stack: np.ndarray, scratch: np.ndarray) -> None:
    """Deal the first state from its deck."""
    begin_game(compiled[0], stack[0], scratch[0])


@kernel
def resume_stack(compiled: np.ndarray, stack: np.ndarray, twin: np.ndarray, scratch: np.ndarray) -> int:
    """Check the first state and find what is legal there; return the fault, or SOUND. `twin` is (1,) of `GAME`."""
    fault = fault_of_course(compiled[0], stack[0], True, twin)
    if fault == SOUND:
        fault = fault_of_builds(compiled[0], stack[0], scratch[0])
    if fault == SOUND:
        prepare(compiled[0], stack[0], scratch[0])
    return fault


@kernel
def close_session(compiled: np.ndarray, stack: np.ndarray, at: int) -> bool:
    """Copy state `at` to `at + 1` and add its game to the totals there; return whether the session is over."""
    stack[at + 1] = stack[at]
    return end_session(compiled[0], stack[at + 1])


@kernel
def deal_next(compiled: np.ndarray, stack: np.ndarray, scratch: np.ndarray) -> None:
    """Deal the session's next game in the first state."""
    next_game(compiled[0], stack[0], scratch[0])


@kernel
def settle_stack(compiled: np.ndarray, stack: np.ndarray) -> None:
    """Add what the end of the game is worth to the first state."""
    settle_game(compiled[0], stack[0])


@kernel
def is_at_end(compiled: np.ndarray, stack: np.ndarray) -> bool:
    """Return whether a running score ends the session in the first state, in the middle of the game (F6)."""
    return ends_at_once(compiled[0], stack[0])


@kernel
def write_scores(compiled: np.ndarray, stack: np.ndarray, at: int, out: np.ndarray) -> None:
    """Write the scores so far into `out`, (P,) int64."""
    for seat in range(len(out)):
        out[seat] = score_of(compiled[0], stack[at], seat)


@kernel
def write_tie_breaks(compiled: np.ndarray, stack: np.ndarray, at: int, out: np.ndarray) -> None:
    """Write what decides between equal totals, of each seat's side, into `out`, (P,) int64 (K6, F7)."""
    for seat in range(len(out)):
        out[seat] = tie_break_of(compiled[0], stack[at], seat % compiled[0].teams)


@kernel
def list_sweep_values(compiled: np.ndarray, stack: np.ndarray, at: int, scratch: np.ndarray) -> int:
    """Return the hand values that would take the whole table, as bits (R9, K3)."""
    ranks = stack[at].table_ranks
    return find_sweep_values(compiled[0], ranks, sum_of(compiled[0], ranks), scratch[0])


@kernel
def observe(
    compiled: np.ndarray,
    stack: np.ndarray,
    at: int,
    seat: int,
    out: np.ndarray,
    outlook: np.ndarray,
    scratch: np.ndarray,
) -> None:
    """Write what a seat sees into `out`, (N,) int8; the features of a seat that is not to act are zero."""
    game = stack[at]
    write_observation(compiled[0], game, seat, out)
    size = compiled[0].entries
    if len(out) > size:
        to_act = np.int64(seat == game.seat)
        plays, takes = to_act * game.legal_plays, to_act * game.legal_takes
        write_features(compiled[0], out, plays, takes, outlook[0], scratch[0], out[size:])


@kernel
def note_at(compiled: np.ndarray, stack: np.ndarray, at: int, record: np.ndarray) -> None:
    """Write the last play of state `at` into its row of `record`, (M, RECORD) int8."""
    note_play(compiled[0], stack[at], record)


@kernel
def write_plays(
    compiled: np.ndarray, stack: np.ndarray, at: int, record: np.ndarray, seat: int, out: np.ndarray
) -> None:
    """Write the recorded plays of a deal, (M, RECORD) int8, as a seat sees them in state `at`."""
    write_history(compiled[0], stack[at], record, seat, out)


@kernel
def mask_actions(stack: np.ndarray, at: int, out: np.ndarray) -> None:
    """Write the mask of the seat to act into `out`, (105,) int8."""
    write_mask(stack[at], out)


# ---------------------------------------------------------------------- where the cards of a deal come one by one


@kernel
def follow(compiled: np.ndarray, stack: np.ndarray, action: int, scratch: np.ndarray) -> int:
    """Carry out an action in the first state and return what it leads to; the next deal is left to `deal_on`."""
    game = stack[0]
    if not is_legal(game, action):
        return ILLEGAL
    number = np.int64(game.deal_number)
    act(compiled[0], game, action, scratch[0])
    if game.over:
        return GAME_ENDED
    if game.pending != NO_CARD:
        return PENDING
    if game.deal_number == number:
        return PLAYED
    take_back(compiled[0], game)
    return DEAL_AWAITED


@kernel
def deal_on(compiled: np.ndarray, stack: np.ndarray, is_first: bool, scratch: np.ndarray) -> None:
    """Begin a game, or its next deal, in the first state; the cards are in its deck."""
    if is_first:
        begin_game(compiled[0], stack[0], scratch[0])
    else:
        deal(compiled[0], stack[0])
        refresh(compiled[0], stack[0], scratch[0])


@kernel
def look(compiled: np.ndarray, stack: np.ndarray, seat: int, out: np.ndarray) -> None:
    """Write what a seat sees of the first state, without features, into `out`, (N,) int8."""
    write_observation(compiled[0], stack[0], seat, out)
