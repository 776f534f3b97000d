"""A score in the terminal."""

from __future__ import annotations

import typer

from krypenv.agents import label_of
from krypenv.training.evaluation.matches.margins import interval, margin_cells
from krypenv.training.evaluation.score.board import halves_text
from krypenv.training.evaluation.score.protocol import TABLES
from krypenv.training.evaluation.score.score_file import Score
from krypenv.training.runs.tables import print_table

COLUMNS = ("table", "against", "margin", "95% interval", "with luck", "95% interval")


def print_score(score: Score) -> None:
    """Print the scores of an agent, and below each table's the margins against every opponent of the panel."""
    rows: list[tuple[str, ...]] = []
    for name, table in score.tables.items():
        rows.append((name, "the panel", *margin_cells(*table.interval), *margin_cells(*table.raw_interval)))
        rows += [
            (
                "",
                opponent.partition("(")[0] if "shed" not in opponent else opponent,
                *margin_cells(*table.against(at)),
                *margin_cells(*interval(table.raw[at])),
            )
            for at, opponent in enumerate(TABLES[name].opponents)
        ]
    print_table(COLUMNS, rows)
    for name, table in score.tables.items():
        label = label_of(score.agent, TABLES[name].rules)
        if label != score.agent:
            typer.echo(f"{name}: {label}")
        if table.forfeits:
            typer.echo(f"{name}: {table.forfeits} games forfeited")
        if table.is_suspect:
            typer.echo(
                f"{name}: common deals and the agent's own differ by more than chance allows: {halves_text(table)}"
            )
    typer.echo("margin: points a game ahead of the opponent, with luck taken out")
