"""Rules of the relatives of Krypkasino, and odd combinations of their fields, that several tests try."""

from __future__ import annotations

from krypenv import Rules

PRESETS = ("kasino-sweden", "overspader", "kasino-finland", "mulle")
SEATS = ("players=2", "players=3", "players=4", "players=4 teams=2")
RELATIVE_SESSIONS = (
    "kasino-sweden players=3 games=0 threshold=16",
    "overspader players=4 teams=2 games=0 threshold=21 tie_break=play_on",
    "kasino-finland players=2 games=0 threshold=16",
    "kasino-finland players=4 teams=2 games=0 threshold=11",
    "kasino-finland players=3 games=0 threshold=7 tie_break=play_on goal=low",
    "mulle players=2 games=2 threshold=30",
)
ODD_ONES = (
    "kasino-sweden players=2 goal=low",
    "kasino-sweden players=2 capture=maximal",
    "krypkasino players=2 goal=high",
    "krypkasino players=2 capture=optional",
    "kasino-finland players=2 forced_sweep=True",
    "kasino-finland players=3 capture=maximal forced_sweep=True sweep_payer=seat_before",
    "mulle players=2 double_sweep=identical capture=maximal",
    "mini-low players=2 capture=optional forced_sweep=False tie_break=finnish sweeps_cancel=True",
)
RELATIVES = {
    text: Rules.parse(text)
    for text in (*(f"{name} {seats}" for name in PRESETS for seats in SEATS), *RELATIVE_SESSIONS, *ODD_ONES)
}
