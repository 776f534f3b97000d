"""Agents that play the choices of a trained network.

1. The network reads the observation once, to a context that all legal actions share (`krypenv.agents.neural.network`).
2. It scores each legal action from the context and the action's features (`krypenv.agents.neural.action_features`).
3. The agent plays the action with the highest score, or samples by the softmax of the scores divided by a temperature.
4. In the last deal of two players, where a seat that has counted knows the other hand, `search` solves the rest.

Networks are trained by PPO (Schulman et al. 2017), in `krypenv.training.learn`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from krypenv.agents.base import FloatArray, IntArray, Policy, check_seed, draw_actions, format_spec, name_of
from krypenv.agents.neural.inference import Weights, load_weights, score_legal
from krypenv.agents.neural.network import ILLEGAL
from krypenv.agents.neural.playouts import make_playout_scratch
from krypenv.agents.scripted import list_legal
from krypenv.agents.search.search import Search
from krypenv.kernels.compiled import compile_rules
from krypenv.kernels.decision_checks import check_decisions
from krypenv.observation import LAYOUT
from krypenv.rules import Rules
from krypenv.runtime.jit import kernel
from krypenv.runtime.threads import Lock, count_threads, cut, in_turn, share

ROWS_A_THREAD = 256  # at least; starting a thread for fewer does not pay


@kernel
def score_rows(
    compiled: np.ndarray,
    weights: Weights,
    observations: np.ndarray,
    masks: np.ndarray,
    playouts: np.ndarray,
    logits: np.ndarray,
    chosen: np.ndarray,
) -> None:
    """Write the logits of each row's legal actions to `logits`, (B, A) float32, and the best action to `chosen`, (B,).

    The only legal action of a row has the logit 0.
    """
    network_scratch = playouts[0].network
    for row in range(len(chosen)):
        count = list_legal(masks[row], network_scratch.legal)
        network_scratch.logits[0], best = 0, 0
        if count > 1:
            best = score_legal(compiled[0], weights, observations[row], count, network_scratch)
        for at in range(count):
            logits[row, network_scratch.legal[at]] = network_scratch.logits[at]
        chosen[row] = network_scratch.legal[best]


class LearnedAgent(Policy):
    """Plays a network's choices, and solves the last deal of a two-player game, with nothing hidden, as `Search` does.

    Its `probabilities` are the network's in every deal: the softmax of the scores, divided by a temperature above 0.

    Args:
        weights: the weights of the network.
        rules, name, seed: as for every agent.
        temperature: divides the scores before an action is sampled; 0 for the best one.
        solver: False to play the network's choices in the last deal too.
        threads: threads that share the rows of large batches, 0 for all processors.
    """

    remembers = False
    draws = False  # it plays the best action or, with a temperature or where it solves, by other probabilities
    is_quick = True

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
        self.weights, self.rules, self.name, self.temperature = weights, rules, name, float(temperature)
        self.models: list[str] = []  # the folder of the weights, if they have one
        self.lock = Lock()
        self._compiled = compile_rules(rules)
        self._solver = Search(rules, seed, worlds=1) if solver and rules.players == 2 else None
        self._scratch = make_playout_scratch(count_threads(threads))
        self._rng = np.random.default_rng(check_seed(seed))

    @in_turn
    def act(self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]) -> IntArray:
        """Choose an action for each row: (B, N >= 433) int8 and (B, A) int8 to (B,) int64."""
        observations, action_masks = check_decisions(self.rules, observations, action_masks)
        if len(observations) == 0:
            return np.zeros(0, np.int64)
        logits, chosen = self._score(observations, action_masks)
        if self.temperature:
            chosen = draw_actions(self._softmax(logits, action_masks), self._rng)
        if self._solver:
            hidden = self.rules.deck_size - observations[:, LAYOUT["seen"]].sum(axis=1)
            is_open = hidden == observations[:, LAYOUT["hand_size"]][:, 1]  # no card is in the stock
            if is_open.any():  # the first call of the solver compiles for a while
                chosen[is_open] = self._solver.act(observations[is_open], action_masks[is_open])
        return chosen

    def _probabilities(self, observations: np.ndarray, action_masks: np.ndarray) -> FloatArray:
        return self._softmax(self.logits(observations, action_masks), np.asarray(action_masks))

    def _softmax(self, logits: npt.NDArray[np.float32], masks: npt.NDArray[np.int8]) -> FloatArray:
        """Compute the probabilities of legal actions, (B, A), from their logits."""
        scores = np.where(masks > 0, logits.astype(np.float64) / (self.temperature or 1.0), -np.inf)
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    @in_turn
    def logits(self, observations: np.ndarray, action_masks: np.ndarray) -> npt.NDArray[np.float32]:
        """Compute the logits of all actions, (B, A) float32: `ILLEGAL` for those that are, 0 for an only legal one."""
        return self._score(*check_decisions(self.rules, observations, action_masks))[0]

    def _score(
        self, observations: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]
    ) -> tuple[npt.NDArray[np.float32], IntArray]:
        logits, chosen = np.full(masks.shape, ILLEGAL, np.float32), np.empty(len(masks), np.int64)
        parts = max(min(len(self._scratch), len(masks) // ROWS_A_THREAD), 1)
        arrays = observations, masks, self._scratch[:parts], logits, chosen
        share(lambda part, parts: score_rows(self._compiled, self.weights, *cut(arrays, part, parts)), parts)
        return logits, chosen


def load_agent(
    rules: Rules, seed: int = 0, *, model: str = "", temperature: float = 0.0, solver: bool = True, threads: int = 1
) -> LearnedAgent:
    """Load the agent in a model's folder; raises ModelError if it can't be loaded or plays other rules.

    Args:
        model: the folder.
        temperature: divides the scores before an action is sampled; 0 for the best one.
        solver: whether to solve the last deal of a two-player game, as `Search` does.
        threads: threads that share the rows of large batches, 0 for all processors.
    """
    if not model:
        raise ValueError("learned plays with a trained network: name its folder, as in learned(model='folder')")
    name = name_of("learned", load_agent, locals())
    name = model if name == format_spec("learned", {"model": model}) else name
    agent = LearnedAgent(load_weights(model, rules)[0], rules, name, seed, temperature, solver, threads)
    agent.models = [model]
    return agent
