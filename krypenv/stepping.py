"""Kernels over the rows of a batch: steps, the decisions that follow, and random actions, split over threads."""

from __future__ import annotations

import numba
import numpy as np

from krypenv.cards import BUILD, TAKE
from krypenv.kernels.compiled import bit_index, count_bits
from krypenv.kernels.observing import write_mask, write_observation
from krypenv.kernels.play import act, end_session, first_game, next_game
from krypenv.kernels.scoring import tie_break_of
from krypenv.runtime.jit import kernel, parallel_kernel, rare_kernel
from krypenv.state import ACTIONS, is_legal, random_below, seed_game

NEW_SESSION, OBSERVE = -2, -1  # orders besides actions: deal a first game, or only write the decision


@kernel
def find_illegal(state: np.ndarray, orders: np.ndarray) -> int:
    """Find the index of the first illegal order, or M; `orders` are (M, 2), a row and its action each."""
    for at in range(len(orders)):
        if not is_legal(state[orders[at, 0]], orders[at, 1]):
            return at
    return len(orders)


@kernel
def step_rows(
    compiled: np.ndarray,
    state: np.ndarray,
    observation: np.ndarray,
    mask: np.ndarray,
    finished: np.ndarray,
    finals: np.ndarray,
    orders: np.ndarray,
    scratch: np.ndarray,
) -> None:
    """Carry out orders, (M, 2) int64: a row, and its action, NEW_SESSION or OBSERVE. Then write the next decision.

    If an action ends the session, keep its scores, points, sweeps, void sweeps and tie breaks in `finals`,
    (5, B, P), and deal a new one.
    `scratch` is that of one thread, (1,) of `SCRATCH`.
    """
    for at in range(len(orders)):
        row, action = orders[at, 0], orders[at, 1]
        game = state[row]
        finished[row] = False
        if action == NEW_SESSION:
            first_game(compiled[0], game, scratch[0])
        elif action != OBSERVE:
            act(compiled[0], game, action, scratch[0])
        if game.over:
            finished[row] = end_session(compiled[0], game)
            if finished[row]:
                for seat in range(compiled[0].players):
                    finals[0, row, seat] = game.totals[seat]
                    finals[1, row, seat] = game.total_points[seat]
                    finals[2, row, seat] = game.total_sweeps[seat]
                    finals[3, row, seat] = game.total_void_sweeps[seat]
                    finals[4, row, seat] = tie_break_of(compiled[0], game, seat % compiled[0].teams)
                first_game(compiled[0], game, scratch[0])
            else:
                next_game(compiled[0], game, scratch[0])
        write_observation(compiled[0], game, game.seat, observation[row])
        write_mask(game, mask[row])


@kernel
def seed_rows(state: np.ndarray, rows: np.ndarray, seeds: np.ndarray) -> None:
    """Seed the random streams of some rows, each from one seed."""
    for at in range(len(rows)):
        seed_game(state[rows[at]], seeds[at])


@kernel
def sample_action(game: np.record) -> int:
    """Draw a uniformly random legal action where no build may be begun or taken."""
    left = game.legal_plays | game.legal_takes
    for _ in range(random_below(game, ACTIONS, count_bits(left))):
        left &= left - 1
    return bit_index(left & -left) + (TAKE if game.legal_plays == 0 else 0)


@rare_kernel
def sample_with_builds(game: np.record) -> int:
    """Draw a uniformly random legal action, a build perhaps."""
    if game.legal_builds == 0:
        return sample_action(game)
    takes = count_bits(game.legal_takes)
    at = random_below(game, ACTIONS, takes + count_bits(game.legal_builds))
    left, first = np.int64(game.legal_takes), TAKE
    if at >= takes:
        left, first, at = np.int64(game.legal_builds), BUILD, at - takes
    for _ in range(at):
        left &= left - 1
    return bit_index(left & -left) + first


@kernel
def sample_rows(
    compiled: np.ndarray, state: np.ndarray, rows: np.ndarray, out: np.ndarray, part: int, parts: int
) -> None:
    """Write a uniformly random legal action into `out` for each row in one of several parts of some rows."""
    builds = compiled[0].building
    for at in range(len(rows) * part // parts, len(rows) * (part + 1) // parts):
        game = state[rows[at]]
        out[at] = sample_with_builds(game) if builds else sample_action(game)


@kernel
def play_games(compiled: np.ndarray, state: np.ndarray, rows: np.ndarray, steps: int, scratch: np.ndarray) -> int:
    """Play `steps` random legal actions in each of some rows, without observations; return how many games ended."""
    games = 0
    for at in range(len(rows)):
        game = state[rows[at]]
        for _ in range(steps):
            action = sample_with_builds(game) if compiled[0].building else sample_action(game)
            act(compiled[0], game, action, scratch[0])
            if game.over:
                games += 1
                if end_session(compiled[0], game):
                    first_game(compiled[0], game, scratch[0])
                else:
                    next_game(compiled[0], game, scratch[0])
    return games


@parallel_kernel
def step_parts(
    compiled: np.ndarray,
    state: np.ndarray,
    observation: np.ndarray,
    mask: np.ndarray,
    finished: np.ndarray,
    finals: np.ndarray,
    orders: np.ndarray,
    scratch: np.ndarray,
) -> None:
    """Carry out orders as `step_rows`, on several threads; `scratch` has a record for each, (parts,)."""
    for part in numba.prange(len(scratch)):
        own = orders[len(orders) * part // len(scratch) : len(orders) * (part + 1) // len(scratch)]
        step_rows(compiled, state, observation, mask, finished, finals, own, scratch[part : part + 1])


@parallel_kernel
def sample_parts(compiled: np.ndarray, state: np.ndarray, rows: np.ndarray, out: np.ndarray, parts: int) -> None:
    """Draw random actions as `sample_rows`, on several threads."""
    for part in numba.prange(parts):
        sample_rows(compiled, state, rows, out, part, parts)
