"""Memory: what does a player lose that forgets the cards it has seen, or does not use what forced sweeps reveal?"""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from krypenv import agents
from krypenv.agents import Agent
from krypenv.cards import DIAMONDS, NUM_KINDS, NUM_RANKS, TEN, card_of
from krypenv.engine import Engine
from krypenv.kernels.compiled import compile_rules
from krypenv.observation import LAYOUT
from krypenv.rules import Rules
from krypenv.state import State
from krypenv.training.lab.chunks import Change
from krypenv.training.lab.comparison import comparison
from krypenv.training.lab.habits import BoolArray, Int8Array, network_of
from krypenv.training.lab.intervals import Samples, points

DRAWS = 8  # memories that a forgetful player imagines for a decision
_LYING = ("hand", "table", "set_aside", "pending")  # cards that a player sees without any memory
_RANKS = np.arange(NUM_KINDS) % NUM_RANKS + 1
_STORAN = np.arange(NUM_KINDS) == card_of(TEN, DIAMONDS)
ALL, NONE = np.ones(NUM_KINDS, np.bool_), np.zeros(NUM_KINDS, np.bool_)
HIGH = (_RANKS == 1) | (_RANKS > 10)  # aces and pictures
EVERY_SEAT, NOBODY, OTHERS = "every seat", "nobody", "all but the next seat"  # whose forced sweeps tell it something


class Forgetful:
    """Plays as a network that does not know which cards it has seen before.

    It knows how many they are, and what it sees now. For each decision it imagines some memories that agree with that,
    all equally likely, and plays the action with the best mean log probability. It does not solve the last deal.

    Args:
        base: a network, or the champion without worlds.
        kept: (52,) bool, the kinds of which it remembers all cards.
        deduces: of whom it knows which ranks they can't hold, because they have not swept (R10).
        draws: memories imagined.
    """

    def __init__(self, base: Agent, kept: BoolArray, deduces: str, draws: int, seed: int) -> None:
        self.name, self.rules, self._network = "forgetful", base.rules, network_of(base)
        self._kept, self._deduces, self._draws = kept, deduces, draws
        self._random = np.random.default_rng(seed)

    def act(self, observations: Int8Array, action_masks: Int8Array) -> npt.NDArray[np.int64]:
        """Return an action for each row, (B,) int64."""
        return self._decide(observations, action_masks, np.zeros((len(observations), NUM_KINDS), np.int64))

    def _decide(
        self, observations: Int8Array, action_masks: Int8Array, known: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        total = np.zeros(action_masks.shape)
        for _ in range(self._draws):
            logits, _ = self._network.evaluate(self.imagine(observations, known), action_masks)
            logits = np.where(action_masks > 0, logits, -np.inf).astype(float)
            total += logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
        return total.argmax(axis=1)

    def imagine(self, observations: Int8Array, known: npt.NDArray[np.int64]) -> Int8Array:
        """Return observations with the cards seen before drawn anew among all that may have been.

        `known` counts cards that are remembered besides, (B, 52).
        """
        imagined = observations.copy()
        deduced = imagined[:, LAYOUT["cannot_hold"]]
        if self._deduces != EVERY_SEAT:
            deduced[:, : NUM_RANKS if self._deduces == OTHERS else None] = 0
        if self._kept.all():
            return imagined
        seen = observations[:, LAYOUT["seen"]]
        lying = sum(observations[:, LAYOUT[name]].astype(np.int64) for name in _LYING)
        sure = np.where(self._kept, seen, np.maximum(lying, known))
        pool = np.where(self._kept, 0, self.rules.deck_counts - sure)
        for row, (cards, left) in enumerate(zip(sure, pool, strict=True)):
            missing = int(seen[row].sum() - cards.sum())
            imagined[row, LAYOUT["seen"]] = cards + self._random.multivariate_hypergeometric(left, missing)
        return imagined


class ForgetsDeals(Forgetful):
    """A forgetful player that remembers the current deal: all cards that were dealt in it and have been face up.

    It is called with the state to know when the deal began, and uses no other hidden part of it.
    """

    cheats = True
    sees_deck = False

    def act_on(self, state: State, action_masks: Int8Array) -> npt.NDArray[np.int64]:
        """Return an action for each row, (B,) int64."""
        observations = Engine.from_state(self.rules, state, check=False).observation
        starts = compile_rules(self.rules)["deal_start"][0][state.deal_number - 1]
        place = np.arange(state.deck.shape[1])
        dealt = (place >= starts[:, None]) & (place < state.next_card[:, None])
        known = observations[:, LAYOUT["hand"]].astype(np.int64) - state.hands.sum(axis=1)
        rows, places = np.nonzero(dealt)
        np.add.at(known, (rows, state.deck[rows, places]), 1)
        lying = sum(observations[:, LAYOUT[name]].astype(np.int64) for name in _LYING)
        return self._decide(observations, action_masks, np.maximum(known, lying))


def forgetful(kept: BoolArray, deduces: str, draws: int, agent: str, rules: Rules, seed: int) -> Agent:
    """Return a forgetful agent; a change of an agent for `match_tasks`."""
    return Forgetful(agents.make_known(agent, rules, seed), kept, deduces, draws, seed)


def forgets_deals(agent: str, rules: Rules, seed: int) -> Agent:
    """Return an agent that forgets at each deal what it saw before; a change of an agent for `match_tasks`."""
    return ForgetsDeals(agents.make_known(agent, rules, seed), NONE, EVERY_SEAT, DRAWS, seed)


WHOLE = "remembers all, does not solve the last deal"
NO_REVEALS = "does not use what forced sweeps reveal"
NEXT_REVEALS = "does not use what the next seat's reveal"
ACES, STORAN = "remembers aces alone", "remembers the tens of diamonds alone"
HIGH_ALONE = "remembers aces and pictures alone"
THIS_DEAL = "remembers the current deal"
NOTHING = "remembers no card"
CHANGES: dict[str, Change] = {
    WHOLE: partial(forgetful, ALL, EVERY_SEAT, 1),
    NO_REVEALS: partial(forgetful, ALL, NOBODY, 1),
    NEXT_REVEALS: partial(forgetful, ALL, OTHERS, 1),
    ACES: partial(forgetful, _RANKS == 1, EVERY_SEAT, DRAWS),
    STORAN: partial(forgetful, _STORAN, EVERY_SEAT, DRAWS),
    HIGH_ALONE: partial(forgetful, HIGH, EVERY_SEAT, DRAWS),
    THIS_DEAL: forgets_deals,
    NOTHING: partial(forgetful, NONE, EVERY_SEAT, DRAWS),
    "remembers no card and uses no reveal": partial(forgetful, NONE, NOBODY, DRAWS),
}


def sentence(margins: Samples) -> str:
    """Compare what is forgotten with full memory."""
    cards, earlier, reveals = points(*(margins[WHOLE] - margins[name] for name in (NOTHING, THIS_DEAL, NO_REVEALS)))
    return (
        f"Remembering the cards is worth {cards} to this network, remembering those of earlier deals {earlier}, and "
        f"using what forced sweeps reveal {reveals}."
    )


def changes(rules: Rules) -> dict[str, Change]:
    """Return the changes; between two players the next seat is the only one that reveals anything."""
    return {name: change for name, change in CHANGES.items() if rules.players > 2 or name != NEXT_REVEALS}


STUDY = comparison("memory", "What is it worth to remember the cards?", changes, sentence, needs=network_of)
