"""MaskablePPO with self-play rollouts: in some games all seats learn, in others one side plays against opponents."""

from __future__ import annotations

import time
from collections import defaultdict, deque
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.utils import explained_variance

from krypenv.adapters.sb3 import KrypkasinoVecEnv
from krypenv.agents.neural.action_features import ActionFeatures, gather_action_features
from krypenv.agents.neural.inference import REWARD_SCALE
from krypenv.cards import NUM_KINDS
from krypenv.envs.learner import LearnerGames
from krypenv.training.learn.learner import versions as versions  # refuses others before anything is made
from krypenv.training.learn.learner.buffer import Decisions, SeatRolloutBuffer
from krypenv.training.learn.learner.policy import CardPolicy
from krypenv.training.learn.learner.torch_network import CardNetwork

OPPONENT_GAMES = 1000  # games whose mean return is reported
OWN_VALUE_COEF = 0.5  # weight of the network's own value head in the loss


class SelfPlayPPO(MaskablePPO):
    """MaskablePPO over games of two kinds: in some all seats learn, in others one side plays against opponents.

    Time steps count decisions of the learner. Different parts may play different rules. Call `collect_rollouts` and
    `train` in turn; `set_done` sets the schedules.

    Args:
        envs: the parts, at least one; if `batch.seat` is not "all", the part is played against opponents.
        critic: whether the training's value function sees the hidden hands.
        policy: further settings of `CardPolicy`.
        kl_coef: weight of KL(policy || EMA policy) in the loss.
        ema_decay: decay of the EMA policy in each update.
        settings: settings of MaskablePPO.
    """

    rollout_buffer: SeatRolloutBuffer
    policy: CardPolicy

    def __init__(
        self,
        envs: list[KrypkasinoVecEnv],
        critic: bool,
        policy: dict[str, Any],
        kl_coef: float = 0.0,
        ema_decay: float = 0.98,
        **settings: Any,
    ) -> None:
        self.parts: list[LearnerGames] = [env.batch for env in envs]
        self.kl_coef, self.ema_decay = kl_coef, ema_decay
        seats = max(part.rules.players for part in self.parts)
        self.num_hidden = (seats - 1) * NUM_KINDS if critic else 0
        super().__init__(
            CardPolicy, envs[0], rollout_buffer_class=SeatRolloutBuffer,
            rollout_buffer_kwargs={"seats": seats, "hidden": self.num_hidden},
            policy_kwargs={"rules": self.parts[0].rules, "hidden": self.num_hidden, **policy},
            _init_setup_model=False, **settings,
        )  # fmt: skip
        self.n_envs = sum(part.num_games for part in self.parts)  # rows of the buffer
        self._setup_model()
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

    def set_done(self, done: float) -> None:
        """Set the part of the training that is over, 0 to 1, for the schedules."""
        self._current_progress_remaining = 1 - done

    @property
    def num_epochs(self) -> int:
        """How many times `train` has passed over a buffer."""
        return self._n_updates

    @num_epochs.setter
    def num_epochs(self, epochs: int) -> None:
        self._n_updates = epochs

    @torch.no_grad()
    def collect_rollouts(self, *arguments: Any, **settings: Any) -> bool:
        """Fill the buffer with `n_steps` decisions of each game; the arguments of MaskablePPO's are not used."""
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
            self.num_timesteps += self.n_envs
        last_values = self.policy.predict_values(decisions.tensors(self.device)).cpu().numpy()
        buffer.compute_seat_advantages(decisions.seats, last_values)
        return True

    def train(self) -> None:
        """Minimize the loss over the buffer in `n_epochs` passes, then update the EMA policy.

        The loss is PPO's clipped surrogate (Schulman et al. 2017), less the entropy bonus, plus the divergence from the
        EMA policy and the squared errors of both value functions. The critic learns the returns, and the network's own
        value head learns the critic.
        """
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        clip = self.clip_range(self._current_progress_remaining)  # type: ignore[operator]  # a schedule by now
        logged: defaultdict[str, list[float]] = defaultdict(list)
        for _ in range(self.n_epochs):
            for batch in self.rollout_buffer.get(self.batch_size):
                position: Any = batch.observations  # a Position: the buffer is our own
                found = self.policy.evaluate(position, batch.actions, with_ema=self.kl_coef > 0)
                advantages = (batch.advantages - batch.advantages.mean()) / (batch.advantages.std() + 1e-8)
                log_ratios = found.log_probs - batch.old_log_prob
                ratios = log_ratios.exp()
                clipped = ratios.clamp(1 - clip, 1 + clip)
                policy_loss = -torch.min(advantages * ratios, advantages * clipped).mean()
                entropy = found.entropies.mean()
                divergence = found.divergences.mean()
                value_loss = ((found.values - batch.returns) ** 2).mean()
                own_value_loss = ((found.own_values - found.values.detach()) ** 2).mean()  # 0 without a critic
                loss = (
                    policy_loss
                    - self.ent_coef * entropy
                    + self.kl_coef * divergence
                    + self.vf_coef * value_loss
                    + OWN_VALUE_COEF * own_value_loss
                )
                self.policy.optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
                self.policy.optimizer.step()
                for name, value in (
                    ("loss", loss), ("policy_loss", policy_loss), ("entropy", entropy), ("divergence", divergence),
                    ("value_loss", value_loss), ("own_value_loss", own_value_loss),
                    ("clip_fraction", ((ratios - 1).abs() > clip).float().mean()),
                    ("approx_kl", (ratios - 1 - log_ratios).mean()),  # Schulman's estimator k3
                ):  # fmt: skip
                    logged[name].append(value.item())
            self._n_updates += 1
        self.policy.update_ema(self.ema_decay)
        for name, values in logged.items():
            self.logger.record(f"train/{name}", float(np.mean(values)))
        explained = explained_variance(self.rollout_buffer.values.flatten(), self.rollout_buffer.returns.flatten())
        self.logger.record("train/explained_variance", explained)
        self.logger.record("train/clip_range", clip)

    def opponent_margin(self) -> float:
        """Return the learner's mean return in its last games against opponents, nan before the first."""
        return float(np.mean(self.opponent_returns)) if self.opponent_returns else float("nan")
