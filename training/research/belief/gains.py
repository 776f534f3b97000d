"""What a belief gains on the true hands over uniform deals, and how well its probabilities are calibrated."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from krypenv.training.research.belief.hidden_hands import FloatArray, HiddenHands, Int8Array

EDGES = np.array([0.0, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
BINS = len(EDGES) - 1  # of predicted probabilities
CERTAIN = 1e-9  # a probability this close to 0 or 1 is known

LogWeights = Callable[[Int8Array], FloatArray]  # of hands, (W, P - 1, 52) to (W,)


class Gain(NamedTuple):
    """What a belief is worth in one decision."""

    nats: float  # the log of the probability of the true hands, less that by uniform deals
    effective: float  # the effective sample size of weighted worlds, as a share of their number
    bins: FloatArray  # (BINS, 3): cards that a hand may hold, the sum of their probabilities, and how many it held


def gain_of(log_weights: LogWeights, hidden: HiddenHands, truth: Int8Array) -> Gain:
    """Return what a belief gains in a decision, given which hidden hands are possible, and the true ones, (P - 1, 52).

    It is exact where all hands are listed. Where they are sampled, the true ones are added to the sample: so the gain
    is at most the log of its size, and its bias about minus half of one over the effective number of samples.

    Raises ValueError if the belief excludes the true hands.
    """
    logs = log_weights(np.concatenate([hidden.hands, truth[None]]))
    if not np.isfinite(logs[-1]):
        raise ValueError("a belief gives the true hands no probability, so it loses without bound; give each some")
    weighted = hidden.logs + logs[:-1]
    total = np.logaddexp.reduce(weighted)
    nats = logs[-1] - total
    if not hidden.are_all:
        number = len(weighted)
        nats = logs[-1] - np.logaddexp(total + np.log(number), logs[-1]) + np.log(number + 1)
    effective = np.exp(2 * total - np.logaddexp.reduce(hidden.logs + 2 * logs[:-1]))
    bins = calibrate(np.exp(weighted - total), hidden, truth)
    return Gain(float(nats), float(effective), bins)


def calibrate(shares: FloatArray, hidden: HiddenHands, truth: Int8Array) -> FloatArray:
    """Return the bins of a `Gain`, over all cards that each hand may hold but need not."""
    holds = (hidden.hands > 0).reshape(len(shares), -1)
    predicted, uniform = shares @ holds, np.exp(hidden.logs) @ holds
    is_open = (uniform > CERTAIN) & (uniform < 1 - CERTAIN)
    predicted, held = predicted[is_open].clip(0, 1), (truth > 0).ravel()[is_open]
    at = np.searchsorted(EDGES[1:-1], predicted, side="right")
    return np.stack([np.bincount(at, each, BINS) for each in (np.ones_like(predicted), predicted, held)], axis=1)


def calibration_error(bins: FloatArray) -> float:
    """Return the expected calibration error: the mean over cards of how far their bin's frequency is from its mean."""
    return float(np.abs(bins[:, 1] - bins[:, 2]).sum() / max(bins[:, 0].sum(), 1.0))
