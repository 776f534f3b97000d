"""Cards, actions and blocks of an observation as the short texts in which a course remembers them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from krypenv.cards import BUILD, NUM_KINDS, TAKE_BUILD, action_name, card_name
from krypenv.families.bounds import MAX_PLAYERS

_KINDS = np.arange(NUM_KINDS)


def chosen_cards(actions: Iterable[int]) -> str:
    """Format the cards and builds of some actions, as in ``8S+2H`` or ``4S+=9+5D+[3]``."""
    return "+".join(_name_of(action) for action in actions)


def _name_of(action: int) -> str:
    if action >= TAKE_BUILD:
        return f"[{action - TAKE_BUILD}]"
    return f"={action - BUILD}" if action >= BUILD else action_name(action).split()[-1]


def action_text(turn: int, action: int) -> str:
    """Name an action of a seat, as in ``play 8S``, or of chance where no seat acts: ``deal 8S``."""
    return action_name(action) if turn >= 0 else f"deal {card_name(action)}"


def counted(counts: np.ndarray) -> list[int]:
    """List the kinds of a hand or a table, given as counts (52,), in ascending order."""
    kinds: list[int] = np.repeat(_KINDS, counts).tolist()
    return kinds


def names_of(kinds: list[int]) -> str:
    """Join the names of cards, as in ``7H8S``."""
    return "".join(map(card_name, kinds))


def shown_block(entries: np.ndarray) -> str:
    """Format a block of an observation: names of cards, values by seat, or the indices of entries that are not zero."""
    if len(entries) == NUM_KINDS:
        return names_of(counted(entries))
    numbers = entries if len(entries) <= MAX_PLAYERS else np.flatnonzero(entries)
    return ",".join(map(str, numbers.tolist()))
