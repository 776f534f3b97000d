"""Effects that two answers of a study measure, each on its own seed: which of them hold, of all that are tested."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy.stats import combine_pvalues

from krypenv.training.evaluation.matches.margins import holm
from krypenv.training.lab.intervals import ALONE, LEVEL

Path = tuple[str, ...]  # where an effect stands in the figures of an answer
Effect = Mapping[str, float]  # with its mean and its p value by itself


def effects_in(figures: Mapping[str, Any], path: Path = ()) -> Iterator[tuple[Path, Effect]]:
    """Yield the effects that an answer tests, with their places in its figures."""
    for name, each in figures.items():
        if isinstance(each, dict):
            if ALONE in each:
                yield (*path, name), each
            else:
                yield from effects_in(each, (*path, name))


def p_of_both(first: Effect, again: Effect) -> float:
    """Return the p value of an effect measured on two seeds, by Fisher's method for independent tests.

    It is 1 if the signs differ, or if a seed by itself does not tell the effect apart from zero. That makes errors
    rarer still.
    """
    p_values = (first[ALONE], again[ALONE])
    agree = first["mean"] * again["mean"] > 0 and max(p_values) < LEVEL
    with np.errstate(divide="ignore"):  # a p value of 0 is certain
        return float(combine_pvalues(p_values).pvalue) if agree else 1.0


def replicated(pairs: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]]) -> dict[Path, float]:
    """Return the p values of all effects that pairs of answers measure, by Holm over all of them together.

    `pairs` has by name the figures of an answer and those of the same study on another seed. The keys are that name
    and the place in the figures. Raises ValueError if the two answers don't test the same effects.
    """
    found: dict[Path, float] = {}
    for name, both in pairs.items():
        first, again = (dict(effects_in(figures)) for figures in both)
        if first.keys() != again.keys():
            raise ValueError(f"the two answers of {name} test different effects; both must come from the same study")
        found |= {(name, *path): p_of_both(effect, again[path]) for path, effect in first.items()}
    return dict(zip(found, map(float, holm([*found.values()])), strict=True))


def sign_of(effect: Effect, p: float) -> int:
    """Return the sign of an effect, 0 if its p value does not tell it apart from zero."""
    return int(np.sign(effect["mean"])) if p < LEVEL else 0
