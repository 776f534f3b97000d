"""Advantages are computed along each seat's own decisions: the buffer against one stream at a time, by hand."""

from __future__ import annotations

import gymnasium as gym
import numpy as np

from krypenv.training.buffer import SeatRolloutBuffer

STEPS, ROWS, SEATS, GAMMA, LAMBDA = 24, 5, 3, 0.9, 0.8


def filled_buffer(rng: np.random.Generator) -> tuple[SeatRolloutBuffer, np.ndarray, np.ndarray]:
    space = gym.spaces.Box(-128, 127, (4,), np.int8)
    buffer = SeatRolloutBuffer(
        STEPS, space, gym.spaces.Discrete(105), "cpu", gae_lambda=LAMBDA, gamma=GAMMA, n_envs=ROWS, seats=SEATS
    )
    for step in range(STEPS):
        seats = rng.integers(0, SEATS, ROWS)
        values = rng.normal(size=ROWS).astype(np.float32)
        tags = np.stack([np.full(ROWS, step), np.arange(ROWS), seats, np.zeros(ROWS)], 1).astype(np.int8)
        masks = np.zeros((ROWS, 105), np.int8)
        masks[:, step] = 1
        buffer.put(tags, masks, seats, np.full(ROWS, step), values, np.zeros(ROWS))
        buffer.earned[step] = rng.normal(size=(ROWS, SEATS))
        buffer.ends[step] = rng.random(ROWS) < 0.15
    return buffer, rng.integers(0, SEATS, ROWS), rng.normal(size=ROWS).astype(np.float32)


def advantages_of_stream(buffer: SeatRolloutBuffer, row: int, seat: int, last: float | None) -> dict[int, float | None]:
    """The estimator for one seat of one row, written forwards as in the paper: sums of discounted errors."""
    mine = [step for step in range(STEPS) if buffer.seats[step, row] == seat]
    found: dict[int, float | None] = {}
    errors: dict[int, tuple[float, int | None]] = {}  # step -> one-step error, next step of the same episode
    for place, step in enumerate(mine):
        stop = mine[place + 1] if place + 1 < len(mine) else STEPS
        reward, after, ended = 0.0, None, False
        for at in range(step, stop):
            reward += float(buffer.earned[at, row, seat])
            if buffer.ends[at, row]:
                ended = True
                break
        value = float(buffer.values[step, row])
        if ended:
            errors[step] = reward - value, None
        elif stop < STEPS:
            after = stop
            errors[step] = reward + GAMMA * float(buffer.values[stop, row]) - value, after
        elif last is not None:
            errors[step] = reward + GAMMA * last - value, None
        else:
            found[step] = None
    for step in errors:
        total, weight, at = 0.0, 1.0, step
        while at is not None and at in errors:
            total += weight * errors[at][0]
            weight *= GAMMA * LAMBDA
            at = errors[at][1]  # type: ignore[assignment]
        found[step] = total
    return found


def test_advantages_are_those_of_each_seat_alone() -> None:
    for seed in range(20):
        buffer, last_seats, last_values = filled_buffer(np.random.default_rng(seed))
        buffer.compute_seat_advantages(last_seats, last_values)
        seen = 0
        for row in range(ROWS):
            for seat in range(SEATS):
                last = float(last_values[row]) if last_seats[row] == seat else None
                for step, advantage in advantages_of_stream(buffer, row, seat, last).items():
                    seen += 1
                    assert buffer.valid[step, row] == (advantage is not None)
                    if advantage is not None:
                        assert abs(buffer.advantages[step, row] - advantage) < 1e-4
        assert seen == STEPS * ROWS


def test_batches_hold_each_valid_decision_once_with_its_own_mask() -> None:
    buffer, last_seats, last_values = filled_buffer(np.random.default_rng(1))
    buffer.compute_seat_advantages(last_seats, last_values)
    valid = {(step, row) for step in range(STEPS) for row in range(ROWS) if buffer.valid[step, row]}
    assert 0 < len(valid) < STEPS * ROWS
    seen = []
    for batch in buffer.get(None):
        for tag, action, mask, advantage in zip(
            batch.observations, batch.actions, batch.action_masks, batch.advantages, strict=True
        ):
            step, row = int(tag[0]), int(tag[1])
            seen.append((step, row))
            assert int(action) == step
            assert mask.nonzero().flatten().tolist() == [step]
            assert advantage == buffer.advantages[step, row]
    assert len(seen) == len(valid)
    assert set(seen) == valid
