"""Some moves of a decision that has very many: a share of them for each card, and for each way to go on with it."""

from __future__ import annotations

from krypenv.cards import NO_CARD
from krypenv.game.game import Game
from krypenv.game.moves import Move, Play, actions_in, play_of
from krypenv.game.stack import step_game
from krypenv.game.whole_plays import legal_plays
from krypenv.kernels.captures import borrow_scratch


def list_some(game: Game, most: int) -> tuple[list[Move], bool]:
    """Return the moves of the seat to act, sorted as `legal_moves` has them, and whether they are all.

    Where captures are optional they are at most `most`. If they are not all, there is one for each card that may be
    played, unless these are more than `most`.
    """
    plays = legal_plays(game, most)
    some = sorted(_share(game, game.at, most)) if plays is None else plays
    return [Move.of_kinds(*play) for play in some], plays is not None


def _share(game: Game, place: int, most: int) -> list[Play]:
    """Return plays from the state at a place on, `most` shared out evenly between its actions.

    Overwrites the states above it.
    """
    found: list[Play] = []
    states, actions = game.states, actions_in(game.states[place])
    for number, action in enumerate(actions):
        share = -(-(most - len(found)) // (len(actions) - number))
        if share:
            step_game(game.compiled, states, place, action, borrow_scratch())
            is_whole = states["pending"][place + 1] == NO_CARD
            found += [play_of(states[place + 1])] if is_whole else _share(game, place + 1, share)
    return found
