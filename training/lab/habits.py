"""Habits: an agent that plays as another one, restricted to the cards that a habit allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv import agents
from krypenv.agents.neural.learned import LearnedAgent
from krypenv.agents.scripted import Greedy, Tactician
from krypenv.agents.search.sampler import Examiner
from krypenv.cards import NUM_KINDS
from krypenv.features import COLUMNS, WIDTH, append_features, want_history
from krypenv.observation import SIZE
from krypenv.rules import Rules
from krypenv.training.lab.matches import Change

BoolArray = npt.NDArray[np.bool_]
Int8Array = npt.NDArray[np.int8]
# Which of the legal actions a habit allows, (B, 105) bool, from rules, observations and masks. A row that allows none,
# or all, is left to the base agent.
Habit = Callable[[Rules, Int8Array, Int8Array], BoolArray]
Cards = Callable[[Rules, Int8Array, Int8Array], npt.NDArray[Any]]  # a value of each card to play, (B, 52) or (52,)


class WithHabit:
    """Plays as another agent; where a habit forbids its choice, it plays the allowed action that the agent values most.

    A network values actions by logits, a search by expected margins. Scripted agents choose as if only allowed actions
    were legal. Raises ValueError for other agents.
    """

    def __init__(self, base: Any, habit: Habit) -> None:
        self.base, self.habit, self.rules, self.name = base, habit, base.rules, f"{base.name} with a habit"
        self.needs_history = want_history((base,))
        if not isinstance(base, Greedy | Tactician | LearnedAgent | Examiner):
            raise ValueError(f"{base.name} does not value its actions; champion, guided, search and networks do")

    def act(self, observations: Int8Array, action_masks: Int8Array) -> npt.NDArray[np.int64]:
        """Choose an action for each row, (B,) int64."""
        chosen = self.base.act(observations, action_masks)
        allowed = self.habit(self.rules, observations, action_masks) & (action_masks > 0)
        forbidden = np.flatnonzero(allowed.any(axis=1) & ~allowed[np.arange(len(chosen)), chosen])
        if len(forbidden):
            chosen[forbidden] = self._choose(observations[forbidden], action_masks[forbidden], allowed[forbidden])
        return chosen

    def _choose(self, observations: Int8Array, masks: Int8Array, allowed: BoolArray) -> npt.NDArray[np.int64]:
        """Choose the allowed action that the agent values most in each row."""
        if isinstance(self.base, Greedy | Tactician):
            return self.base.act(observations, allowed.astype(np.int8))
        if isinstance(self.base, LearnedAgent):
            values = self.base.logits(observations, masks)
        else:
            values = np.maximum(self.base.action_values(observations, masks), -1e6)  # pruned ones rank last, finite
        return np.where(allowed, values, -np.inf).argmax(axis=1)


def with_habit(habit: Habit) -> Change:
    """Make the change of an agent that gives it a habit."""
    return lambda agent, rules, seed: WithHabit(agents.make_known(agent, rules, seed), habit)


def column(rules: Rules, observations: Int8Array, masks: Int8Array, name: str) -> Int8Array:
    """Read a column of the features block for each card to play, (B, 52) int8; see `krypenv.features.COLUMNS`."""
    block = append_features(rules, observations[:, :SIZE], masks)[:, SIZE:].reshape(len(masks), NUM_KINDS, WIDTH)
    entries: Int8Array = block[:, :, COLUMNS[name].start]
    return entries


def playable(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """Mark the cards that may be played, (B, 52)."""
    return masks[:, :NUM_KINDS] > 0


def creeping(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """Mark the playable cards that would capture nothing, (B, 52)."""
    return (column(rules, observations, masks, "creeps") > 0) & playable(rules, observations, masks)


def plays_only(cards: Cards) -> Habit:
    """Make the habit of playing only some cards, where one of them can be played."""

    def habit(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
        allowed = masks > 0
        allowed[:, :NUM_KINDS] &= cards(rules, observations, masks).astype(np.bool_)
        return allowed

    return habit


def plays_first(order: Cards, among: Cards = playable) -> Habit:
    """Make the habit of playing, among some cards, only one of the lowest in an order; other cards stay free."""

    def allowed(*seen: Any) -> BoolArray:
        cards = among(*seen)
        place = np.where(cards, order(*seen), np.inf)
        first: BoolArray = ~cards | (place == place.min(axis=1, keepdims=True))
        return first

    return plays_only(allowed)
