"""Cards, actions and blocks of an observation as the short texts in which a course remembers them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from krypenv.cards import BUILD, NUM_KINDS, TAKE_BUILD, action_name, card_name
from krypenv.families.bounds import MAX_PLAYERS

_KINDS = np.arange(NUM_KINDS)


def chosen_cards(actions: Iterable[int]) -> str:
    """Return the cards and builds of some actions as text, as in ``8S+2H`` or ``4S+=9+5D+[3]``."""
    return "+".join(_name_of(action) for action in actions)


def _name_of(action: int) -> str:
    if action >= TAKE_BUILD:
        return f"[{action - TAKE_BUILD}]"
    return f"={action - BUILD}" if action >= BUILD else action_name(action).split()[-1]


def action_text(turn: int, action: int) -> str:
    """Return an action of a seat as text, as in ``play 8S``, or where no seat acts what chance does: ``deal 8S``."""
    return action_name(action) if turn >= 0 else f"deal {card_name(action)}"


def counted(counts: np.ndarray) -> list[int]:
    """Return the kinds of a hand or a table, counts (52,), ascending."""
    kinds: list[int] = np.repeat(_KINDS, counts).tolist()
    return kinds


def names_of(kinds: list[int]) -> str:
    """Return the names of cards in a row, as in ``7H8S``."""
    return "".join(map(card_name, kinds))


def shown_block(entries: np.ndarray) -> str:
    """Return a block of an observation as text: cards by name, numbers of seats, or the places of what is not zero."""
    if len(entries) == NUM_KINDS:
        return names_of(counted(entries))
    numbers = entries if len(entries) <= MAX_PLAYERS else np.flatnonzero(entries)
    return ",".join(map(str, numbers.tolist()))
