"""Interquartile means of runs and their bootstrap intervals, as in Agarwal et al. 2021 (rliable)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr
from scipy.stats import bootstrap, trim_mean

from krypenv.training.evaluation.matches.margins import UP_TO

CUT = 0.25  # of the runs at each end
RESAMPLES = 2000
Runs = dict[str, list[dict[str, float]]]  # margins of each run of a variant, against each opponent


class Crossed(NamedTuple):
    """Margins of every run of one training over every run of another, and their interquartile mean."""

    margins: list[list[float]]  # a row for each run; a single column if the other is an agent
    mean: float
    low: float | None  # of the 95% interval; None for a single match
    high: float | None


# ---------------------------------------------------------------------- variants


def summarize(margins: Runs) -> dict[str, Any]:
    """Return the margins of each variant's runs, and its gain over the first variant, `ALL`, with an interval.

    The gain is the interquartile mean, over runs and opponents, of the margin minus the mean margin of `ALL` against
    the same opponent, so that opponents of different strength count equally. As in Agarwal et al. 2021 (rliable),
    opponents are tasks, and the runs of each task are resampled separately. The gain of `ALL` is None. The bounds are
    None for single runs.
    """
    summary: dict[str, Any] = {}
    whole: list[list[float]] = []
    for variant, runs in margins.items():
        scores = {name: [run[name] for run in runs] for name in runs[0]}
        tasks = list(scores.values())
        gain, low, high = interquartile_gain(tasks, whole) if whole else (None, None, None)
        whole = whole or tasks
        summary[variant] = {"margins": scores, "gain": gain, "low": low, "high": high}
    return summary


def interquartile_gain(scores: list[list[float]], whole: list[list[float]]) -> tuple[float, float | None, float | None]:
    """Return the interquartile mean of all gains over the mean of `ALL`, with a stratified bootstrap interval.

    `scores` and `whole`, those of `ALL`, hold the runs of each task. With a single run per task there is no interval.
    """
    tasks = [np.asarray(runs, np.float64) for runs in (*scores, *whole)]

    def gain(*samples: npt.NDArray[np.float64], axis: int = -1) -> Any:
        runs, base = samples[: len(scores)], samples[len(scores) :]
        gains = [one - other.mean(axis=axis, keepdims=True) for one, other in zip(runs, base, strict=True)]
        return trim_mean(np.concatenate(gains, axis=axis), CUT, axis=axis)

    found = float(gain(*tasks))
    if min(map(len, tasks)) < 2:
        return found, None, None
    interval = bootstrap(
        tuple(tasks), gain, n_resamples=RESAMPLES, vectorized=True, method="percentile", rng=np.random.default_rng(0)
    ).confidence_interval
    return found, float(interval.low), float(interval.high)


# ---------------------------------------------------------------------- presets


def interquartile_margin(margins: Sequence[Sequence[float]]) -> Crossed:
    """Return the interquartile mean of margins, (n, m): each of n runs over each of m runs, or over m = 1 agent.

    The interval is a percentile bootstrap, stratified by training: the n runs and the m runs are resampled separately,
    and a run keeps or loses all its matches, as they share its weights (the pigeonhole bootstrap; Owen 2007). With one
    agent it is rliable's for one task. An agent is never resampled, so the interval does not cover how else its
    training could have ended.
    """
    cells = np.asarray(margins, np.float64)
    runs, others = cells.shape
    found = float(trim_mean(cells, CUT, axis=None))
    if cells.size == 1:
        return Crossed(cells.tolist(), found, None, None)
    rng = np.random.default_rng(0)
    rows, columns = (rng.integers(0, count, (RESAMPLES, count)) for count in (runs, others))
    drawn = cells[rows[:, :, None], columns[:, None, :]].reshape(RESAMPLES, -1)
    low, high = np.quantile(trim_mean(drawn, CUT, axis=1), (1 - UP_TO, UP_TO))
    return Crossed(cells.tolist(), found, float(low), float(high))


def p_value(margins: Sequence[Sequence[float]]) -> float:
    """Return the p value of a mean margin other than zero, of the same margins, (n, m); 1 for a single match.

    A t test: the error of the mean is that of the n runs' means and that of the m runs' means together, and its freedom
    is Welch's. The percentile bootstrap would not do for a test: with five runs over an agent, its intervals of 95%
    cover the truth in about 90% of cases.
    """
    cells = np.asarray(margins, np.float64)
    mean = float(cells.mean())
    samples = [each for each in (cells.mean(axis=1), cells.mean(axis=0)) if len(each) > 1]
    if not samples:
        return 1.0
    variances = [float(each.var(ddof=1)) / len(each) for each in samples]
    variance = sum(variances)
    if not variance:
        return float(mean == 0)
    freedom = variance**2 / sum(own**2 / (len(each) - 1) for own, each in zip(variances, samples, strict=True))
    return float(2 * stdtr(freedom, -abs(mean) / math.sqrt(variance)))
