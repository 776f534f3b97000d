"""Krypkasino as a PettingZoo AEC environment: `krypkasino_v0.env()`."""

from __future__ import annotations

from krypenv.envs.aec import CardGame, wrapping
from krypenv.families.variants import KRYPKASINO

__all__ = ["env", "raw_env"]


class raw_env(CardGame, family=KRYPKASINO):  # noqa: N801 - the name is PettingZoo's
    """Krypkasino without wrappers; an illegal action raises IllegalMove. See `krypenv.envs.aec.CardGame`."""


env = wrapping(raw_env)
