"""The options of the seat to act: what a move would do, what it is worth at once, and what an agent advises."""

from __future__ import annotations

from typing import Any

from krypenv.cards import parse_card
from krypenv.game.game import Game
from krypenv.game.moves import Move
from krypenv.ui.narrator.events import gains_clause, made_by
from krypenv.ui.narrator.words import Words, signed, starting

GROUPS = ("take", "build", "leave")
MOST_MOVES = 1000  # that are listed for a person


def listed_moves(game: Game, most: int = MOST_MOVES) -> list[Move] | None:
    """List the legal moves; None if they are more than `most`."""
    try:
        moves = game.legal_moves(most)
    except ValueError:
        return None
    return moves if len(moves) <= most else None


def moves_of(game: Game, card: str) -> list[Move] | None:
    """List the moves that play a card, or continue with it; None if they are too many."""
    if game.pending:
        return listed_moves(game) if card == game.pending else []
    if parse_card(card) not in game.legal_actions():
        return []
    twin = game.copy()
    twin.act(parse_card(card))
    if twin.pending:
        return listed_moves(twin)
    assert twin.last_move
    return [twin.last_move]


def group_of(move: Move) -> str:
    """Name the group of a move, one of `GROUPS`."""
    if move.build is not None:
        return "build"
    return "take" if move.takes or move.builds else "leave"


def tell_choice(words: Words, game: Game, move: Move) -> tuple[str, str]:
    """Tell a legal move in a few words, and what it is worth to its seat at once, with a sign: plus is good."""
    twin, seat = game.copy(), game.turn
    twin.push(move)
    told = tell_move(words, move) + made_by(words, game, twin, seat, move)
    return told, signed(words.worth(twin.scores()[seat] - game.scores()[seat]))


def tell_move(words: Words, move: Move) -> str:
    """Tell a move in a few words, as in "8♠ takes 3♥+5♦"."""
    what = [words.taken(move.card, move.takes) if move.build is None else words.cards(move.takes)] * bool(move.takes)
    what += [words.say("move.build", value=value) for value in move.builds if value != move.build]
    parts: dict[str, Any] = {"card": words.card(move.card), "what": words.listed(what), "value": move.build}
    if move.build is None:
        return words.say("move.take" if what else "move.leave", **parts)
    if move.build in move.builds:
        return words.say("move.joins_with" if what else "move.joins", **parts)
    return words.say("move.builds", **parts)


def tell_advice(words: Words, game: Game, move: Move, sets_up: float = 0, by: str = "") -> str:
    """Tell which move an agent advises, its points, and how often the next seat sweeps then.

    Args:
        words: for whom it is told.
        game: the game before the move.
        move: what is advised.
        sets_up: how likely the next seat must sweep, or can where no sweep is forced.
        by: the agent, if its choice is all that is known: it values no moves.
    """
    text, _ = tell_choice(words, game, move)
    twin, tenths = game.copy(), round(10 * sets_up)
    twin.push(move)
    gain = gains_clause(words, game.scores(), twin.scores())
    if tenths:
        must = "must" if game.rules.forced_sweep else "can"
        often = words.say("hint.tenths", tenths, number=words.number(tenths))
        gain = words.say(f"hint.{must}", gain=gain, tenths=often)
        if game.rules.sweep_payer == "seat_before" and game.rules.sweep_points:
            points = words.points(game.rules.sweep_points)
            effect = words.say(f"gain.less.{game.rules.goal}", who=words.whom(game.turn), points=points)
            gain = words.say("hint.which", said=gain, effect=effect)
    head = words.say("hint.alone", agent=by, move=text) if by else words.say("hint.best", move=text)
    return f"{head} {starting(gain)}."
