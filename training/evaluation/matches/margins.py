"""Margins and their 95% intervals as text: signed, from the point of view of the agent that is named."""

from __future__ import annotations

import math


def margin_cells(mean: float, low: float | None, high: float | None, digits: int = 2) -> tuple[str, str]:
    """Return a margin and its interval as two cells of a table: "+0.40" and "-0.80 to +1.50".

    A single deal has no interval: its bounds are None or infinite.
    """
    if low is None or high is None or not math.isfinite(high - low):
        return f"{mean:+.{digits}f}", "no interval"
    return f"{mean:+.{digits}f}", f"{low:+.{digits}f} to {high:+.{digits}f}"


def format_margin(
    mean: float, low: float | None, high: float | None, digits: int = 2, unit: str = "", note: str = ""
) -> str:
    """Return a margin with its interval: "+0.40 (-0.80 to +1.50)".

    `unit` comes after the margin, as in "+0.4 points a game (-0.8 to +1.5)", and `note` after the bounds.
    """
    margin, bounds = margin_cells(mean, low, high, digits)
    return f"{margin}{unit} ({bounds}{note})"
