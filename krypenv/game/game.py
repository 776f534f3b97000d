"""One game, for people: moves by name, undo, staged actions, sessions. The rules are the engine's, with B = 1."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from importlib import import_module
from itertools import islice
from typing import Any

import numpy as np

from krypenv.arguments import check_seed
from krypenv.cards import NO_CARD, NUM_KINDS, action_name, card_name, parse_card
from krypenv.engine import IllegalMove
from krypenv.features import width_of
from krypenv.game.display import format_announcement, format_game, format_view
from krypenv.game.moves import Move, actions_of, list_moves, play_of
from krypenv.game.positions import check_session, format_position, parse_position
from krypenv.game.present import Int8Array, Present
from krypenv.game.records import format_record, parse_record
from krypenv.game.stack import deal_stack, most_actions, observe, step_game, write_plays
from krypenv.inputs.words import is_whole, one_line, shown
from krypenv.kernels.captures import borrow_scratch
from krypenv.kernels.compiled import compile_rules
from krypenv.kernels.observing import record_width
from krypenv.kernels.outlook import borrow_outlook
from krypenv.observation import history_shape, history_size
from krypenv.rules import Rules, RulesLike, as_rules
from krypenv.runtime.jit import handle
from krypenv.state import allocate, seed_game

MOST_MOVES = 10_000  # that `legal_moves` lists where captures are optional
_MOST_NAMED = 100  # that an error names
_RECORD = handle(allocate(1)).dtype


class Game(Present):
    """One game: `push` and `pop` whole moves, or `act` in staged actions as the environments do.

    Args:
        rules: the rules, as `krypenv.rules.as_rules` takes them; by default Krypkasino for two.
        seed: a whole number from 0 to 2**64 - 1, with the same deals as an `Engine` row with this seed. None draws one
            and keeps it in `seed` (with a deck, `seed` stays None and later games of the session are dealt at random).
        deck: the names of all cards in deal order (R4), instead of a shuffle.
        dealer: the seat that deals, by default the last one (R5).
        game_number: the game of the session; game k has the seed's k-th shuffle.
        totals: the totals of the session's games before it, by seat.

    Attributes:
        rules, seed: as given.
        actions: the staged actions since the start of the game, or since the position that the game began from.
        tags: additional tags of the game's record, as in ``{"Event": "Friday"}``.
        comments: comments of the record, by the number of moves made before them.
        origin: the position that the game began from, as text; None if it was dealt.

    Two games are equal if their rules, cards and actions are. Raises ValueError for what can't be played.

    >>> game = Game("krypkasino", seed=7)
    >>> game.push(game.legal_moves()[0])
    >>> game.turn, len(game.hand(0)), game.stock_size
    (1, 5, 88)
    """

    def __init__(
        self,
        rules: RulesLike | None = None,
        seed: int | None = None,
        deck: Iterable[str] | None = None,
        dealer: int | None = None,
        game_number: int = 1,
        totals: Sequence[int] | None = None,
    ) -> None:
        if seed is None and deck is None:
            seed = secrets.randbits(32)
        self._begin(rules, None if seed is None else check_seed(seed))
        players = self.rules.players
        kinds = [] if deck is None else parse_deck(self.rules, deck)
        if dealer is not None and not is_whole(dealer, 0, players - 1):
            raise ValueError(f"seat {shown(dealer)} can't deal; the seats are 0 to {players - 1}")
        before = [0] * players if totals is None else totals
        if reason := check_session(self.rules, game_number, before):
            raise ValueError(reason)
        first = self.states[0]
        first["dealer"], first["game_number"] = players - 1 if dealer is None else dealer, game_number
        first["totals"][:players] = before
        shuffles = 1 if self.seed is None else int(game_number)  # one random shuffle is as good as many
        seed_game(first, np.uint64(secrets.randbits(64) if self.seed is None else self.seed))
        deal_stack(self.compiled, self.states, shuffles, np.array(kinds, np.int8), borrow_scratch())

    def _begin(self, rules: RulesLike | None, seed: int | None = None) -> None:
        self.rules, self.seed = as_rules(rules), seed
        self.tags: dict[str, str] = {}
        self.comments: dict[int, str] = {}
        self.origin: str | None = None
        self.compiled = compile_rules(self.rules)
        self.states = np.empty(most_actions(self.rules) + 2, _RECORD)
        self.states[0] = np.zeros((), _RECORD)
        self.actions: list[int] = []
        self._seats, self._overs, self._pendings = (self.states[name] for name in ("seat", "over", "pending"))
        self.piles_before = np.zeros((self.rules.players, NUM_KINDS), np.int64)  # of the first state
        self._inner: set[int] = set()  # places within pushed moves, where `pop` does not stop

    @classmethod
    def at_row(cls, rules: RulesLike, row: np.ndarray) -> Game:
        """Make a game of one row of a `State`, which is trusted. It has no past and no piles."""
        game = cls.__new__(cls)
        game._begin(rules)
        game.states[0] = row
        return game

    # ------------------------------------------------------------------ copies

    def copy(self) -> Game:
        """Copy the game with its history into an independent one."""
        twin = type(self).__new__(type(self))
        twin.__setstate__(self.__getstate__())
        return twin

    __copy__ = copy

    def __getstate__(self) -> tuple[Any, ...]:
        # Leave out the views of `states`: pickled, they would become separate arrays.
        others = self.seed, self.origin, self.tags, self.comments, self.actions, self._inner
        return self.rules, self.states[: len(self.actions) + 1], self.piles_before, others

    def __setstate__(self, pickled: tuple[Any, ...]) -> None:
        rules, states, piles, (seed, origin, tags, comments, actions, inner) = pickled
        self._begin(rules, seed)
        self.states[: len(states)] = states
        self.piles_before[:] = piles
        self.origin, self.tags, self.comments = origin, dict(tags), dict(comments)
        self.actions, self._inner = list(actions), set(inner)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Game):
            return NotImplemented
        one, two = ((game.rules, game.actions, game.deck, game.position()) for game in (self, other))
        return one == two

    __hash__ = None  # type: ignore[assignment]  # a game changes

    def rewound(self) -> Game:
        """Copy the game into an independent one at its start."""
        twin = self.copy()
        twin._go_back(0)
        return twin

    def _go_back(self, place: int) -> None:
        """Undo the actions from a place on, with the comments after it."""
        self._inner.difference_update(range(place, len(self.actions)))
        del self.actions[place:]
        if self.comments:
            for ply in set(self.comments).difference(range(len(self.moves) + 1)):
                del self.comments[ply]

    # ------------------------------------------------------------------ moves and staged actions

    @property
    def moves(self) -> list[Move]:
        """The whole moves so far, since the deal or since the position that the game began from."""
        return [move for _, _, move in self.plays]

    @property
    def plays(self) -> list[tuple[int, int, Move]]:
        """The whole moves so far, each with the number of its deal and its seat."""
        places = self._plays()
        begun = self.states[[0, *places[:-1]]]  # the states in which they were begun
        rows = zip(begun["deal_number"].tolist(), begun["seat"].tolist(), places, strict=False)
        return [(deal, seat, Move.of_kinds(*play_of(self.states[place]))) for deal, seat, place in rows]

    @property
    def last_move(self) -> Move | None:
        """The last whole move, or None before the first."""
        return next((Move.of_kinds(*play_of(self.states[place])) for place in self._plays()[-1:]), None)

    def _plays(self) -> list[int]:
        """List the places in `states` after each whole move."""
        complete: list[int] = np.flatnonzero(self._pendings[1 : len(self.actions) + 1] == NO_CARD).tolist()
        return [place + 1 for place in complete]

    def legal_moves(self, most: int = MOST_MOVES) -> list[Move]:
        """List all moves of the seat to act, sorted by card kind and then by the kinds taken; none at the end.

        If `act` has begun a play, these are the moves that agree with what it has taken. Where captures are optional,
        raises ValueError for more than `most` moves, by default 10,000; `legal_actions` has no such limit.
        """
        return list_moves(self, most)

    def push(self, move: Move | str) -> None:
        """Make a whole move, a `Move` or its text; it completes a play that `act` has begun. Its sweep may be left out.

        Raises IllegalMove, and changes nothing, if it is not legal.
        """
        wanted = Move.parse(move) if isinstance(move, str) else move
        if not isinstance(wanted, Move):
            raise IllegalMove(f"a move is a Move or its text, as in '8Sx2H6D', not {shown(wanted)}")
        actions = actions_of(self, wanted.kinds())
        if not actions:
            raise IllegalMove(self.complaint(f"{one_line(str(wanted), 80)} is illegal"))
        self._inner.update(range(len(self.actions) + 1, len(self.actions) + len(actions)))
        self.actions += actions

    def pop(self) -> None:
        """Undo the last `push` as a whole, or the last `act` alone, with the comments after it.

        Raises IndexError if there is nothing to undo.
        """
        if not self.actions:
            raise IndexError("there is nothing to undo: no move has been made")
        place = len(self.actions) - 1
        while place in self._inner:
            place -= 1
        self._go_back(place)

    def act(self, action: int) -> None:
        """Carry out one staged action: play a card, take a card or a build, begin a build, or stop.

        Raises IllegalMove, and changes nothing, if it is not legal.
        """
        is_action = is_whole(action, 0, self.rules.num_actions - 1)
        place = len(self.actions)
        if not is_action or not step_game(self.compiled, self.states, place, int(action), borrow_scratch()):
            name = action_name(action) if is_action else f"action {shown(action)}"
            raise IllegalMove(self.complaint(f"{name} is illegal", map(action_name, self.legal_actions())))
        self.actions.append(int(action))

    def complaint(self, fault: str, legal: Iterable[str] | None = None) -> str:
        """Extend the sentence of a fault by what is legal instead, by default the legal moves."""
        if self.is_over:
            return f"{fault}, for the game is over"
        try:
            named = ", ".join(map(str, self.legal_moves(_MOST_NAMED)) if legal is None else legal)
        except ValueError as error:
            return f"{fault}; {error}"
        return f"{fault}; seat {self.turn} may {one_line(named, 1000)}"

    def observation(self, seat: int | None = None, features: bool = False, history: bool = False) -> Int8Array:
        """Observe the game for a seat, by default the one to act (at the end the last to play): (N,) int8, fresh.

        N is `rules.observation_size`, and `features.SIZE` more with features, which are zero unless the seat is to act.
        With `history` the plays of the deal come last (`krypenv.observation.HISTORY_COLUMNS`).
        """
        place = len(self.actions)
        if seat is None:
            seat = int(self._seats[place])
        self._check_seat(seat)
        seen = np.empty(width_of(self.rules, features), np.int8)
        observe(self.compiled, self.states, place, seat, seen, borrow_outlook(), borrow_scratch())
        if not history:
            return seen
        record = np.full((history_shape(self.rules)[0], record_width(self.rules)), NO_CARD, np.int8)
        plays = np.empty(history_size(self.rules), np.int8)
        write_plays(self.compiled, self.states, place, record, seat, plays)
        return np.concatenate([seen, plays])

    # ------------------------------------------------------------------ sessions

    def next_game(self, deck: Iterable[str] | None = None) -> Game:
        """Deal the session's next game: the dealer is one seat to the left, and the totals carry over (R15).

        It is dealt from a deck of these names, or from the next shuffle, which with a seed is that of an `Engine`'s
        row. Raises ValueError unless this game is over and the session is not, and for what is not the deck.
        """
        if not self.is_over:
            raise ValueError("the next game begins when this one is over")
        if self.session_over:
            raise ValueError(f"the session is over after game {self.game_number}")
        kinds = [] if deck is None else parse_deck(self.rules, deck)
        following = self.at_row(self.rules, self.states[len(self.actions) + 1])
        following.seed, first = self.seed, following.states[0]
        first["dealer"], first["game_number"] = (self.dealer + 1) % self.rules.players, self.game_number + 1
        deal_stack(self.compiled, following.states, 1, np.array(kinds, np.int8), borrow_scratch())
        return following

    # ------------------------------------------------------------------ texts and pictures

    @property
    def announcement(self) -> str:
        """What must be announced now by the rules, as in ``last cards, sweep for a 6 or a queen``; empty if nothing."""
        return format_announcement(self)

    def __repr__(self) -> str:
        turn = "over" if self.is_over else f"seat {self.turn} to play"
        return f"<Game: {self.rules}, deal {self.deal_number}, {turn}>"

    def __str__(self) -> str:
        """Format the game for people, with all hands: what one seat may see is `view`."""
        return format_game(self)

    def view(self, seat: int) -> str:
        """Format what a seat may see for people and language models, and nothing that is hidden from it.

        It has the seat's hand, the table, what each seat has won, the unseen cards, ranks that others can't hold, the
        plays of this deal, who is to play, and the seat's legal moves as `push` reads them. Raises ValueError for a
        seat that there is not.

        >>> game = Game.from_position("rules: krypkasino; hand 0: 8S 9D; hand 1: 4C KD; table: 2H 6D; captured 1: rest")
        >>> game.view(0).splitlines()[-1]
        'Your moves: 8Sx6D2H#.'
        """
        return format_view(self, seat)

    def position(self) -> str:
        """Format the whole position (docs/notation.md); `Game.from_position` is the inverse."""
        return format_position(self)

    @classmethod
    def from_position(cls, text: str) -> Game:
        """Parse a position to a game; raise NotationError, with line and reason, if it is not one."""
        return parse_position(text, cls)

    def record(self) -> str:
        """Format the game with its tags and comments (docs/notation.md); `Game.replay` is the inverse."""
        return format_record(self)

    @classmethod
    def replay(cls, text: str) -> Game:
        """Parse a record to a game; raise NotationError, with line and reason, if it is not one."""
        return parse_record(text, cls)

    def _repr_svg_(self) -> str:
        """Draw the game for a notebook, with all hands."""
        return str(import_module("krypenv.pictures").draw_svg(self, "all"))


def parse_deck(rules: Rules, deck: Iterable[str]) -> list[int]:
    """Parse the names of a deck in deal order to card kinds; raise ValueError if it is not the deck of the rules."""
    try:
        names = iter(deck.split() if isinstance(deck, str) else deck)
    except TypeError:
        raise ValueError(f"a deck is the names of its cards, not {shown(deck)}") from None
    kinds = [parse_card(name) for name in islice(names, rules.deck_size + 1)]  # the iterable may be endless
    counts = np.bincount(np.array(kinds, np.int64), minlength=NUM_KINDS)
    for kind in np.flatnonzero(counts != rules.deck_counts).tolist():
        raise ValueError(
            f"the deck has {counts[kind]} of {card_name(kind)}, "
            f"and that of {rules} has {rules.deck_counts[kind]} of it and {rules.deck_size} cards in all"
        )
    return kinds
