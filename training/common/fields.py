"""Dataclasses that are command lines: a sentence under each field, and rules named as everywhere."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from krypenv.rules import Rules
from krypenv.training.common.bounds import Bounds


def setting(default: Any, text: str, bounds: Bounds | None = None) -> Any:
    """Return a field of a dataclass with its default, the sentence that is its help, and the bounds of a number."""
    return dataclasses.field(default=default, metadata={"help": text, "bounds": bounds})


def parse_rules(preset: str, players: int | None, teams: int | None, fields: Sequence[str]) -> Rules:
    """Return the rules that some options name; raises ValueError where there are none."""
    given = [f"{name}={value}" for name, value in (("players", players), ("teams", teams)) if value is not None]
    return Rules.parse(" ".join([preset, *given, *(word.replace(" ", "") for word in fields)]))
