"""Recall: what the opponent of a two-player game has played in this deal, from a seat's own earlier observations.

An observation shows which cards have been seen, but not who played them when. A seat that remembers its last decision
knows: the one card that is new since then is the one that the opponent has played.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from krypenv.cards import NUM_KINDS, TAKE
from krypenv.observation import LAYOUT, SIZE

MOST_STEPS = 8  # steps of a deal that are remembered: the last ones
MOST_ACTIONS = 16  # actions of one play: a card, and the cards that it takes
MOST_DECISIONS = 100_000  # decisions that are remembered, about
_HAND, _SEEN, _HAND_SIZE = LAYOUT["hand"], LAYOUT["seen"], LAYOUT["hand_size"].start
_DEALS_LEFT = LAYOUT["deals_left"].start
_MARKS = np.random.default_rng(0).integers(1 << 40, size=NUM_KINDS)  # of the kinds: a set of cards has their sum
_SAME = [LAYOUT["games_left"].start, *range(*LAYOUT["dealer"].indices(SIZE))]  # what does not change in a game

Int8Array = npt.NDArray[np.int8]
Step = tuple[Int8Array, list[int], int]  # a decision: what was seen, the actions, and what the opponent played next
Steps = tuple[Step, ...]  # of a deal, the oldest one first


class Memory(NamedTuple):
    """The last steps of the deal so far in B games, as far as they are known; -1 in the unused places."""

    seen: Int8Array  # (B, MOST_STEPS, N): what the seat saw when it decided
    actions: Int8Array  # (B, MOST_STEPS, MOST_ACTIONS): its play, a card and what it took
    cards: Int8Array  # (B, MOST_STEPS): the kind that the opponent played next

    @classmethod
    def blank(cls, games: int, size: int = SIZE) -> Memory:
        """Return an empty memory of observations of some size."""
        shapes = (size,), (MOST_ACTIONS,), ()
        return cls(*(np.full((games, MOST_STEPS, *shape), -1, np.int8) for shape in shapes))


@dataclass
class _Decision:
    """A decision of the seat, and the steps of its deal before it."""

    seen: Int8Array  # (N,)
    actions: list[int]  # a card, and what it took
    steps: Steps

    def step(self, card: int) -> Step:
        """Return the decision with the kind that the opponent played next."""
        return self.seen, list(self.actions), card


class Recall:
    """Remembers the decisions of a seat in many games, and finds them again by what the seat sees next.

    Two observations are of one game if the cards fit: the hand is what the earlier decision left, and exactly as many
    cards are new as the opponent has played since. If more than one earlier decision fits, nothing is recalled.

    Args:
        size: N, the entries of an observation without the features.
    """

    def __init__(self, size: int = SIZE) -> None:
        self._size = size
        self._decisions: dict[bytes, dict[int, list[_Decision]]] = {}  # by hand and deal, and by the cards seen
        self._count = 0

    def recall(self, observations: Int8Array) -> Memory:
        """Return the steps that led to (B, N or more) observations."""
        memory = Memory.blank(len(observations), self._size)
        for row, seen in enumerate(observations[:, : self._size]):
            for at, (before, actions, card) in enumerate(self._steps(seen)[-MOST_STEPS:]):
                memory.seen[row, at] = before
                memory.actions[row, at, : len(actions)] = actions
                memory.cards[row, at] = card
        return memory

    def note(self, observations: Int8Array, actions: npt.NDArray[np.int64]) -> None:
        """Remember decisions: (B, N or more) observations and the (B,) actions that were chosen there."""
        if self._count > MOST_DECISIONS:
            self._decisions.clear()
            self._count = 0
        for seen, action in zip(observations[:, : self._size], actions, strict=True):
            if action < TAKE:
                hand = seen[_HAND].copy()
                hand[action] -= 1
                decision = _Decision(seen.copy(), [int(action)], self._steps(seen))
                alike = self._decisions.setdefault(_key(seen, hand, int(seen[_DEALS_LEFT])), {})
                alike.setdefault(int(seen[_SEEN] @ _MARKS), []).append(decision)
                self._count += 1
            else:
                for decision in self._find(seen, seen[_HAND], int(seen[_DEALS_LEFT]), seen[_SEEN], 0):
                    decision.actions.append(int(action))

    def _steps(self, seen: Int8Array) -> Steps:
        hand, deals_left = seen[_HAND], int(seen[_DEALS_LEFT])
        candidates = [
            self._find(seen, hand, deals_left, seen[_SEEN], 0),  # the same play: cards are still to be taken
            self._find(seen, hand, deals_left, seen[_SEEN], 1),
        ]
        if seen[_HAND_SIZE + 1] < seen[_HAND_SIZE]:  # the opponent led: the last decision was in the deal before
            candidates.append(self._find(seen, np.zeros_like(hand), deals_left + 1, seen[_SEEN] - hand, 1))
        for found in candidates:
            if len(found) == 1:
                (last,) = found
                new = seen[_SEEN].astype(np.int64) - last.seen[_SEEN]
                if deals_left != last.seen[_DEALS_LEFT]:
                    return (last.step(int((new - hand).argmax())),)
                return (*last.steps, last.step(int(new.argmax()))) if new.any() else last.steps
        return ()

    def _find(self, seen: Int8Array, hand: Int8Array, deals_left: int, known: Int8Array, new: int) -> list[_Decision]:
        """Return the decisions of a deal that left this hand, and after which `new` more cards have been seen."""
        alike = self._decisions.get(_key(seen, hand, deals_left))
        if not alike:
            return []
        mark = int(known @ _MARKS)
        marks = mark - _MARKS[known > 0] if new else [mark]
        found = []
        for decision in itertools.chain.from_iterable(alike.get(int(each), ()) for each in marks):
            more = known.astype(np.int64) - decision.seen[_SEEN]
            if len(decision.actions) < MOST_ACTIONS and more.min() >= 0 and more.sum() == new:
                found.append(decision)
        return found


def _key(seen: Int8Array, hand: Int8Array, deals_left: int) -> bytes:
    return bytes([deals_left & 255]) + seen[_SAME].tobytes() + hand.tobytes()
