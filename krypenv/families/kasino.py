"""Kasino in Sweden (S) and Finland (F), Överspader (O), Laistokasino (L): their presets, as the fields that differ."""

from __future__ import annotations

from typing import Any

from krypenv.cards import DIAMONDS, NUM_RANKS, SPADES

MOST_PLAYERS = 4  # K1

FAMILY: dict[str, Any] = {  # what Kasino and Mulle have in common
    "goal": "high",
    "capture": "optional",  # K2
    "forced_sweep": False,  # K3
    "double_sweep": "none",  # K3
    "sweep_payer": "nobody",  # K3
    "sweep_points": 1,
    "set_aside": "none",
    "ace_points": 1,  # S3
    "storan_points": 2,
    "lillan_points": 1,
    "spade_points": 0,
}
ONE_OR_FOURTEEN = ((1, 14), *range(2, NUM_RANKS + 1))  # S1

_ONE_PACK: dict[str, Any] = FAMILY | {
    "packs": 1,
    "first_deal": ((2, 2), (2, 2)),  # S2
    "later_deal": ((2, 0), (2, 0)),
    "most_cards_points": 1,  # S3
}
_SWEDEN: dict[str, Any] = _ONE_PACK | {
    "hand_values": ONE_OR_FOURTEEN,
    "table_values": ONE_OR_FOURTEEN,
    "last_capture_points": 1,  # S3
    "tie_break": "spades",  # S4
}
_FINLAND: dict[str, Any] = _ONE_PACK | {
    "lillan_hand_value": 15,  # F1; an ace is 14 from the hand, as in Krypkasino
    "storan_hand_value": 16,
    "most_spades_points": 2,  # F3
    "spades_tie": "two_share",
    "sweeps_cancel": True,  # F4
    "last_deal_sweeps": False,  # F5
    "sweep_limit": 10,
    "threshold_at_once": True,  # F6
    "tie_break": "finnish",  # F7
}

PRESETS: dict[str, dict[str, Any]] = {
    "kasino-sweden": _SWEDEN | {"most_spades_points": 2},
    "mini-kasino": _SWEDEN  # 6 cards, for exact research: ace to three of diamonds and spades; the majorities decide
    | {
        "ranks": (1, 2, 3),
        "suits": (DIAMONDS, SPADES),
        "first_deal": ((2, 1),),
        "later_deal": ((1, 0),),
        "short_last_deal": True,
        "most_spades_points": 2,
    },
    "overspader": _SWEDEN | {"spades_above": 6},  # O1
    "kasino-finland": _FINLAND,
    "laistokasino": _FINLAND | {"goal": "low", "capture": "maximal"},  # L1, L2
}
