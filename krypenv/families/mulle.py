"""Mulle after Sassersson (M) and after Glimne (G): their presets, as the fields that differ from the main rulebook."""

from __future__ import annotations

from typing import Any

from krypenv.families.kasino import FAMILY, MOST_PLAYERS, ONE_OR_FOURTEEN

__all__ = ["GLIMNE", "MOST_PLAYERS", "PRESETS"]

GLIMNE = "mulle-glimne"  # played by 2, or by 4 in two teams (K1)

PRESETS: dict[str, dict[str, Any]] = {
    "mulle": FAMILY
    | {
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
    },
    GLIMNE: FAMILY
    | {
        "packs": 2,
        "first_deal": ((2, 4), (2, 4)),  # G1
        "later_deal": ((2, 0), (2, 0)),
        "building": True,  # B1
        "lillan_hand_value": 15,  # G1, as F1
        "storan_hand_value": 16,
        "mulle_by_value": True,  # G2
        "storan_points": 3,  # G3
        "lillan_points": 2,
        "spade_points": 1,
        "ace_points": 0,
        "spade_ace_points": 2,
    },
}
