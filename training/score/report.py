"""A score in the terminal."""

from __future__ import annotations

from krypenv.training.common.report import print_table
from krypenv.training.score.protocol import TABLES
from krypenv.training.score.results import Score

COLUMNS = ("table", "score", "95% interval", "deals", "forfeits", "ms a decision")


def print_score(score: Score) -> None:
    """Print the scores of an agent, and below each table's the margins against every opponent of the panel."""
    rows: list[tuple[str, ...]] = []
    for name, table in score.tables.items():
        mean, low, high = table.interval
        rows.append(
            (
                name,
                f"{mean:+.2f}",
                f"{low:+.2f} to {high:+.2f}",
                f"{table.deals}",
                f"{table.forfeits}",
                f"{table.milliseconds:.3g}",
            )
        )
        for at, opponent in enumerate(TABLES[name].opponents):
            mean, low, high = table.against(at)
            rows.append((f"  {opponent}", f"{mean:+.2f}", f"{low:+.2f} to {high:+.2f}", "", "", ""))
    print_table(COLUMNS, rows)
