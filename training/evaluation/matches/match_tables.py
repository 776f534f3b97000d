"""Matches as tables in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from krypenv.rules import Rules
from krypenv.training.evaluation.matches.duplicate import (
    POINTS_COLUMNS,
    MatchResult,
    match_table,
    points_rows,
)
from krypenv.training.runs.tables import print_table


def print_matches(results: Sequence[MatchResult]) -> None:
    """Print matches as two tables: the margins, and the components of the scores."""
    columns, *rows = match_table(results)
    print_table(columns, rows)
    print_table(POINTS_COLUMNS, points_rows(results))
    is_low = all(Rules.parse(result.rules).goal == "low" for result in results)
    meaning = "the opponents' mean score minus the agent's" if is_low else "the agent's mean score minus the opponents'"
    print(f"margin: {meaning}, in points a game; {'low' if is_low else 'high'} scores are good")
    print(luck_sentence(results))


def luck_sentence(results: Sequence[MatchResult]) -> str:
    """Return a sentence that tells how luck was taken out of some matches, or that it was not."""
    controls = sorted({result.adjusted.control for result in results if result.adjusted})
    if not controls:
        return "luck: not taken out, as more deals take less time with agents so quick; --luck on does it"
    return f"luck: taken out by {'; '.join(controls)}; the table says how many deals with luck left in one is worth"
