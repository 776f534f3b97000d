"""What a move makes of a game."""

from __future__ import annotations

import numpy as np

from krypenv.agents.moves.maximal import known_sweeps
from krypenv.agents.moves.record import copies_taken
from krypenv.cards import NO_CARD, NUM_KINDS
from krypenv.kernels.builds import limit_plays
from krypenv.kernels.captures import bound_captures
from krypenv.kernels.compiled import takes_whole_ranks
from krypenv.kernels.completing import complete_building, complete_chosen, complete_play, count_capture, lay_down
from krypenv.kernels.play import GAME_OVER, allow_plays, end_play
from krypenv.kernels.scoring import is_void
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
    """Do what `make_move` does, where more counts than in the main game."""
    card = np.int64(move.card)
    if game.pending == NO_CARD:
        lay_down(game, card)
    for kind in range(NUM_KINDS):
        game.taken[kind] = copies_taken(move, kind)
    game.taken_ranks = move.ranks
    if compiled.building:
        game.build_value = move.build
        game.taken_builds = np.int64(move.taken != 0) << move.taken
        complete_building(compiled, game, card)
    else:
        seat, is_sweep_void = game.seat, is_void(compiled, game)
        complete_chosen(compiled, game, card)
        if move.ranks != 0:
            count_capture(compiled, game, seat, np.int64(move.ranks), is_sweep_void)
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
