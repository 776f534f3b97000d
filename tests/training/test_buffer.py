"""Advantages are computed along each seat's own decisions: the buffer against one stream at a time, by hand."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from support.streams import advantages_of_streams

from krypenv.agents.neural.action_features import ActionFeatures
from krypenv.training.learn.buffer import Decisions, SeatRolloutBuffer

STEPS, ROWS, SEATS, GAMMA, LAMBDA = 24, 5, 3, 0.9, 0.8


def filled_buffer(rng: np.random.Generator) -> tuple[SeatRolloutBuffer, np.ndarray, np.ndarray]:
    """A buffer whose rows can be told apart by what they hold: step and row are in observations, features, hands."""
    space = gym.spaces.Box(-128, 127, (4,), np.int8)
    buffer = SeatRolloutBuffer(
        STEPS, space, gym.spaces.Discrete(105), "cpu", gae_lambda=LAMBDA, gamma=GAMMA, n_envs=ROWS, seats=SEATS,
        hidden=2,
    )  # fmt: skip
    for step in range(STEPS):
        seats = rng.integers(0, SEATS, ROWS)
        values = rng.normal(size=ROWS).astype(np.float32)
        tags = np.stack([np.full(ROWS, step), np.arange(ROWS), seats, np.zeros(ROWS)], 1).astype(np.int8)
        counts = np.array([legal_of(step, row) for row in range(ROWS)])
        actions = np.concatenate([np.arange(count) + step for count in counts])
        features = np.repeat(tags[:, :2], counts, 0)
        decisions = Decisions(tags, ActionFeatures(counts, actions, features), tags[:, :2], seats)
        buffer.put(decisions, np.full(ROWS, step), values, np.zeros(ROWS))
        buffer.earned[step] = rng.normal(size=(ROWS, SEATS))
        buffer.ends[step] = rng.random(ROWS) < 0.15
    return buffer, rng.integers(0, SEATS, ROWS), rng.normal(size=ROWS).astype(np.float32)


def legal_of(step: int, row: int) -> int:
    """How many actions are legal in a decision."""
    return 1 + (3 * step + row) % 5


def test_advantages_are_those_of_each_seat_alone() -> None:
    for seed in range(20):
        buffer, last_seats, last_values = filled_buffer(np.random.default_rng(seed))
        buffer.compute_seat_advantages(last_seats, last_values)
        played = buffer.values, buffer.seats, buffer.earned, buffer.ends, last_seats, last_values
        advantages, known = advantages_of_streams(*played, GAMMA, LAMBDA)
        np.testing.assert_array_equal(buffer.valid, known)
        np.testing.assert_allclose(buffer.advantages, advantages, atol=1e-4)


@pytest.mark.parametrize("size", [2, 8, 9, 1000])
def test_batches_hold_each_valid_decision_once_with_its_own_features(size: int) -> None:
    buffer, last_seats, last_values = filled_buffer(np.random.default_rng(1))
    buffer.compute_seat_advantages(last_seats, last_values)
    buffer.other = np.concatenate([features.actions / 2 for features in buffer.features]).astype(np.float32)
    seen: list[tuple[int, int]] = []
    for batch in buffer.minibatches(size):
        choices = batch.position.choices
        assert len(batch.actions) <= size
        assert batch.other.tolist() == (choices.actions / 2).tolist()
        for place, (step, row, *_) in enumerate(batch.position.observations.tolist()):
            seen.append((step, row))
            mine, count = choices.row == place, legal_of(step, row)
            assert choices.actions[mine].tolist() == list(range(step, step + count))
            assert choices.place[mine].tolist() == list(range(count))
            assert choices.features[mine].tolist() == [[step, row]] * count
            assert (batch.actions[place], *batch.position.hidden[place]) == (step, step, row)
            assert batch.advantages[place] == buffer.advantages[step, row]
            assert batch.returns[place] == buffer.advantages[step, row] + buffer.values[step, row]
    valid = [(int(step), int(row)) for step, row in np.argwhere(buffer.valid)]
    assert len(seen) == len(set(seen))
    assert set(seen) <= set(valid)
    rest = len(valid) % size if size < len(valid) else 0
    assert len(valid) - len(seen) == (rest if rest <= size // 2 else 0)
