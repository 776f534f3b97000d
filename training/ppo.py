"""MaskablePPO whose rollouts are self-play: all seats of some rows learn, in others one side against a pool."""

from __future__ import annotations

import time
from collections import deque
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv

from krypenv.adapters.sb3 import KrypkasinoVecEnv
from krypenv.agents.network import CardNetwork
from krypenv.training.buffer import SeatRolloutBuffer
from krypenv.training.policy import CardPolicy
from krypenv.vector import LearnerGames

REWARD_SCALE = 0.1  # rewards are points, and losses like numbers of the order of one


class SelfPlayPPO(MaskablePPO):
    """MaskablePPO over two kinds of rows, either or both: self-play in `games`, a learner against a pool in `rivals`.

    Only the collection of rollouts differs; losses, schedules and logging are MaskablePPO's. Time steps count decisions
    of the learner.
    """

    rollout_buffer: SeatRolloutBuffer

    def __init__(self, games: KrypkasinoVecEnv | None, rivals: KrypkasinoVecEnv | None, **settings: Any) -> None:
        kinds = [kind for kind in (games, rivals) if kind is not None]
        self.games_env, self.rivals = kinds[0], rivals
        self.parts: list[LearnerGames] = [kind.batch for kind in kinds]
        self.rows = sum(part.num_games for part in self.parts)
        super().__init__(
            CardPolicy, self.games_env, _init_setup_model=False,
            rollout_buffer_class=SeatRolloutBuffer,
            rollout_buffer_kwargs={"seats": self.parts[0].rules.players, "seed": settings.get("seed")},
            **settings,
        )  # fmt: skip
        self.n_envs = self.rows
        self._setup_model()
        self.games_played = 0
        self.environment_seconds = 0.0  # spent on games, opponents, observations and masks so far
        self._rival_games: deque[float] = deque(maxlen=1000)  # what the learner earned in each, last ones first
        self._rival_earned = np.zeros(rivals.num_envs if rivals else 0)

    @property
    def network(self) -> CardNetwork:
        """The network that is trained."""
        network: CardNetwork = self.policy.network  # type: ignore[assignment]
        return network

    def _decisions(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return observations, masks and the stream of each row's decision: its seat."""
        return (
            np.concatenate([part.observation for part in self.parts]),
            np.concatenate([part.action_mask for part in self.parts]),
            np.concatenate([part.seats for part in self.parts]),
        )

    @torch.no_grad()
    def collect_rollouts(  # type: ignore[override]
        self,
        env: VecEnv,
        callback: BaseCallback,
        rollout_buffer: SeatRolloutBuffer,
        n_rollout_steps: int,
        use_masking: bool = True,
    ) -> bool:
        """Fill the buffer with `n_rollout_steps` decisions of each row; return False where the callback says stop."""
        self.policy.set_training_mode(False)
        rollout_buffer.reset()
        callback.on_rollout_start()
        bounds = np.cumsum([0] + [part.num_games for part in self.parts])
        for step in range(n_rollout_steps):
            observations, masks, seats = self._decisions()
            actions, values, log_probs = self.policy(self._tensor(observations), action_masks=self._tensor(masks))
            chosen = actions.cpu().numpy()
            rollout_buffer.put(observations, masks, seats, chosen, values.cpu().numpy(), log_probs.cpu().numpy())
            began = time.perf_counter()
            for part, low, high in zip(self.parts, bounds, bounds[1:], strict=False):
                part.step(chosen[low:high])
                rollout_buffer.earned[step, low:high] = part.rewards * REWARD_SCALE
                if part.seat != "all":
                    self._count_rival_games(part)
                rollout_buffer.ends[step, low:high] = part.done
                self.games_played += int(part.done.sum())
            self.environment_seconds += time.perf_counter() - began
            self.num_timesteps += self.rows
            callback.update_locals(locals())
            if not callback.on_step():
                return False
        observations, _, seats = self._decisions()
        last_values = self.policy.predict_values(self._tensor(observations)).cpu().numpy()
        rollout_buffer.compute_seat_advantages(seats, last_values)
        callback.on_rollout_end()
        return True

    def _count_rival_games(self, part: LearnerGames) -> None:
        self._rival_earned += part.reward
        self._rival_games.extend(self._rival_earned[part.done])
        self._rival_earned[part.done] = 0

    def rival_margin(self) -> float:
        """Return the learner's mean return in its last thousand games against rivals, nan before the first."""
        return float(np.mean(self._rival_games)) if self._rival_games else float("nan")

    def _tensor(self, array: np.ndarray) -> torch.Tensor:
        return torch.as_tensor(array, device=self.device)
