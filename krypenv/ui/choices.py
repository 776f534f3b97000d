"""What a person may choose, and what is meant by what they type."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from krypenv.cards import CARD_PATTERN, card_name, parse_card
from krypenv.game.moves import Move
from krypenv.one_game import Game
from krypenv.ui.narrator.choice import GROUPS, group_of
from krypenv.ui.narrator.narrator import Narrator

MOST_LISTED = 12  # choices shown at once
_MOST_MOVES = 1000  # that are listed at all
_CARDS = re.compile(rf"(?:{CARD_PATTERN}[\sxX,+]*)+#{{0,2}}")
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
    """Return moves by group and card, those that take most first."""

    def place(move: Move) -> tuple[int, ...]:
        takes = len(move.takes) + len(move.builds)
        return GROUPS.index(group_of(move)), parse_card(move.card), -move.sweep, -takes

    return tuple(sorted(moves, key=place))


def parse_choice(text: str, choices: Choices, game: Game, narrator: Narrator) -> Move | str:
    """Return the move that a text means, or the card, if its capture must be chosen next.

    A text is the number of a choice, a card, or a card and those that it takes, as in "8s 6d 2h" or "8Sx6D2H". Where a
    card has been chosen, table cards that are named are those that it takes, and "-" takes none. Raises Wrong, with
    what the narrator says, for anything else.
    """
    words = _packed(text)
    if words.isascii() and words.isdigit():
        number = int(words) if len(words) < 10 else 0
        if not 1 <= number <= len(choices):
            raise Wrong(narrator.say("choose.number", len(choices), number=number))
        return choices.moves[number - 1] if choices.moves else choices.cards[number - 1]
    move = Move(choices.card) if choices.card and words == "-" else _named(words, choices.card, game, narrator)
    if isinstance(move, Move):
        return _legal(game, move, narrator)
    moves = moves_with(game, move)
    if moves == []:
        raise Wrong(narrator.why_card(game, move))
    return moves[0] if moves is not None and len(moves) == 1 else move


def reason(text: str, choices: Choices, game: Game, narrator: Narrator) -> str:
    """Return what a move would do that a text means, or why it can't be made; of a card that has several, which."""
    words = _packed(text)
    if words.isascii() and words.isdigit():
        choice = parse_choice(words, choices, game, narrator)
    elif words:
        choice = _named(words, "", game, narrator)
    else:
        raise Wrong(narrator.say("choose.why"))
    return narrator.why(game, choice) if isinstance(choice, Move) else narrator.why_card(game, choice)


def _packed(text: str) -> str:
    return "".join(text.split()) if set(text) & set("=[") else text.strip()


def _named(words: str, chosen: str, game: Game, narrator: Narrator) -> Move | str:
    """Return the move whose cards are named, or the card if it is named alone; a card may have been chosen before."""
    if set(words) & set("=["):
        try:
            return Move.parse(words)
        except ValueError:
            raise Wrong(narrator.say("choose.written")) from None
    if not _CARDS.fullmatch(words):
        raise Wrong(narrator.say("choose.how"))
    names = [card_name(parse_card(name)) for name in _CARD.findall(words)]
    is_whole = "x" in words.lower() or (names[0] in game.hand(game.turn) and names[0] not in game.table)
    if chosen and not is_whole:
        names.insert(0, chosen)
    return Move(names[0], tuple(sorted(names[1:], key=parse_card))) if len(names) > 1 else names[0]


def _legal(game: Game, move: Move, narrator: Narrator) -> Move:
    """Return a move as it is made in a game."""
    twin = game.copy()
    try:
        twin.push(move)
    except ValueError:
        raise Wrong(narrator.why(game, move)) from None
    assert twin.last_move
    return twin.last_move
