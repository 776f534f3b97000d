"""Advantages along each seat's own decisions, forwards as in the paper: sums of discounted one-step errors."""

from __future__ import annotations

import numpy as np


def advantages_of_streams(
    values: np.ndarray,
    seats: np.ndarray,
    earned: np.ndarray,
    ends: np.ndarray,
    last_seats: np.ndarray,
    last_values: np.ndarray,
    gamma: float,
    decay: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the advantages of T steps in B games, (T, B), and which are known: the seat's next value is in sight.

    `values`, `seats` and `ends` are (T, B), `earned` (T, B, P); `last_seats` and `last_values`, (B,), are of what
    follows.
    """
    advantages, known = np.zeros(values.shape), np.zeros(values.shape, bool)
    for row, seat in np.ndindex(earned.shape[1:]):
        mine = np.flatnonzero(seats[:, row] == seat).tolist()
        errors: dict[int | None, tuple[float, int | None]] = {}  # with the next decision of the same episode
        for step, stop in zip(mine, [*mine[1:], len(values)], strict=True):
            over, after, follows = np.flatnonzero(ends[step:stop, row]), None, 0.0
            reward = earned[step : step + over[0] + 1 if len(over) else stop, row, seat].sum()
            if not len(over) and stop < len(values):
                after, follows = stop, values[stop, row]
            elif not len(over) and last_seats[row] == seat:
                follows = last_values[row]
            elif not len(over):
                continue
            errors[step] = reward + gamma * follows - values[step, row], after
        for step in filter(errors.__contains__, mine):
            known[step, row], weight, at = True, 1.0, step
            while at in errors:
                error, at = errors[at]
                advantages[step, row] += weight * error
                weight *= gamma * decay
    return advantages, known
