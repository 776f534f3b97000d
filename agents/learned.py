"""Agents that play what a trained network says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from krypenv.agents.base import check_decisions
from krypenv.agents.model_file import check_rules, load_model, rules_in
from krypenv.agents.network import CardNetwork
from krypenv.features import append_features
from krypenv.rules import Rules


class LearnedAgent:
    """Plays the best-scored action of a network, or with `temperature` above 0 a random one by its scores."""

    def __init__(self, network: CardNetwork, rules: Rules, name: str, seed: int = 0, temperature: float = 0.0) -> None:
        self.network, self.rules, self.name, self.temperature = network, rules, name, temperature
        self._device = next(network.parameters()).device
        self._generator = torch.Generator(self._device).manual_seed(seed)

    @torch.no_grad()
    def act(self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
        """Return an action for each row: (B, N >= 433) int8 and (B, 105) int8 to (B,) int64."""
        observations, action_masks = check_decisions(observations, action_masks)
        if len(observations) == 0:
            return np.zeros(0, np.int64)
        seen = torch.from_numpy(append_features(self.rules, observations, action_masks)).to(self._device)
        scores = self.network(seen, torch.from_numpy(action_masks).to(self._device))
        logits = scores.logits
        if self.temperature > 0:
            noise = torch.empty_like(logits).exponential_(generator=self._generator).log_()
            logits = logits / self.temperature - noise
        chosen: npt.NDArray[np.int64] = (
            scores.actions.gather(1, logits.argmax(1, keepdim=True)).squeeze(1).cpu().numpy()
        )
        return chosen


def load_agent(folder: str | Path, rules: Rules, seed: int = 0) -> LearnedAgent:
    """Return the agent of a model folder; raises ModelError where it can't be loaded or plays other rules."""
    network, card = load_model(folder)
    check_rules(card, rules, folder)
    return LearnedAgent(network, rules, str(folder), seed)


def trained_rules(folder: str | Path) -> Rules:
    """Return the rules that the model in a folder was trained for."""
    return rules_in(load_model(folder)[1], folder)
