"""Margins and their 95% intervals, as figures and as text: signed, from the point of view of the agent that is named.

All games of a deal share its luck. So their margins are averaged first, and the samples of an interval are deals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from krypenv.advice.estimates import Interval as Interval, student
from krypenv.kernels.scoring import leads
from krypenv.rules import Rules

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

NO_FIGURE = "–"  # stands for nan
NONE: Interval = (math.nan, math.nan, math.nan)  # the interval of no samples


@dataclass(frozen=True)
class Adjusted:
    """A margin with luck taken out, in points a game."""

    margin: float  #: the agent's lead, without luck
    low: float  #: lower end of its 95% interval; infinite after a single deal
    high: float  #: upper end
    worth: float  #: how many raw deals are as precise as one adjusted deal, the ratio of variances; nan if unknown
    control: str  #: the rollouts, their coefficients, and a digest of both


# ---------------------------------------------------------------------- margins


def leads_over_others(rules: Rules, scores: npt.NDArray[np.number]) -> FloatArray:
    """Compute each side's lead over the mean of the others, (..., S) to (..., S)."""
    means = (scores.sum(axis=-1, keepdims=True) - scores) / (rules.num_teams - 1)
    lead: FloatArray = leads(rules, scores, means)
    return lead


def adjust(margins: FloatArray, luck: FloatArray, control: str) -> Adjusted:
    """Compute the mean of margins by deal, (n,), with their luck, (n,), taken out."""
    adjusted = margins - luck
    worth = float(margins.var() / adjusted.var()) if len(margins) > 1 and adjusted.var() else math.nan
    return Adjusted(*interval(adjusted), worth, control)


# ---------------------------------------------------------------------- intervals


def interval(samples: Sequence[float] | npt.NDArray[np.number]) -> Interval:
    """Compute the mean of independent samples, (n,), such as margins by deal, and its Student-t interval.

    The bounds are infinite for one sample; without samples all three figures are nan.
    """
    values = np.asarray(samples, np.float64)
    if not len(values):
        return NONE
    if len(values) == 1:
        return float(values[0]), -math.inf, math.inf
    return student(float(values.mean()), float(values.std(ddof=1)) / math.sqrt(len(values)), len(values))


def interval_of_groups(means: FloatArray, counted: npt.NDArray[np.bool_]) -> Interval:
    """Compute the mean over groups of their means over deals, with an interval clustered by deal.

    `means` and `counted` are (deals, groups): the mean of a deal in a group, and whether the group has the deal. For
    the variance, each deal's contributions to all groups' means are summed first (the linearization of a ratio
    estimator). The degrees of freedom are those of the smallest group.
    """
    played = counted.any(axis=0)
    if not played.any():
        return NONE
    means, counted = means[:, played], counted[:, played]
    deals = counted.sum(axis=0)
    centre = means.sum(axis=0) / deals
    mean, fewest = float(centre.mean()), int(deals.min())
    if fewest == 1:
        return mean, -math.inf, math.inf
    added = (np.where(counted, means - centre, 0.0) / deals).mean(axis=1)
    return student(mean, math.sqrt(float((added**2).sum()) * fewest / (fewest - 1)), fewest)


def holm(p_values: Sequence[float]) -> FloatArray:
    """Adjust p values for the number of tests, by Holm's step-down method (Holm 1979).

    Rejecting those below 0.05 makes a false positive among all tests at most 5% likely.
    """
    values = np.asarray(p_values, float)
    order = values.argsort()
    adjusted = np.empty_like(values)
    adjusted[order] = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1)).clip(max=1)
    return adjusted


# ---------------------------------------------------------------------- texts


def margin_cells(mean: float, low: float | None, high: float | None) -> tuple[str, str]:
    """Format a margin and its interval as two cells of a table: "+0.40" and "-0.80 to +1.50".

    A single deal has no interval: its bounds are None or infinite. Without deals the mean is nan.
    """
    if math.isnan(mean):
        return NO_FIGURE, ""
    has_interval = low is not None and high is not None and math.isfinite(high - low)
    return f"{mean:+.2f}", f"{low:+.2f} to {high:+.2f}" if has_interval else "no interval"


def margin_meaning(rules: Rules, others: str) -> str:
    """Explain a margin: whose mean score is taken off whose; `others` is what a table calls the other sides."""
    scores = f"the {others}'", "the agent's"
    better, worse = scores if rules.goal == "low" else scores[::-1]
    return f"{better} mean score minus {worse}"


def luck_cells(adjusted: Adjusted | None) -> tuple[str, str, str]:
    """Format a margin with luck taken out, its interval and the worth of a deal as cells: "+0.4", "...", "x 2.1"."""
    if adjusted is None:
        return ("", "", "")
    worth = f"x {adjusted.worth:.1f}" if math.isfinite(adjusted.worth) else ""
    return (*margin_cells(adjusted.margin, adjusted.low, adjusted.high), worth)


def format_margin(mean: float, low: float | None, high: float | None, unit: str = "") -> str:
    """Format a margin with its interval: "+0.40 (-0.80 to +1.50)"; the unit comes after the margin."""
    margin, bounds = margin_cells(mean, low, high)
    return f"{margin}{unit} ({bounds})"
