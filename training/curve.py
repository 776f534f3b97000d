"""The learning curve of a run, as a picture."""

from __future__ import annotations

import io
import textwrap
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from krypenv.files import write_whole
from krypenv.rules import Rules

NARROW, WIDE = 25, 80  # letters of a name that has others beside it, and of a line of the legend


@dataclass
class CurvePoint:
    """What an evaluation on the way found."""

    seconds: float
    frames: int
    margins: dict[str, list[float]]  # opponent -> margin, low, high, in points a game


def draw_curve(path: Path, curve: list[CurvePoint], rules: Rules) -> None:
    """Draw the margins against each opponent over the training time, with their 95% intervals."""
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    minutes = [point.seconds / 60 for point in curve]
    for opponent in curve[0].margins if curve else ():
        margins, lows, highs = zip(*(point.margins[opponent] for point in curve), strict=True)
        (line,) = axes.plot(
            minutes, margins, marker="o", markersize=3, label=textwrap.fill(f"against {opponent}", WIDE)
        )
        axes.fill_between(minutes, lows, highs, color=line.get_color(), alpha=0.15, linewidth=0)
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set_xlabel("minutes of training")
    axes.set_ylabel("margin, points a game (95% interval)")
    axes.set_title(f"Self-play on {rules}: {curve[-1].frames / 1e6 if curve else 0:.1f} million decisions")
    axes.grid(alpha=0.3)
    if curve:
        is_short = all(len(opponent) < NARROW for opponent in curve[0].margins)
        figure.legend(loc="outside lower center", ncols=3 if is_short else 1)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=120)
    write_whole(path, picture.getvalue())
