"""Magnetic mirror descent of OpenSpiel in Python (Sokota et al. 2023); its last strategies are graded."""

from __future__ import annotations

from collections.abc import Iterator

from encoding import tree_of
from ladder import Tables
from open_spiel.python.algorithms.exploitability import exploitability
from open_spiel.python.algorithms.mmd_dilated import MMDDilatedEnt

from krypenv import Rules


def train(rules: Rules, seed: int, seconds: float, alpha: float = 0.01, step: float = 0.0) -> Iterator[Tables]:
    """Yield the strategies after each iteration; `alpha` weighs the entropy, and `step` 0 is the proven step size."""
    game = tree_of(rules)
    descent = MMDDilatedEnt(game, alpha, step or None)
    while True:
        descent.update_sequences()
        yield Tables(lambda: exploitability(game, descent.get_policies()))
