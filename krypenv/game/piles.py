"""The piles of a game: who has captured which cards; and how a game resumes from a state with them."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import numpy as np

from krypenv.cards import NO_CARD, NO_SEAT, NUM_RANKS, SPADES
from krypenv.game.moves import bits
from krypenv.game.stack import resume_stack
from krypenv.kernels.builds import values_built
from krypenv.kernels.captures import borrow_scratch
from krypenv.kernels.decision_checks import POINTS, SOUND
from krypenv.runtime.jit import handle
from krypenv.state import allocate, seed_game

if TYPE_CHECKING:
    from krypenv.game.game import Game


def piles_of(game: Game) -> np.ndarray:
    """Return the counts captured by each seat, (P, 52) int64; at the end they include what was left (R13)."""
    piles = game.piles_before.copy()
    states = game.states[1 : game.at + 1]
    taken = states["taken"].astype(np.int64)
    captures = taken.any(axis=1)
    if game.rules.building:
        captures = (captures | (states["taken_builds"] != 0)) & (states["build_value"] == 0)
    for place in np.flatnonzero((states["pending"] == NO_CARD) & captures).tolist():
        seat = states["last_seat"][place]
        piles[seat] += taken[place]
        for value in bits(int(states["taken_builds"][place])):
            piles[seat] += built_cards(game.states[place], value)
        piles[seat, states["last_card"][place]] += 1
    last = game.last_capturer
    if game.is_over and last is not None and not game.ended_at_once:
        piles[last] += game.rules.deck_counts - piles.sum(axis=0)
    return piles


def resume(game: Game, piles: np.ndarray) -> int:
    """Resume a game from its first state with these piles, counts (P, 52); return what is wrong with them, or SOUND.

    Later games of the session are dealt at random.
    """
    game.piles_before[:] = piles
    fault = int(resume_stack(game.compiled, game.states, handle(allocate(1)), borrow_scratch()))
    if fault == SOUND and not _has_piles(game, piles):
        fault = POINTS
    seed_game(game.states[0], np.uint64(secrets.randbits(64)))
    return fault


def _has_piles(game: Game, piles: np.ndarray) -> bool:
    """Return whether the first state of a game can have these piles."""
    first, rules, kept = game.states[0], game.rules, game.piles_before
    players, sizes, last = rules.players, kept.sum(axis=1), int(first["last_capturer"])
    built = np.sum([built_cards(first, value) for value in bits(int(first["builds"]))], axis=0, initial=0)
    counted = game.compiled["counts_piles"][0]
    return bool(
        (kept == piles).all()
        and (kept >= 0).all()
        and (kept.sum(axis=0) == first["seen"].astype(np.int64) - first["table"] - first["set_aside"] - built).all()
        and (kept @ rules.card_points.astype(np.int64) == first["points"][:players]).all()
        and (first["sweeps"][:players] <= sizes).all()
        and (sizes != 1).all()
        and (first["mulles"][:players] <= (kept // 2).sum(axis=1)).all()
        and (not counted or (first["cards_won"][:players] == sizes).all())
        and (not counted or (first["spades_won"][:players] == spades_in(kept)).all())
        and (last == NO_SEAT or sizes[last] > 0)
    )


def spades_in(piles: np.ndarray) -> np.ndarray:
    """Return the spades in each of some piles, counts (..., 52)."""
    return np.asarray(piles[..., SPADES * NUM_RANKS :].sum(axis=-1))


def built_cards(row: np.ndarray, value: int) -> np.ndarray:
    """Return the cards of a build in a state, (52,) counts."""
    return np.asarray((values_built(row["built"]) == value).sum(axis=0))
