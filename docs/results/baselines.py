"""Draw the package's agents, score against time for a decision: docs/results/baselines.png, from the leaderboard."""

from __future__ import annotations

import csv
from pathlib import Path

import matplotlib.pyplot as plt

HERE = Path(__file__).parent


def draw() -> None:
    """Draw a panel for each of three tables."""
    with (HERE / "scores" / "leaderboard.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    agents = list(dict.fromkeys(row["agent"] for row in rows))
    figure, axes = plt.subplots(1, 3, figsize=(10, 4), layout="constrained")
    for at, table in zip(axes, ("two", "four", "two-pairs"), strict=True):
        for row in rows:
            if row["table"] == table:
                number = agents.index(row["agent"])
                at.errorbar(
                    float(row["milliseconds"]),
                    float(row["score"]),
                    float(row["high"]) - float(row["score"]),
                    fmt="os^Dv<>ph"[number],
                    color=f"C{number}",
                    label=row["agent"],
                )
        at.set(xscale="log", title=table, xlabel="milliseconds a decision")
    axes[0].set_ylabel("score, points a game")
    axes[-1].legend(bbox_to_anchor=(1, 1))
    figure.savefig(HERE / "baselines.png", dpi=120)


if __name__ == "__main__":
    draw()
