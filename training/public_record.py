"""What a known player has shown of its hand by its plays: worlds in which it would have played otherwise drop out."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from krypenv.agents import Agent
from krypenv.cards import NUM_KINDS, TAKE
from krypenv.engine import Engine
from krypenv.observation import LAYOUT, SIZE
from krypenv.rules import Rules
from krypenv.state import State
from krypenv.worlds import determinize

IntArray = npt.NDArray[np.int64]

_HAND, _SEEN, _DEALER = LAYOUT["hand"], LAYOUT["seen"], LAYOUT["dealer"]
_DEAL = [LAYOUT["deals_left"].start, LAYOUT["games_left"].start]  # tells the deals of a game apart


class Play(NamedTuple):
    """A card played by a seat of the known player."""

    seat: int  # the dealer is the last seat, as in `determinize`
    seen: npt.NDArray[np.int8]  # (433,) what the seat saw, without its hand
    card: int


class PublicRecord:
    """The cards that a known player has played in the current deals of many games.

    The player can be asked what it would do with any hand. So it is asked anew at each of its plays of the deal, with
    the hand that it has in a sampled world. Worlds in which it plays the very cards that it played are a sample of
    those that explain its play: this is rejection sampling, which is exact also for a player that acts at random. What
    it took where it had a choice is not asked.

    Args:
        player: the known player, or a twin of it with other random numbers.
        rules: the rules of all games.
        rng: for the cards that don't matter.
    """

    def __init__(self, player: Agent, rules: Rules, rng: np.random.Generator) -> None:
        self.player, self.rules, self.rng = player, rules, rng
        self._plays: defaultdict[int, list[Play]] = defaultdict(list)

    def add(self, rows: npt.ArrayLike, observations: npt.NDArray[np.int8], actions: npt.ArrayLike) -> None:
        """Note what the player did in some games: (M,) numbers of games, (M, N) what it saw and (M,) its actions.

        Its hand is not kept.
        """
        public = observations[:, :SIZE].copy()
        public[:, _SEEN] -= public[:, _HAND]
        public[:, _HAND] = 0
        seats = seat_of(self.rules, public)
        for row, seat, seen, card in zip(np.asarray(rows), seats, public, np.asarray(actions), strict=True):
            if card < TAKE:
                plays = self._plays[int(row)]
                if plays and (plays[-1].seen[_DEAL] != seen[_DEAL]).any():
                    plays.clear()
                plays.append(Play(int(seat), seen, int(card)))

    def plays(self, row: int, observation: npt.NDArray[np.int8]) -> list[Play]:
        """Return the plays of the deal that an observation of a game is of, the first one first."""
        return [play for play in self._plays[row] if (play.seen[_DEAL] == observation[_DEAL]).all()]

    def misses(self, plays: list[list[Play]], worlds: State) -> IntArray:
        """Return in how many plays the player would have done something else in each world.

        `plays` are those of M games, and `worlds` (M x C,) has C worlds of each; the answer is (M, C).
        """
        count = len(worlds) // len(plays)
        questions, cards, which = [], [], []
        for at, played in enumerate(plays):
            mine = np.arange(at * count, (at + 1) * count)
            since = np.zeros((self.rules.players, NUM_KINDS), np.int8)  # cards played by each seat from a play on
            for play in reversed(played):
                since[play.seat, play.card] += 1
                hands = worlds.hands[mine, play.seat] + since[play.seat]
                question = np.tile(play.seen, (count, 1))
                question[:, _HAND] = hands
                question[:, _SEEN] += hands
                questions.append(question)
                cards.append(np.full(count, play.card))
                which.append(mine)
        misses = np.zeros(len(worlds), np.int64)
        if questions:
            seen = np.concatenate(questions)
            masks = Engine.from_state(self.rules, determinize(seen, self.rng, self.rules), check=False).action_mask
            np.add.at(misses, np.concatenate(which), ask(self.player, seen, masks) != np.concatenate(cards))
        return misses.reshape(len(plays), count)


def ask(player: Agent, observations: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]) -> IntArray:
    """Return what a player does in each row, (B,) int64; it is asked only where it has a choice."""
    actions: IntArray = masks.argmax(axis=1)
    rows = np.flatnonzero(masks.sum(axis=1) > 1)
    if len(rows):
        actions[rows] = player.act(observations[rows], masks[rows])
    return actions


def seat_of(rules: Rules, observations: npt.NDArray[np.int8]) -> IntArray:
    """Return the seat that sees each observation, (M, N) to (M,), where the dealer is the last seat."""
    seats: IntArray = rules.players - 1 - observations[:, _DEALER].argmax(axis=1)
    return seats
