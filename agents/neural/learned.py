"""Agents that play the choices of a trained network.

1. The network reads the observation once, to a context that all legal actions share (`krypenv.agents.neural.network`).
2. It scores each legal action from the context and the action's features (`krypenv.agents.neural.action_features`).
3. The agent plays the action with the highest score, or samples by the softmax of the scores divided by a temperature.
4. In the last deal of two players, where a seat that has counted knows the other hand, `search` solves the rest.

Networks are trained by PPO (Schulman et al. 2017), in `krypenv.training.learn`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from krypenv.agents.base import FloatArray, IntArray, Policy, check_seed, draw_actions, format_spec, name_of
from krypenv.agents.neural.inference import Weights, load_weights, make_network_scratch, score_legal, state_value
from krypenv.agents.neural.network import ILLEGAL
from krypenv.agents.scripted import list_legal
from krypenv.agents.search.search import Search
from krypenv.agents.search.worlds import find_open
from krypenv.kernels.compiled import compile_rules
from krypenv.kernels.decision_checks import check_decisions
from krypenv.rules import Rules
from krypenv.runtime.jit import kernel
from krypenv.runtime.threads import Lock, count_threads, cut, in_turn, share

ROWS_A_THREAD = 256  # at least; starting a thread for fewer does not pay


@kernel
def choose_rows(
    compiled: np.ndarray,
    weights: Weights,
    observations: np.ndarray,
    masks: np.ndarray,
    network_scratches: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write the best-scored action of each row to `out`, (B,) int64."""
    network_scratch = network_scratches[0]
    for row in range(len(out)):
        count = list_legal(masks[row], network_scratch.legal)
        chosen = 0
        if count > 1:
            chosen = score_legal(compiled[0], weights, observations[row], count, network_scratch)
        out[row] = network_scratch.legal[chosen]


@kernel
def value_rows(
    compiled: np.ndarray,
    weights: Weights,
    observations: np.ndarray,
    masks: np.ndarray,
    network_scratches: np.ndarray,
    logits: np.ndarray,
    values: np.ndarray,
) -> None:
    """Write the logits of legal actions to `logits`, (B, A) float32, and the state values to `values`, (B,)."""
    network_scratch = network_scratches[0]
    for row in range(len(values)):
        count = list_legal(masks[row], network_scratch.legal)
        values[row] = state_value(compiled[0], weights, observations[row], count, network_scratch)
        for at in range(count):
            logits[row, network_scratch.legal[at]] = network_scratch.logits[at]


class NetworkPlayer(Policy, ABC):
    """Plays a network's choices, and solves the last deal of a two-player game, with nothing hidden, as `Search` does.

    Its `probabilities` are the network's in every deal: the softmax of the scores, divided by a temperature above 0.

    Args:
        rules, name, seed: as for every agent.
        solver: False to play the network's choices in the last deal too.
    """

    remembers = False
    draws = False  # it plays the best action or, with a temperature or where it solves, by other probabilities
    temperature = 0.0
    is_quick = True

    def __init__(self, rules: Rules, name: str, seed: int = 0, solver: bool = True) -> None:
        self.rules, self.name, self.lock = rules, name, Lock()
        self._compiled = compile_rules(rules)
        self._solver = Search(rules, seed, worlds=1) if solver and rules.players == 2 else None

    @in_turn
    def act(self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]) -> IntArray:
        """Choose an action for each row: (B, N >= 433) int8 and (B, A) int8 to (B,) int64."""
        observations, action_masks = check_decisions(self.rules, observations, action_masks)
        if len(observations) == 0:
            return np.zeros(0, np.int64)
        chosen = self._choose(observations, action_masks)
        if self._solver:
            is_open = np.zeros(len(chosen), np.bool_)
            find_open(self._compiled, observations, is_open)
            if is_open.any():  # the first call of the solver compiles for a while
                chosen[is_open] = self._solver.act(observations[is_open], action_masks[is_open])
        return chosen

    def _probabilities(self, observations: np.ndarray, action_masks: np.ndarray) -> FloatArray:
        observations, masks = check_decisions(self.rules, observations, action_masks)
        return self._softmax(self._score(observations, masks), masks)

    def _softmax(self, scores: FloatArray, masks: npt.NDArray[np.int8]) -> FloatArray:
        """Compute the probabilities of legal actions, (B, A), from their scores."""
        scores = np.where(masks > 0, scores / (self.temperature or 1.0), -np.inf)
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    @abstractmethod
    def _choose(self, observations: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]) -> IntArray:
        """Choose the network's action for each row, (B,) int64; there is at least one row."""

    @abstractmethod
    def _score(self, observations: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]) -> FloatArray:
        """Score each legal action by the network, (B, A); the scores of other actions mean nothing."""


class LearnedAgent(NetworkPlayer):
    """Plays the network's best-scored action, or samples one by the scores if `temperature` is above 0.

    Args:
        weights: the weights of the network.
        rules, name, seed, solver: as in `NetworkPlayer`.
        temperature: divides the scores before an action is sampled; 0 for the best one.
        threads: threads that share the rows of large batches at temperature 0, 0 for all processors.
    """

    def __init__(
        self,
        weights: Weights,
        rules: Rules,
        name: str,
        seed: int = 0,
        temperature: float = 0.0,
        solver: bool = True,
        threads: int = 1,
    ) -> None:
        super().__init__(rules, name, seed, solver)
        self.weights, self.temperature = weights, float(temperature)
        self.models: list[str] = []  # the folder of the weights, if they have one
        self._network_scratch = make_network_scratch(count_threads(threads))
        self._rng = np.random.default_rng(check_seed(seed))

    def _choose(self, observations: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]) -> IntArray:
        if self.temperature:
            logits = self._evaluate(observations, masks)[0].astype(np.float64)
            return draw_actions(self._softmax(logits, masks), self._rng)
        chosen = np.empty(len(masks), np.int64)
        parts = max(min(len(self._network_scratch), len(masks) // ROWS_A_THREAD), 1)
        arrays = observations, masks, self._network_scratch[:parts], chosen
        share(lambda part, parts: choose_rows(self._compiled, self.weights, *cut(arrays, part, parts)), parts)
        return chosen

    def _score(self, observations: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]) -> FloatArray:
        return self.evaluate(observations, masks)[0].astype(np.float64)

    @in_turn
    def evaluate(
        self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Compute the logits of all actions, (B, A) float32, and the state values, (B,).

        Illegal actions have `krypenv.agents.neural.network.ILLEGAL`. The state values are in the units that the network
        was trained on.
        """
        return self._evaluate(*check_decisions(self.rules, observations, action_masks))

    def _evaluate(
        self, observations: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        logits, values = np.full(masks.shape, ILLEGAL, np.float32), np.empty(len(masks), np.float32)
        value_rows(self._compiled, self.weights, observations, masks, self._network_scratch, logits, values)
        return logits, values


def load_agent(
    rules: Rules, seed: int = 0, *, model: str = "", temperature: float = 0.0, solver: bool = True, threads: int = 1
) -> LearnedAgent:
    """Load the agent in a model's folder; raises ModelError if it can't be loaded or plays other rules."""
    if not model:
        raise ValueError("learned plays with a trained network: name its folder, as in learned(model='folder')")
    name = name_of("learned", load_agent, locals())
    name = model if name == format_spec("learned", {"model": model}) else name
    agent = LearnedAgent(load_weights(model, rules)[0], rules, name, seed, temperature, solver, threads)
    agent.models = [model]
    return agent
