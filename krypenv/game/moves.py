"""A whole play as people write it, `8Sx2H6D#` or `4S+5D=9`, as card kinds, and as a state has it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from krypenv.cards import BUILD, CARD_PATTERN, MAX_BUILD, NUM_KINDS, TAKE, card_name, parse_card
from krypenv.inputs.words import is_whole, shown, text_to_read

_BUILD = r"\[[0-9]{1,2}\]"  # a build on the table, by its value
_CAPTURED = rf"[xX](?:(?:{CARD_PATTERN})+(?:{_BUILD})*|(?:{_BUILD})+)"
_LAID = rf"\+(?:{CARD_PATTERN})*(?:{_BUILD})*=[0-9]{{1,2}}"
MOVE_PATTERN = rf"{CARD_PATTERN}(?:{_CAPTURED}|{_LAID})?#{{0,2}}"
_CARD = re.compile(CARD_PATTERN)
_KINDS = np.arange(NUM_KINDS)
_BUILDS, _MADE = re.compile(r"\[([0-9]+)\]"), re.compile(r"=([0-9]+)")
_MOVE = re.compile(MOVE_PATTERN)
# A card, the kinds it takes, ascending, the sweeps that this makes, the value that it builds or 0, and the values of
# the builds that it captures, raises or joins, ascending.
Play = tuple[int, tuple[int, ...], int, int, tuple[int, ...]]


class Move(NamedTuple):
    """A whole play: the card, what it takes from the table or builds with, and the sweeps that this makes.

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
        """Return the move as records write it.

        ``8S`` creeps, ``8Sx2H6D#`` takes and sweeps, ``##`` sweeps twice, ``8Sx2H6D[8]`` takes the build of 8 too,
        ``4S+5D=9`` builds 9, ``4S+5D[9]=9`` joins the build of 9, ``4S+[5]=9`` raises that of 5 to 9.
        """
        with_cards = "".join(self.takes) + "".join(f"[{value}]" for value in self.builds)
        if self.build is not None:
            return f"{self.card}+{with_cards}={self.build}{'#' * self.sweep}"
        return self.card + ("x" + with_cards if with_cards else "") + "#" * self.sweep

    @classmethod
    def parse(cls, text: str) -> Move:
        """Return the move written in a text, with or without spaces; raise ValueError if it is not a move."""
        packed = "".join(text_to_read(text, "a move").split())
        if not _MOVE.fullmatch(packed):
            raise ValueError(
                f"{shown(text.strip())} is no move; "
                "a move is 8S, or 8Sx2H6D, with # for a sweep and ## for a double one; 4S+5D=9 builds"
            )
        card, *takes = map(parse_card, _CARD.findall(packed))
        made = _MADE.search(packed)
        builds = tuple(sorted(map(int, _BUILDS.findall(packed))))
        return cls.of_kinds(card, sorted(takes), packed.count("#"), int(made[1]) if made else 0, builds)

    @classmethod
    def of_kinds(
        cls, card: int, takes: Iterable[int], sweep: int, build: int = 0, builds: tuple[int, ...] = ()
    ) -> Move:
        """Return the move of a card kind, the kinds it takes, ascending, its sweeps, its build or 0, and builds."""
        return cls(card_name(card), tuple(map(card_name, takes)), sweep, build or None, builds)

    def kinds(self) -> Play:
        """Return the card kind, the kinds it takes, ascending, the sweeps, the build that it makes or 0, and builds.

        Raises ValueError unless the card and those it takes are names of cards, the sweeps are 0 to 2, and the builds
        are values from 1 to 16.
        """
        if not isinstance(self.takes, (tuple, list)):
            raise ValueError(f"what a move takes is a tuple of cards, not {shown(self.takes)}")
        if not is_whole(self.sweep, 0, 2):
            raise ValueError(f"the sweeps of a move are 0, 1 or 2, not {shown(self.sweep)}")
        values = self.builds if isinstance(self.builds, (tuple, list)) else (self.builds,)
        for value in (*values, *(() if self.build is None else (self.build,))):
            if not is_whole(value, 1, MAX_BUILD):
                raise ValueError(f"the value of a build is 1 to {MAX_BUILD}, not {shown(value)}")
        takes = tuple(sorted(map(parse_card, self.takes)))
        return parse_card(self.card), takes, self.sweep, self.build or 0, tuple(sorted(values))


def play_of(row: np.ndarray) -> Play:
    """Return the play that led to a state in which no card is pending."""
    takes, builds = np.repeat(_KINDS, row["taken"]).tolist(), bits(int(row["taken_builds"]))
    return int(row["last_card"]), tuple(takes), int(row["last_sweep"]), int(row["build_value"]), tuple(builds)


def actions_in(row: np.ndarray) -> list[int]:
    """Return the legal staged actions in a state, ascending."""
    takes = (TAKE + kind for kind in bits(int(row["legal_takes"])))
    builds = (BUILD + bit for bit in bits(int(row["legal_builds"])))
    return [*bits(int(row["legal_plays"])), *takes, *builds]


def bits(number: int) -> Iterator[int]:
    """Yield the positions of the set bits, ascending."""
    while number:
        low = number & -number
        number ^= low
        yield low.bit_length() - 1
