"""Entry kernels of one game: `stack` holds its states, the first one and the one after each action."""

from __future__ import annotations

import numpy as np

from krypenv.cards import NO_CARD
from krypenv.features import write_features
from krypenv.kernels.deals import deal, shuffle_deck, take_back
from krypenv.kernels.decision_checks import SOUND
from krypenv.kernels.observing import note_play, write_history, write_mask, write_observation
from krypenv.kernels.play import act, begin_game, end_session, prepare, refresh
from krypenv.kernels.scoring import score_of, tie_break_of
from krypenv.rules import Rules
from krypenv.runtime.jit import kernel
from krypenv.state import is_legal
from krypenv.worlds.invariants import fault_before_legality, fault_of_legality

ILLEGAL, PENDING, PLAYED, DEAL_AWAITED, GAME_ENDED = range(5)  # what an action leads to, in `follow`


def most_actions(rules: Rules) -> int:
    """Bound the staged actions of one game.

    Each plays or takes a card, which no card is twice, or stops the play of a card (K2), or begins or takes a build
    with it (B1).
    """
    return (5 if rules.building else 3 if rules.capture == "optional" else 2) * rules.deck_size


@kernel
def step_game(compiled: np.ndarray, stack: np.ndarray, at: int, action: int, scratch: np.ndarray) -> bool:
    """Copy state `at` to `at + 1` and carry out an action there; if it is illegal, return False and do nothing."""
    if not is_legal(stack[at], action):
        return False
    stack[at + 1] = stack[at]
    act(compiled[0], stack[at + 1], action, scratch[0])
    return True


@kernel
def deal_stack(compiled: np.ndarray, stack: np.ndarray, shuffles: int, deck: np.ndarray, scratch: np.ndarray) -> None:
    """Shuffle the deck of the first state some times, put in another one, int8 kinds, unless it is empty, and deal."""
    for _ in range(shuffles):
        shuffle_deck(compiled[0], stack[0])
    for place in range(len(deck)):
        stack[0].deck[place] = deck[place]
    begin_game(compiled[0], stack[0], scratch[0])


@kernel
def resume_stack(compiled: np.ndarray, stack: np.ndarray, twin: np.ndarray, scratch: np.ndarray) -> int:
    """Check the first state and find what is legal there; return the fault, or SOUND. `twin` is (1,) of `GAME`."""
    fault = fault_before_legality(compiled[0], stack[0], twin, scratch[0])
    if fault == SOUND:
        prepare(compiled[0], stack[0], scratch[0])
        fault = fault_of_legality(compiled[0], stack[0])
    return fault


@kernel
def close_session(compiled: np.ndarray, stack: np.ndarray, at: int) -> bool:
    """Copy state `at` to `at + 1` and add its game to the totals there; return whether the session is over."""
    stack[at + 1] = stack[at]
    return end_session(compiled[0], stack[at + 1])


@kernel
def write_scores(compiled: np.ndarray, stack: np.ndarray, at: int, out: np.ndarray) -> None:
    """Write the scores so far, and what decides between equal totals of sides (K6, F7), into `out`, (2, P) int64."""
    for seat in range(out.shape[1]):
        out[0, seat] = score_of(compiled[0], stack[at], seat)
        out[1, seat] = tie_break_of(compiled[0], stack[at], seat % compiled[0].teams)


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
def write_plays(
    compiled: np.ndarray, stack: np.ndarray, at: int, record: np.ndarray, seat: int, out: np.ndarray
) -> None:
    """Write the plays of the deal as a seat sees them in state `at`; `record` is work space, (M, RECORD) int8 of -1."""
    for place in range(at + 1):
        if stack[place].deal_number == stack[at].deal_number and stack[place].last_card != NO_CARD:
            note_play(compiled[0], stack[place], record)
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
