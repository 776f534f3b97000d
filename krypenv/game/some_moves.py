"""Some moves of a decision that has very many: a share of them for each card, and for each way to go on with it."""

from __future__ import annotations

from krypenv.cards import NO_CARD
from krypenv.game.core import Core
from krypenv.game.history import History, Play
from krypenv.game.moves import Move
from krypenv.game.whole_plays import legal_plays


def list_some(game: Core, most: int) -> tuple[list[Move], bool]:
    """Return the moves of the seat to act, sorted as `legal_moves` has them, and whether they are all.

    Where captures are optional they are at most `most`. If they are not all, there is one for each card that may be
    played, unless these are more than `most`.
    """
    history = game._history
    plays = legal_plays(history, most)
    some = sorted(_share(history, history.at, most)) if plays is None else plays
    return [Move.of_kinds(*play) for play in some], plays is not None


def _share(history: History, place: int, most: int) -> list[Play]:
    """Return plays from the state at a place on, `most` shared out evenly between its actions.

    Overwrites the states above it.
    """
    found: list[Play] = []
    actions = history.actions_at(place)
    for number, action in enumerate(actions):
        share = -(-(most - len(found)) // (len(actions) - number))
        if share:
            history.look_ahead(place, action)
            is_whole = history.pendings[place + 1] == NO_CARD
            found += [history.play_at(place + 1)] if is_whole else _share(history, place + 1, share)
    return found
