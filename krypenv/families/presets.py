"""All presets of the rules, family by family."""

from __future__ import annotations

from typing import Any

from krypenv.families import kasino, krypkasino, mulle
from krypenv.families.bounds import MAX_PLAYERS

PRESETS: dict[str, dict[str, Any]] = krypkasino.PRESETS | kasino.PRESETS | mulle.PRESETS
MOST_PLAYERS: dict[str, int] = {
    **dict.fromkeys(krypkasino.PRESETS, MAX_PLAYERS),
    "howto": 4,  # the second description is for 2 to 4 players
    **dict.fromkeys(kasino.PRESETS, kasino.MOST_PLAYERS),
    **dict.fromkeys(mulle.PRESETS, mulle.MOST_PLAYERS),
}
