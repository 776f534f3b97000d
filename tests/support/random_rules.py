"""Random rules: any preset with some fields, or all of them, drawn within their bounds."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from functools import partial
from typing import Any

from krypenv import Rules
from krypenv.families.field_checks import CHOICES, POINTS, SWITCHES
from krypenv.families.variants import FAMILIES
from support.fuzzing import REFUSED, Tally, attempt

Draw = Callable[[random.Random], Any]


def _batches(rng: random.Random, most: int) -> tuple[tuple[int, int], ...]:
    """Return batches of a deal: cards to each hand, cards to the table; now and then very large ones."""
    hand, table = (26, 104) if rng.random() < 0.05 else (5, most)
    return tuple(
        (rng.randint(0, hand), rng.choice((0, 0, 1, 2, rng.randint(0, table)))) for _ in range(rng.randint(1, 3))
    )


def _value(rng: random.Random) -> int | tuple[int, int]:
    """Return the value of a card, or the two that its owner chooses from."""
    low, high = sorted(rng.sample(range(1, 17), 2))
    return (low, high) if rng.random() < 0.2 else low


def _values(rng: random.Random) -> tuple[Any, ...]:
    """Return the values of 13 ranks: those of the cards with some changed, all of them random, or all of them equal."""
    if rng.random() < 0.1:
        return (rng.randint(1, 16),) * 13
    changed = rng.choice((0.1, 0.3, 1.0))
    return tuple(_value(rng) if rng.random() < changed else rank for rank in range(1, 14))


def _some(rng: random.Random, numbers: range) -> tuple[int, ...]:
    """Return some of the numbers, ascending; one time in three all of them."""
    few = rng.sample(numbers, rng.randint(1, len(numbers)))
    return tuple(numbers if rng.random() < 1 / 3 else sorted(few))


def _points(low: int) -> Draw:
    """Return what draws points, small ones more often."""
    return lambda rng: rng.choice((0, 1, 2, 5, rng.randint(low, 20)))


def _or_none(*limits: int) -> Draw:
    """Return what draws None, or a number from the first limit to one of the others."""
    low, *highs = limits
    return lambda rng: None if rng.random() < 0.4 else rng.randint(low, rng.choice(highs))


SEATS = ("players", "teams")  # always drawn, and first, while there are cards for all
OF_CAPTURES = ("capture", "hand_values", "table_values", "lillan_hand_value", "storan_hand_value")
TRIES = 3  # draws of a field until one goes with the others
FIELDS: dict[str, Draw] = {
    "players": lambda rng: rng.randint(2, 6),
    "teams": lambda rng: rng.choice((None, 2, 2, 3)),
    "ranks": lambda rng: _some(rng, range(1, 14)),
    "suits": lambda rng: _some(rng, range(4)),
    "packs": lambda rng: rng.randint(1, 2),
    "first_deal": lambda rng: rng.choice(("standard", "six_table", *[_batches(rng, 8)] * 4)),
    "later_deal": lambda rng: _batches(rng, 3),
    "short_last_deal": lambda rng: rng.random() < 0.8,
    "hand_values": _values,
    "table_values": _values,
    "lillan_hand_value": _or_none(1, 16),
    "storan_hand_value": _or_none(1, 16),
    "spade_ace_points": _or_none(0, 20),
    "spades_above": _or_none(0, 8, 26),
    "sweep_limit": _or_none(1, 10, 100, 10_000),
    "games": lambda rng: rng.choice((0, 1, 2, 3, rng.randint(0, 1000))),
    "threshold": _or_none(1, 10, 60, 500, 10_000),
    **{field: lambda rng, words=words: rng.choice(words) for field, words in CHOICES.items()},
    **{field: lambda rng: rng.random() < 0.5 for field in SWITCHES if field != "short_last_deal"},
    **{field: _points(low) for field, low in POINTS.items()},
}


def draw_rules(rng: random.Random, tally: Tally | None = None) -> Rules:
    """Return a preset with a few, many or all fields drawn at random, each as far as `Rules` accepts it.

    A tally counts what was refused, in one sentence each.
    """
    counted = Tally()
    rules = Rules.preset(rng.choice(sorted(rng.choice(FAMILIES).variants.values())))
    share = rng.choice((0.05, 0.2, 0.5, 1.0))
    fields = [field for field in FIELDS if rng.random() < share and field not in SEATS]
    rng.shuffle(fields)
    rules = _redraw(rules, [*SEATS, *fields], rng, counted)
    if tally is not None:
        tally["refused"] += counted["refused"]
    return rules


def _redraw(rules: Rules, fields: list[str], rng: random.Random, counted: Tally) -> Rules:
    """Return rules with some fields drawn anew, each as far as `Rules` accepts it."""
    for field in fields:
        for _ in range(TRIES):
            changed = {field: FIELDS[field](rng)}
            drawn = attempt(partial(dataclasses.replace, rules, **changed), counted, (str(rules), changed))
            if drawn is not REFUSED:
                rules = drawn
                break
    return rules


def draw_small_rules(rng: random.Random) -> Rules:
    """Return rules of 6 to 16 cards, or to 48 of the family of Krypkasino, with half of the other fields drawn."""
    while True:
        is_plain = rng.random() < 0.4
        small: dict[str, Any] = {
            "players": rng.randint(2, 4),
            "ranks": tuple(sorted({1, *rng.sample((2, 3, 4, 5, 10, 11, 13), rng.randint(1, 5))})),
            "suits": tuple(sorted(rng.sample(range(4), rng.randint(1, 4)))),
            "packs": rng.randint(1, 2),
            "first_deal": ((1, rng.randint(0, 3)), (1, rng.randint(0, 2)))[: rng.randint(1, 2)],
            "later_deal": ((rng.randint(1, 2), rng.randint(0, 1)),),
            "short_last_deal": True,
            "games": rng.randint(1, 3),
            "threshold": rng.choice((None, 3, 6)),
        }
        fields = [field for field in FIELDS if field not in small and rng.random() < 0.5]
        base = rng.choice(FAMILIES[:1] if is_plain else FAMILIES[1:])
        name = rng.choice(sorted(base.variants.values()))
        rules = attempt(partial(Rules.preset, name, **small), Tally(), (name, small))
        if rules is not REFUSED and 6 <= rules.deck_size <= (48 if is_plain else 16):
            fields = [field for field in fields if not is_plain or field not in OF_CAPTURES]
            rng.shuffle(fields)
            return _redraw(rules, fields, rng, Tally())
