"""Carrying out moves: whole plays, for searches, or their staged actions."""

from __future__ import annotations

import numpy as np

from krypenv.agents.moves.listing import known_sweeps
from krypenv.agents.moves.record import copies_taken
from krypenv.cards import BUILD, NO_CARD, NUM_KINDS, STOP, TAKE, TAKE_BUILD
from krypenv.kernels.builds import limit_plays
from krypenv.kernels.captures import bound_captures
from krypenv.kernels.compiled import takes_whole_ranks
from krypenv.kernels.completing import complete_chosen, complete_play, lay_down
from krypenv.kernels.play import GAME_OVER, act, allow_plays, end_play
from krypenv.runtime.jit import kernel, other_kernel


@kernel
def make_move(compiled: np.record, game: np.record, move: np.record, listing: np.record) -> int:
    """Carry out a whole play and return PLAYING, DEAL_OVER or GAME_OVER.

    When the deal is over, the cards of R6 are set aside and the next ones are not yet dealt.
    """
    if not compiled.is_main:
        return _make_any(compiled, game, move, listing)
    scratch = listing.scratch
    card = np.int64(move.card)
    if game.pending == NO_CARD:
        lay_down(game, card)
    if move.ranks != 0:
        scratch.captures[0] = move.ranks
        if not takes_whole_ranks(move.ranks, game.table_ranks):
            for kind in range(NUM_KINDS):
                game.taken[kind] = copies_taken(move, kind)
            bound_captures(1, move.ranks, scratch)
    complete_play(compiled, game, card, np.int64(move.ranks != 0), scratch)
    outcome = end_play(compiled, game)
    if outcome != GAME_OVER:
        allow_plays(compiled, game, known_sweeps(compiled, np.int64(game.table_ranks), listing))
    return outcome


@other_kernel
def _make_any(compiled: np.record, game: np.record, move: np.record, listing: np.record) -> int:
    """Carry out a whole play under rules beyond the main game's; see `make_move`."""
    card = np.int64(move.card)
    if game.pending == NO_CARD:
        lay_down(game, card)
    for kind in range(NUM_KINDS):
        game.taken[kind] = copies_taken(move, kind)
    game.taken_ranks, game.build_value = move.ranks, move.build
    game.taken_builds = np.int64(move.taken != 0) << move.taken
    complete_chosen(compiled, game, card)
    outcome = end_play(compiled, game)
    if outcome != GAME_OVER:
        sweeps = np.int64(0)
        if compiled.forced_sweep or not compiled.optional:
            sweeps = known_sweeps(compiled, np.int64(game.table_ranks), listing)
        allow_plays(compiled, game, sweeps)
        if compiled.building:
            game.legal_builds = 0
            limit_plays(compiled, game)
    return outcome


@kernel
def next_action(game: np.record, move: np.record) -> int:
    """Find the action that begins or continues a move: play, build, take in ascending order, take a build, stop.

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
    """Check whether an action can begin or continue a move.

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
