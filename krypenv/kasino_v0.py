"""Kasino in Sweden and Finland, Överspader and Laistokasino, as a PettingZoo AEC environment: `kasino_v0.env()`."""

from __future__ import annotations

from krypenv.envs.aec import CardGame, wrapping
from krypenv.families.variants import KASINO

__all__ = ["env", "raw_env"]


class raw_env(CardGame, family=KASINO):  # noqa: N801 - the name is PettingZoo's
    """Kasino without wrappers; an illegal action raises IllegalMove. See `krypenv.envs.aec.CardGame`."""


env = wrapping(raw_env)
