"""Agents that play what a trained network says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from krypenv.agents.base import check_limit, format_spec
from krypenv.agents.facts import gather_facts
from krypenv.agents.model_file import check_rules, load_model, rules_in
from krypenv.agents.network import ILLEGAL, CardNetwork, Choices, Scores
from krypenv.agents.sampling import find_open
from krypenv.agents.search import Search
from krypenv.cards import NUM_ACTIONS
from krypenv.checks import check_decisions
from krypenv.observation import SIZE
from krypenv.rules import Rules
from krypenv.tables import compile_rules


class LearnedAgent:
    """Plays the best-scored action of a network, or with `temperature` above 0 a random one by its scores.

    Where nothing is hidden any more, in the last deal of a game of two, it solves the rest as `Search` does.

    Args:
        network: what scores the actions.
        rules, name, seed: as of every agent.
        temperature: what the scores are divided by before they are drawn from; 0 for the best one.
        solve: False to ask the network in the last deal too.
    """

    def __init__(
        self,
        network: CardNetwork,
        rules: Rules,
        name: str,
        seed: int = 0,
        temperature: float = 0.0,
        solve: bool = True,
    ) -> None:
        self.network, self.rules, self.name, self.temperature = network, rules, name, temperature
        self._tables = compile_rules(rules)
        self._solver = Search(rules, seed, worlds=1) if solve and rules.players == 2 else None
        self._device = next(network.parameters()).device
        self._generator = torch.Generator(self._device).manual_seed(seed)

    @torch.no_grad()
    def act(self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
        """Return an action for each row: (B, N >= 433) int8 and (B, 105) int8 to (B,) int64."""
        observations, action_masks = check_decisions(self.rules, observations, action_masks)
        if len(observations) == 0:
            return np.zeros(0, np.int64)
        choices, scores = self._look(observations, action_masks)
        logits = scores.logits
        if self.temperature > 0:
            noise = torch.empty_like(logits).exponential_(generator=self._generator).log_()
            logits = logits / self.temperature - noise
        actions = choices.spread(choices.actions, len(observations), 0)
        chosen: npt.NDArray[np.int64] = actions.gather(1, logits.argmax(1, keepdim=True)).squeeze(1).cpu().numpy()
        if self._solver:
            is_open = np.zeros(len(chosen), np.bool_)
            find_open(self._tables, observations, is_open)
            chosen[is_open] = self._solver.act(observations[is_open], action_masks[is_open])
        return chosen

    @torch.no_grad()
    def judge(
        self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Return the logits of all actions, (B, 105) float32, and the expected returns, (B,).

        Illegal actions have `krypenv.agents.network.ILLEGAL`. The returns are in the units that the network was
        trained on.
        """
        observations, action_masks = check_decisions(self.rules, observations, action_masks)
        choices, scores = self._look(observations, action_masks)
        logits = torch.full((len(observations), NUM_ACTIONS), ILLEGAL, device=self._device)
        logits[choices.row, choices.actions] = scores.logits[choices.row, choices.place]
        return logits.cpu().numpy(), scores.values.cpu().numpy()

    def _look(self, observations: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]) -> tuple[Choices, Scores]:
        choices = Choices.of(gather_facts(self.rules, observations, masks), self._device)
        return choices, self.network(torch.from_numpy(observations[:, :SIZE]).to(self._device), choices)


def load_agent(
    folder: str | Path, rules: Rules, seed: int = 0, *, temperature: float = 0.0, solve: bool = True
) -> LearnedAgent:
    """Return the agent of a model folder; raises ModelError where it can't be loaded or plays other rules."""
    check_limit("temperature", temperature)
    network, card = load_model(folder)
    check_rules(card, rules, folder)
    given = {"temperature": (temperature, 0.0), "solve": (solve, True)}
    options = {name: value for name, (value, default) in given.items() if value != default}
    name = format_spec("learned", {"model": str(folder), **options}) if options else str(folder)
    return LearnedAgent(network, rules, name, seed, temperature, solve)


def trained_rules(folder: str | Path) -> Rules:
    """Return the rules that the model in a folder was trained for."""
    return rules_in(load_model(folder)[1])
