"""Samples by name, such as margins by deal, as plain figures, tested together, in a table and as bars."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import numpy as np
from matplotlib.axes import Axes
from scipy.stats import combine_pvalues, ttest_1samp

from krypenv.training.evaluation.matches.margins import FloatArray, Interval, holm, interval as interval

LEVEL = 0.05  # significance level for all tests of an answer together
P, ALONE = "p", "p alone"  # p values of a figure: adjusted for all tests of its answer, and unadjusted
Key = TypeVar("Key")
Figure = Mapping[str, float]  # mean, low and high; also P and ALONE if it is tested


def effects_of(samples: Mapping[Key, FloatArray]) -> dict[Key, dict[str, float]]:
    """Test independent samples, (n,) each, together for means other than zero, and return their figures by name.

    A figure has `mean`, `low` and `high`, its p value by Holm over all samples (`P`), and that of the two-sided t test
    alone (`ALONE`), which `replicated` needs. A single sample has p value 1; where all are equal, it is 0 or 1.
    """
    alone = [
        1.0 if len(sample) < 2 else float(ttest_1samp(sample, 0.0).pvalue if sample.std() else not sample.any())
        for sample in samples.values()
    ]
    return {
        key: {**_plain(interval(sample)), P: float(p), ALONE: own_p}
        for (key, sample), p, own_p in zip(samples.items(), holm(alone), alone, strict=True)
    }


def figures_of(intervals: Mapping[str, Interval]) -> dict[str, dict[str, float]]:
    """Convert intervals to plain JSON values; those without samples are left out."""
    return {name: _plain(bounds) for name, bounds in intervals.items() if np.isfinite(bounds).all()}


def _plain(bounds: Interval) -> dict[str, float]:
    return dict(zip(("mean", "low", "high"), map(float, bounds), strict=True))


def measured_in(figures: Mapping[str, Any], place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Figure]]:
    """Yield an answer's figures that have an interval, each after its path of keys."""
    for name, figure in figures.items():
        if isinstance(figure, dict):
            if {"mean", "low", "high"} <= figure.keys():
                yield (*place, name), figure
            else:
                yield from measured_in(figure, (*place, name))


def table_of(figures: Mapping[str, Any]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Make the columns and rows of a table of all figures with an interval; tested figures are signed."""
    measured = list(measured_in(figures))
    shown = 4 if any(P in figure for _, figure in measured) else 3
    rows: list[tuple[str, ...]] = []
    for place, figure in measured:
        sign = "+" if P in figure else ""
        mean, low, high = (f"{figure[name]:{sign}.2f}" for name in ("mean", "low", "high"))
        p = ("<0.001" if figure[P] < 0.001 else f"{figure[P]:.3f}") if P in figure else ""
        rows.append((": ".join(place), mean, f"{low} to {high}", p)[:shown])
    return ("what", "mean", "95% interval", "p")[:shown], rows


def draw_bars(figures: Mapping[str, Any], axes: Axes) -> None:
    """Draw a horizontal bar with its interval for each figure that has one."""
    for place, figure in measured_in(figures):
        errors = [[figure["mean"] - figure["low"]], [figure["high"] - figure["mean"]]]
        axes.barh(textwrap.fill(": ".join(place), 40), figure["mean"], xerr=errors, capsize=4, color="#6b8fb5")
    axes.axvline(0, color="black", linewidth=0.8)
    axes.invert_yaxis()
    axes.set_xlabel("mean, with its 95% interval")


def replicated(first: Mapping[str, Any], again: Mapping[str, Any]) -> dict[tuple[str, ...], float]:
    """Combine the p values of effects measured on two seeds, adjusted by Holm over all effects together.

    The figures are those of two answers. The keys returned are the paths of keys in them. Fisher's method combines the
    two p values. The result is 1 if the signs differ, or if the effect is not significant on one of the seeds, which
    makes false positives rarer still. Raises ValueError if the answers don't test the same effects.
    """
    one, other = ({path: effect for path, effect in measured_in(seed) if ALONE in effect} for seed in (first, again))
    if one.keys() != other.keys():
        raise ValueError("the two answers test different effects; both must come from the same study")
    combined = []
    for path, effect in one.items():
        p_values = effect[ALONE], other[path][ALONE]
        agree = effect["mean"] * other[path]["mean"] > 0 and max(p_values) < LEVEL
        with np.errstate(divide="ignore"):  # a p value of 0 is certain
            combined.append(float(combine_pvalues(p_values).pvalue) if agree else 1.0)
    return dict(zip(one, map(float, holm(combined)), strict=True))
