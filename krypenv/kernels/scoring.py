"""Scoring: points, sweeps, what the end of a game settles, and which scores are better (`Rules.goal`).

Kernels over one game's row, then the same for arrays of scores. Points are what a game counts; a lead is positive for
the side that is doing better.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.cards import NO_SEAT, NUM_RANKS
from krypenv.kernels.compiled import NIBBLE, lead_sign
from krypenv.kernels.state import State
from krypenv.rules import Rules
from krypenv.runtime.jit import kernel

IntArray = npt.NDArray[np.int64]

# ---------------------------------------------------------------------- in the course of a game


@kernel
def count_cards(compiled: np.record, game: np.record, seat: int, card: int, count: int) -> None:
    """Count copies of a card that a seat has captured (R3)."""
    game.points[seat] += count * compiled.card_points[card]


@kernel
def sweeps_of(compiled: np.record, card: int, ranks: int, copies: int) -> int:
    """Return how many sweeps a card makes by taking a whole table: 2 for a lone card of its kind, else 1 (R11, H4).

    `ranks` is that table, packed, and `copies` how many of the card's kind are on it.
    """
    is_lone = ranks == np.int64(1) << NIBBLE * (card % NUM_RANKS)
    return 2 if is_lone and (compiled.doubles_by_rank or copies == 1) else 1


@kernel
def settle_game(compiled: np.record, game: np.record) -> None:
    """Give the seat with the last capture what the end of a game is worth (V2)."""
    if game.last_capturer != NO_SEAT:
        game.bonus[game.last_capturer] += compiled.last_capture_points


@kernel
def settled_bonus(compiled: np.record, game: np.record) -> int:
    """Return the total of what `settle_game` has added for all seats."""
    return compiled.last_capture_points * np.int64(game.over and game.last_capturer != NO_SEAT)


@kernel
def score_of(compiled: np.record, game: np.record, seat: int) -> int:
    """Return a seat's score in the game so far: points, plus its sweeps minus those of the next seat (R9, R12, R14)."""
    after = seat + 1
    if after == compiled.players:
        after = 0
    sweeps = game.sweeps[seat] - game.sweeps[after]
    return game.points[seat] + game.bonus[seat] + compiled.sweep_points * sweeps


# ---------------------------------------------------------------------- what players weigh


@kernel
def lead_over(compiled: np.record, own: float, others: float) -> float:
    """Return by how much a score is better than another."""
    return compiled.lead_sign * (others - own)


@kernel
def margin_of(compiled: np.record, game: np.record, side: int) -> float:
    """Return the margin of a side so far: its score's lead over the mean of the other sides' (R14, R16)."""
    own, total = np.int64(0), np.int64(0)
    for seat in range(compiled.players):
        score = score_of(compiled, game, seat)
        total += score
        if seat % compiled.teams == side:
            own += score
    return lead_over(compiled, own, (total - own) / (compiled.teams - 1))


@kernel
def sweep_gain(compiled: np.record, sweeper: int, side: int) -> float:
    """Return what a side's margin gains when a seat sweeps, which costs that seat and pays the one before (R9)."""
    before = (sweeper + compiled.players - 1) % compiled.players
    share = np.int64(before % compiled.teams == side) - np.int64(sweeper % compiled.teams == side)
    return compiled.lead_sign * compiled.sweep_points * share * compiled.teams / (compiled.teams - 1)


@kernel
def cost_of(compiled: np.record, points: int, own_sweeps: float, next_sweeps: float) -> float:
    """Return what points, own sweeps and the expected sweeps of the next seat cost a seat (R9)."""
    return compiled.lead_sign * (points + compiled.sweep_points * (own_sweeps - next_sweeps))


# ---------------------------------------------------------------------- arrays of scores


def leads(rules: Rules, own: npt.NDArray[Any], others: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return by how much each score is better than another, as `lead_over`."""
    return lead_sign(rules) * (others - own)


def are_best(rules: Rules, scores: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return which of the scores in each row, (..., S), are the best there, (..., S) bool; ties are all best."""
    return scores == (scores.min(-1, keepdims=True) if rules.goal == "low" else scores.max(-1, keepdims=True))


def side_scores(rules: Rules, scores: npt.ArrayLike) -> IntArray:
    """Return the score of each seat's side, (..., P) int64, from the seats' scores, (..., P) ints (R16)."""
    scores = np.asarray(scores, np.int64)
    if rules.teams is None:
        return scores
    members = rules.players // rules.teams
    sums = scores.reshape(*scores.shape[:-1], members, rules.teams).sum(-2)
    return np.tile(sums, members)


def points_of_sweeps(rules: Rules, sweeps: npt.ArrayLike) -> tuple[IntArray, IntArray]:
    """Return what sweeps, (..., P) ints by seat, add to each seat's score: its own, and those of the next seat (R9)."""
    points = rules.sweep_points * np.asarray(sweeps, np.int64)
    return points, -np.roll(points, -1, axis=-1)


def running_scores(rules: Rules, state: State, rows: npt.ArrayLike | None = None) -> IntArray:
    """Return the seats' scores in the session so far, (B, P) int64; with `rows`, (M,) ints, only theirs (R14, R15)."""
    seats = slice(0, rules.players)
    totals, points, bonus, sweeps = (
        getattr(state, name)[:, seats] if rows is None else getattr(state, name)[rows, seats]
        for name in ("totals", "points", "bonus", "sweeps")
    )
    taken, set_up = points_of_sweeps(rules, sweeps)
    return totals + points + bonus + taken + set_up
