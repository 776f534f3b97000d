"""The picture of the relatives' arenas: a panel each, with the margin of every agent but `random`: `make pictures`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from krypenv.training.runs.figures import save_figure

RESULTS = Path(__file__).parent.parent / "docs" / "results"
PICTURE = RESULTS / "relatives.png"
ARENAS = {
    "sweden": "Kasino in Sweden",
    "overspader": "Överspader",
    "finland": "Kasino in Finland",
    "laistokasino": "Laistokasino",
    "finland-pairs": "Finland, two against two",
    "finland-four": "Finland, four players",
    "mulle": "Mulle",
    "glimne": "Mulle after Glimne",
    "glimne-pairs": "Glimne, two against two",
}


def draw_relatives(path: Path) -> None:
    """Draw the margins of all agents but `random`, with luck taken out where it was measured."""
    figure = Figure(figsize=(12, 8), layout="constrained")
    panels = figure.subplots(3, 3).flat
    for panel, (name, title) in zip(panels, ARENAS.items(), strict=True):
        standings = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))["standings"]
        draw_arena(panel, [each for each in standings["agents"] if each["agent"] != "random"])
        panel.set_title(title, fontsize=10)
    figure.supxlabel("margin over the others, points a game, with 95% intervals", fontsize=10)
    save_figure(path, figure, "; ".join(ARENAS.values()))


def draw_arena(panel: Axes, agents: list[dict[str, Any]]) -> None:
    """Draw an arena: the best agent on top."""
    prefix = "adjusted_" if "adjusted_margin" in agents[0] else ""
    for place, each in enumerate(reversed(agents)):
        margin, low, high = (each[prefix + key] for key in ("margin", "low", "high"))
        panel.plot([low, high], [place, place], color="#1f4e79", linewidth=2, solid_capstyle="butt")
        panel.plot(margin, place, "o", color="#1f4e79", markersize=4)
    panel.axvline(0, color="0.6", linewidth=0.8, zorder=0)
    panel.set_yticks(range(len(agents)), [each["agent"] for each in reversed(agents)], fontsize=8)
    panel.tick_params(axis="x", labelsize=8)
    panel.spines[["top", "right"]].set_visible(False)
