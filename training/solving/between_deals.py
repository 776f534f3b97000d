"""Public positions between two deals, as kernels: what tells two apart as far as the rest of the game is concerned."""

from __future__ import annotations

import numpy as np

from krypenv.cards import NUM_KINDS
from krypenv.runtime.jit import kernel
from krypenv.state import mix

MOST_KINDS = 31  # kinds of unseen cards in a game that is solved: a hand is two bits for each


@kernel
def strip_hands(compiled: np.record, game: np.record) -> None:
    """Take all cards out of the hands that were just dealt; how many there were stays."""
    for seat in range(compiled.players):
        game.hand_kinds[seat] = 0
        for kind in range(NUM_KINDS):
            game.hands[seat, kind] = 0


@kernel
def hash_position(compiled: np.record, game: np.record) -> np.uint64:
    """Return a hash of what `are_equal` compares, without its counts of points."""
    word = mix(np.uint64(game.deal_number) << np.uint64(8) | np.uint64(game.last_capturer + 1))
    for kind in range(NUM_KINDS):
        cards = (np.int64(game.table[kind]) * 4 + game.set_aside[kind]) * 4 + game.seen[kind]
        word = mix(word ^ np.uint64(cards + 64 * kind))
    if compiled.counts_piles:
        for seat in range(compiled.players):
            word = mix(word ^ np.uint64(game.cards_won[seat] * 256 + game.spades_won[seat]))
    return word


@kernel
def are_equal(compiled: np.record, game: np.record, other: np.record, keeps_points: bool) -> bool:
    """Return whether two public positions at the beginning of a deal are the same for the rest of the game.

    With `keeps_points` all points so far must be the same too, as a seat sees them.
    """
    if game.deal_number != other.deal_number or game.last_capturer != other.last_capturer:
        return False
    for kind in range(NUM_KINDS):
        if (
            game.table[kind] != other.table[kind]
            or game.set_aside[kind] != other.set_aside[kind]
            or game.seen[kind] != other.seen[kind]
        ):
            return False
    points_decide = keeps_points or compiled.judges_sweeps or compiled.sweeps_cancel or compiled.threshold_at_once
    for seat in range(compiled.players):
        if game.cards_won[seat] != other.cards_won[seat] or game.spades_won[seat] != other.spades_won[seat]:
            return False
        if points_decide and (
            game.points[seat] != other.points[seat]
            or game.sweeps[seat] != other.sweeps[seat]
            or game.void_sweeps[seat] != other.void_sweeps[seat]
            or game.mulles[seat] != other.mulles[seat]
            or game.bonus[seat] != other.bonus[seat]
        ):
            return False
    return True
