"""Samples by name, such as margins by deal, as plain figures, tested together, in a table and as bars."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import numpy as np
from matplotlib.axes import Axes
from scipy.stats import combine_pvalues, ttest_1samp

from krypenv.training.evaluation.matches.margins import (
    FloatArray,
    Interval,
    holm,
    interval as interval,
    share_interval as share_interval,
)

LEVEL = 0.05  # of all tests of an answer together
P, ALONE = "p", "p alone"  # of a figure: adjusted for all tests of its answer, and of this test by itself
Key = TypeVar("Key")
Figure = Mapping[str, float]  # mean, low and high; P and ALONE too if it is tested


def p_value(samples: FloatArray) -> float:
    """Return the p value of a mean other than zero, by the two-sided t test of independent samples, (n,)."""
    if len(samples) < 2:
        return 1.0
    return float(ttest_1samp(samples, 0.0).pvalue) if samples.std() else float(not samples.any())


def effects_of(samples: Mapping[Key, FloatArray]) -> dict[Key, dict[str, float]]:
    """Return the figures of independent samples, (n,) each, that are tested together, by name.

    Each has `mean`, `low` and `high`, its p value by Holm over all of them (`P`), and that of the sample by itself
    (`ALONE`), which `replicated` needs.
    """
    alone = [p_value(each) for each in samples.values()]
    return {
        key: {**_plain(interval(each)), P: float(p), ALONE: one}
        for (key, each), p, one in zip(samples.items(), holm(alone), alone, strict=True)
    }


def figures_of(intervals: Mapping[str, Interval]) -> dict[str, dict[str, float]]:
    """Return intervals as plain JSON values, without those that there are no samples for."""
    return {name: _plain(each) for name, each in intervals.items() if np.isfinite(each).all()}


def _plain(found: Interval) -> dict[str, float]:
    return dict(zip(("mean", "low", "high"), map(float, found), strict=True))


def measured_in(figures: Mapping[str, Any], place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Figure]]:
    """Yield the figures with an interval that an answer has, with their places in it."""
    for name, each in figures.items():
        if isinstance(each, dict):
            if {"mean", "low", "high"} <= each.keys():
                yield (*place, name), each
            else:
                yield from measured_in(each, (*place, name))


def table_of(figures: Mapping[str, Any]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the columns and the rows of a table of all figures with an interval; those that are tested are signed."""
    found = list(measured_in(figures))
    shown = 4 if any(P in each for _, each in found) else 3
    rows: list[tuple[str, ...]] = []
    for place, each in found:
        sign = "+" if P in each else ""
        mean, low, high = (f"{each[name]:{sign}.2f}" for name in ("mean", "low", "high"))
        p = ("<0.001" if each[P] < 0.001 else f"{each[P]:.3f}") if P in each else ""
        rows.append((": ".join(place), mean, f"{low} to {high}", p)[:shown])
    return ("what", "mean", "95% interval", "p")[:shown], rows


def draw_bars(axes: Axes, figures: Mapping[str, Any]) -> None:
    """Draw a horizontal bar with its interval for each figure that has one."""
    for place, each in measured_in(figures):
        errors = [[each["mean"] - each["low"]], [each["high"] - each["mean"]]]
        axes.barh(textwrap.fill(": ".join(place), 40), each["mean"], xerr=errors, capsize=4, color="#6b8fb5")
    axes.axvline(0, color="black", linewidth=0.8)
    axes.invert_yaxis()
    axes.set_xlabel("mean, with its 95% interval")


def replicated(pairs: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]]) -> dict[tuple[str, ...], float]:
    """Return the p values of all effects that pairs of answers measure, by Holm over all of them together.

    `pairs` has by name the figures of an answer and those of the same study on another seed. The keys are that name
    and the place in the figures. Two p values make one by Fisher's method for independent tests. It is 1 if the signs
    differ, or if a seed by itself does not tell the effect apart from zero, which makes errors rarer still. Raises
    ValueError if the two answers don't test the same effects.
    """
    found: dict[tuple[str, ...], float] = {}
    for name, both in pairs.items():
        first, again = ({place: each for place, each in measured_in(one) if ALONE in each} for one in both)
        if first.keys() != again.keys():
            raise ValueError(f"the two answers of {name} test different effects; both must come from the same study")
        for place, effect in first.items():
            p_values = (effect[ALONE], again[place][ALONE])
            agree = effect["mean"] * again[place]["mean"] > 0 and max(p_values) < LEVEL
            with np.errstate(divide="ignore"):  # a p value of 0 is certain
                found[(name, *place)] = float(combine_pvalues(p_values).pvalue) if agree else 1.0
    return dict(zip(found, map(float, holm([*found.values()])), strict=True))
