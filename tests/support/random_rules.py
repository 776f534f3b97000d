"""Rules to draw from: those of the tests, random ones, and such of decks so small that the reference plays them."""

from __future__ import annotations

import random
from typing import Any

from krypenv import Rules
from krypenv.families.variants import FAMILIES
from support.games import RULES
from support.relatives import ALL_RELATIVES

OF_CAPTURES = ("capture", "hand_values", "table_values", "lillan_hand_value", "storan_hand_value")


def draw_small_rules(rng: random.Random) -> Rules:
    """Return rules of 6 to 16 cards, or to 48 of the family of Krypkasino, with many of the other fields drawn."""
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
        base = rng.choice(FAMILIES[:1] if is_plain else FAMILIES[1:])
        name = rng.choice(sorted(base.variants.values()))
        if is_plain:
            small |= {field: getattr(Rules.preset(name), field) for field in OF_CAPTURES}
        try:
            rules = Rules.random(rng.getrandbits(32), name=name, **small)
        except ValueError:
            continue
        if 6 <= rules.deck_size <= (48 if is_plain else 16):
            return rules


def some_rules(rng: random.Random) -> Rules:
    """Return rules of the tests, or random ones."""
    known = rng.choice([*RULES.values(), *ALL_RELATIVES.values()])
    return known if rng.random() < 0.5 else Rules.random(rng.getrandbits(64))
