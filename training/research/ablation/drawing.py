"""The pictures of an ablation and of presets: every run as a dot, interquartile means with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from krypenv.training.runs.figures import save_figure


class Line(NamedTuple):
    """A line of a picture."""

    label: str
    dots: npt.ArrayLike  # of single runs
    mean: float | None
    low: float | None
    high: float | None


def draw(path: Path, variants: dict[str, Any], title: str) -> None:
    """Draw the gains over the full training with their intervals, and each run, averaged over opponents, as a dot.

    The variants are also the description in the file.
    """
    whole = next(iter(variants.values()))["margins"]
    lines = [
        Line(
            name,
            np.mean([np.asarray(each["margins"][other]) - np.mean(whole[other]) for other in whole], axis=0),
            each["gain"], each["low"], each["high"],
        )
        for name, each in variants.items()
    ]  # fmt: skip
    draw_lines(path, {title: lines}, "points a game gained on the whole", "; ".join(variants))


def draw_lines(path: Path, panels: Mapping[str, Sequence[Line]], unit: str, description: str) -> None:
    """Draw panels of lines, below each other, each under its title; a point is equally wide in all of them."""
    sizes = [len(lines) for lines in panels.values()]
    figure = Figure(figsize=(8, 0.5 + 0.45 * sum(sizes) + 0.9 * len(panels)), layout="constrained")
    grid = figure.subplots(len(panels), squeeze=False, gridspec_kw={"height_ratios": [size + 1 for size in sizes]})
    for axes, (title, lines) in zip(grid[:, 0], panels.items(), strict=True):
        _draw_lines(axes, lines)
        axes.set_title(title, fontsize=10)
    middles, widths = zip(*((sum(axes.get_xlim()) / 2, np.ptp(axes.get_xlim())) for axes in grid[:, 0]), strict=True)
    for axes, middle in zip(grid[:, 0], middles, strict=True):
        axes.set_xlim(middle - max(widths) / 2, middle + max(widths) / 2)
    grid[-1, 0].set_xlabel(f"{unit}: interquartile mean, 95% interval, runs")
    save_figure(path, figure, description)


def _draw_lines(axes: Axes, lines: Sequence[Line]) -> None:
    for place, line in enumerate(reversed(lines)):
        axes.plot(line.dots, np.full(np.size(line.dots), place), "o", color="grey", markersize=4, alpha=0.6, zorder=3)
        if line.low is not None and line.high is not None:
            axes.plot([line.low, line.high], [place, place], color="tab:blue", linewidth=3)
        if line.mean is not None:
            axes.plot(line.mean, place, "|", color="black", markersize=14, zorder=4)
    left, right = axes.get_xlim()
    if min(abs(left), abs(right)) < right - left:  # further away, it would press the runs together
        axes.axvline(0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(lines)), [line.label for line in reversed(lines)])
    axes.set_ylim(-0.5, len(lines) - 0.5)
    axes.grid(axis="x", alpha=0.3)
