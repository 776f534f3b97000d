"""MaskablePPO with self-play rollouts: in some games all seats learn, in others one side plays against opponents."""

from __future__ import annotations

import time
from collections import deque
from typing import Any

import numpy as np
import torch

from krypenv.agents.neural.action_features import ActionFeatures, gather_action_features
from krypenv.agents.neural.inference import REWARD_SCALE
from krypenv.cards import NUM_KINDS
from krypenv.envs.learner import LearnerGames
from krypenv.envs.sb3 import KrypkasinoVecEnv
from krypenv.training.learner.buffer import Decisions, SeatRolloutBuffer
from krypenv.training.learner.network import CardNetwork
from krypenv.training.learner.policy import CardPolicy
from krypenv.training.learner.sb3_private import OwnLoop

OPPONENT_GAMES = 1000  # games whose mean return is reported


class SelfPlayPPO(OwnLoop):
    """MaskablePPO over games of two kinds: in some all seats learn, in others one side plays against opponents.

    Only the collection of rollouts differs; losses, schedules and logging are MaskablePPO's. Time steps count decisions
    of the learner. Different parts may play different rules.

    Args:
        envs: the parts, at least one; if `batch.seat` is not "all", the part is played against opponents.
        critic: whether the training's value function sees the hidden hands.
        policy: further settings of `CardPolicy`.
        settings: settings of MaskablePPO.
    """

    rollout_buffer: SeatRolloutBuffer
    policy: CardPolicy  # type: ignore[assignment]  # as in MaskablePPO

    def __init__(self, envs: list[KrypkasinoVecEnv], critic: bool, policy: dict[str, Any], **settings: Any) -> None:
        self.parts: list[LearnerGames] = [env.batch for env in envs]
        self.rows = sum(part.num_games for part in self.parts)
        seats = max(part.rules.players for part in self.parts)
        self.num_hidden = (seats - 1) * NUM_KINDS if critic else 0
        super().__init__(
            CardPolicy, envs[0], self.rows, ent_coef=1.0, rollout_buffer_class=SeatRolloutBuffer,
            rollout_buffer_kwargs={"seats": seats, "hidden": self.num_hidden},
            policy_kwargs={"rules": self.parts[0].rules, "hidden": self.num_hidden, **policy},
            **settings,
        )  # fmt: skip
        self.games_played = 0
        self.environment_seconds = 0.0  # spent on games, opponents, observations, masks and features so far
        self.opponent_returns: deque[float] = deque(maxlen=OPPONENT_GAMES)  # of the learner, the latest last
        self.opponent_earned = [np.zeros(part.num_games) for part in self.parts]  # in the games under way

    @property
    def network(self) -> CardNetwork:
        """The network in training."""
        return self.policy.network

    def decisions(self) -> Decisions:
        """Return what the seats to act in all games decide on."""
        features = [gather_action_features(part.rules, part.observation, part.action_mask) for part in self.parts]
        return Decisions(
            np.concatenate([part.observation for part in self.parts]),
            ActionFeatures(*(np.concatenate(arrays) for arrays in zip(*features, strict=True))),
            np.concatenate([self._hidden(part) for part in self.parts]),
            np.concatenate([part.seats for part in self.parts]),
        )

    def _hidden(self, part: LearnerGames) -> np.ndarray:
        """Return the hands of the others, the seat to the left first, (B, H) int8."""
        hands = np.zeros((part.num_games, self.num_hidden), np.int8)
        if self.num_hidden:
            players = part.rules.players
            others = (part.seats[:, None] + np.arange(1, players)) % players
            seen = part.engine.state.hands[np.arange(part.num_games)[:, None], others]
            hands[:, : (players - 1) * NUM_KINDS] = seen.reshape(part.num_games, -1)
        return hands

    @torch.no_grad()
    def collect(self) -> None:
        """Fill the buffer with `n_steps` decisions of each game."""
        buffer = self.rollout_buffer
        self.policy.set_training_mode(False)
        buffer.reset()
        bounds = np.cumsum([0] + [part.num_games for part in self.parts])
        began = time.perf_counter()
        decisions = self.decisions()
        self.environment_seconds += time.perf_counter() - began
        for step in range(self.n_steps):
            actions, values, log_probs = self.policy(decisions.tensors(self.device))
            chosen = actions.cpu().numpy()
            buffer.put(decisions, chosen, values.cpu().numpy(), log_probs.cpu().numpy())
            began = time.perf_counter()
            for place, (part, low, high) in enumerate(zip(self.parts, bounds, bounds[1:], strict=False)):
                part.step(chosen[low:high])
                buffer.earned[step, low:high, : part.rules.players] = part.rewards * REWARD_SCALE
                if part.seat != "all":
                    earned = self.opponent_earned[place]
                    earned += part.reward
                    self.opponent_returns.extend(earned[part.done])
                    earned[part.done] = 0
                buffer.ends[step, low:high] = part.done
                self.games_played += int(part.done.sum())
            decisions = self.decisions()
            self.environment_seconds += time.perf_counter() - began
            self.num_timesteps += self.rows
        last_values = self.policy.predict_values(decisions.tensors(self.device)).cpu().numpy()
        buffer.compute_seat_advantages(decisions.seats, last_values)

    def train(self) -> None:
        """Learn from the buffer as MaskablePPO does, then update the EMA policy."""
        self.policy.notes.clear()
        super().train()
        for name, values in self.policy.notes.items():
            self.logger.record(f"train/{name}", float(np.mean(values)))
        self.policy.follow()

    def opponent_margin(self) -> float:
        """Return the learner's mean return in its last games against opponents, nan before the first."""
        return float(np.mean(self.opponent_returns)) if self.opponent_returns else float("nan")
