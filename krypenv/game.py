"""One game for people: moves by name, undo, staged play, sessions. The rules are the engine's, with B = 1."""

from __future__ import annotations

import operator
import re
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, combinations, product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from krypenv import features as feature_block
from krypenv import observation as base_block
from krypenv.captures import find_captures, make_scratch
from krypenv.cards import (
    NO_CARD,
    NO_SEAT,
    NUM_ACTIONS,
    NUM_KINDS,
    NUM_RANKS,
    TAKE,
    action_name,
    card_name,
    card_names,
    parse_card,
)
from krypenv.engine import IllegalMove, is_legal
from krypenv.features import make_view, write_features
from krypenv.jit import handle, kernel
from krypenv.observation import write_mask, write_observation
from krypenv.play import act, begin_game, end_session, next_game, refresh, score_of, seed_game, shuffle_deck
from krypenv.rules import Rules
from krypenv.state import allocate
from krypenv.tables import NIBBLE, compile_rules

Int8Array = npt.NDArray[np.int8]

CARD_PATTERN = r"(?:10|[A2-9TJQK])[CDHS♣♦♥♠]"
MOVE_PATTERN = rf"{CARD_PATTERN}(?:x(?:{CARD_PATTERN})+)?#{{0,2}}"
_CARD = re.compile(CARD_PATTERN, re.IGNORECASE)
_MOVE = re.compile(MOVE_PATTERN, re.IGNORECASE)
_KINDS = np.arange(NUM_KINDS)
_STATE_DTYPE, _SCRATCH_DTYPE, _VIEW_DTYPE = handle(allocate(1)).dtype, make_scratch().dtype, make_view().dtype


class Move(NamedTuple):
    """A whole play: the card, what it takes from the table, and the sweeps that this makes.

    >>> print(Move.parse("8s x 6d 2h #"))
    8Sx6D2H#
    """

    card: str
    takes: tuple[str, ...] = ()  # sorted by card kind; empty for a creep
    sweep: int = 0  # 0, 1 or 2 (a double sweep)

    def __str__(self) -> str:
        """Return the move as records write it: ``8S`` creeps, ``8Sx2H6D#`` takes and sweeps, ``##`` sweeps twice."""
        return self.card + ("x" + "".join(self.takes) if self.takes else "") + "#" * self.sweep

    @classmethod
    def parse(cls, text: str) -> Move:
        """Return the move of a text, with or without spaces; raises ValueError where it is none."""
        packed = "".join(text.split())
        if not _MOVE.fullmatch(packed):
            raise ValueError(
                f"{text.strip()!r} is no move; a move is 8S, or 8Sx2H6D, with # for a sweep and ## for a double one"
            )
        card, *takes = (parse_card(name) for name in _CARD.findall(packed))
        return cls(card_name(card), tuple(card_name(kind) for kind in sorted(takes)), packed.count("#"))


# ---------------------------------------------------------------------- entry kernels
# `stack` are the states of a game so far, one record each, the latest last.


@kernel
def step_game(tables: np.ndarray, stack: np.ndarray, at: int, action: int, scratch: np.ndarray) -> bool:
    """Carry out an action in a copy of state `at` at `at + 1`; where it is illegal, return False and do nothing."""
    if not is_legal(stack[at], action):
        return False
    stack[at + 1] = stack[at]
    act(tables[0], stack[at + 1], action, scratch[0])
    return True


@kernel
def list_captures(tables: np.ndarray, stack: np.ndarray, at: int, scratch: np.ndarray) -> int:
    """Put the captures of the pending card into `scratch.captures`, as packed ranks, and return their number."""
    game = stack[at]
    return find_captures(tables[0], tables[0].hand_value[game.pending], game.table_ranks, scratch[0])


@kernel
def shuffle_stack(tables: np.ndarray, stack: np.ndarray, seed: np.uint64) -> None:
    """Start the streams of the first state from a seed and shuffle its deck as often as its game number says."""
    seed_game(stack[0], seed)
    for _ in range(stack[0].game_number):
        shuffle_deck(tables[0], stack[0])


@kernel
def begin_stack(tables: np.ndarray, stack: np.ndarray, scratch: np.ndarray) -> None:
    """Deal the first state from the deck that lies in it."""
    begin_game(tables[0], stack[0], scratch[0])


@kernel
def refresh_stack(tables: np.ndarray, stack: np.ndarray, scratch: np.ndarray) -> None:
    """Find sweeps and legal plays of the first state."""
    refresh(tables[0], stack[0], scratch[0])


@kernel
def close_session(tables: np.ndarray, stack: np.ndarray, at: int) -> bool:
    """Write state `at`, with its game added to the totals, to `at + 1`; return whether the session is over."""
    stack[at + 1] = stack[at]
    return end_session(tables[0], stack[at + 1])


@kernel
def deal_next(tables: np.ndarray, stack: np.ndarray, scratch: np.ndarray) -> None:
    """Deal the session's next game in the first state."""
    next_game(tables[0], stack[0], scratch[0])


@kernel
def write_scores(tables: np.ndarray, stack: np.ndarray, at: int, out: np.ndarray) -> None:
    """Write the scores so far into `out`, (P,) int64."""
    for seat in range(len(out)):
        out[seat] = score_of(tables[0], stack[at], seat)


@kernel
def observe(
    tables: np.ndarray, stack: np.ndarray, at: int, seat: int, out: np.ndarray, view: np.ndarray, scratch: np.ndarray
) -> None:
    """Write what a seat sees into `out`, (N,) int8; the features of a seat that is not to act are zero."""
    game = stack[at]
    write_observation(tables[0], game, seat, out)
    if len(out) > base_block.SIZE:
        to_act = np.int64(seat == game.seat)
        plays, takes = to_act * game.legal_plays, to_act * game.legal_takes
        write_features(tables[0], out, plays, takes, view[0], scratch[0], out[base_block.SIZE :])


@kernel
def mask_actions(stack: np.ndarray, at: int, out: np.ndarray) -> None:
    """Write the mask of the seat to act into `out`, (105,) int8."""
    write_mask(stack[at], out)


# ----------------------------------------------------------------------


class Game:
    """One game: `push` and `pop` whole moves, or `act` in staged actions as the environments do.

    Args:
        rules: what is played.
        seed: a whole number from 0 to 2**64 - 1. It gives the deal of an `Engine` row seeded with it. None: a fresh
            one, kept in `seed` (with a deck `seed` stays None, and later games of the session are dealt at random).
        deck: the names of all cards in deal order (R4), instead of the shuffle.
        dealer: the seat that deals, n-1 unless told (R5).

    Attributes:
        rules, seed: as given.
        actions: the staged actions so far, a list of ints.
        tags: further tags of the game's record, as in ``{"Event": "Friday"}``.
        comments: comments of the record, by the number of moves made before them.

    Raises ValueError for a deck that is not the deck of the rules, and for a seed or a dealer that can't be.

    >>> game = Game(Rules.preset("krypkasino"), seed=7)
    >>> game.push(game.legal_moves()[0])
    >>> game.turn, len(game.hand(0)), game.stock_size
    (1, 5, 88)
    """

    def __init__(
        self, rules: Rules, seed: int | None = None, deck: Iterable[str] | None = None, dealer: int | None = None
    ) -> None:
        self._deal(rules, seed, deck, rules.players - 1 if dealer is None else dealer, 1, [0] * rules.players)

    @classmethod
    def of_session(
        cls, rules: Rules, seed: int | None, deck: Iterable[str] | None, dealer: int, number: int, totals: list[int]
    ) -> Game:
        """Return a game of a session by its number and the totals before it; game k is the seed's k-th shuffle."""
        game = cls.__new__(cls)
        game._deal(rules, seed, deck, dealer, number, totals)
        return game

    def _deal(
        self, rules: Rules, seed: int | None, deck: Iterable[str] | None, dealer: int, number: int, totals: list[int]
    ) -> None:
        from krypenv.notation import parse_deck

        kinds = None if deck is None else parse_deck(rules, deck)
        if seed is not None:
            seed = operator.index(seed)
            if not 0 <= seed < 1 << 64:
                raise ValueError(f"a seed is a whole number from 0 to 2**64 - 1, not {seed}")
        elif kinds is None:
            seed = secrets.randbits(32)
        if dealer not in range(rules.players):
            raise ValueError(f"seat {dealer} can't deal; the seats are 0 to {rules.players - 1}")
        self._prepare(rules, seed)
        states = self._states
        states["dealer"][0], states["game_number"][0] = dealer, number
        states["totals"][0, : rules.players] = totals
        self._shuffle()
        if kinds is not None:
            states["deck"][0, : len(kinds)] = kinds
        begin_stack(self._tables, states, self._scratch)

    def _prepare(self, rules: Rules, seed: int | None) -> None:
        self.rules = rules
        self.seed = seed
        self.actions: list[int] = []
        self.tags: dict[str, str] = {}
        self.comments: dict[int, str] = {}
        self.origin: str | None = None  # the position that the game began from, None for one that was dealt
        self._captured = np.zeros((rules.players, NUM_KINDS), np.int64)  # counts captured before the first state
        self._tables = compile_rules(rules)
        # The states so far, the present one at `_at`. Each action plays or takes a card, and no card is played or taken
        # twice: so there are at most 2 D + 1 states, and one place is left to work in.
        self._states = np.empty(2 * rules.deck_size + 2, _STATE_DTYPE)
        self._states[0] = np.zeros((), _STATE_DTYPE)
        self._seats, self._overs, self._pendings, self._plays, self._takes = (
            self._states[name] for name in ("seat", "over", "pending", "legal_plays", "legal_takes")
        )
        self._at = 0
        self._inner: set[int] = set()  # the places within pushed moves, where `pop` does not stop
        self._scratch, self._view = np.zeros(1, _SCRATCH_DTYPE), np.zeros(1, _VIEW_DTYPE)

    def _shuffle(self) -> None:
        seed = secrets.randbits(64) if self.seed is None else self.seed
        shuffle_stack(self._tables, self._states, np.uint64(seed))

    @classmethod
    def from_state(cls, rules: Rules, state: np.ndarray, captured: npt.ArrayLike) -> Game:
        """Return a game that goes on from a row of a `State` in which no card is pending.

        `captured` are the counts in the piles, (P, 52). Later games of the session are dealt at random.
        """
        game = cls.__new__(cls)
        game._prepare(rules, None)
        game._captured[:] = captured
        game._states[0] = state
        game._shuffle()
        game._states["deck"][0] = state["deck"]
        if not game.is_over:
            refresh_stack(game._tables, game._states, game._scratch)
        return game

    def rebase(self) -> None:
        """Forget how the present state was reached: it is the first one from now on."""
        self._captured = self._piles()
        self._states[0] = self._states[self._at]
        self._at = 0
        self.actions.clear()
        self._inner.clear()

    def copy(self) -> Game:
        """Return an independent game in the same state, with the same history."""
        twin = Game.__new__(Game)
        twin._prepare(self.rules, self.seed)
        twin._states[: self._at + 1] = self._states[: self._at + 1]
        twin._captured[:] = self._captured
        twin._at, twin._inner = self._at, set(self._inner)
        twin.actions, twin.tags, twin.comments, twin.origin = (
            list(self.actions), dict(self.tags), dict(self.comments), self.origin,
        )  # fmt: skip
        return twin

    def rewound(self) -> Game:
        """Return an independent game at the start of this one."""
        twin = self.copy()
        twin._at = 0
        twin.actions.clear()
        twin._inner.clear()
        return twin

    # ------------------------------------------------------------------ what lies where

    @property
    def state(self) -> np.ndarray:
        """The record of the present state (`krypenv.state.GAME`), to be read only."""
        return self._states[self._at]

    def _now(self, field: str) -> np.ndarray:
        return self._states[field][self._at]

    def _check_seat(self, seat: int) -> None:
        if not 0 <= seat < self.rules.players:
            raise ValueError(f"there is no seat {seat}; the seats are 0 to {self.rules.players - 1}")

    @property
    def turn(self) -> int:
        """The seat to act, NO_SEAT (-1) when the game is over."""
        return NO_SEAT if self._overs[self._at] else int(self._seats[self._at])

    @property
    def dealer(self) -> int:
        """The seat that deals, all through the game."""
        return int(self._now("dealer"))

    @property
    def is_over(self) -> bool:
        """Whether all cards have been played."""
        return bool(self._overs[self._at])

    @property
    def deal_number(self) -> int:
        """The deal that is being played, 1 for the first."""
        return int(self._now("deal_number"))

    @property
    def stock_size(self) -> int:
        """The number of cards still to be dealt."""
        return self.rules.deck_size - int(self._now("next_card"))

    @property
    def deck(self) -> list[str]:
        """The whole deck in deal order; in a game from a position what was already dealt comes first, by card kind."""
        return [card_name(kind) for kind in self._now("deck")[: self.rules.deck_size].tolist()]

    def hand(self, seat: int) -> list[str]:
        """Return the cards in a hand, sorted by card kind."""
        self._check_seat(seat)
        return card_names(self._now("hands")[seat].tolist())

    @property
    def table(self) -> list[str]:
        """The cards on the table, sorted by card kind; those taken so far in a begun play still lie there."""
        return card_names(self._now("table").tolist())

    @property
    def set_aside(self) -> list[str]:
        """The cards put aside for the last capture (R6, R13), sorted by card kind."""
        return card_names(self._now("set_aside").tolist())

    def captured(self, seat: int) -> list[str]:
        """Return the cards in a seat's pile, sorted by card kind; what is left at the end is in it (R13)."""
        self._check_seat(seat)
        return card_names(self._piles()[seat].tolist())

    def _piles(self) -> np.ndarray:
        """Return the counts captured by each seat, (P, 52) int64."""
        piles = self._captured.copy()
        states = self._states[1 : self._at + 1]
        taken = states["taken"].astype(np.int64)
        for place in np.flatnonzero((states["pending"] == NO_CARD) & taken.any(axis=1)).tolist():
            seat = states["last_seat"][place]
            piles[seat] += taken[place]
            piles[seat, states["last_card"][place]] += 1
        last = self.last_capturer
        if self.is_over and last is not None:
            piles[last] += self.rules.deck_counts - piles.sum(axis=0)
        return piles

    # ------------------------------------------------------------------ points

    def points(self, seat: int) -> int:
        """Return the points of the cards that a seat has captured so far."""
        self._check_seat(seat)
        return int(self._now("points")[seat])

    def sweeps(self, seat: int) -> int:
        """Return the sweeps that a seat has made so far; a double one counts two."""
        self._check_seat(seat)
        return int(self._now("sweeps")[seat])

    def scores(self) -> list[int]:
        """Return the scores of the game so far by seat (R14), final when the game is over."""
        out = np.empty(self.rules.players, np.int64)
        write_scores(self._tables, self._states, self._at, out)
        return out.tolist()

    @property
    def last_capturer(self) -> int | None:
        """The seat of the last capture, or None."""
        seat = int(self._now("last_capturer"))
        return None if seat == NO_SEAT else seat

    # ------------------------------------------------------------------ whole moves

    def _move_at(self, place: int) -> Move:
        row = self._states[place]
        takes = np.repeat(_KINDS, row["taken"]).tolist()
        return Move(card_name(int(row["last_card"])), tuple(map(card_name, takes)), int(row["last_sweep"]))

    @property
    def moves(self) -> list[Move]:
        """The whole moves so far, since the deal or since the position that the game began from."""
        return [self._move_at(place) for place in range(1, self._at + 1) if self._pendings[place] == NO_CARD]

    @property
    def last_move(self) -> Move | None:
        """The last whole move, or None before the first."""
        place = self._at
        while place > 0 and self._pendings[place] != NO_CARD:
            place -= 1
        return self._move_at(place) if place else None

    def legal_moves(self) -> list[Move]:
        """Return all moves of the seat to act, sorted by card kind and then by the kinds taken; none at the end.

        With a play begun by `act`: the moves that agree with what it has taken.
        """
        if self.pending is not None:
            return list(self._expand(self._at))
        moves: list[Move] = []
        for action in self.legal_actions():
            place = self._at + 1
            step_game(self._tables, self._states, self._at, action, self._scratch)
            moves += [self._move_at(place)] if self._pendings[place] == NO_CARD else self._expand(place)
        return moves

    def _expand(self, place: int) -> Iterator[Move]:
        """Yield the moves of a state with a card pending: its captures of ranks, with every choice of kinds (R7).

        None is a sweep, for a capture of the whole table would be the only one.
        """
        row = self._states[place]
        table, taken = row["table"], row["taken"]
        count = list_captures(self._tables, self._states, place, self._scratch)
        found: set[tuple[int, ...]] = set()
        for capture in self._scratch["captures"][0, :count].tolist():
            choices = []
            for rank in range(NUM_RANKS):
                kinds = np.repeat(_KINDS[rank::NUM_RANKS], table[rank::NUM_RANKS]).tolist()
                held = np.repeat(_KINDS[rank::NUM_RANKS], taken[rank::NUM_RANKS]).tolist()
                chosen = set(combinations(kinds, capture >> NIBBLE * rank & 15))
                choices.append([kinds for kinds in chosen if not Counter(held) - Counter(kinds)])
            found.update(tuple(sorted(chain(*parts))) for parts in product(*choices))
        for takes in sorted(found):
            yield Move(card_name(int(row["pending"])), tuple(map(card_name, takes)))

    def push(self, move: Move | str) -> None:
        """Make a whole move, a `Move` or its text; it completes a play that was begun. Its sweep may be left out.

        Raises IllegalMove, and changes nothing, if it is not legal.
        """
        wanted = Move.parse(move) if isinstance(move, str) else move
        start = self._at
        if not self._try(wanted):
            self._go_back(start)
            raise IllegalMove(self._complaint(str(wanted), ", ".join(map(str, self.legal_moves()))))
        self._inner.update(range(start + 1, self._at))

    def _try(self, wanted: Move) -> bool:
        """Act as a move tells and return whether it is the play that was made.

        While another capture than the wanted one is possible, a wanted kind not yet taken is legal to take: the two
        differ in one, for no maximal capture holds another.
        """
        card, takes = parse_card(wanted.card), sorted(parse_card(name) for name in wanted.takes)
        left = np.bincount(np.array(takes, np.int64), minlength=NUM_KINDS)
        if self._pendings[self._at] == NO_CARD:
            if card not in self.legal_actions():
                return False
            self.act(card)
        else:
            left -= self._now("taken")
        while self._pendings[self._at] != NO_CARD:
            action = next((action for action in self.legal_actions() if left[action - TAKE] > 0), None)
            if action is None:
                return False
            left[action - TAKE] -= 1
            self.act(action)
        made = self._move_at(self._at)
        names = (card_name(card), tuple(card_name(kind) for kind in takes))
        return made[:2] == names and wanted.sweep in (0, made.sweep)

    def pop(self) -> None:
        """Undo the last `push` as a whole, or the last `act` alone; raises IndexError where nothing is left to undo."""
        if self._at == 0:
            raise IndexError("there is nothing to undo: no move has been made")
        place = self._at - 1
        while place in self._inner:
            place -= 1
        self._go_back(place)

    def _go_back(self, place: int) -> None:
        self._inner.difference_update(range(place, self._at))
        del self.actions[place:]
        self._at = place

    # ------------------------------------------------------------------ staged actions

    @property
    def pending(self) -> str | None:
        """The card just played while its capture is being chosen, or None."""
        card = int(self._pendings[self._at])
        return None if card == NO_CARD else card_name(card)

    @property
    def taken(self) -> list[str]:
        """The cards taken so far in a play that was begun, sorted by card kind."""
        return [] if self.pending is None else card_names(self._now("taken").tolist())

    def _actions_at(self, place: int) -> list[int]:
        plays, takes = int(self._plays[place]), int(self._takes[place])
        return [*_bits(plays), *(TAKE + kind for kind in _bits(takes))]

    def legal_actions(self) -> list[int]:
        """Return the staged actions of the seat to act, ascending; none when the game is over."""
        return self._actions_at(self._at)

    def act(self, action: int) -> None:
        """Carry out one staged action, 0..104.

        Raises IllegalMove, and changes nothing, if it is not legal.
        """
        number = operator.index(action)
        if not step_game(self._tables, self._states, self._at, number, self._scratch):
            name = action_name(number) if 0 <= number < NUM_ACTIONS else f"action {number}"
            raise IllegalMove(self._complaint(name, ", ".join(map(action_name, self.legal_actions()))))
        self._at += 1
        self.actions.append(number)

    def _complaint(self, name: str, legal: str) -> str:
        if self.is_over:
            return f"{name} is illegal, for the game is over"
        return f"{name} is illegal; seat {self.turn} may {legal}"

    def observation(self, seat: int | None = None, features: bool = False) -> Int8Array:
        """Return what a seat sees, by default the one to act (at the end: that played last), (N,) int8, a fresh array.

        N is `observation.SIZE`, and `features.SIZE` more with features, which are zero for a seat that is not to act.
        """
        if seat is None:
            seat = int(self._seats[self._at])
        self._check_seat(seat)
        out = np.empty(base_block.SIZE + (feature_block.SIZE if features else 0), np.int8)
        observe(self._tables, self._states, self._at, seat, out, self._view, self._scratch)
        return out

    def action_mask(self, seat: int | None = None) -> Int8Array:
        """Return 1 for the legal actions of a seat, by default the one to act, (105,) int8, a fresh array."""
        if seat is not None and seat != self._seats[self._at]:
            self._check_seat(seat)
            return np.zeros(NUM_ACTIONS, np.int8)
        out = np.empty(NUM_ACTIONS, np.int8)
        mask_actions(self._states, self._at, out)
        return out

    # ------------------------------------------------------------------ announcements

    def sweep_ranks(self) -> list[int]:
        """Return the ranks, 1 = ace .. 13 = king, of which a card could take the whole table of the next play."""
        if self.pending is not None:
            return []
        value_ranks = self._tables["value_ranks"][0]
        ranks = sum(int(value_ranks[value]) for value in _bits(int(self._now("sweep_values"))))
        return [rank for rank in range(1, NUM_RANKS + 1) if ranks >> (rank - 1) & 1]

    @property
    def announcement(self) -> str:
        """What the rules ask to be said aloud now, as in ``last cards, sweep for a 6 or a queen``, or nothing."""
        from krypenv.display import format_announcement

        return format_announcement(self)

    # ------------------------------------------------------------------ sessions

    @property
    def game_number(self) -> int:
        """The game of the session, 1 for the first."""
        return int(self._now("game_number"))

    @property
    def session_over(self) -> bool:
        """Whether the game is over and was the session's last (R15)."""
        return self.is_over and bool(close_session(self._tables, self._states, self._at))

    @property
    def totals(self) -> list[int]:
        """The totals by seat of the session's games that are over, this one included once it is."""
        place = self._at
        if self.is_over:
            close_session(self._tables, self._states, place)
            place += 1
        return self._states["totals"][place][: self.rules.players].tolist()

    def next_game(self) -> Game:
        """Return the session's next game: the dealer is one seat to the left, the totals go on (R15).

        With a seed it is the game that an `Engine` row goes on with. Raises ValueError unless this game is over and the
        session is not.
        """
        if not self.is_over:
            raise ValueError("the next game begins when this one is over")
        if self.session_over:
            raise ValueError(f"the session is over after game {self.game_number}")
        following = Game.__new__(Game)
        following._prepare(self.rules, self.seed)
        following._states[0] = self._states[self._at + 1]
        deal_next(following._tables, following._states, following._scratch)
        return following

    # ------------------------------------------------------------------ texts

    def __str__(self) -> str:
        """Return a picture of the game for people, with all hands."""
        from krypenv.display import format_game

        return format_game(self)

    def __repr__(self) -> str:
        turn = "over" if self.is_over else f"seat {self.turn} to play"
        return f"<Game: {self.rules}, deal {self.deal_number}, {turn}>"

    def position(self) -> str:
        """Return the whole position as text (docs/notation.md); `Game.from_position` is the inverse."""
        from krypenv.notation import format_position

        return format_position(self)

    @staticmethod
    def from_position(text: str) -> Game:
        """Return the game of a position's text; raises NotationError, with line and reason, where it is none."""
        from krypenv.notation import parse_position

        return parse_position(text)

    def record(self) -> str:
        """Return the game as text (docs/notation.md), with its tags and comments; `Game.replay` is the inverse."""
        from krypenv.notation import format_record

        return format_record(self)

    @staticmethod
    def replay(text: str) -> Game:
        """Return the game of a record's text; raises NotationError, with line and reason, where it is none."""
        from krypenv.notation import parse_record

        return parse_record(text)


def _bits(number: int) -> Iterator[int]:
    """Yield the places of the bits that are set, ascending."""
    while number:
        low = number & -number
        number ^= low
        yield low.bit_length() - 1
