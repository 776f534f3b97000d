"""Random values of the fields of rules, within their bounds: of some kinds small ones more often."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from krypenv.cards import NUM_KINDS, NUM_RANKS, NUM_SUITS, RANK_NAMES, SUIT_NAMES, card_name
from krypenv.families.field_checks import CHOICES, MAX_VALUE, POINTS, SWITCHES
from krypenv.families.fields import Fields
from krypenv.families.points import MOST_POINTS

Rng = np.random.Generator
Draw = Callable[[Rng], Any]
SomeRules = TypeVar("SomeRules", bound=Fields)
TRIES = 3  # draws of a field until one goes with the others
SHARES = (0.05, 0.2, 0.5, 1.0)  # of the fields that are drawn


def one_of(rng: Rng, options: Sequence[Any]) -> Any:
    """Draw one of some options of any types."""
    return options[int(rng.integers(len(options)))]


def from_to(rng: Rng, low: int, high: int) -> int:
    """Draw a whole number within bounds."""
    return int(rng.integers(low, high + 1))


def _batches(rng: Rng, most: int) -> tuple[tuple[int, int], ...]:
    """Draw batches of a deal: cards to each hand, cards to the table; now and then very large ones."""
    hand, table = (26, 104) if rng.random() < 0.05 else (5, most)
    return tuple(
        (from_to(rng, 0, hand), one_of(rng, (0, 0, 1, 2, from_to(rng, 0, table)))) for _ in range(from_to(rng, 1, 3))
    )


def _value(rng: Rng) -> int | tuple[int, int]:
    """Draw the value of a card, or the two that its owner chooses from."""
    low, high = sorted(rng.choice(MAX_VALUE, 2, replace=False).tolist())
    return (low + 1, high + 1) if rng.random() < 0.2 else low + 1


def _values(rng: Rng) -> tuple[Any, ...]:
    """Draw the values of 13 ranks: the usual ones with some changed, all of them random, or all of them equal."""
    if rng.random() < 0.1:
        return (from_to(rng, 1, MAX_VALUE),) * NUM_RANKS
    changed = one_of(rng, (0.1, 0.3, 1.0))
    return tuple(_value(rng) if rng.random() < changed else rank for rank in range(1, NUM_RANKS + 1))


def _some(rng: Rng, numbers: range) -> tuple[int, ...]:
    """Draw some of the numbers, ascending; one time in three all of them."""
    few = rng.choice(numbers, from_to(rng, 1, len(numbers)), replace=False)
    return tuple(numbers if rng.random() < 1 / 3 else sorted(few.tolist()))


def _points(low: int) -> Draw:
    """Make a function that draws points, small ones more often."""
    return lambda rng: one_of(rng, (0, 1, 2, 5, from_to(rng, low, 20)))


def _choice(words: Sequence[str]) -> Draw:
    """Make a function that draws one of some words."""
    return lambda rng: one_of(rng, words)


def _or_none(*limits: int) -> Draw:
    """Make a function that draws None, or a number from the first limit to one of the others."""
    low, *highs = limits
    return lambda rng: None if rng.random() < 0.4 else from_to(rng, low, one_of(rng, highs))


def _custom_points(rng: Rng) -> dict[str, int]:
    """Draw points of a few cards, ranks and suits, or of none."""
    names = [*SUIT_NAMES, *RANK_NAMES, *map(card_name, range(NUM_KINDS))]
    return {one_of(rng, names): from_to(rng, 0, MOST_POINTS) for _ in range(one_of(rng, (0, 0, 1, 3)))}


SEATS = ("players", "teams")  # always drawn, and first, while there are cards for all
DRAWS: dict[str, Draw] = {  # of each field but the name
    "players": lambda rng: from_to(rng, 2, 6),
    "teams": lambda rng: one_of(rng, (None, 2, 2, 3)),
    "ranks": lambda rng: _some(rng, range(1, NUM_RANKS + 1)),
    "suits": lambda rng: _some(rng, range(NUM_SUITS)),
    "packs": lambda rng: from_to(rng, 1, 2),
    "first_deal": lambda rng: one_of(rng, ("standard", "six_table", *[_batches(rng, 8)] * 4)),
    "later_deal": lambda rng: _batches(rng, 3),
    "short_last_deal": lambda rng: rng.random() < 0.8,
    "hand_values": _values,
    "table_values": _values,
    "lillan_hand_value": _or_none(1, MAX_VALUE),
    "storan_hand_value": _or_none(1, MAX_VALUE),
    "spade_ace_points": _or_none(0, 20),
    "custom_points": _custom_points,
    "spades_above": _or_none(0, 8, 26),
    "sweep_limit": _or_none(1, 10, 100, 10_000),
    "games": lambda rng: one_of(rng, (0, 1, 2, 3, from_to(rng, 0, 1000))),
    "threshold": _or_none(1, 10, 60, 500, 10_000),
    **{field: _choice(words) for field, words in CHOICES.items()},
    **{field: lambda rng: rng.random() < 0.5 for field in SWITCHES if field != "short_last_deal"},
    **{field: _points(low) for field, low in POINTS.items()},
}


def redraw(rules: SomeRules, fixed: set[str], rng: Rng) -> SomeRules:
    """Draw a few, many or all fields of rules anew, but for the fixed ones.

    Each is drawn until the rules accept it beside the others, TRIES times at most.
    """
    share = one_of(rng, SHARES)
    fields = [field for field in DRAWS if rng.random() < share and field not in SEATS]
    rng.shuffle(fields)
    for field in [*SEATS, *fields]:
        for _ in range(TRIES if field not in fixed else 0):
            try:
                rules = dataclasses.replace(rules, **{field: DRAWS[field](rng)})
                break
            except ValueError:
                pass
    return rules
