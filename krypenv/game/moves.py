"""A whole play as people write it, `8Sx2H6D#`, and as card kinds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from krypenv.cards import CARD_PATTERN, card_name, parse_card
from krypenv.inputs.words import check_text, is_whole, shown

MOVE_PATTERN = rf"{CARD_PATTERN}(?:[xX](?:{CARD_PATTERN})+)?#{{0,2}}"
_CARD = re.compile(CARD_PATTERN)
_MOVE = re.compile(MOVE_PATTERN)


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
        """Return the move written in a text, with or without spaces; raise ValueError if it is not a move."""
        packed = "".join(check_text(text, "a move").split())
        if not _MOVE.fullmatch(packed):
            raise ValueError(
                f"{shown(text.strip())} is no move; "
                "a move is 8S, or 8Sx2H6D, with # for a sweep and ## for a double one"
            )
        card, *takes = map(parse_card, _CARD.findall(packed))
        return cls.of_kinds(card, sorted(takes), packed.count("#"))

    @classmethod
    def of_kinds(cls, card: int, takes: Iterable[int], sweep: int) -> Move:
        """Return the move of a card kind, the kinds it takes, ascending, and its sweeps."""
        return cls(card_name(card), tuple(map(card_name, takes)), sweep)

    def kinds(self) -> tuple[int, tuple[int, ...], int]:
        """Return the card kind, the kinds it takes, ascending, and the sweeps.

        Raises ValueError unless the card and those it takes are names of cards, and the sweeps are 0 to 2.
        """
        if not isinstance(self.takes, (tuple, list)):
            raise ValueError(f"what a move takes is a tuple of cards, not {shown(self.takes)}")
        if not is_whole(self.sweep, 0, 2):
            raise ValueError(f"the sweeps of a move are 0, 1 or 2, not {shown(self.sweep)}")
        return parse_card(self.card), tuple(sorted(map(parse_card, self.takes))), self.sweep
