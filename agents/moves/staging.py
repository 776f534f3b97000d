"""From a move to its staged actions, and back."""

from __future__ import annotations

import numpy as np

from krypenv.agents.moves.record import copies_taken
from krypenv.cards import BUILD, NO_CARD, NUM_KINDS, STOP, TAKE, TAKE_BUILD
from krypenv.kernels.play import act
from krypenv.runtime.jit import kernel


@kernel
def next_action(game: np.record, move: np.record) -> int:
    """Return the action that begins or continues a move: play, build, take in ascending order, take a build, stop.

    Cards that every capture takes are not actions where captures are maximal.
    """
    if game.pending == NO_CARD:
        return int(move.card)
    if move.build != 0 and game.build_value == 0:
        return int(BUILD + move.build)
    for kind in range(NUM_KINDS):
        if copies_taken(move, kind) > game.taken[kind] and game.legal_takes >> kind & 1:
            return TAKE + kind
    if move.taken != 0:
        return int(TAKE_BUILD + move.taken)
    return STOP


@kernel
def leads_to(compiled: np.record, game: np.record, action: int, move: np.record) -> bool:
    """Return whether an action can begin or continue a move.

    Where captures are maximal, they take their cards in any order. Others take them in ascending order of kind (K2).
    """
    if compiled.optional or game.pending == NO_CARD:
        return action == next_action(game, move)
    return action >= TAKE and copies_taken(move, action - TAKE) > game.taken[action - TAKE]


@kernel
def carry_out(compiled: np.record, game: np.record, move: np.record, scratch: np.record) -> None:
    """Make a move action by action; after the last one of a deal, the next cards are dealt."""
    act(compiled, game, next_action(game, move), scratch)
    while game.pending != NO_CARD:
        act(compiled, game, next_action(game, move), scratch)
