"""Goals: rules with low scores good and with high ones, and what the goal changes in games played by programs."""

from __future__ import annotations

from krypenv.training.research.lab.rulesets import rule_sets

ONE_PACK = {"Sweden": "kasino-sweden", "Överspader": "overspader", "Finland": "kasino-finland"}


def _goals() -> dict[str, str]:
    """Return rules with low scores good and with high ones; where captures are optional also with forced ones."""
    found = {"Krypkasino, low": "krypkasino", "Krypkasino, high": "krypkasino goal=high"}
    for name, preset in ONE_PACK.items():
        found[f"{name}, low"] = f"{preset} goal=low"
        found[f"{name}, high"] = preset
        found[f"{name}, must capture, low"] = f"{preset} capture=maximal goal=low"
        found[f"{name}, must capture, high"] = f"{preset} capture=maximal"
    return found


MISERE = rule_sets("misere", "What does misère change?", _goals())
