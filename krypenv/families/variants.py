"""All presets of the rules, and the environment of each family, which plays them as its variants."""

from __future__ import annotations

from typing import Any, NamedTuple

from krypenv.families import kasino, krypkasino, mulle
from krypenv.families.bounds import MAX_PLAYERS

PRESETS: dict[str, dict[str, Any]] = krypkasino.PRESETS | kasino.PRESETS | mulle.PRESETS
MOST_PLAYERS: dict[str, int] = {
    **dict.fromkeys(krypkasino.PRESETS, MAX_PLAYERS),
    "howto": 4,  # the second description is for 2 to 4 players
    **dict.fromkeys(kasino.PRESETS, kasino.MOST_PLAYERS),
    **dict.fromkeys(mulle.PRESETS, mulle.MOST_PLAYERS),
}


class Family(NamedTuple):
    """The games of one environment."""

    module: str  # of the PettingZoo environment, as in `krypenv.kasino_v0`
    gym_id: str  # of the Gymnasium environment
    variants: dict[str, str]  # name of each variant and its preset; the first one is the default

    @property
    def default(self) -> str:
        """The variant that is played if none is named."""
        return next(iter(self.variants))


KRYPKASINO = Family("krypkasino_v0", "Krypkasino-v0", {name: name for name in krypkasino.PRESETS})
KASINO = Family(
    "kasino_v0",
    "Kasino-v0",
    {
        "sweden": "kasino-sweden",
        "overspader": "overspader",
        "finland": "kasino-finland",
        "laistokasino": "laistokasino",
        "mini": "mini-kasino",
    },
)
MULLE = Family("mulle_v0", "Mulle-v0", {"sassersson": "mulle", "glimne": "mulle-glimne", "mini": "mini-mulle"})
FAMILIES = (KRYPKASINO, KASINO, MULLE)


def family_of(preset: str) -> Family:
    """Find the family that a preset belongs to."""
    return next(family for family in FAMILIES if preset in family.variants.values())
