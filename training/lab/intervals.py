"""Samples by name, as a study's answer shows them: rows of a table, plain figures, bars with intervals, words."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from scipy.stats import ttest_1samp

from krypenv.training.evaluation.matches.margins import (
    FloatArray,
    Interval,
    format_margin,
    holm,
    interval,
    margin_cells,
)

Samples = Mapping[str, FloatArray]  # independent samples, (n,), such as margins by deal

Key = TypeVar("Key")

WIDEST_LABEL = 40  # characters
LEVEL = 0.05  # of all tests of an answer together
P, ALONE = "p", "p alone"  # of a figure: adjusted for all tests of its answer, and of this test by itself


def cells(found: Interval) -> tuple[str, str]:
    """Return a margin and its interval as two cells of a table."""
    return ("-", "-") if np.isnan(found[0]) else margin_cells(*found)


def amounts(found: Interval) -> tuple[str, str]:
    """Return an amount, which has no sign, and its interval as two cells of a table."""
    mean, low, high = found
    return ("-", "-") if np.isnan(mean) else (f"{mean:.2f}", f"{low:.2f} to {high:.2f}")


def rows_of(samples: Samples) -> list[tuple[str, ...]]:
    """Return a row for each name: the name, the mean and its interval."""
    return [(name, *cells(interval(each))) for name, each in samples.items()]


def figures_of(intervals: Mapping[str, Interval]) -> dict[str, dict[str, float]]:
    """Return intervals as plain JSON values, without those that there are no samples for."""
    return {
        name: {"mean": mean, "low": low, "high": high}
        for name, (mean, low, high) in intervals.items()
        if np.isfinite((mean, low, high)).all()
    }


def intervals_in(figures: Mapping[str, Any]) -> dict[str, Interval]:
    """Return the intervals in plain JSON values; the inverse of `figures_of`."""
    return {
        name: (each["mean"], each["low"], each["high"])
        for name, each in figures.items()
        if isinstance(each, dict) and each.keys() == {"mean", "low", "high"}
    }


class Kind(NamedTuple):
    """A kind of bar, told apart by a mark before its name and by its colour."""

    words: str
    mark: str
    colour: str


def bars(
    intervals: Mapping[str, Interval], label: str, kinds: Mapping[str, Kind] | None = None
) -> Callable[[Axes], None]:
    """Return what draws a horizontal bar with its interval for each name, by its kind if it has one."""

    def draw(axes: Axes) -> None:
        finite = {name: each for name, each in intervals.items() if np.isfinite(each).all()}
        of_names = kinds or {}
        if finite:
            means = np.array(list(finite.values()))
            errors = [means[:, 0] - means[:, 1], means[:, 2] - means[:, 0]]
            axes.barh(
                [textwrap.fill(f"{of_names[name].mark} {name}" if name in of_names else name, WIDEST_LABEL)
                 for name in finite],
                means[:, 0],
                xerr=errors,
                capsize=4,
                color=[of_names[name].colour if name in of_names else "#6b8fb5" for name in finite],
            )  # fmt: skip
        seen = list(dict.fromkeys(of_names[name] for name in finite if name in of_names))
        if seen:
            patches = [Patch(color=kind.colour, label=f"{kind.mark} {kind.words}") for kind in seen]
            axes.figure.legend(handles=patches, loc="outside lower center", ncols=len(seen), fontsize=9)
        axes.axvline(0, color="black", linewidth=0.8)
        axes.invert_yaxis()
        axes.tick_params(axis="y", labelsize=9)
        axes.set_xlabel(label)

    return draw


def p_value(samples: Sequence[float] | FloatArray) -> float:
    """Return the p value of a mean other than zero, by the two-sided t test of independent samples."""
    found = np.asarray(samples, float)
    if len(found) < 2:
        return 1.0
    if not found.std():
        return float(not found.any())
    return float(ttest_1samp(found, 0.0).pvalue)


def effects_of(samples: Mapping[Key, FloatArray]) -> dict[Key, dict[str, float]]:
    """Return the figures of samples that are tested together, by name.

    Each has `mean`, `low` and `high`, its p value by Holm over all of them (`P`), and that of the sample by itself
    (`ALONE`), which `replication.py` needs.
    """
    alone = [p_value(each) for each in samples.values()]
    names = ("mean", "low", "high", P, ALONE)
    found = zip(samples.items(), holm(alone), alone, strict=True)
    return {key: dict(zip(names, (*interval(each), float(p), one), strict=True)) for (key, each), p, one in found}


def format_p(p: float) -> str:
    """Return a p value as text."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def points(*samples: Sequence[float] | FloatArray) -> list[str]:
    """Return margins in words, as in `+1.3 points a game (+1.1 to +1.5)`.

    Each interval is one of 95% by itself. A note tells which margins can't be told apart from zero if all of them are
    tested together (Holm).
    """
    return [
        format_margin(*interval(each), 1, " points a game", "" if p < LEVEL else "; not told apart from zero")
        for each, p in zip(samples, holm(list(map(p_value, samples))), strict=True)
    ]


def percents(found: Interval) -> tuple[str, str]:
    """Return a share and its interval as two cells of a table, in percent."""
    share, low, high = np.clip(found, 0, 1)
    return ("-", "-") if np.isnan(share) else (f"{share:.1%}", f"{low:.1%} to {high:.1%}")
