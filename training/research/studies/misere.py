"""Misère: what changes if low scores are good? Krypkasino and the one-pack games, each with both goals."""

from __future__ import annotations

from krypenv.training.research.lab.rulesets import rule_sets

ONE_PACK = {"Sweden": "kasino-sweden", "Överspader": "overspader", "Finland": "kasino-finland"}


def _sets() -> dict[str, str]:
    """Return the rules by their labels; where captures are optional also those under which a card must capture."""
    found = {"Krypkasino, low": "krypkasino", "Krypkasino, high": "krypkasino goal=high"}
    for name, preset in ONE_PACK.items():
        found[f"{name}, low"] = f"{preset} goal=low"
        found[f"{name}, high"] = preset
        found[f"{name}, must capture, low"] = f"{preset} capture=maximal goal=low"
        found[f"{name}, must capture, high"] = f"{preset} capture=maximal"
    return found


STUDY = rule_sets("misere", "What does misère change?", _sets())
