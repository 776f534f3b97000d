"""Estimates: a mean over worlds and its 95% interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

TIE = 1e-9  # margins closer than this are equal
UP_TO = 0.975  # the probability below the upper bound of an interval
Interval = tuple[float, float, float]  # mean, and the bounds of its 95% interval


def student(mean: float, error: float, samples: int) -> Interval:
    """Compute the 95% Student-t interval of a mean, from its standard error and two or more independent samples."""
    half = float(stdtrit(samples - 1, UP_TO)) * error
    return mean, mean - half, mean + half


@dataclass(frozen=True)
class Estimate:
    """A mean over worlds and its 95% interval (Student's t), whose bounds are None for a single world."""

    mean: float
    low: float | None
    high: float | None

    @classmethod
    def of(cls, samples: npt.NDArray[np.float64]) -> Estimate:
        """Estimate the mean from one value per world, (worlds,) float64."""
        mean, count = float(samples.mean()), len(samples)
        if count == 1:
            return cls(mean, None, None)
        return cls(*student(mean, float(samples.std(ddof=1)) / math.sqrt(count), count))

    @property
    def half(self) -> float | None:
        """Half the width of the interval."""
        return None if self.high is None else self.high - self.mean

    @property
    def is_above_zero(self) -> bool:
        """Whether the mean and its whole interval are above zero."""
        return self.mean > TIE and (self.low is None or self.low > 0)


def plus_minus(estimate: Estimate, sign: str = "") -> str:
    """Format a mean with half its interval, as in ``3.1 ± 0.4``; with the sign ``+``, as in ``+3.1 ± 0.4``."""
    width = "" if estimate.half is None else f" ± {estimate.half:.1f}"
    return f"{round(estimate.mean, 1) + 0.0:{sign}.1f}{width}"  # no -0.0
