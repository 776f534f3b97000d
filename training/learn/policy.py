"""The card network as a policy of Stable-Baselines3's MaskablePPO, with a critic that may see hidden hands."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.type_aliases import Schedule
from torch import Tensor, nn

from krypenv.agents.neural.action_features import gather_action_features
from krypenv.agents.neural.network import ILLEGAL, Shape, inputs_of
from krypenv.engine import Engine
from krypenv.kernels.decision_checks import check_decisions
from krypenv.rules import Rules
from krypenv.training.learn.network import CardNetwork, Choices, Scores
from krypenv.worlds.determinize import determinize


class Position(NamedTuple):
    """B decisions as `SelfPlayPPO` passes them to the policy."""

    observations: Tensor  # (B, N) int8
    choices: Choices
    hidden: Tensor  # (B, H) int8: copies by kind in the hands of the others, the seat to the left first


class Evaluation(NamedTuple):
    """A policy's evaluation of B decisions and the actions taken in them, each (B,) with gradients."""

    log_probs: Tensor  # of the actions
    entropies: Tensor  # of the policy
    divergences: Tensor  # KL(policy || another policy), 0 without one
    values: Tensor  # of the critic, or of the network without one
    own_values: Tensor  # of the network's own value head


class CardPolicy(MaskableActorCriticPolicy):
    """MaskablePPO's interface around a `CardNetwork`, which scores the legal actions only.

    Observations are (B, N or more) int8 and action masks (B, A). `SelfPlayPPO` passes a `Position` and no masks
    instead. The values are then those of a critic that also sees the hidden hands and is not part of the network.

    Args:
        rules: the rules of all games, where observations are arrays.
        shape: the sizes of the network.
        hidden: entries of `Position.hidden`, 0 for no critic.
    """

    def __init__(self, *args: Any, rules: Rules, shape: Shape | None = None, hidden: int = 0, **kwargs: Any) -> None:
        self._settings: dict[str, Any] = {"rules": rules, "shape": shape, "hidden": hidden}
        super().__init__(*args, **kwargs)

    def _build(self, lr_schedule: Schedule) -> None:
        """Make the network, the critic if there is one, and their optimizer."""
        settings = self._settings
        self.network = CardNetwork(settings["shape"], inputs_of(settings["rules"]))
        shape = self.network.shape
        if settings["hidden"]:
            width = shape.context + shape.card + settings["hidden"]
            self.critic = nn.Sequential(nn.Linear(width, shape.context), nn.ReLU(), nn.Linear(shape.context, 1))
        self.optimizer = self.optimizer_class(self.parameters(), **{"lr": lr_schedule(1), **self.optimizer_kwargs})

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return {**super()._get_constructor_parameters(), **self._settings}

    def _position(self, obs: Any, action_masks: Any) -> Position:
        if isinstance(obs, Position):
            return obs
        if action_masks is None:
            raise ValueError("this policy scores legal actions only: pass action_masks, (B, A)")
        rules, seen = self._settings["rules"], obs.cpu().numpy() if isinstance(obs, Tensor) else obs
        masks = torch.as_tensor(action_masks).cpu().numpy().reshape(-1, rules.num_actions)
        seen, masks = check_decisions(rules, seen, masks)
        choices = Choices.of(gather_action_features(rules, seen, masks), self.device)
        return Position(
            torch.from_numpy(seen[:, : self.network.inputs.observation]).to(self.device), choices, torch.zeros(0)
        )

    def state_value(self, position: Position, scores: Scores) -> Tensor:
        """Compute the state values, (B,), by the critic, or by the network without one or without hidden hands.

        `position.hidden` may have fewer hands than the critic reads: the others are zeros.
        """
        if not (self._settings["hidden"] and position.hidden.numel()):
            return scores.values
        missing = self._settings["hidden"] - position.hidden.shape[1]
        hidden = nn.functional.pad(position.hidden.to(torch.float32), (0, missing))
        value: Tensor = self.critic(torch.cat([scores.summary, hidden], 1)).squeeze(1)
        return value

    def forward(
        self, obs: Any, deterministic: bool = False, action_masks: np.ndarray | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Choose actions (B,); return them, state values (B,) and the actions' log probabilities (B,)."""
        position = self._position(obs, action_masks)
        scores: Scores = self.network(position.observations, position.choices)
        logits = scores.logits
        if not deterministic:  # the largest of logits with Gumbel noise is a sample of their softmax
            logits = logits - torch.empty_like(logits).exponential_().log_()
        place = logits.argmax(1, keepdim=True)
        log_prob = torch.log_softmax(scores.logits, 1).gather(1, place).squeeze(1)
        actions = position.choices.spread(position.choices.actions, len(logits), 0)
        return actions.gather(1, place).squeeze(1), self.state_value(position, scores), log_prob

    def evaluate(self, position: Position, actions: Tensor, other: Tensor | None = None) -> Evaluation:
        """Evaluate the actions taken in some decisions.

        `other`, (L,), holds the logits of another policy, for the divergence from it.
        """
        scores: Scores = self.network(position.observations, position.choices)
        log_probs = torch.log_softmax(scores.logits, 1)
        offered = position.choices.spread(position.choices.actions, len(log_probs), -1)
        taken = (log_probs * (offered == actions.reshape(-1, 1))).sum(1)
        divergences = torch.zeros_like(taken)
        if other is not None:
            theirs = torch.log_softmax(position.choices.spread(other, len(log_probs), ILLEGAL), 1)
            divergences = (log_probs.exp() * (log_probs - theirs)).sum(1)
        entropies = -(log_probs.exp() * log_probs).sum(1)
        return Evaluation(taken, entropies, divergences, self.state_value(position, scores), scores.values)

    def evaluate_actions(
        self, obs: Any, actions: Tensor, action_masks: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Compute values, log probabilities of the actions, and entropies, (B,) each."""
        evaluation = self.evaluate(self._position(obs, action_masks), actions)
        return evaluation.values, evaluation.log_probs, evaluation.entropies

    def get_distribution(self, obs: Any, action_masks: np.ndarray | None = None) -> MaskableDistribution:
        """Make the distribution over all actions."""
        position = self._position(obs, action_masks)
        scores: Scores = self.network(position.observations, position.choices)
        choices = position.choices
        size = len(scores.logits), self._settings["rules"].num_actions
        logits = torch.full(size, ILLEGAL, device=self.device)
        logits[choices.row, choices.actions] = scores.logits[choices.row, choices.place]
        distribution = self.action_dist.proba_distribution(logits)
        if action_masks is not None:
            distribution.apply_masking(action_masks)
        return distribution

    def predict_values(self, obs: Any) -> Tensor:
        """Compute the values alone, (B,). Observations have no masks here, so the legal actions are recomputed."""
        masks = None
        if not isinstance(obs, Position):
            rules = self._settings["rules"]
            seen = obs.cpu().numpy().astype(np.int8)[:, : rules.observation_size]
            masks = Engine.from_state(rules, determinize(seen, 0, rules), check=False).action_mask
        position = self._position(obs, masks)
        return self.state_value(position, self.network(position.observations, position.choices))
