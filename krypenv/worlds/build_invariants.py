"""The invariants of builds: their groups, their owners, and what these have promised to hold (B1 to B6)."""

from __future__ import annotations

import numpy as np

from krypenv.cards import MAX_BUILD, NO_CARD, NUM_KINDS
from krypenv.kernels.builds import LIES_IN, NUM_PAIRS, copies_in, held_values, ranks_of_build
from krypenv.kernels.compiled import bit_index, hand_value_of, sum_of
from krypenv.kernels.decision_checks import BUILDS, HOLDS, PLAY, SOUND
from krypenv.kernels.unions import is_union
from krypenv.runtime.jit import kernel, rare_kernel


@rare_kernel
def fault_of_promises(compiled: np.record, game: np.record) -> int:
    """Return HOLDS if a seat lacks a card that it has promised to hold, apart from what the pending card does (B5)."""
    left = np.int64(game.builds)
    while left != 0:
        value = bit_index(left & -left)
        left &= left - 1
        owner = np.int64(game.build_owner[value])
        is_at_play = game.pending != NO_CARD and owner == game.seat and value == hand_value_of(compiled, game.pending)
        if not is_at_play and held_values(compiled, game, owner, NO_CARD) >> value & 1 == 0:
            return HOLDS
    builds = game.pending != NO_CARD and game.build_value != 0
    has_card = held_values(compiled, game, game.seat, NO_CARD) >> game.build_value & 1
    return HOLDS if builds and has_card == 0 else SOUND


@rare_kernel
def fault_of_builds(compiled: np.record, game: np.record, scratch: np.record) -> int:
    """Return what is wrong with the builds, their groups and owners, and what these hold (B1 to B6), or SOUND."""
    if not compiled.building:
        return SOUND
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
        owner, ranks, cards = np.int64(game.build_owner[value]), ranks_of_build(game, value), 0
        for kind in range(NUM_KINDS):
            cards += copies_in(game, value, kind)
        if not is_seat(compiled, owner) or cards < 2 or compiled.value_kinds[value] == 0:
            return BUILDS
        is_multiple = game.multiple_builds >> value & 1 == 1
        if is_multiple != (sum_of(compiled, ranks) != value) or not is_union(compiled, value, ranks, False, scratch):
            return BUILDS
        if game.over and not game.cut_short:
            return BUILDS
    return SOUND if game.cut_short else fault_of_promises(compiled, game)


@kernel
def is_seat(compiled: np.record, seat: int) -> bool:
    """Return whether a number is that of a seat."""
    return seat >= 0 and seat < compiled.players
