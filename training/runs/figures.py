"""Figures as files, and where their labels stand."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from krypenv.inputs.files import write_whole

DPI = 120


def save_figure(path: Path, figure: Figure, dpi: int = DPI) -> None:
    """Write a figure as a PNG file, which names no version of any software; so equal figures give equal files."""
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=dpi, metadata={"Software": None})
    write_whole(path, data.getvalue())


def spread(places: Sequence[float], gap: float) -> list[float]:
    """Return places from 0 to 1 that are at least `gap` apart, as close as possible to the given rising ones."""
    from scipy.optimize import isotonic_regression

    steps = gap * np.arange(len(places))
    rising = isotonic_regression(np.array(places) - steps).x
    moved: list[float] = (np.clip(rising, 0.0, 1.0 - steps[-1:]) + steps).tolist()
    return moved
