"""A score in the terminal."""

from __future__ import annotations

import typer

from krypenv.training.evaluation.matches.margins import margin_cells
from krypenv.training.evaluation.score.protocol import TABLES
from krypenv.training.evaluation.score.score_file import Score
from krypenv.training.runs.tables import print_table

COLUMNS = ("table", "against", "margin", "95% interval")


def print_score(score: Score) -> None:
    """Print the scores of an agent, and below each table's the margins against every opponent of the panel."""
    rows: list[tuple[str, ...]] = []
    for name, table in score.tables.items():
        rows.append((name, "the panel", *margin_cells(*table.interval)))
        rows += [
            ("", opponent.partition("(")[0] if "shed" not in opponent else opponent, *margin_cells(*table.against(at)))
            for at, opponent in enumerate(TABLES[name].opponents)
        ]
    print_table(COLUMNS, rows)
    for name, table in score.tables.items():
        if table.forfeits:
            typer.echo(f"{name}: {table.forfeits} games forfeited")
