"""Matches as tables in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from krypenv.rules import Rules
from krypenv.training.evaluation.matches.duplicate import (
    MATCH_COLUMNS,
    POINTS_COLUMNS,
    MatchResult,
    match_rows,
    points_rows,
)
from krypenv.training.runs.tables import print_table


def print_matches(results: Sequence[MatchResult]) -> None:
    """Print matches as two tables: the margins, and the components of the scores."""
    print_table(MATCH_COLUMNS, match_rows(results))
    print_table(POINTS_COLUMNS, points_rows(results))
    is_low = all(Rules.parse(result.rules).goal == "low" for result in results)
    meaning = "the opponents' mean score minus the agent's" if is_low else "the agent's mean score minus the opponents'"
    print(f"margin: {meaning}, in points a game; {'low' if is_low else 'high'} scores are good")
