"""The meta-game of a run: how its snapshots do against each other and against the scripted opponents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from krypenv.agents import Agent
from krypenv.training.evaluation.matches.duplicate import duplicate_match
from krypenv.training.runs.figures import save_figure
from krypenv.training.runs.tables import write_json

DARK = 0.6  # share of the largest margin from which a cell is dark
LONGEST = 28  # letters of a name in the picture; of a longer one its end is shown


@dataclass
class Metagame:
    """Margins between all scripted opponents and snapshots that a run has had; nan where two did not meet."""

    names: list[str] = field(default_factory=list)
    margins: dict[str, dict[str, float]] = field(default_factory=dict)  # of a player against each that was there before

    @classmethod
    def from_json(cls, kept: dict[str, Any]) -> Metagame:
        """Return the meta-game that `dataclasses.asdict` made plain values of."""
        return cls(**kept)

    def add(self, name: str, player: Agent, others: Sequence[tuple[str, Agent]], deals: int, seed: int) -> None:
        """Add a new player and its margins over the others, in duplicate deals that are the same for all."""
        self.names += [each for each, _ in [*others, (name, player)] if each not in self.names]
        self.margins[name] = {
            other: duplicate_match(player, agent, player.rules, deals, seed=seed).margin for other, agent in others
        }

    def margin(self, name: str, other: str) -> float:
        """Return the margin of a player over another; nan where they did not meet."""
        if other in self.margins.get(name, {}):
            return self.margins[name][other]
        return -self.margins.get(other, {}).get(name, math.nan)

    def weights(self, name: str, others: Sequence[str], temperature: float) -> list[float]:
        """Return how often to draw each of the others: softmax(its margin over `name` / temperature), 0 for uniformly.

        Players that did not meet `name`, and `name` itself, count as level with it.
        """
        if not others:
            return []
        margins = np.array([self.margin(other, name) for other in others])
        scaled = np.nan_to_num(margins / temperature) if temperature else np.zeros(len(others))
        weights = np.exp(scaled - scaled.max())
        return [float(weight) for weight in weights / weights.sum()]

    def write(self, folder: Path) -> None:
        """Write the matrix as metagame.json, and as a picture, metagame.png."""
        matrix = [[self.margin(row, column) for column in self.names] for row in self.names]
        rows = [[None if math.isnan(each) else round(each, 3) for each in row] for row in matrix]
        write_json(folder / "metagame.json", {"names": self.names, "margins": rows})
        if len(self.names) < 2:
            return
        values = np.array(matrix)
        most = max(1.0, float(np.nanmax(np.abs(values), initial=0.0)))
        size = 3.0 + 0.55 * len(self.names)
        figure = Figure(figsize=(size + 1, size), layout="constrained")
        axes = figure.subplots()
        picture = axes.imshow(values, cmap="RdBu", vmin=-most, vmax=most)
        for row, column in zip(*np.nonzero(~np.isnan(values)), strict=True):
            value = values[row, column]
            ink = "white" if abs(value) > DARK * most else "black"
            axes.text(column, row, f"{value:+.1f}", ha="center", va="center", fontsize=9, color=ink)
        names = [name if len(name) <= LONGEST else "…" + name[1 - LONGEST :] for name in self.names]
        axes.set_xticks(range(len(names)), names, rotation=45, ha="right")
        axes.set_yticks(range(len(names)), names)
        axes.set_title("margin of the row over the\ncolumn, points a game", fontsize=10)
        figure.colorbar(picture, shrink=0.8)
        save_figure(folder / "metagame.png", figure)
