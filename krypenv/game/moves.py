"""Moves: as people write them, `8Sx2H6D#` or `4S+5D=9`, those that are legal in a game, and their staged actions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from krypenv.cards import (
    BUILD,
    CARD_PATTERN,
    MAX_BUILD,
    NO_CARD,
    NUM_KINDS,
    STOP,
    TAKE,
    TAKE_BUILD,
    card_name,
    parse_card,
)
from krypenv.game.stack import step_game
from krypenv.inputs.words import check_text, is_whole, shown
from krypenv.kernels.captures import borrow_scratch

if TYPE_CHECKING:
    from krypenv.game.game import Game

_VALUE = "(?:" + "|".join(map(str, range(MAX_BUILD, 0, -1))) + ")"  # of a build
_BUILD = rf"\[{_VALUE}\]"  # a build on the table
_CAPTURED = rf"[xX](?:(?:{CARD_PATTERN})+(?:{_BUILD})*|(?:{_BUILD})+)"
_LAID = rf"\+(?:{CARD_PATTERN})*(?:{_BUILD})*={_VALUE}"
MOVE_PATTERN = rf"{CARD_PATTERN}(?:{_CAPTURED}|{_LAID})?#{{0,2}}"
_CARD = re.compile(CARD_PATTERN)
_KINDS = np.arange(NUM_KINDS)
_BUILDS, _MADE = re.compile(r"\[([0-9]+)\]"), re.compile(r"=([0-9]+)")
_MOVE = re.compile(MOVE_PATTERN)
NO_MOVE = "is no move; a move is 8S, or 8Sx2H6D, with # for a sweep and ## for a double one; 4S+5D=9 builds"
# A move in numbers: the card, the kinds it takes, ascending, its sweeps, the value that it builds or 0, and the values
# of the builds that it captures, raises or joins, ascending.
Play = tuple[int, tuple[int, ...], int, int, tuple[int, ...]]


class Move(NamedTuple):
    """A whole play: its card, the cards it takes or builds with, and the sweeps that it makes.

    >>> print(Move.parse("8s x 6d 2h #"))
    8Sx6D2H#
    >>> Move.parse("4S+5D[5]=9")
    Move(card='4S', takes=('5D',), sweep=0, build=9, builds=(5,))
    """

    card: str
    takes: tuple[str, ...] = ()  # loose cards, sorted by card kind; empty for a creep
    sweep: int = 0  # 0, 1 or 2 (a double sweep)
    build: int | None = None  # the value of the build that it makes, raises to or joins (B2 to B4)
    builds: tuple[int, ...] = ()  # the values of the builds that it captures, raises or joins, ascending

    def __str__(self) -> str:
        """Format the move as records write it.

        ``8S`` creeps, ``8Sx2H6D#`` takes and sweeps, ``##`` sweeps twice, ``8Sx2H6D[8]`` takes the build of 8 too,
        ``4S+5D=9`` builds 9, ``4S+5D[9]=9`` joins the build of 9, ``4S+[5]=9`` raises that of 5 to 9.
        """
        with_cards = "".join(self.takes) + "".join(f"[{value}]" for value in self.builds)
        if self.build is not None:
            return f"{self.card}+{with_cards}={self.build}{'#' * self.sweep}"
        return self.card + ("x" + with_cards if with_cards else "") + "#" * self.sweep

    @classmethod
    def parse(cls, text: str) -> Move:
        """Parse a move, with or without spaces; raise ValueError if the text is not one."""
        card, takes, sweep, build, builds = parse_play(text)
        return cls.of_kinds(card, sorted(takes), sweep, build, builds)

    @classmethod
    def of_kinds(
        cls, card: int, takes: Iterable[int], sweep: int, build: int = 0, builds: tuple[int, ...] = ()
    ) -> Move:
        """Make a move of a card kind, the kinds it takes, ascending, its sweeps, its build or 0, and builds."""
        return cls(card_name(card), tuple(map(card_name, takes)), sweep, build or None, builds)

    def kinds(self) -> Play:
        """Convert the move to numbers; raise ValueError unless its fields are those of a move."""
        if not is_whole(self.sweep, 0, 2):
            raise ValueError(f"the sweeps of a move are 0, 1 or 2, not {shown(self.sweep)}")
        try:
            card, takes, sweep, build, builds = parse_play(str(self))
        except TypeError:
            raise ValueError(f"{shown(tuple(self))} {NO_MOVE}") from None
        return card, tuple(sorted(takes)), sweep, build, builds


def parse_play(text: str) -> Play:
    """Parse a move to numbers, with the kinds that it takes in the order of the text; raise ValueError for no move."""
    packed = "".join(check_text(text, "a move").split())
    if not _MOVE.fullmatch(packed):
        raise ValueError(f"{shown(text.strip())} {NO_MOVE}")
    card, *takes = map(parse_card, _CARD.findall(packed))
    made = _MADE.search(packed)
    builds = tuple(sorted(map(int, _BUILDS.findall(packed))))
    return card, tuple(takes), packed.count("#"), int(made[1]) if made else 0, builds


# ---------------------------------------------------------------------- the moves of a game


def play_of(row: np.ndarray) -> Play:
    """Read the last play from a state in which no card is pending."""
    takes, builds = np.repeat(_KINDS, row["taken"]).tolist(), bits(int(row["taken_builds"]))
    return int(row["last_card"]), tuple(takes), int(row["last_sweep"]), int(row["build_value"]), tuple(builds)


def actions_in(row: np.ndarray) -> list[int]:
    """List the legal staged actions in a state, ascending."""
    takes = (TAKE + kind for kind in bits(int(row["legal_takes"])))
    builds = (BUILD + bit for bit in bits(int(row["legal_builds"])))
    return [*bits(int(row["legal_plays"])), *takes, *builds]


def bits(number: int) -> Iterator[int]:
    """Yield the positions of the set bits, ascending."""
    while number:
        low = number & -number
        number ^= low
        yield low.bit_length() - 1


def list_moves(game: Game, most: int) -> list[Move]:
    """List the moves of the seat to act, sorted; of an unfinished play, those that complete it.

    Optional captures grow without a practical bound: raises ValueError if there are more than `most` moves with them.
    """
    is_bounded = game.rules.capture == "maximal"
    plays = set(_walk(game, game.at) if is_bounded else islice(_walk(game, game.at), most + 1))
    if not is_bounded and len(plays) > most:
        raise ValueError(
            f"seat {game.turn} has more than {most:,} legal moves; legal_actions() gives them step by step"
        )
    return [Move.of_kinds(*play) for play in sorted(plays)]


def list_some(game: Game, most: int) -> tuple[list[Move], bool]:
    """List moves of the seat to act, sorted, and say whether they are all.

    If there are more than `most` with optional captures, lists at most that many, some for each legal action.
    """
    with suppress(ValueError):
        return list_moves(game, most), True
    plays: list[Play] = []
    actions = actions_in(game.state)
    for number, action in enumerate(actions):
        plays += islice(_walk(game, game.at, [action]), (most - len(plays)) // (len(actions) - number))
    return [Move.of_kinds(*play) for play in sorted(plays)], False


def _walk(game: Game, place: int, actions: list[int] | None = None) -> Iterator[Play]:
    """Yield the plays that staged actions lead to from the state at a place, by default all legal ones.

    Small plays come first. An optional capture has one sequence of actions (K2), a maximal one may have several. Its
    kinds are taken in ascending order here: a lower kind that was not legal before is equally often in all captures
    left. So a play may be listed twice. Overwrites the states above the place.
    """
    for action in reversed(actions_in(game.states[place])) if actions is None else actions:
        _step(game, place, action)
        if game.states["pending"][place + 1] == NO_CARD:
            yield play_of(game.states[place + 1])
        else:
            least = action if TAKE <= action < STOP else 0
            further = [more for more in actions_in(game.states[place + 1]) if more >= least]
            yield from _walk(game, place + 1, further[::-1])


def actions_of(game: Game, play: Play) -> list[int]:
    """List the staged actions that make a play, or complete one that was begun; none if it is illegal.

    A sweep of 0 matches any. Writes the states of these actions above the present one, where `push` keeps them.
    """
    card, takes, sweep, build, builds = play
    left = staged_actions(card, takes, build, builds)
    for action in begun_actions(game):
        if action in left:
            left.remove(action)
    actions: list[int] = []
    place = game.at
    while not actions or game.states["pending"][place] != NO_CARD:
        done = next((action for action in (*left, STOP) if _step(game, place, action)), None)
        if done is None:
            return []
        actions.append(done)
        place += 1
        if done in left:
            left.remove(done)
    made = play_of(game.states[place])
    return actions if (*made[:2], *made[3:]) == (card, takes, build, builds) and sweep in (0, made[2]) else []


def staged_actions(card: int, takes: Iterable[int], build: int, builds: Iterable[int] = ()) -> list[int]:
    """List the staged actions of a play: its card, its build unless that is 0, the kinds and the builds it takes."""
    joined = (TAKE_BUILD + value for value in builds if value != build)  # one that is joined needs no action
    return [card, *([BUILD + build] if build else []), *(TAKE + kind for kind in takes), *joined]


def begun_actions(game: Game) -> list[int]:
    """List the staged actions of an unfinished play in their order, those before the first state by card kind."""
    start = game.at
    while start and game.states["pending"][start] != NO_CARD:
        start -= 1
    row, actions = game.states[start], game.actions[start:]
    if row["pending"] != NO_CARD:
        taken = np.repeat(_KINDS, row["taken"]).tolist()
        return [*staged_actions(int(row["pending"]), taken, int(row["build_value"])), *actions]
    return actions


def _step(game: Game, place: int, action: int) -> bool:
    """Carry out an action from the state at a place into the next place; return whether it is legal."""
    return bool(step_game(game.compiled, game.states, place, action, borrow_scratch()))
