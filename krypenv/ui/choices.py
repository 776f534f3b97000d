"""The choices of a person, and the moves that they type."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from krypenv.cards import CARD_PATTERN, card_name, parse_card
from krypenv.game.game import Game
from krypenv.game.moves import Move
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.narrator.options import GROUPS, group_of, listed_moves, moves_of

MOST_LISTED = 12  # choices shown at once
_TOKEN = re.compile(
    rf"(?P<card>{CARD_PATTERN})|\[\s*(?P<build>[0-9]{{1,2}})\s*\]|=\s*(?P<made>[0-9]{{1,2}})|(?P<none>-)|[\sxX,+:#]+"
)  # of a move as people write it


class Choices(NamedTuple):
    """The choices of a decision: whole moves, or first a card of the hand."""

    moves: tuple[Move, ...]  # in the order of their numbers; none if a card is chosen first
    cards: tuple[str, ...] = ()  # cards to choose among first
    counts: tuple[int | None, ...] = ()  # how many moves each has, None if they are too many to list
    card: str = ""  # the card chosen, if one was: its moves are the choices

    def __len__(self) -> int:
        return len(self.moves) or len(self.cards)


class Wrong(ValueError):
    """A text that is no choice; the message says what would be one."""


def choices_of(game: Game, card: str = "") -> Choices:
    """List the choices of the seat to act; with a card of its hand, the moves of this card.

    Few moves are listed at once. Of many, a card is chosen first.
    """
    if card:
        return Choices(_in_order(moves_of(game, card) or []), card=card)
    moves = listed_moves(game)
    if moves is not None and len(moves) <= MOST_LISTED:
        return Choices(_in_order(moves))
    cards = [game.pending] if game.pending else [card_name(action) for action in game.legal_actions()]
    by_card = [moves_of(game, name) for name in cards]
    return Choices((), tuple(cards), tuple(None if moves is None else len(moves) for moves in by_card))


def _in_order(moves: Sequence[Move]) -> tuple[Move, ...]:
    """Sort moves by group and card, those that take most first."""

    def place(move: Move) -> tuple[int, ...]:
        takes = len(move.takes) + len(move.builds)
        return GROUPS.index(group_of(move)), parse_card(move.card), -move.sweep, -takes

    return tuple(sorted(moves, key=place))


def parse_choice(text: str, choices: Choices, game: Game, narrator: Narrator) -> Move | str:
    """Parse a typed choice: a move, or a card whose capture must be chosen next.

    A text is the number of a choice, a card, or a card and those that it takes, as in "8s 6d 2h", "8Sx6D2H" or "8♠
    takes 6♦+2♥"; "8s -" takes none. Where a card has been chosen, table cards that are named are those that it takes,
    and "-" takes none. Raises Wrong, with what the narrator says, for anything else.
    """
    words = text.strip()
    if words.isascii() and words.isdigit():
        number = int(words) if len(words) < 10 else 0
        if not 1 <= number <= len(choices):
            raise Wrong(narrator.say("choose.number", len(choices), number=number))
        return choices.moves[number - 1] if choices.moves else choices.cards[number - 1]
    move = _named(words, choices, game, narrator)
    if isinstance(move, Move):
        return _legal(game, move, narrator)
    moves = moves_of(game, move)
    if moves == []:
        raise Wrong(narrator.why_card(game, move))
    return moves[0] if moves is not None and len(moves) == 1 else move


def reason(text: str, choices: Choices, game: Game, narrator: Narrator) -> str:
    """Tell what a typed move would do, or why it is illegal; of a card with several moves, list them."""
    words = text.strip()
    if not words:
        raise Wrong(narrator.say("choose.why"))
    is_number = words.isascii() and words.isdigit()
    choice = (parse_choice if is_number else _named)(words, choices, game, narrator)
    return narrator.why(game, choice) if isinstance(choice, Move) else narrator.why_card(game, choice)


def _named(words: str, choices: Choices, game: Game, narrator: Narrator) -> Move | str:
    """Parse a move by its cards, or a card that is named alone; the card may have been chosen before."""
    plain = words
    for key, sign in (("choose.play", " "), ("choose.take", "x")):
        plain = re.sub(rf"\b(?:{narrator.say(key).replace(' ', '|')})\b", sign, plain, flags=re.IGNORECASE)
    plain = narrator.in_letters(plain.strip().lower())
    tokens = list(_TOKEN.finditer(plain))
    cards = [card_name(parse_card(each["card"])) for each in tokens if each["card"]]
    builds = [int(each["build"]) for each in tokens if each["build"]]
    made = [int(each["made"]) for each in tokens if each["made"]]
    is_more = bool(builds or made or any(each["none"] for each in tokens))
    is_read = sum(len(each[0]) for each in tokens) == len(plain) and len(made) < 2
    names_taken = plain.startswith("x")  # those that a card takes which has been chosen
    if not is_read or not (cards or is_more) or not (choices.card or (cards and not names_taken)):
        return _as_shown(words, choices, game, narrator)
    begins = bool(cards) and cards[0] in game.hand(game.turn)  # with the card that is played, unless the table has it
    begins = begins and (cards[0] not in game.table or bool(builds or made))
    is_whole = not names_taken and bool(cards) and ("x" in plain or begins)
    card = choices.card if choices.card and not is_whole else cards.pop(0)
    if not (cards or is_more):
        return card
    return Move(card, tuple(sorted(cards, key=parse_card)), 0, made[0] if made else None, tuple(sorted(builds)))


def _as_shown(words: str, choices: Choices, game: Game, narrator: Narrator) -> Move:
    """Parse a move that is typed as the list of choices shows it; raises Wrong if there is none."""
    for move in choices.moves:
        if words.lower() == narrator.choice(game, move)[0].lower():
            return move
    raise Wrong(narrator.say("choose.written" if set(words) & set("=[") else "choose.how"))


def _legal(game: Game, move: Move, narrator: Narrator) -> Move:
    """Complete a move as the game makes it; raises Wrong for an illegal one."""
    twin = game.copy()
    try:
        twin.push(move)
    except ValueError:
        raise Wrong(narrator.why(game, move)) from None
    assert twin.last_move
    return twin.last_move
