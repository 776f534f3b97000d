"""Unfinished plays in positions and records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from krypenv.cards import BUILD, card_name, parse_card
from krypenv.game.core import Core
from krypenv.game.whole_plays import take_kinds


def begin_play(game: Core, card: int, took: Iterable[int], build: int = 0) -> bool:
    """Play a card, begin a build unless its value is 0, and take some kinds, in any legal order.

    Returns whether the card is then still pending. If it is pending already, takes only what is missing.
    """
    if not game.pending:
        for action in [card, *([BUILD + build] if build else [])]:
            if action not in game.legal_actions():
                return False
            game.act(action)
    missing = Counter(took)
    missing.subtract(map(parse_card, game.taken))
    if game.pending != card_name(card) or (game.building or 0) != build or min(missing.values(), default=0) < 0:
        return False
    return take_kinds(game._history, list(missing.elements()))
