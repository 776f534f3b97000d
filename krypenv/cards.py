"""Cards and actions as integers, and their names."""

from __future__ import annotations

import re
from collections.abc import Iterable

from krypenv.inputs.words import is_whole, shown

NUM_SUITS = 4
NUM_RANKS = 13
NUM_KINDS = NUM_SUITS * NUM_RANKS
NO_CARD = -1
NO_SEAT = -1

CLUBS, DIAMONDS, HEARTS, SPADES = range(NUM_SUITS)
ACE, TWO, TEN, JACK, QUEEN, KING = 1, 2, 10, 11, 12, 13
PICTURES = (JACK, QUEEN, KING)

SUIT_NAMES = "CDHS"
SUIT_SYMBOLS = "♣♦♥♠"
RANK_NAMES = "A23456789TJQK"

TAKE = NUM_KINDS  # action TAKE + card takes that card from the table
STOP = 2 * NUM_KINDS  # stops taking; legal only where captures need not be maximal
NUM_ACTIONS = STOP + 1  # where nobody builds

MAX_BUILD = 16  # the largest value of a build
BUILD = NUM_ACTIONS  # action BUILD + v lays a build of value v with the card just played (B2)
TAKE_BUILD = BUILD + MAX_BUILD + 1  # action TAKE_BUILD + v captures the build of value v, or raises it (B1, B3)
NUM_BUILDING_ACTIONS = TAKE_BUILD + MAX_BUILD + 1

_RANK, _SUIT = "10|[A2-9TJQKatjqk]", "[CDHScdhs♣♦♥♠]"
CARD_PATTERN = rf"(?-i:(?:{_RANK}){_SUIT})"  # a regular expression for a card's name in any form
_BUILD_ACTION = re.compile("(take )?build (0|[1-9][0-9]?)")


def card_of(rank: int, suit: int) -> int:
    """Encode as a card kind 0..51 a rank (1 = ace .. 13 = king) and a suit (0..3: clubs .. spades)."""
    return suit * NUM_RANKS + rank - 1


def rank_of(card: int) -> int:
    """Decode the rank of a card kind, 1 = ace .. 13 = king."""
    return card % NUM_RANKS + 1


def suit_of(card: int) -> int:
    """Decode the suit of a card kind, 0..3: clubs, diamonds, hearts, spades."""
    return card // NUM_RANKS


def card_name(card: int) -> str:
    """Format a card kind as its two-character name.

    >>> card_name(0), card_name(22), card_name(50)
    ('AC', 'TD', 'QS')
    """
    if not is_whole(card, 0, NUM_KINDS - 1):
        raise ValueError(f"{shown(card)} is no card kind; card kinds are 0 to {NUM_KINDS - 1}")
    return RANK_NAMES[card % NUM_RANKS] + SUIT_NAMES[card // NUM_RANKS]


def card_symbol(name: str) -> str:
    """Format a card's name for people, with the symbol of its suit.

    >>> card_symbol("8S"), card_symbol("TD")
    ('8♠', '10♦')
    """
    kind = parse_card(name)
    rank = rank_of(kind)
    return f"{10 if rank == TEN else RANK_NAMES[rank - 1]}{SUIT_SYMBOLS[suit_of(kind)]}"


def parse_card(text: str) -> int:
    """Parse the name of a card into its kind; accepts ``TD``, ``10D``, ``10♦`` and lower case.

    >>> parse_card("10♦") == parse_card("td") == 22
    True
    """
    kind = _KINDS.get(text.strip()) if isinstance(text, str) else None
    if kind is None:
        raise ValueError(f"{shown(text)} is no card; a card is a rank A 2-9 T J Q K and a suit C D H S, as in 8S or TD")
    return kind


def parse_rank(text: str) -> int:
    """Parse the name of a rank, 1 = ace .. 13 = king; accepts ``T``, ``10`` and lower case.

    >>> parse_rank("10"), parse_rank("k")
    (10, 13)
    """
    if not (isinstance(text, str) and re.fullmatch(_RANK, text)):
        raise ValueError(f"{shown(text)} is no rank; the ranks are {RANK_NAMES}")
    return RANK_NAMES.index("T" if text == "10" else text.upper()) + 1


def card_names(counts: Iterable[int]) -> list[str]:
    """List the names of the cards in a vector of 52 counts, sorted by card kind."""
    return [name for name, count in zip(_NAMES, counts, strict=True) for _ in range(count)]


_NAMES = tuple(card_name(card) for card in range(NUM_KINDS))
_KINDS = {  # by each form of a card's name
    form + suit: card_of(rank, number)
    for number, suits in enumerate(zip(SUIT_NAMES, SUIT_NAMES.lower(), SUIT_SYMBOLS, strict=True))
    for suit in suits
    for rank, name in enumerate(RANK_NAMES, 1)
    for form in (name, name.lower(), *["10"] * (rank == TEN))
}


def action_name(action: int) -> str:
    """Format an action as its name.

    >>> action_name(46), action_name(52 + 18), action_name(104), action_name(105 + 9), action_name(122 + 9)
    ('play 8S', 'take 6D', 'stop', 'build 9', 'take build 9')
    """
    if not is_whole(action, 0, NUM_BUILDING_ACTIONS - 1):
        raise ValueError(f"{shown(action)} is no action; actions are 0 to {NUM_BUILDING_ACTIONS - 1}")
    if action == STOP:
        return "stop"
    if action > STOP:
        return f"build {action - BUILD}" if action < TAKE_BUILD else f"take build {action - TAKE_BUILD}"
    return f"play {_NAMES[action]}" if action < TAKE else f"take {_NAMES[action - TAKE]}"


def parse_action(text: str) -> int:
    """Parse the name of an action; the inverse of `action_name`.

    >>> parse_action("take 6D")
    70
    """
    verb, _, card = text.strip().partition(" ") if isinstance(text, str) else ("", "", "")
    if verb == "stop" and not card:
        return STOP
    if isinstance(text, str) and (match := _BUILD_ACTION.fullmatch(text.strip())) and int(match[2]) <= MAX_BUILD:
        return (TAKE_BUILD if match[1] else BUILD) + int(match[2])
    if verb not in ("play", "take"):
        raise ValueError(
            f"{shown(text)} is no action; an action is 'play 8S', 'take 6D' or 'stop', "
            "and where cards are built also 'build 9' or 'take build 9'"
        )
    return parse_card(card) + (TAKE if verb == "take" else 0)
