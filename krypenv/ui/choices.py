"""What a person may choose, and what is meant by what they type."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from krypenv.cards import CARD_PATTERN, card_name, parse_card
from krypenv.game.moves import Move
from krypenv.one_game import Game

MOST_LISTED = 12  # choices shown at once
_MOST_MOVES = 1000  # that are listed at all
_CARDS = re.compile(rf"(?:{CARD_PATTERN}[\sxX,]*)+#{{0,2}}")
_CARD = re.compile(CARD_PATTERN)


class Choices(NamedTuple):
    """What may be chosen next: whole moves, or first a card of the hand."""

    moves: tuple[Move, ...]  # in the order of their numbers; none if a card is chosen first
    cards: tuple[str, ...] = ()  # cards to choose among first
    counts: tuple[int | None, ...] = ()  # how many moves each has, None if they are too many to list
    card: str = ""  # the card chosen, if one was: its moves are the choices

    def __len__(self) -> int:
        return len(self.moves) or len(self.cards)


class Wrong(ValueError):
    """What was typed means nothing here; the sentence says what would."""


def choices_of(game: Game, card: str = "") -> Choices:
    """Return what the seat to act may choose; with a card of its hand, among the moves of this card.

    Few moves are listed at once. Of many, a card is chosen first.
    """
    if card:
        return Choices(_in_order(moves_with(game, card) or []), card=card)
    moves = _all_moves(game)
    if moves is not None and len(moves) <= MOST_LISTED:
        return Choices(_in_order(moves))
    cards = [game.pending] if game.pending else [card_name(action) for action in game.legal_actions()]
    of_cards = [moves_with(game, each) for each in cards]
    return Choices((), tuple(cards), tuple(None if found is None else len(found) for found in of_cards))


def moves_with(game: Game, card: str) -> list[Move] | None:
    """Return the moves that play a card, None if they are too many to list; none if it can't be played."""
    if parse_card(card) not in game.legal_actions():
        return _all_moves(game) if game.pending == card else []
    twin = game.copy()
    before = len(twin.moves)
    twin.act(parse_card(card))
    if len(twin.moves) > before:
        assert twin.last_move
        return [twin.last_move]
    return _all_moves(twin)


def _all_moves(game: Game) -> list[Move] | None:
    try:
        return game.legal_moves(_MOST_MOVES)
    except ValueError:  # too many
        return None


def _in_order(moves: Sequence[Move]) -> tuple[Move, ...]:
    """Return moves by card, those that take most first."""
    return tuple(
        sorted(moves, key=lambda move: (parse_card(move.card), -move.sweep, -len(move.takes) - len(move.builds)))
    )


def parse_choice(text: str, choices: Choices, game: Game) -> Move | str:
    """Return the move that a text means, or the card, if its capture must be chosen next.

    A text is the number of a choice, a card, or a card and those that it takes, as in "8s 6d 2h" or "8Sx6D2H". Where a
    card has been chosen, cards that are named are those that it takes, and "-" takes none. Raises Wrong, with a
    sentence, for anything else.
    """
    words = "".join(text.split()) if set(text) & set("=[") else text.strip()
    if words.isascii() and words.isdigit():
        number = int(words) if len(words) < 10 else 0
        if not 1 <= number <= len(choices):
            raise Wrong(f"the choices are 1 to {len(choices)}, not {number}")
        return choices.moves[number - 1] if choices.moves else choices.cards[number - 1]
    if choices.card and words == "-":
        return _the_move(game, choices.card, ())
    if set(words) & set("=["):
        return _written(game, words)
    if not _CARDS.fullmatch(words):
        raise Wrong("type a number, a card as in 8s, or ? for help")
    named = [card_name(parse_card(name)) for name in _CARD.findall(words)]
    if choices.card and not (named[0] == choices.card and len(named) > 1 and "x" in words.lower()):
        return _the_move(game, choices.card, named)
    return _the_move(game, named[0], named[1:]) if len(named) > 1 else _by_card(game, named[0])


def _written(game: Game, words: str) -> Move:
    """Return the move that is written as in a record; so are those with builds, as in 4s+5d=9 or 9sx[9]."""
    twin = game.copy()
    try:
        twin.push(Move.parse(words))
    except ValueError:
        raise Wrong("there is no such move; with builds it is written as in 4s+5d=9 or 9sx[9]") from None
    assert twin.last_move
    return twin.last_move


def _by_card(game: Game, card: str) -> Move | str:
    """Return the only move of a card, or the card itself if there are more."""
    moves = moves_with(game, card)
    if moves == []:
        held = " ".join(game.hand(game.turn))
        raise Wrong(f"{card} can't be played now" if card in held else f"{card} is not in your hand: {held}")
    return moves[0] if moves is not None and len(moves) == 1 else card


def _the_move(game: Game, card: str, takes: Sequence[str]) -> Move:
    """Return the move of a card that takes some others, if it is legal."""
    twin = game.copy()
    wanted = Move(card, tuple(sorted(takes, key=parse_card)))
    try:
        twin.push(wanted)
    except ValueError:
        words = f"takes {' '.join(wanted.takes)}" if takes else "takes nothing"
        raise Wrong(f"there is no move in which {card} {words}") from None
    assert twin.last_move
    return twin.last_move
