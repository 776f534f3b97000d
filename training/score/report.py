"""A score in the terminal."""

from __future__ import annotations

import typer

from krypenv.training.common.report import print_table
from krypenv.training.score.protocol import TABLES
from krypenv.training.score.results import Score

COLUMNS = ("table", "against", "margin", "95% interval")


def print_score(score: Score) -> None:
    """Print the scores of an agent, and below each table's the margins against every opponent of the panel."""
    rows: list[tuple[str, ...]] = []
    for name, table in score.tables.items():
        rows.append((name, "the panel", *_margin(table.interval)))
        rows += [
            ("", opponent.partition("(")[0] if "shed" not in opponent else opponent, *_margin(table.against(at)))
            for at, opponent in enumerate(TABLES[name].opponents)
        ]
    print_table(COLUMNS, rows)
    for name, table in score.tables.items():
        if table.forfeits:
            typer.echo(f"{name}: {table.forfeits} games forfeited")


def _margin(interval: tuple[float, float, float]) -> tuple[str, str]:
    mean, low, high = interval
    return f"{mean:+.2f}", f"{low:+.2f} to {high:+.2f}"
