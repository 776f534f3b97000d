"""The table and the figure of a benchmark: interquartile means over seeds, with intervals by bootstrap.

After Agarwal et al. (2021), "Deep reinforcement learning at the edge of the statistical precipice": seeds are drawn
with replacement, and so are the deals of a margin, which all seeds share. Of three seeds the interquartile mean is the
mean.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from ladder import LADDER, YARDSTICK
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter
from scipy.stats import trim_mean

RESAMPLES = 2000
FloatArray = npt.NDArray[np.float64]


class Cell(NamedTuple):
    """A player's points on a rung, after some seconds of training."""

    seconds: float  # of processor time; 0 for an agent of the package
    seeds: FloatArray  # (S,) points of each seed
    samples: FloatArray  # (RESAMPLES, S) the same of seeds and deals drawn anew

    @property
    def figures(self) -> tuple[float, float, float]:
        """The interquartile mean and its 95% interval."""
        low, high = np.quantile(trim_mean(self.samples, 0.25, axis=1), (0.025, 0.975))
        return float(trim_mean(self.seeds, 0.25)), float(low), float(high)


Cells = Mapping[tuple[str, str], list[Cell] | str]  # by rung and player: a cell by budget, or why there is none


def cell_of(seconds: float, grades: Sequence[Sequence[float]]) -> Cell:
    """Make a cell of the grades of S seeds, each the points of D deals, or one exact figure."""
    points, rng = np.array(grades), np.random.default_rng(0)
    seeds, deals = points.shape
    samples = np.empty((RESAMPLES, seeds))
    for sample in samples:
        drawn = points[rng.integers(seeds, size=seeds)]
        sample[:] = drawn[:, rng.integers(deals, size=deals)].mean(axis=1)
    return Cell(seconds, points.mean(axis=1), samples)


def cells_of(results: Mapping[str, Any]) -> Cells:
    """Collect the cells from the results of all tasks."""
    by_player: dict[tuple[str, str], list[Any]] = {}
    for result in results.values():
        by_player.setdefault((result["rung"], result["player"]), []).append(result)
    cells: dict[tuple[str, str], list[Cell] | str] = {}
    for key, results_of_seeds in by_player.items():
        reasons = [result["reason"] for result in results_of_seeds if result["reason"]]
        budgets = zip(*(result["grades"] for result in results_of_seeds), strict=not reasons)
        cells[key] = reasons[0] if reasons else [
            cell_of(float(np.mean([seconds for seconds, _ in seeds])), [points for _, points in seeds])
            for seeds in budgets
        ]  # fmt: skip
    return cells


def share_of_gap(cells: Cells, player: str) -> Cell | None:
    """Pool all rungs: 0 is random play, 1 an equilibrium or, on full games, the yardstick; None without them all."""
    seeds, samples = [], []
    for name in LADDER:
        found, uniform = cells.get((name, player)), cells.get((name, "random"))
        if not isinstance(found, list) or not isinstance(uniform, list):
            return None
        worst = uniform[-1].figures[0]
        seeds.append(1 - found[-1].seeds / worst)
        samples.append(1 - found[-1].samples / worst)
    return Cell(0.0, np.concatenate(seeds), np.concatenate(samples, axis=1))


def table_of(cells: Cells, players: Sequence[str]) -> list[list[str]]:
    """Make the table: a row for each player, with its points on each rung after the whole budget."""
    rungs = [name for name in LADDER if any(rung == name for rung, _ in cells)]
    rows = [["player", *rungs, "all rungs"]]
    for player in players:
        row = [player]
        for name in rungs:
            found = cells.get((name, player), "")
            row.append("–" if isinstance(found, str) else text_of(found[-1], "" if LADDER[name].is_solved else "+"))
        pooled = share_of_gap(cells, player)
        rows.append([*row, text_of(pooled) if pooled else "–"])
    return rows


def text_of(cell: Cell, sign: str = "") -> str:
    """Format the figures of a cell; an exact figure of one seed has no interval."""
    middle, low, high = cell.figures
    digits = f"{sign}.1f" if sign else ".2f"
    return f"{middle:{digits}}" + (f" ({low:{digits}} to {high:{digits}})" if high > low else "")


def figure_of(cells: Cells, players: Sequence[str]) -> Figure:
    """Draw the points of all players over the seconds of training, a panel for each rung; higher is better."""
    rungs = [name for name in LADDER if any(rung == name for rung, _ in cells)]
    rows, columns = -(-len(rungs) // 3), min(len(rungs), 3)
    figure = Figure(figsize=(3.3 * columns, 3 * rows + 0.8), layout="constrained")
    handles: dict[str, Any] = {}
    trained = {key[1] for key, found in cells.items() if isinstance(found, list) and found[-1].seconds}
    learners = [player for player in players if player in trained]
    for place, name in enumerate(rungs):
        axes = figure.add_subplot(rows, columns, place + 1, sharex=figure.axes[0] if place else None)
        for at, player in enumerate(players):
            found = cells.get((name, player))
            if not isinstance(found, list):
                continue
            middle, low, high = np.array([cell.figures for cell in found]).T
            if player in learners:
                color = f"C{learners.index(player)}"
                seconds, errors = [cell.seconds for cell in found], [middle - low, high - middle]
                handles[player] = axes.errorbar(seconds, middle, errors, color=color, marker="o", ms=3, lw=1.2)
            else:
                axes.axhline(middle[0], color="0.6", lw=0.8, ls=":")
                where, side = ((0.98, middle[0]), "right") if at % 2 else ((0.02, middle[0]), "left")
                fraction = {"xycoords": ("axes fraction", "data"), "ha": side, "va": "bottom"}
                axes.annotate(player, where, fontsize=7, color="0.4", **fraction)
        axes.set(title=name, xscale="log", xlabel="seconds of one core")
        axes.xaxis.set_minor_formatter(NullFormatter())
        if LADDER[name].is_solved:
            axes.set_yscale("symlog", linthresh=0.01)
            axes.set_yticks([0, 0.01, 0.1, 1], ["0", "0.01", "0.1", "1"])
            axes.set_ylim(axes.get_ylim()[1], -0.001)  # upside down: 0 is the best
        axes.set_ylabel("exploitability" if LADDER[name].is_solved else f"margin over {YARDSTICK}")
    figure.suptitle("Points a game; higher is better", fontsize=10)
    figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=2 * columns, fontsize=8)
    return figure


def write_report(folder: Path, cells: Cells, players: Sequence[str]) -> None:
    """Write `figure.png`, and `table.csv` with all cells; one that could not be filled has its reason."""
    figure_of(cells, players).savefig(folder / "figure.png", dpi=120, metadata={"Software": None})
    with (folder / "table.csv").open("w", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["rung", "player", "seconds", "points", "low", "high", "seeds", "reason"])
        for (rung, player), found in cells.items():
            for cell in [] if isinstance(found, str) else found:
                figures = (f"{figure:.4g}" for figure in cell.figures)
                writer.writerow([rung, player, f"{cell.seconds:.1f}", *figures, len(cell.seeds), ""])
            if isinstance(found, str):
                writer.writerow([rung, player, "", "", "", "", "", found])
