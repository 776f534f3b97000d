"""Mulle after Sassersson (M): its presets, as the fields that differ from the main rulebook."""

from __future__ import annotations

from typing import Any

from krypenv.cards import SPADES
from krypenv.families.kasino import FAMILY, MOST_PLAYERS, ONE_OR_FOURTEEN

__all__ = ["MOST_PLAYERS", "PRESETS"]

_MULLE: dict[str, Any] = FAMILY | {
    "packs": 2,
    "first_deal": ((5, 5),),  # M1
    "later_deal": ((5, 0),),
    "short_last_deal": True,
    "hand_values": ONE_OR_FOURTEEN,
    "table_values": ONE_OR_FOURTEEN,
    "mulle_points": 5,  # M2
    "most_spades_points": 1,  # M3
    "last_capture_points": 1,
    "tie_break": "spades",
}

PRESETS: dict[str, dict[str, Any]] = {
    "mulle": _MULLE,
    # 6 cards, for exact research: ace to three of spades, twice; who lays the card that the other has a copy of
    "mini-mulle": _MULLE
    | {
        "ranks": (1, 2, 3),
        "suits": (SPADES,),
        "first_deal": ((2, 1),),
        "later_deal": ((1, 0),),
    },
}
