"""Habits: an agent that plays as another one, but for the cards that it allows itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv import agents
from krypenv.agents import Agent
from krypenv.agents.champion import Champion
from krypenv.agents.neural.learned import LearnedAgent
from krypenv.agents.scripted import Greedy, Tactician
from krypenv.agents.search.sampler import Sampler
from krypenv.cards import NO_CARD, NUM_KINDS
from krypenv.engine import Engine
from krypenv.features import COLUMNS, WIDTH, append_features, want_history
from krypenv.observation import SIZE
from krypenv.rules import Rules
from krypenv.training.lab.matches import Change
from krypenv.worlds.determinize import determinize

BoolArray = npt.NDArray[np.bool_]
Int8Array = npt.NDArray[np.int8]
# Which of the legal actions a habit allows, (B, 105) bool, from rules, observations and masks. A row in which it allows
# none, or all, is one that it does not concern.
Habit = Callable[[Rules, Int8Array, Int8Array], BoolArray]
Cards = Callable[[Rules, Int8Array, Int8Array], npt.NDArray[Any]]  # something of each card to play, (B, 52) or (52,)


def values_of(agent: Agent) -> Callable[[Int8Array, Int8Array], npt.NDArray[Any]]:
    """Return a function of observations and masks that values all actions, (B, 105), as the agent does.

    A network values them by its logits, and a search by its expected margins. Raises ValueError for other agents.
    """
    judge = agent.player if isinstance(agent, Champion) else agent
    if isinstance(judge, LearnedAgent):
        return lambda observations, masks: judge.evaluate(observations, masks)[0]
    if not isinstance(judge, Sampler):
        raise ValueError(f"{agent.name} does not value its actions; champion, guided, search and networks do")

    def values(observations: Int8Array, masks: Int8Array) -> npt.NDArray[np.float64]:
        found = judge.action_values(observations, masks)
        return np.where(np.isfinite(found), found, -1e6)  # pruned actions come last, and are there

    return values


def network_of(agent: Agent) -> LearnedAgent:
    """Return the network that an agent plays with; raises ValueError where it is none."""
    network = agent.player if isinstance(agent, Champion) else agent
    if not isinstance(network, LearnedAgent):
        raise ValueError(f"{agent.name} is no network, which this study needs; champion(worlds=0) is one")
    return network


class WithHabit:
    """Plays as another agent, but where a habit forbids its choice, the action that it values most among those allowed.

    The other agent must value its actions (`values_of`) or be a scripted one, which then chooses as if those allowed
    were the legal ones.
    """

    def __init__(self, base: Agent, habit: Habit, name: str) -> None:
        self.base, self.habit, self.name, self.rules = base, habit, name, base.rules
        self.needs_history = want_history((base,))
        self._values = None if isinstance(base, Greedy | Tactician) else values_of(base)

    def act(self, observations: Int8Array, action_masks: Int8Array) -> npt.NDArray[np.int64]:
        """Return an action for each row, (B,) int64."""
        chosen = self.base.act(observations, action_masks)
        allowed = self.habit(self.rules, observations, action_masks) & (action_masks > 0)
        forbidden = np.flatnonzero(allowed.any(axis=1) & ~allowed[np.arange(len(chosen)), chosen])
        if len(forbidden) and self._values:
            values = self._values(observations[forbidden], action_masks[forbidden])
            chosen[forbidden] = np.where(allowed[forbidden], values, -np.inf).argmax(axis=1)
        elif len(forbidden):
            chosen[forbidden] = self.base.act(observations[forbidden], allowed[forbidden].astype(np.int8))
        return chosen


def with_habit(habit: Habit) -> Change:
    """Return the change of an agent that gives it a habit."""
    return lambda agent, rules, seed: WithHabit(agents.make_known(agent, rules, seed), habit, f"{agent} with a habit")


# ---------------------------------------------------------------------- what a card does


def column(rules: Rules, observations: Int8Array, masks: Int8Array, name: str) -> Int8Array:
    """Return an entry of the features block for each card to play, (B, 52) int8; see `krypenv.features.COLUMNS`."""
    block = append_features(rules, observations[:, :SIZE], masks)[:, SIZE:].reshape(len(masks), NUM_KINDS, WIDTH)
    entries: Int8Array = block[:, :, COLUMNS[name].start]
    return entries


def playable(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """Return which cards may be played, (B, 52)."""
    return masks[:, :NUM_KINDS] > 0


def creeping(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """Return which cards may be played and would capture nothing, (B, 52)."""
    return (column(rules, observations, masks, "creeps") > 0) & (masks[:, :NUM_KINDS] > 0)


def capturing(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """Return which cards may be played and would capture, (B, 52)."""
    return (column(rules, observations, masks, "creeps") == 0) & (masks[:, :NUM_KINDS] > 0)


def tables_left(rules: Rules, observations: Int8Array, masks: Int8Array) -> Int8Array:
    """Return the table that each card leaves, (B, 52, 52); all -1 for cards that can't be played.

    Where a card can capture in several ways, it is what one of them leaves.
    """
    left = np.full((len(masks), NUM_KINDS, NUM_KINDS), -1, np.int8)
    rows, cards = np.nonzero(masks[:, :NUM_KINDS])
    if len(rows):
        engine = Engine.from_state(rules, determinize(observations, 0, rules), check=False).select(rows)
        engine.step(cards)
        while len(pending := np.flatnonzero(engine.state.pending != NO_CARD)):
            engine.step(engine.action_mask[pending].argmax(axis=1), pending)
        left[rows, cards] = engine.state.table
    return left


# ---------------------------------------------------------------------- which cards are allowed


def plays_only(cards: Cards) -> Habit:
    """Return the habit of playing some cards alone, where one of them can be played."""

    def habit(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
        allowed = masks > 0
        allowed[:, :NUM_KINDS] &= cards(rules, observations, masks).astype(np.bool_)
        return allowed

    return habit


def plays_first(order: Cards, among: Cards = playable) -> Habit:
    """Return the habit of playing, of some cards, one that comes first in an order, the lowest; others are free."""

    def allowed(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
        cards = among(rules, observations, masks)
        place = np.where(cards, order(rules, observations, masks), np.inf)
        first: BoolArray = ~cards | (place == place.min(axis=1, keepdims=True))
        return first

    return plays_only(allowed)
