"""The card network as a policy of Stable-Baselines3's MaskablePPO."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.type_aliases import Schedule
from torch import Tensor

from krypenv.agents.network import CardNetwork, Scores, Shape
from krypenv.cards import NUM_ACTIONS


class CardPolicy(MaskableActorCriticPolicy):
    """MaskablePPO's interface around a `CardNetwork`, which scores the legal actions only.

    Observations are (B, 1369) int8 with the features block; action masks, (B, 105), are always needed.
    """

    def __init__(self, *args: Any, shape: Shape | None = None, **kwargs: Any) -> None:
        self._shape = shape
        super().__init__(*args, **kwargs)

    def _build(self, lr_schedule: Schedule) -> None:
        self.network = CardNetwork(self._shape)
        kwargs: dict[str, Any] = {"lr": lr_schedule(1), **self.optimizer_kwargs}
        self.optimizer = self.optimizer_class(self.parameters(), **kwargs)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return {**super()._get_constructor_parameters(), "shape": self._shape}

    def _scores(self, obs: Any, action_masks: Any) -> Scores:
        if action_masks is None:
            raise ValueError("this policy scores legal actions only: pass action_masks, (B, 105)")
        masks = torch.as_tensor(action_masks, device=self.device).reshape(-1, NUM_ACTIONS)
        scores: Scores = self.network(obs, masks)
        return scores

    def forward(
        self, obs: Tensor, deterministic: bool = False, action_masks: np.ndarray | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return actions (B,), values (B,) and log probabilities (B,) of the actions."""
        scores = self._scores(obs, action_masks)
        logits = scores.logits
        if not deterministic:  # the largest of logits with Gumbel noise is a sample of their softmax
            logits = logits - torch.empty_like(logits).exponential_().log_()
        place = logits.argmax(1, keepdim=True)
        log_prob = torch.log_softmax(scores.logits, 1).gather(1, place).squeeze(1)
        return scores.actions.gather(1, place).squeeze(1), scores.values, log_prob

    def evaluate_actions(
        self, obs: Tensor, actions: Tensor, action_masks: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return values, log probabilities of the actions, and entropies, (B,) each."""
        scores = self._scores(obs, action_masks)
        log_probs = torch.log_softmax(scores.logits, 1)
        taken = (log_probs * (scores.actions == actions.unsqueeze(1))).sum(1)
        return scores.values, taken, -(log_probs.exp() * log_probs).sum(1)

    def get_distribution(self, obs: Any, action_masks: np.ndarray | None = None) -> MaskableDistribution:
        """Return the distribution over all 105 actions."""
        scores = self._scores(obs, action_masks)
        logits = torch.full((len(scores.logits), NUM_ACTIONS), -1e9, device=self.device)
        distribution = self.action_dist.proba_distribution(logits.scatter(1, scores.actions, scores.logits))
        distribution.apply_masking(action_masks)
        return distribution

    def predict_values(self, obs: Any) -> Tensor:
        """Return the values alone, (B,)."""
        return self.network.values(obs)
