"""Positions with each kind of decision, for tables."""

from __future__ import annotations

CHOICE = (
    "rules: krypkasino; hand 0: 8S 7C AD 4H; hand 1: 4C KD 2S 9C; table: 3H 5D 8C 5H 6H TD; captured 1: rest; stock: -"
)
FORCED = "rules: krypkasino; hand 0: 8S 9D; hand 1: 4C KD; table: 2H 6D; captured 1: rest; stock: -"
BUILDS = (
    "rules: mulle-glimne; table: 5D 6H; build 9: 4C 5C; owner 9: 0; hand 0: 9S 4S KS; hand 1: KD KH 2D; "
    "captured 1: rest; stock: -"
)
MANY = (
    "rules: kasino-sweden; table: AS 2S 3S 4S 5S 2H 3H 4H AH 5D 6D; hand 0: AC 9C TC; hand 1: 5C 6C 7C; "
    "captured 1: rest; stock: -"
)
