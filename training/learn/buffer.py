"""A rollout buffer for games in which several seats act: advantages are computed along each seat's own decisions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer

from krypenv.agents.neural.action_features import ActionFeatures
from krypenv.training.learn.network import Choices
from krypenv.training.learn.policy import Position


class Decisions(NamedTuple):
    """The inputs of B decisions, one in each game."""

    observations: np.ndarray  # (B, N) int8
    features: ActionFeatures  # of their legal actions
    hidden: np.ndarray  # (B, H) int8, the others' hands
    seats: np.ndarray  # (B,) ints, the seat to act

    def tensors(self, device: torch.device | str) -> Position:
        """Convert the policy's input to tensors."""
        observations, hidden = (torch.as_tensor(array, device=device) for array in (self.observations, self.hidden))
        return Position(observations, Choices.of(self.features, device), hidden)


class Minibatch(NamedTuple):
    """Some decisions of a buffer, with the targets of learning, (B,) each."""

    position: Position
    actions: torch.Tensor
    log_probs: torch.Tensor  # of the actions, when they were taken
    advantages: torch.Tensor
    returns: torch.Tensor
    other: torch.Tensor | None  # (L,) logits of another policy


class SeatRolloutBuffer(MaskableRolloutBuffer):
    """T steps of B games; in each step of a game one of P seats decides.

    Each seat has its own stream: a decision is followed by the same seat's next decision in the game, and its reward is
    the sum of the seat's rewards until then. Advantages are estimated along these streams, which never mix, as in
    Schulman et al. 2016. When the rollout ends, the last decisions of the seats that are not to act have no
    successor yet and are left out of training.

    Extra arrays: `hidden` (T, B, H) int8, the others' hands; `features`, those of each step; `seats` (T, B) ints, the
    seat that decided; `earned` (T, B, P) float32, the reward of each seat from that step to the next; `ends` (T, B)
    bool, whether the step ended the episode; `other` (L,) float32, the logits of another policy, or None.
    """

    def __init__(self, *args: Any, seats: int = 2, hidden: int = 0, **kwargs: Any) -> None:
        self.num_seats, self.num_hidden = seats, hidden
        self.rng = np.random.default_rng(0)  # of the batches
        super().__init__(*args, **kwargs)

    def reset(self) -> None:
        """Empty the buffer."""
        steps, rows = self.buffer_size, self.n_envs
        self.pos, self.full = 0, False
        self.observations = np.zeros((steps, rows, *self.obs_shape), np.int8)
        self.actions = np.zeros((steps, rows, 1), np.int64)
        self.values, self.log_probs, self.advantages, self.returns = np.zeros((4, steps, rows), np.float32)
        self.hidden = np.zeros((steps, rows, self.num_hidden), np.int8)
        self.features: list[ActionFeatures] = []
        self.other: np.ndarray | None = None
        self.seats = np.zeros((steps, rows), np.int64)
        self.earned = np.zeros((steps, rows, self.num_seats), np.float32)
        self.ends = np.zeros((steps, rows), np.bool_)
        self.valid = np.ones((steps, rows), np.bool_)

    def put(self, decisions: Decisions, actions: np.ndarray, values: np.ndarray, log_probs: np.ndarray) -> None:
        """Add one decision for each game; the caller writes `earned` and `ends` after playing the step."""
        at = self.pos
        self.observations[at], self.hidden[at], self.seats[at] = (
            decisions.observations, decisions.hidden, decisions.seats,
        )  # fmt: skip
        self.features.append(decisions.features)
        self.actions[at, :, 0], self.values[at], self.log_probs[at] = actions, values, log_probs
        self.pos += 1
        self.full = self.pos == self.buffer_size

    def compute_seat_advantages(self, last_seats: np.ndarray, last_values: np.ndarray) -> None:
        """Fill `advantages` and `returns`, given the seat to act in each game, (B,), and its state value, (B,)."""
        rows = np.arange(self.n_envs)
        shape = (self.n_envs, self.num_seats)
        reward, next_value, next_advantage = (np.zeros(shape, np.float32) for _ in range(3))
        known = np.zeros(shape, np.bool_)  # the seat's next decision, or the end, is in the rollout
        next_value[rows, last_seats] = last_values
        known[rows, last_seats] = True
        for at in reversed(range(self.buffer_size)):
            ended = self.ends[at]
            reward[ended], next_value[ended], next_advantage[ended], known[ended] = 0, 0, 0, True
            reward += self.earned[at]
            mine = rows, self.seats[at]
            value = self.values[at]
            delta = reward[mine] + self.gamma * next_value[mine] - value
            advantage = delta + self.gamma * self.gae_lambda * next_advantage[mine]
            self.valid[at] = known[mine]
            self.advantages[at] = np.where(self.valid[at], advantage, 0)
            next_value[mine], next_advantage[mine], reward[mine], known[mine] = value, self.advantages[at], 0, True
        self.returns = self.advantages + self.values

    def minibatches(self, size: int) -> Iterator[Minibatch]:
        """Yield random minibatches of the valid decisions; a remainder of less than half a batch is left out."""
        indices = self.rng.permutation(np.flatnonzero(self.valid))
        features = ActionFeatures(*(np.concatenate(parts) for parts in zip(*self.features, strict=True)))
        starts = np.cumsum(features.counts) - features.counts
        arrays = (
            self.actions, self.log_probs, self.advantages, self.returns, self.observations, self.hidden
        )  # fmt: skip
        flat = [array.reshape(array.shape[0] * array.shape[1], *array.shape[2:]) for array in arrays]
        for start in range(0, max(len(indices) - size // 2, 1), size):
            chosen = indices[start : start + size]
            at = places(features.counts, starts, chosen)
            batch_features = ActionFeatures(features.counts[chosen], features.actions[at], features.features[at])
            actions, log_probs, advantages, returns, observations, hidden = (
                torch.as_tensor(array[chosen], device=self.device) for array in flat
            )
            position = Position(observations, Choices.of(batch_features, self.device), hidden)
            other = None if self.other is None else torch.as_tensor(self.other[at], device=self.device)
            yield Minibatch(position, actions, log_probs, advantages, returns, other)


def places(counts: np.ndarray, starts: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Compute the indices of the legal actions of some rows, in the order of the rows.

    `counts` and `starts`, (B,), are the number of actions of each row and the index of the first.
    """
    chosen = counts[rows]
    ends = np.cumsum(chosen)
    actions_at: np.ndarray = np.repeat(starts[rows] - ends + chosen, chosen) + np.arange(ends[-1] if len(ends) else 0)
    return actions_at
