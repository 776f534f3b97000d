"""The learning curve of a run, as data and as a picture."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from krypenv.rules import Rules
from krypenv.training.runs.figures import save_figure
from krypenv.training.runs.tables import write_json

NARROW, WIDE = 25, 80  # letters of a name that has others beside it, and of a line of the legend
SHORT = 120.0  # seconds of a run whose curve has its time in seconds


@dataclass
class CurvePoint:
    """The results of one evaluation during the run."""

    seconds: float
    frames: int
    margins: dict[str, list[float]]  # opponent -> margin, low, high, in points a game; luck taken out where it pays


def write_curve(folder: Path, curve: list[CurvePoint], rules: Rules) -> None:
    """Write a run's learning curve as curve.json, and as a picture, curve.png.

    In the file the bounds of a single deal's margin, which are infinite, are null.
    """
    points = [
        {"seconds": point.seconds, "frames": point.frames}
        | {
            "margins": {
                name: [each if math.isfinite(each) else None for each in margin]
                for name, margin in point.margins.items()
            }
        }
        for point in curve
    ]
    write_json(folder / "curve.json", {"rules": str(rules), "points": points})
    draw_curve(folder / "curve.png", curve, rules)


def draw_curve(path: Path, curve: list[CurvePoint], rules: Rules) -> None:
    """Draw the margins against each opponent over the training time, with their 95% intervals.

    A run that begins with imitation is evaluated for the first time after it; the time before is shaded.
    """
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    last = curve[-1] if curve else CurvePoint(0.0, 0, {})
    unit, seconds = ("minutes", 60) if last.seconds >= SHORT else ("seconds", 1)
    times = [point.seconds / seconds for point in curve]
    for opponent in curve[0].margins if curve else ():
        margins, lows, highs = zip(*(point.margins[opponent] for point in curve), strict=True)
        (line,) = axes.plot(times, margins, marker="o", markersize=3, label=textwrap.fill(f"against {opponent}", WIDE))
        axes.fill_between(times, lows, highs, color=line.get_color(), alpha=0.15, linewidth=0)
    if curve and not curve[0].frames and curve[0].seconds:
        axes.axvspan(0, times[0], color="0.92", label="imitation", zorder=0)
    axes.set_xlim(left=0)
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set_xlabel(f"{unit} of training")
    axes.set_ylabel("margin, points a game (95% interval)")
    decisions = f"{last.frames / 1e6:.1f} million" if last.frames >= 1e6 else f"{last.frames:,}"
    axes.set_title(f"Self-play on {rules}: {decisions} decisions")
    axes.grid(alpha=0.3)
    if curve:
        is_short = all(len(opponent) < NARROW for opponent in curve[0].margins)
        figure.legend(loc="outside lower center", ncols=3 if is_short else 1)
    save_figure(path, figure)
