"""Misère: what changes if few points are the goal? Krypkasino and the one-pack games, each for few and for many."""

from __future__ import annotations

from krypenv.training.lab.rulesets import rule_sets

ONE_PACK = {"Sweden": "kasino-sweden", "Överspader": "overspader", "Finland": "kasino-finland"}


def _sets() -> dict[str, str]:
    """Return the rules by their labels; where captures are optional also those under which a card must capture."""
    found = {"Krypkasino, few": "krypkasino", "Krypkasino, many": "krypkasino goal=high"}
    for name, preset in ONE_PACK.items():
        found[f"{name}, few"] = f"{preset} goal=low"
        found[f"{name}, many"] = preset
        found[f"{name}, must capture, few"] = f"{preset} capture=maximal goal=low"
        found[f"{name}, must capture, many"] = f"{preset} capture=maximal"
    return found


STUDY = rule_sets("misere", "What does misère change?", _sets())
