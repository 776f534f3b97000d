"""One game without its texts: moves by name, undo, staged play, sessions. The rules are the engine's, with B = 1."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from krypenv.cards import NO_CARD, NO_SEAT, action_name, card_name, card_names
from krypenv.engine import IllegalMove
from krypenv.features import width_of
from krypenv.game.history import History, Int8Array, spades_in
from krypenv.game.moves import Move
from krypenv.game.starts import check_session, chosen_seed, parse_deck
from krypenv.game.whole_plays import legal_plays, push_play
from krypenv.inputs.words import is_whole, listed, shown, unquoted
from krypenv.rules import Rules, check_rules

AnyGame = TypeVar("AnyGame", bound="Core")

MOST_MOVES = 10_000  # that `legal_moves` lists where captures are optional
_MOST_TOLD = 100  # and that a message does


class Core:
    """A game without its texts; see `krypenv.Game`."""

    def __init__(
        self, rules: Rules, seed: int | None = None, deck: Iterable[str] | None = None, dealer: int | None = None
    ) -> None:
        players = check_rules(rules).players
        self._deal(rules, seed, deck, players - 1 if dealer is None else dealer, 1, [0] * players)

    @classmethod
    def of_session(
        cls: type[AnyGame],
        rules: Rules,
        seed: int | None,
        deck: Iterable[str] | None,
        dealer: int,
        number: int,
        totals: list[int],
    ) -> AnyGame:
        """Return a session's game with this number and the totals before it; game k has the seed's k-th shuffle.

        Raises ValueError as the constructor does, and for a number or totals that the session can't have.
        """
        if not isinstance(totals, (list, tuple)) or len(totals) != check_rules(rules).players:
            raise ValueError(f"totals are one for each of the {rules.players} seats, not {shown(totals)}")
        if reason := check_session(rules, number, totals):
            raise ValueError(reason)
        game = cls.__new__(cls)
        game._deal(rules, seed, deck, dealer, number, totals)
        return game

    def _deal(
        self, rules: Rules, seed: int | None, deck: Iterable[str] | None, dealer: int, number: int, totals: list[int]
    ) -> None:
        kinds = None if deck is None else parse_deck(rules, deck)
        seed = chosen_seed(seed, kinds is None)
        if not is_whole(dealer, 0, rules.players - 1):
            raise ValueError(f"seat {shown(dealer)} can't deal; the seats are 0 to {rules.players - 1}")
        history = History(rules)
        history.deal(seed, kinds, int(dealer), int(number), list(totals))
        self._begin(history, seed)

    def _begin(self, history: History, seed: int | None) -> None:
        self.rules = history.rules
        self.seed = seed
        self.tags: dict[str, str] = {}
        self.comments: dict[int, str] = {}
        self.origin: str | None = None  # the position that the game began from; None if it was dealt
        self._history = history

    @classmethod
    def _of(cls: type[AnyGame], history: History, seed: int | None) -> AnyGame:
        game = cls.__new__(cls)
        game._begin(history, seed)
        return game

    @classmethod
    def from_state(cls: type[AnyGame], rules: Rules, state: np.ndarray, captured: npt.ArrayLike) -> AnyGame:
        """Return a game that resumes from a row of a `State` in which no card is pending.

        `captured` are the counts in the piles, (P, 52). Later games of the session are dealt at random. Raises
        ValueError for anything but a state under these rules.
        """
        history = History(check_rules(rules))
        history.resume(state, captured)
        return cls._of(history, None)

    @classmethod
    def at_row(cls: type[AnyGame], rules: Rules, row: np.ndarray) -> AnyGame:
        """Return a game in the state of a row of a `State`, for reading: it has no past and no piles.

        The row is trusted.
        """
        history = History(check_rules(rules))
        history.states[0] = row
        return cls._of(history, None)

    def rebase(self) -> None:
        """Forget how the present state was reached: it becomes the first one."""
        self._history.rebase()

    def copy(self: AnyGame) -> AnyGame:
        """Return an independent game in the same state, with the same history."""
        twin = self._of(self._history.copy(), self.seed)
        twin.tags, twin.comments, twin.origin = dict(self.tags), dict(self.comments), self.origin
        return twin

    __copy__ = copy

    def rewound(self: AnyGame) -> AnyGame:
        """Return an independent game at the start of this one."""
        twin = self.copy()
        twin._history.go_back(0)
        twin._drop_comments()
        return twin

    def _drop_comments(self) -> None:
        """Drop the comments on what was undone."""
        if self.comments:
            for ply in set(self.comments).difference(range(len(self.moves) + 1)):
                del self.comments[ply]

    # ------------------------------------------------------------------ turns and cards

    @property
    def state(self) -> np.ndarray:
        """The record of the present state (`krypenv.state.GAME`); don't write to it."""
        return self._history.state

    @property
    def actions(self) -> list[int]:
        """The staged actions so far, since the deal or since the position that the game began from."""
        return self._history.actions

    def _check_seat(self, seat: int) -> None:
        if not is_whole(seat, 0, self.rules.players - 1):
            raise ValueError(f"there is no seat {shown(seat)}; the seats are 0 to {self.rules.players - 1}")

    @property
    def turn(self) -> int:
        """The seat to act, NO_SEAT (-1) when the game is over."""
        history = self._history
        return NO_SEAT if history.overs[history.at] else int(history.seats[history.at])

    @property
    def dealer(self) -> int:
        """The seat that deals in this game."""
        return int(self.state["dealer"])

    @property
    def is_over(self) -> bool:
        """Whether the game is over, as all cards have been played, or it ended at once (F6)."""
        return bool(self._history.overs[self._history.at])

    @property
    def deal_number(self) -> int:
        """The deal that is being played, 1 for the first."""
        return int(self.state["deal_number"])

    @property
    def stock_size(self) -> int:
        """The number of cards still to be dealt."""
        return self.rules.deck_size - int(self.state["next_card"])

    @property
    def deck(self) -> list[str]:
        """The whole deck in deal order; in a game from a position the cards already dealt come first, by card kind."""
        return [card_name(kind) for kind in self.state["deck"][: self.rules.deck_size].tolist()]

    def hand(self, seat: int) -> list[str]:
        """Return the cards in a hand, sorted by card kind."""
        self._check_seat(seat)
        return card_names(self.state["hands"][seat].tolist())

    @property
    def table(self) -> list[str]:
        """The loose cards on the table, sorted by card kind, including those taken so far in an unfinished play."""
        return card_names(self.state["table"].tolist())

    @property
    def builds(self) -> list[tuple[int, list[str], int, bool]]:
        """The builds on the table by value (B1), each as value, cards by kind, owner, whether it is multiple."""
        return [
            (value, card_names(cards.tolist()), owner, is_multiple)
            for value, cards, owner, is_multiple in self._history.builds()
        ]

    @property
    def set_aside(self) -> list[str]:
        """The cards set aside for the last capturer (R6, R13), sorted by card kind."""
        return card_names(self.state["set_aside"].tolist())

    def captured(self, seat: int) -> list[str]:
        """Return the cards in a seat's pile, sorted by card kind; at the end it includes what was left (R13, K4)."""
        self._check_seat(seat)
        return card_names(self._history.piles()[seat].tolist())

    def pile_counts(self, seat: int) -> tuple[int, int]:
        """Return how many cards, and how many spades, are in a seat's pile (K5, K7)."""
        self._check_seat(seat)
        pile = self._history.piles()[seat]
        return int(pile.sum()), int(spades_in(pile))

    # ------------------------------------------------------------------ points

    def points(self, seat: int) -> int:
        """Return the points of the cards that a seat has captured so far."""
        self._check_seat(seat)
        return int(self.state["points"][seat])

    def sweeps(self, seat: int) -> int:
        """Return the sweeps that a seat has made so far, counted or not (F5); a double sweep counts as two."""
        self._check_seat(seat)
        return int(self.state["sweeps"][seat])

    def counted_sweeps(self, seat: int) -> int:
        """Return those of a seat's sweeps that count (F5), before sweeps of all sides cancel (F4)."""
        self._check_seat(seat)
        return int(self.state["sweeps"][seat] - self.state["void_sweeps"][seat])

    def mulles(self, seat: int) -> int:
        """Return the mulles that a seat has made so far, where the rules count them, else 0 (M2)."""
        self._check_seat(seat)
        return int(self.state["mulles"][seat])

    def mulle_scores(self, seat: int) -> int:
        """Return what a seat's mulles count, where each counts the hand value of its card, else 0 (G2)."""
        self._check_seat(seat)
        return int(self.state["mulle_scores"][seat])

    def scores(self) -> list[int]:
        """Return the scores of the game so far by seat (R14, K7), final when the game is over.

        What belongs to a side as a whole stands with its first seat: majorities at the end of the game (K5), and the
        sweeps that cancel (F4).
        """
        return self._history.scores()

    def tie_breaks(self) -> list[int]:
        """Return what decides between equal totals, for the side of each seat (K6, F7): the most wins for a high goal.

        All are 0 in rules in which nothing does.
        """
        return self._history.tie_breaks()

    @property
    def ended_at_once(self) -> bool:
        """Whether the game ended in the middle, when a side's running score reached the threshold (F6)."""
        return bool(self.state["cut_short"])

    @property
    def last_capturer(self) -> int | None:
        """The seat of the last capture, or None."""
        seat = int(self.state["last_capturer"])
        return None if seat == NO_SEAT else seat

    # ------------------------------------------------------------------ whole moves

    @property
    def moves(self) -> list[Move]:
        """The whole moves so far, since the deal or since the position that the game began from."""
        return [Move.of_kinds(*play) for play in self._history.plays_back()][::-1]

    @property
    def last_move(self) -> Move | None:
        """The last whole move, or None before the first."""
        return next((Move.of_kinds(*play) for play in self._history.plays_back()), None)

    def legal_moves(self, most: int = MOST_MOVES) -> list[Move]:
        """Return all moves of the seat to act, sorted by card kind and then by the kinds taken; none at the end.

        If `act` has begun a play, return the moves that agree with what it has taken. Where captures are optional,
        raises ValueError for more than `most` moves, by default 10,000; `legal_actions` has no such limit.
        """
        plays = legal_plays(self._history, most)
        if plays is None:
            raise ValueError(
                f"seat {self.turn} has more than {most:,} legal moves; legal_actions() gives them step by step"
            )
        return [Move.of_kinds(*play) for play in plays]

    def push(self, move: Move | str) -> None:
        """Make a whole move, a `Move` or its text; it completes a play that `act` has begun. Its sweep may be left out.

        Raises IllegalMove, and changes nothing, if it is not legal.
        """
        wanted = Move.parse(move) if isinstance(move, str) else move
        if not isinstance(wanted, Move):
            raise IllegalMove(f"a move is a Move or its text, as in '8Sx2H6D', not {shown(wanted)}")
        if not push_play(self._history, wanted.kinds()):
            raise IllegalMove(self.complaint(f"{unquoted(str(wanted))} is illegal"))

    def pop(self) -> None:
        """Undo the last `push` as a whole, or the last `act` alone, with the comments after it.

        Raises IndexError if there is nothing to undo.
        """
        self._history.pop()
        self._drop_comments()

    # ------------------------------------------------------------------ staged actions

    @property
    def pending(self) -> str | None:
        """The card just played while its capture is being chosen, or None."""
        card = int(self._history.pendings[self._history.at])
        return None if card == NO_CARD else card_name(card)

    @property
    def taken(self) -> list[str]:
        """The cards taken so far in an unfinished play, sorted by card kind."""
        return [] if self.pending is None else card_names(self.state["taken"].tolist())

    @property
    def building(self) -> int | None:
        """The value of the build that the card just played is to make, or None (B2)."""
        return (self._history.build() or None) if self.pending else None

    def legal_actions(self) -> list[int]:
        """Return the staged actions of the seat to act, ascending; none when the game is over."""
        return self._history.legal_actions()

    def act(self, action: int) -> None:
        """Carry out one staged action: play a card, take a card or a build, begin a build, or stop.

        Raises IllegalMove, and changes nothing, if it is not legal.
        """
        is_action = is_whole(action, 0, self.rules.num_actions - 1)
        if not is_action or not self._history.act(int(action)):
            name = action_name(action) if is_action else f"action {shown(action)}"
            raise IllegalMove(self.complaint(f"{name} is illegal", map(action_name, self.legal_actions())))

    def complaint(self, fault: str, legal: Iterable[str] | None = None) -> str:
        """Return a sentence that says what is wrong and what is legal instead: the moves, if nothing else is given."""
        if self.is_over:
            return f"{fault}, for the game is over"
        if legal is None:
            plays = legal_plays(self._history, _MOST_TOLD)
            if plays is None:
                return f"{fault}; seat {self.turn} has more than {_MOST_TOLD} moves, step by step in legal_actions()"
            legal = (str(Move.of_kinds(*play)) for play in plays)
        return f"{fault}; seat {self.turn} may {listed(legal)}"

    def observation(self, seat: int | None = None, features: bool = False, history: bool = False) -> Int8Array:
        """Return what a seat sees, by default the one to act (at the end the one that played last), (N,) int8, fresh.

        N is `rules.observation_size`, and `features.SIZE` more with features, which are zero unless the seat is to act.
        With `history` the plays of the deal come last (`krypenv.observation.HISTORY_COLUMNS`).
        """
        if seat is None:
            seat = int(self._history.seats[self._history.at])
        self._check_seat(seat)
        seen = self._history.observation(seat, width_of(self.rules, features))
        return np.concatenate([seen, self._history.plays_of_deal(seat)]) if history else seen

    def action_mask(self, seat: int | None = None) -> Int8Array:
        """Return 1 for the legal actions of a seat, by default the one to act, (A,) int8, a fresh array."""
        if seat is not None:
            self._check_seat(seat)
        if seat not in (None, self._history.seats[self._history.at]):
            return np.zeros(self.rules.num_actions, np.int8)
        return self._history.mask()

    # ------------------------------------------------------------------ announcements

    def sweep_ranks(self) -> list[int]:
        """Return the ranks, 1 = ace .. 13 = king, of which some card could take the whole table in the next play."""
        return [] if self.pending is not None or self.is_over else self._history.sweep_ranks()

    # ------------------------------------------------------------------ sessions

    @property
    def game_number(self) -> int:
        """The game of the session, 1 for the first."""
        return int(self.state["game_number"])

    @property
    def session_over(self) -> bool:
        """Whether the game is over and was the session's last (R15, K6)."""
        return self.is_over and self._history.ends_session()

    @property
    def totals(self) -> list[int]:
        """The totals by seat of the session's finished games, including this one once it is over."""
        return self._history.totals()

    def next_game(self: AnyGame, deck: Iterable[str] | None = None) -> AnyGame:
        """Return the session's next game: the dealer is one seat to the left, and the totals carry over (R15).

        It is dealt from a deck of these names, or from the next shuffle, which with a seed is that of an `Engine`'s
        row. Raises ValueError unless this game is over and the session is not, and for what is not the deck.
        """
        if not self.is_over:
            raise ValueError("the next game begins when this one is over")
        if self.session_over:
            raise ValueError(f"the session is over after game {self.game_number}")
        return self._of(self._history.next_game(None if deck is None else parse_deck(self.rules, deck)), self.seed)

    def __repr__(self) -> str:
        turn = "over" if self.is_over else f"seat {self.turn} to play"
        return f"<Game: {self.rules}, deal {self.deal_number}, {turn}>"
