"""The package's solver: predictive CFR+, deal by deal."""

from __future__ import annotations

from collections.abc import Iterator

from ladder import Tables, Unfit

from krypenv import Rules
from krypenv.training.solving import is_solvable, solve

LEAST_GAP = 1e-4  # in points


def train(rules: Rules, seed: int, seconds: float) -> Iterator[Tables]:
    """Yield strategies with smaller and smaller gaps; raise Unfit for a game that is too large."""
    if not is_solvable(rules):
        raise Unfit(f"the first deals of '{rules}' have too many histories for the memory")
    gap = 1.0
    while gap > LEAST_GAP:
        solved = solve(rules, gap, threads=1)
        yield Tables(lambda solved=solved: solved.exploitability)
        gap /= 4
