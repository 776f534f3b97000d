"""A policy of any toolbox as an agent: a function from observations and masks to actions, logits or values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.cards import action_name
from krypenv.features import observation_for
from krypenv.game.base_agent import BaseAgent
from krypenv.inputs.words import one_line, shown
from krypenv.kernels.decision_checks import check_decisions
from krypenv.rules import RulesLike, as_rules
from krypenv.runtime.threads import Lock, in_turn

Function = Callable[[npt.NDArray[np.int8], npt.NDArray[np.int8]], Any]


class PolicyFunction(BaseAgent):
    """A function as an agent: for `duplicate_match`, `evaluate`, the arena, a score, and as an opponent.

    Args:
        fn: called as `fn(observations, masks)` with B decisions, (B, N) and (B, A) int8, which it may change. It
            returns actions, (B,) whole numbers, or logits or values of all actions, (B, A), whose best legal action is
            played, as an array of numpy or a tensor of torch on any device.
        rules: the rules that it plays by.
        name: its name in tables.
        features: whether the observations end with the features block, as in environments with `features=True`.

    Attributes:
        files: the files that the policy was loaded from, by which a score identifies it.

    `act` raises ValueError for a result of another shape, and for a legal action whose logit or value is not finite.
    Whoever carries an action out refuses an illegal one.

    >>> rules = Rules.preset("krypkasino", players=2)
    >>> low = PolicyFunction(lambda observations, masks: -np.arange(105) + 0 * masks, rules, "low", features=False)
    >>> print(duplicate_match(low, "random", rules, deals=1000))  # doctest: +SKIP
    """

    def __init__(self, fn: Function, rules: RulesLike, name: str = "policy", features: bool = True) -> None:
        if not callable(fn):
            raise ValueError(f"a policy is a function of observations and masks, not {shown(fn)}")
        if not isinstance(name, str):
            raise ValueError(f"the name of a policy is a string, not {shown(name)}")
        self.fn, self.rules, self.name, self.needs_features = fn, as_rules(rules), name, features
        self.files: list[Path] = []
        self.lock = Lock()

    @in_turn
    def act(self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
        """Choose an action for each row, (B,) int64, from (B, N) and (B, A) int8; see `krypenv.agents.Agent`."""
        observations, masks = check_decisions(self.rules, observations, action_masks)
        if len(masks) == 0:
            return np.zeros(0, np.int64)
        result = _as_array(self.fn(observation_for(self, self.rules, observations, masks).copy(), masks.copy()))
        count, actions = masks.shape
        if result.shape == masks.shape and result.dtype.kind in "iuf":
            return _best_legal(result, masks)
        if result.shape == (count,) and result.dtype.kind in "iu":
            return result.astype(np.int64)
        raise ValueError(
            f"the policy returned {one_line(str(result.dtype), 80)} of shape {result.shape} for {count} decisions, "
            f"and not actions, whole numbers ({count},), or logits or values, ({count}, {actions})"
        )


def _best_legal(values: npt.NDArray[Any], masks: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
    """Choose the best legal actions, (B,); raise ValueError if the value of a legal one is not finite."""
    rows, actions = np.nonzero((masks == 1) & ~np.isfinite(values))
    if len(rows):
        row, action = int(rows[0]), int(actions[0])
        raise ValueError(
            f"the policy returned {values[row, action]} for {action_name(action)} in decision {row}, "
            "and the logit or value of a legal action is a finite number"
        )
    best: npt.NDArray[np.int64] = np.where(masks == 1, values, -np.inf).argmax(axis=1)
    return best


def _as_array(result: Any) -> npt.NDArray[Any]:
    """Convert a result of numpy or torch to an array; anything else becomes one of dtype object."""
    if callable(getattr(result, "detach", None)):  # numpy takes no tensor with gradients, elsewhere, or of bfloat16
        result = result.detach().cpu()
        result = result.double() if result.is_floating_point() else result
    try:
        return np.asarray(result)
    except ValueError:  # rows of different lengths
        return np.array(None)
