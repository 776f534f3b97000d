"""A choice: what a move of the seat to act would do, in a few words, and the points that it brings at once."""

from __future__ import annotations

from typing import Any

from krypenv.game.game import Game
from krypenv.game.moves import Move
from krypenv.ui.narrator.words import Words, signed

GROUPS = ("take", "build", "leave")


def group_of(move: Move) -> str:
    """Return which of `GROUPS` a move belongs to."""
    if move.build is not None:
        return "build"
    return "take" if move.takes or move.builds else "leave"


def tell_choice(words: Words, game: Game, move: Move) -> tuple[str, str]:
    """Return a legal move in a few words, and what it adds at once to the score of its seat, with a sign."""
    twin, seat = game.copy(), game.turn
    twin.push(move)
    made = [words.say("made.mulle")] * (twin.mulles(seat) - game.mulles(seat))
    made += [words.say(f"made.{('sweep', 'double')[move.sweep - 1]}")] * bool(move.sweep)
    ending = words.say("play.made", made=words.listed(made)) if made else ""
    return tell_move(words, move) + ending, signed(twin.scores()[seat] - game.scores()[seat])


def tell_move(words: Words, move: Move) -> str:
    """Return a move in a few words, as in "8♠ takes 3♥+5♦"."""
    what = [words.taken(move.card, move.takes) if move.build is None else words.cards(move.takes)] * bool(move.takes)
    what += [words.say("move.build", value=value) for value in move.builds if value != move.build]
    parts: dict[str, Any] = {"card": words.card(move.card), "what": words.listed(what), "value": move.build}
    if move.build is None:
        return words.say("move.take" if what else "move.leave", **parts)
    if move.build in move.builds:
        return words.say("move.joins_with" if what else "move.joins", **parts)
    return words.say("move.builds", **parts)
