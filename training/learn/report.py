"""The reports of a training: its learning curve as a picture, and the card of its model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from krypenv.agents.neural.model_file import CARD
from krypenv.rules import Rules
from krypenv.training.evaluation.matches.duplicate import MatchResult, match_table
from krypenv.training.runs.tables import as_code, plain, save_figure, write_json

README = "README.md"
LONGEST = 2000  # characters of a command, and of the text of rules
SHORT = 300.0  # seconds of training below which the curve is in seconds
LIMITS = (
    "It plays these rules and no others, for points and not for the place. "
    "It was trained and measured against programs, not against people."
)


@dataclass
class CurvePoint:
    """A point of the learning curve: a margin over the yardstick, with its 95% interval, in points a game."""

    seconds: float  # of training
    frames: int
    margin: float
    low: float
    high: float


def write_curve(folder: Path, curve: list[CurvePoint], rules: Rules, yardstick: str) -> None:
    """Write a learning curve: curve.json, with null for infinite bounds, and curve.png, margins over time."""
    write_json(folder / "curve.json", {"rules": str(rules), "yardstick": yardstick, "points": plain(curve)})
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    last = curve[-1]
    unit, scale = ("minutes", 60) if last.seconds >= SHORT else ("seconds", 1)
    times = [point.seconds / scale for point in curve]
    (line,) = axes.plot(times, [point.margin for point in curve], marker="o", markersize=4)
    axes.fill_between(
        times, [point.low for point in curve], [point.high for point in curve], color=line.get_color(), alpha=0.2,
        linewidth=0,
    )  # fmt: skip
    axes.axhline(0, color="black", linewidth=0.8)
    axes.annotate(f"level with {yardstick}", (1, 0), (-4, 4), ("axes fraction", "data"), "offset points", ha="right")
    axes.set_xlim(left=0)
    axes.set_xlabel(f"{unit} of training")
    axes.set_ylabel(f"margin over {yardstick}, points a game")
    decisions = f"{last.frames / 1e6:.1f} million" if last.frames >= 1e6 else f"{last.frames:,}"
    axes.set_title(f"Self-play on {rules}: {decisions} decisions")
    axes.grid(alpha=0.3)
    save_figure(folder / "curve.png", figure)


def model_card(facts: Mapping[str, Any], results: Sequence[MatchResult]) -> str:
    """Format the card as Markdown, from the contents of model.json and the matches at the end of the training."""
    about = {
        "rules": ", ".join(as_code(rules, LONGEST) for rules in (facts["rules"], *facts["also"])),
        "command": as_code(facts["command"], LONGEST),
        "seed": facts["seed"],
        "self-play": f"{facts['frames']:,} decisions in {facts['seconds'] / 60:.1f} minutes",
        "krypenv": facts["version"],
        "commit": as_code(facts["commit"] or "no checkout"),
        "SHA-256 of the weights": as_code(facts["weights_sha256"]),
    }
    columns, *matches = match_table(results)
    margins = [(as_code(opponent), *cells) for _, opponent, *cells in matches]
    parts = (
        "# Model card",
        _table(("", ""), about.items()),
        f"Margins in points a game over {results[0].deals:,} duplicate deals; above zero is good:",
        _table(columns[1:], margins),
        f"{LIMITS} All settings are in `{CARD}`.",
    )
    return "\n\n".join(parts) + "\n"


def _table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Format a table in Markdown."""
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in (columns, ["---"] * len(columns), *rows))
