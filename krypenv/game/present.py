"""The present state of a game by name: cards, points, winners, the turn, and legal actions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from krypenv.cards import NO_CARD, NO_SEAT, NUM_RANKS, SPADES, card_name, card_names
from krypenv.game.moves import actions_in, bits
from krypenv.game.stack import close_session, mask_actions, write_scores
from krypenv.inputs.words import is_whole, shown
from krypenv.kernels.builds import values_built
from krypenv.kernels.captures import borrow_scratch, find_sweep_values
from krypenv.kernels.compiled import sum_of
from krypenv.kernels.scoring import are_best, side_scores
from krypenv.rules import Rules

Int8Array = npt.NDArray[np.int8]


class Build(NamedTuple):
    """A build on the table (B1)."""

    value: int
    cards: list[str]  # names by kind
    owner: int
    multiple: bool


class Present:
    """The present state of a game; see `krypenv.game.game.Game`."""

    rules: Rules
    compiled: np.ndarray  # (1,)
    states: np.ndarray  # of `krypenv.state.GAME`: the first one, and the one after each action; the others are scratch
    actions: list[int]
    piles_before: np.ndarray  # the piles in the first state, counts (P, 52)
    _seats: np.ndarray  # fields of all states, as views, because they are read often
    _overs: np.ndarray
    _pendings: np.ndarray

    @property
    def at(self) -> int:
        """The place of the present state in `states`."""
        return len(self.actions)

    @property
    def state(self) -> np.ndarray:
        """The record of the present state (`krypenv.state.GAME`); don't write to it."""
        return self.states[len(self.actions)]

    def _check_seat(self, seat: int) -> None:
        if not is_whole(seat, 0, self.rules.players - 1):
            raise ValueError(f"there is no seat {shown(seat)}; the seats are 0 to {self.rules.players - 1}")

    def _count(self, field: str, seat: int) -> int:
        self._check_seat(seat)
        return int(self.state[field][seat])

    @property
    def turn(self) -> int:
        """The seat to act, NO_SEAT (-1) when the game is over."""
        at = len(self.actions)
        return NO_SEAT if self._overs[at] else int(self._seats[at])

    @property
    def dealer(self) -> int:
        """The seat that deals in this game."""
        return int(self.state["dealer"])

    @property
    def is_over(self) -> bool:
        """Whether the game is over, as all cards have been played, or it ended at once (F6)."""
        return bool(self._overs[len(self.actions)])

    @property
    def ended_at_once(self) -> bool:
        """Whether the game ended in the middle, when a side's running score reached the threshold (F6)."""
        return bool(self.state["cut_short"])

    @property
    def deal_number(self) -> int:
        """The deal that is being played, 1 for the first."""
        return int(self.state["deal_number"])

    @property
    def stock_size(self) -> int:
        """The number of cards still to be dealt."""
        return self.rules.deck_size - int(self.state["next_card"])

    @property
    def game_number(self) -> int:
        """The game of the session, 1 for the first."""
        return int(self.state["game_number"])

    # ------------------------------------------------------------------ cards

    @property
    def deck(self) -> list[str]:
        """The whole deck in deal order; in a game from a position the cards already dealt come first, by card kind."""
        return [card_name(kind) for kind in self.state["deck"][: self.rules.deck_size].tolist()]

    def hand(self, seat: int) -> list[str]:
        """List the cards in a hand, sorted by card kind."""
        self._check_seat(seat)
        return card_names(self.state["hands"][seat].tolist())

    @property
    def table(self) -> list[str]:
        """The loose cards on the table, sorted by card kind, including those taken so far in an unfinished play."""
        return card_names(self.state["table"].tolist())

    @property
    def builds(self) -> list[Build]:
        """The builds on the table, by value (B1)."""
        row = self.state
        return [
            Build(value, card_names(built_cards(row, value).tolist()), int(row["build_owner"][value]),
                  bool(row["multiple_builds"] >> value & 1))
            for value in bits(int(row["builds"]))
        ]  # fmt: skip

    @property
    def set_aside(self) -> list[str]:
        """The cards set aside for the last capturer (R6, R13), sorted by card kind."""
        return card_names(self.state["set_aside"].tolist())

    def captured(self, seat: int) -> list[str]:
        """List the cards in a seat's pile, sorted by card kind; at the end it includes what was left (R13, K4)."""
        self._check_seat(seat)
        return card_names(self.piles()[seat].tolist())

    def pile_counts(self, seat: int) -> tuple[int, int]:
        """Count the cards, and the spades among them, in a seat's pile (K5, K7)."""
        self._check_seat(seat)
        pile = self.piles()[seat]
        return int(pile.sum()), spades_in(pile)

    def piles(self) -> np.ndarray:
        """Count the cards captured by each seat, (P, 52) int64, with what was left at the end (R13)."""
        piles = self.piles_before.copy()
        states = self.states[1 : self.at + 1]
        taken = states["taken"].astype(np.int64)
        captures = taken.any(axis=1)
        if self.rules.building:
            captures = (captures | (states["taken_builds"] != 0)) & (states["build_value"] == 0)
        for place in np.flatnonzero((states["pending"] == NO_CARD) & captures).tolist():
            seat = states["last_seat"][place]
            piles[seat] += taken[place]
            for value in bits(int(states["taken_builds"][place])):
                piles[seat] += built_cards(self.states[place], value)
            piles[seat, states["last_card"][place]] += 1
        if self.is_over and self.last_capturer is not None and not self.ended_at_once:
            piles[self.last_capturer] += self.rules.deck_counts - piles.sum(axis=0)
        return piles

    # ------------------------------------------------------------------ points

    def points(self, seat: int) -> int:
        """Sum the points of the cards that a seat has captured."""
        return self._count("points", seat)

    def sweeps(self, seat: int) -> int:
        """Count the sweeps of a seat, also those that don't count (F5); a double sweep is two."""
        return self._count("sweeps", seat)

    def counted_sweeps(self, seat: int) -> int:
        """Count the sweeps of a seat that count (F5), before sweeps of all sides cancel (F4)."""
        return self._count("sweeps", seat) - self._count("void_sweeps", seat)

    def mulles(self, seat: int) -> int:
        """Count the mulles of a seat, 0 where the rules don't count them (M2)."""
        return self._count("mulles", seat)

    def mulle_scores(self, seat: int) -> int:
        """Sum the points of a seat's mulles where each scores the hand value of its card, else 0 (G2)."""
        return self._count("mulle_scores", seat)

    def scores(self) -> list[int]:
        """Score the game so far by seat (R14, K7); the scores are final when the game is over.

        What belongs to a side as a whole stands with its first seat: majorities at the end of the game (K5), and the
        sweeps that cancel (F4).
        """
        return self._standing()[0]

    def tie_breaks(self) -> list[int]:
        """Compute what decides between equal totals, a number for the side of each seat (K6, F7).

        The most wins where the goal is high. All are 0 in rules in which nothing decides.
        """
        return self._standing()[1]

    def _standing(self) -> list[list[int]]:
        out = np.empty((2, self.rules.players), np.int64)
        write_scores(self.compiled, self.states, len(self.actions), out)
        return out.tolist()

    @property
    def last_capturer(self) -> int | None:
        """The seat of the last capture, or None."""
        seat = int(self.state["last_capturer"])
        return None if seat == NO_SEAT else seat

    @property
    def session_over(self) -> bool:
        """Whether the game is over and was the session's last (R15, K6)."""
        return self.is_over and bool(close_session(self.compiled, self.states, len(self.actions)))

    @property
    def totals(self) -> list[int]:
        """The totals by seat of the session's finished games, including this one once it is over."""
        place = len(self.actions)
        if self._overs[place]:
            close_session(self.compiled, self.states, place)
            place += 1
        return self.states["totals"][place][: self.rules.players].tolist()

    @property
    def winners(self) -> list[int]:
        """The seats with the best total once the session is over, after ties are broken (R15, R16, K6, F7); else none.

        A session is one game, unless the rules say otherwise. Teams win together, and several sides may share the win.
        """
        if not self.session_over:
            return []
        sides = side_scores(self.rules, self.totals)
        return np.flatnonzero(are_best(self.rules, sides, np.array(self.tie_breaks()))).tolist()

    # ------------------------------------------------------------------ the unfinished play, and what is legal

    @property
    def pending(self) -> str | None:
        """The card just played while its capture is being chosen, or None."""
        card = int(self._pendings[len(self.actions)])
        return None if card == NO_CARD else card_name(card)

    @property
    def taken(self) -> list[str]:
        """The cards taken so far in an unfinished play, sorted by card kind."""
        return [] if self.pending is None else card_names(self.state["taken"].tolist())

    @property
    def building(self) -> int | None:
        """The value of the build that the card just played is to make, or None (B2)."""
        return (int(self.state["build_value"]) or None) if self.pending else None

    def legal_actions(self) -> list[int]:
        """List the staged actions of the seat to act, ascending; none when the game is over."""
        return actions_in(self.state)

    def action_mask(self, seat: int | None = None) -> Int8Array:
        """Mask the legal actions of a seat, by default the one to act: (A,) int8 of 0 and 1, a fresh array."""
        place, mask = len(self.actions), np.zeros(self.rules.num_actions, np.int8)
        if seat is not None:
            self._check_seat(seat)
        if seat in (None, self._seats[place]):
            mask_actions(self.states, place, mask)
        return mask

    def sweep_ranks(self) -> list[int]:
        """Find the ranks, 1 = ace .. 13 = king, of which a card could take the whole table in the next play."""
        if self.pending is not None or self.is_over:
            return []
        kinds = self.compiled["value_kinds"][0]
        compiled, ranks = self.compiled[0], self.state["table_ranks"]
        values = int(find_sweep_values(compiled, ranks, sum_of(compiled, ranks), borrow_scratch()[0]))
        return sorted({kind % NUM_RANKS + 1 for value in bits(values) for kind in bits(int(kinds[value]))})


def spades_in(pile: np.ndarray) -> int:
    """Count the spades of a pile, counts (52,)."""
    return int(pile[SPADES * NUM_RANKS :].sum())


def built_cards(row: np.ndarray, value: int) -> np.ndarray:
    """Count the cards of a build in a state, (52,)."""
    return np.asarray((values_built(row["built"]) == value).sum(axis=0))
