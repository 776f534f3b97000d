"""What is it worth to remember the cards?

A network that forgets cards imagines memories that agree with what it still knows, and averages over them. Each way of
forgetting meets the network that remembers everything.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv import Engine, Rules, agents
from krypenv.cards import DIAMONDS, NUM_KINDS, NUM_RANKS, TEN, card_of
from krypenv.observation import LAYOUT
from krypenv.training import lab

Int8Array, IntArray = npt.NDArray[np.int8], npt.NDArray[np.int64]
DRAWS = 8  # memories that a forgetful player imagines for a decision
LYING = ("hand", "table", "set_aside", "pending")  # cards that a player sees without any memory
RANKS = np.arange(NUM_KINDS) % NUM_RANKS + 1
STORAN = np.arange(NUM_KINDS) == card_of(TEN, DIAMONDS)
ALL, NONE = np.ones(NUM_KINDS, bool), np.zeros(NUM_KINDS, bool)
EVERY_SEAT, NOBODY, OTHERS = "every seat", "nobody", "all but the next seat"  # whose forced sweeps tell it something


class Forgetful:
    """Plays as a network that does not know which cards it has seen before.

    It knows how many they are, and what it sees now. For each decision it imagines some memories that agree with that,
    all equally likely, and plays the action with the best mean log probability. It does not solve the last deal.

    Args:
        base: a network, or the champion without worlds; raises ValueError for others.
        kept: (52,) bool, the kinds of which it remembers all cards.
        deduces: of whom it knows which ranks they can't hold, because they have not swept (R10).
        draws: memories imagined.
    """

    def __init__(self, base: agents.Agent, kept: npt.NDArray[np.bool_], deduces: str, draws: int, seed: int) -> None:
        self.name, self.rules, self.network = "forgetful", base.rules, getattr(base, "player", base)
        if not hasattr(self.network, "logits"):
            raise ValueError(f"{base.name} is no network, which this study needs; champion(worlds=0) is one")
        self.kept, self.deduces, self.draws = kept, deduces, draws
        self.random = np.random.default_rng(seed)

    def act(self, observations: Int8Array, action_masks: Int8Array) -> IntArray:
        """Return an action for each row, (B,) int64."""
        return self.decide(observations, action_masks, np.zeros((len(observations), NUM_KINDS), np.int64))

    def decide(self, observations: Int8Array, action_masks: Int8Array, known: IntArray) -> IntArray:
        """Return the actions; `known` counts cards that are remembered besides, (B, 52)."""
        total = np.zeros(action_masks.shape)
        for _ in range(self.draws):
            logits = self.network.logits(self.imagine(observations, known), action_masks)
            logits = np.where(action_masks > 0, logits, -np.inf).astype(float)
            total += logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
        return total.argmax(axis=1)

    def imagine(self, observations: Int8Array, known: IntArray) -> Int8Array:
        """Return observations with the cards seen before drawn anew among all that may have been."""
        imagined = observations.copy()
        deduced = imagined[:, LAYOUT["cannot_hold"]]
        if self.deduces != EVERY_SEAT:
            deduced[:, : NUM_RANKS if self.deduces == OTHERS else None] = 0
        if self.kept.all():
            return imagined
        seen = observations[:, LAYOUT["seen"]]
        sure = np.where(self.kept, seen, np.maximum(lying(observations), known))
        pool = np.where(self.kept, 0, self.rules.deck_counts - sure)
        for row, (cards, left) in enumerate(zip(sure, pool, strict=True)):
            missing = int(seen[row].sum() - cards.sum())
            imagined[row, LAYOUT["seen"]] = cards + self.random.multivariate_hypergeometric(left, missing)
        return imagined


class ForgetsDeals(Forgetful):
    """A forgetful player that remembers the current deal: all cards that were dealt in it and have been face up.

    It is called with the state to know when the deal began, and uses no other hidden part of it.
    """

    cheats = True
    sees_deck = False

    def act_on(self, state: Any, action_masks: Int8Array) -> IntArray:
        """Return an action for each row, (B,) int64."""
        observations = Engine.from_state(self.rules, state, check=False).observation
        sizes = [sum(hands) + table for hands, table in self.rules.deal_sizes()]
        starts = np.cumsum([0, *sizes])[state.deal_number - 1]
        place = np.arange(state.deck.shape[1])
        dealt = (place >= starts[:, None]) & (place < state.next_card[:, None])
        known = observations[:, LAYOUT["hand"]].astype(np.int64) - state.hands.sum(axis=1)
        rows, places = np.nonzero(dealt)
        np.add.at(known, (rows, state.deck[rows, places]), 1)
        return self.decide(observations, action_masks, np.maximum(known, lying(observations)))


def lying(observations: Int8Array) -> IntArray:
    """Return how many cards of each kind a player sees now, (B, 52)."""
    return sum(observations[:, LAYOUT[name]].astype(np.int64) for name in LYING)


def forgetful(kept: npt.NDArray[np.bool_], deduces: str, draws: int, agent: str, rules: Rules, seed: int) -> Forgetful:
    """Return a forgetful agent; a change of an agent for `lab.compare`."""
    return Forgetful(agents.make_known(agent, rules, seed), kept, deduces, draws, seed)


def forgets_deals(agent: str, rules: Rules, seed: int) -> Forgetful:
    """Return an agent that forgets at each deal what it saw before."""
    return ForgetsDeals(agents.make_known(agent, rules, seed), NONE, EVERY_SEAT, DRAWS, seed)


WHOLE = "remembers all, does not solve the last deal"
THIS_DEAL, NOTHING = "remembers the current deal", "remembers no card"
NO_REVEALS = "does not use what forced sweeps reveal"
NO_NEXT_REVEALS = "does not use what the next seat's reveal"
CHANGES = {
    WHOLE: partial(forgetful, ALL, EVERY_SEAT, 1),
    NO_REVEALS: partial(forgetful, ALL, NOBODY, 1),
    NO_NEXT_REVEALS: partial(forgetful, ALL, OTHERS, 1),
    "remembers aces alone": partial(forgetful, RANKS == 1, EVERY_SEAT, DRAWS),
    "remembers the tens of diamonds alone": partial(forgetful, STORAN, EVERY_SEAT, DRAWS),
    "remembers aces and pictures alone": partial(forgetful, (RANKS == 1) | (RANKS > TEN), EVERY_SEAT, DRAWS),
    THIS_DEAL: forgets_deals,
    NOTHING: partial(forgetful, NONE, EVERY_SEAT, DRAWS),
    "remembers no card and uses no reveal": partial(forgetful, NONE, NOBODY, DRAWS),
}
PAIRS = [(WHOLE, NOTHING), (WHOLE, THIS_DEAL), (WHOLE, NO_REVEALS)]
STUDY = lab.compare("memory", "What is it worth to remember the cards?", CHANGES, PAIRS)

if __name__ == "__main__":
    lab.main(STUDY)
