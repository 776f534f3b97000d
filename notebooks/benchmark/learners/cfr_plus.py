"""CFR+ of OpenSpiel in C++ (Tammelin 2014)."""

from __future__ import annotations

from collections.abc import Iterator

import pyspiel
from encoding import tree_of
from ladder import Tables

from krypenv import Rules


def train(rules: Rules, seed: int, seconds: float) -> Iterator[Tables]:
    """Yield the average strategies after each iteration."""
    game = tree_of(rules)
    solver = pyspiel.CFRPlusSolver(game)
    while True:
        solver.evaluate_and_update_policy()
        yield Tables(lambda: pyspiel.exploitability(game, solver.average_policy()))
