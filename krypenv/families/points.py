"""Points of one's own: what cards, ranks or suits count in place of what the rulebook says."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Mapping
from typing import Any

from krypenv.cards import NUM_KINDS, NUM_RANKS, RANK_NAMES, SUIT_NAMES, card_name, parse_card, parse_rank
from krypenv.inputs.words import is_whole, shown

MOST_POINTS = 20  # of a card
_LONGEST_VALUE = 2000  # characters of a value that is parsed
_VALUE = re.compile(r"True|False|None|'\w+'|\"\w+\"|[-0-9,()\[\]]+")  # `literal_eval` checks the rest


def parse_value(text: str) -> Any:
    """Parse a value of rules: a number, True, False, None, or a tuple of numbers and tuples; else it is a text.

    >>> parse_value("((2,0),)"), parse_value("six_table")
    (((2, 0),), 'six_table')
    """
    if len(text) <= _LONGEST_VALUE and _VALUE.fullmatch(text):
        with contextlib.suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            return ast.literal_eval(text)
    return text


def format_points(points: Any) -> str:
    """Format custom points as the text that `Rules` keeps: suits first, then ranks, then cards.

    Takes such a text, in which a comma may stand for +, or a mapping. Raises ValueError for anything else, and for
    names that are no card, rank or suit.

    >>> format_points({"QS": 13, "h": 1})
    'H:1+QS:13'
    """
    if isinstance(points, str):
        pairs = [entry.partition(":")[::2] for entry in re.split("[+,]", points)] if points.strip() else []
        entries = [(key, parse_value(value.strip())) for key, value in pairs]
    elif isinstance(points, Mapping):
        entries = list(points.items())
    else:
        raise ValueError(f"custom_points are cards, ranks or suits with points, as in QS:13+H:1, not {shown(points)}")
    placed: dict[int, tuple[str, int]] = {}
    for key, value in entries:
        place, name = _place_of(key)
        if not is_whole(value, 0, MOST_POINTS):
            raise ValueError(f"custom_points of {name} are a whole number from 0 to {MOST_POINTS}, not {shown(value)}")
        if place in placed:
            raise ValueError(f"custom_points say twice what {name} counts")
        placed[place] = name, int(value)
    return "+".join(f"{name}:{value}" for _, (name, value) in sorted(placed.items()))


def own_points(text: str) -> dict[int, int]:
    """Parse a text of `format_points` into the points of the kinds that it concerns.

    What is said of a card goes before what is said of its rank and its suit, and these add up.

    >>> own_points("S:1+A:1+QS:13")[50], own_points("S:1+A:1+QS:13")[39]
    (13, 2)
    """
    points: dict[int, int] = {}
    for entry in text.split("+") if text else ():
        key, _, value = entry.partition(":")
        if len(key) == 2:
            points[parse_card(key)] = int(value)
            continue
        for kind in range(NUM_KINDS):
            if key in (SUIT_NAMES[kind // NUM_RANKS], RANK_NAMES[kind % NUM_RANKS]):
                points[kind] = points.get(kind, 0) + int(value)
    return points


def _place_of(key: Any) -> tuple[int, str]:
    """Find where a card, a rank or a suit stands among all of them, and its name."""
    text = key.strip() if isinstance(key, str) else ""
    if text.upper() in SUIT_NAMES and len(text) == 1:
        return SUIT_NAMES.index(text.upper()), text.upper()
    try:
        rank = parse_rank(text)
        return len(SUIT_NAMES) + rank, RANK_NAMES[rank - 1]
    except ValueError:
        pass
    try:
        kind = parse_card(text)
    except ValueError:
        raise ValueError(
            f"custom_points name cards, ranks A 2-9 T J Q K or suits C D H S, as in QS:13+H:1, not {shown(key)}"
        ) from None
    return NUM_KINDS + kind, card_name(kind)
