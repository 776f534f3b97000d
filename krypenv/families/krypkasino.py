"""Krypkasino: the presets of its rules, as the fields that differ from the main rulebook."""

from __future__ import annotations

from typing import Any

from krypenv.cards import ACE, DIAMONDS, PICTURES, SPADES, TEN

PRESETS: dict[str, dict[str, Any]] = {
    "krypkasino": {},
    "howto": {
        "first_deal": ((2, 0), (2, 4)),
        "short_last_deal": True,
        "set_aside": "none",
        "pictures_in_sums": False,
        "double_sweep": "rank",
    },
    # Small games for exact research; the first two are for two players, and can be solved
    "mini-sweep": {  # 6 cards: ace to three of diamonds and spades; who lays what the other must sweep
        "ranks": (1, 2, 3),
        "suits": (DIAMONDS, SPADES),
        "packs": 1,
        "first_deal": ((2, 1),),
        "later_deal": ((1, 0),),
        "short_last_deal": True,
    },
    "mini-choice": {  # 8 cards: ace to four of them, a card for each hand at a time; only captures are chosen
        "ranks": (1, 2, 3, 4),
        "suits": (DIAMONDS, SPADES),
        "packs": 1,
        "first_deal": ((1, 4),),
        "later_deal": ((1, 0),),
    },
    "mini-last": {  # 8 cards: ace to four of them; the last capture is worth three points
        "ranks": (1, 2, 3, 4),
        "suits": (DIAMONDS, SPADES),
        "packs": 1,
        "first_deal": ((2, 2),),
        "later_deal": ((1, 0),),
        "last_capture_points": 3,
    },
    "mini-copies": {  # 8 cards: ace and two of them, twice; a copy of a lone card sweeps it twice
        "ranks": (1, 2),
        "suits": (DIAMONDS, SPADES),
        "first_deal": ((2, 2),),
        "later_deal": ((1, 0),),
    },
    "mini-hidden": {  # 10 cards: ace to five of them; what the other hand can sweep decides
        "ranks": (1, 2, 3, 4, 5),
        "suits": (DIAMONDS, SPADES),
        "packs": 1,
        "first_deal": ((2, 2),),
        "later_deal": ((2, 0),),
    },
    "mini-count": {  # 12 cards: ace to six of them; who has counted knows the hands of the last deals better
        "ranks": (1, 2, 3, 4, 5, 6),
        "suits": (DIAMONDS, SPADES),
        "packs": 1,
        "first_deal": ((2, 2),),
        "later_deal": ((1, 0),),
    },
    "mini-low": {  # 24 cards: ace to six, one pack; every card takes part in sums
        "ranks": (1, 2, 3, 4, 5, 6),
        "packs": 1,
        "first_deal": ((2, 2), (2, 2)),
        "later_deal": ((2, 0),),
        "short_last_deal": True,
    },
    "mini-double": {  # 32 cards: ace to eight of diamonds and spades, two packs; double sweeps
        "ranks": (1, 2, 3, 4, 5, 6, 7, 8),
        "suits": (DIAMONDS, SPADES),
        "first_deal": ((2, 1), (2, 1)),
        "later_deal": ((2, 0),),
        "short_last_deal": True,
    },
    "mini-high": {  # 20 cards: ace, ten and the pictures of diamonds and spades, two packs; the cards set aside matter
        "ranks": (ACE, TEN, *PICTURES),
        "suits": (DIAMONDS, SPADES),
        "first_deal": ((1, 2), (1, 2)),
        "later_deal": ((2, 0),),
        "short_last_deal": True,
    },
}
