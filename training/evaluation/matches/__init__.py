"""Matches between agents over duplicate deals.

duplicate        matches of two agents, with confidence intervals
duplicate_deals  the deals of such a match, each played from every side
deal_lists       lists of deals
margins          margins and their intervals, as figures and as text
match_tables     tables in the terminal
mixed_table      many games of several agents at once
"""

from typing import TYPE_CHECKING

from krypenv.runtime.lazy import importer

if TYPE_CHECKING:
    from krypenv.training.evaluation.matches.deal_lists import deal_seeds
    from krypenv.training.evaluation.matches.duplicate import (
        MatchResult,
        Points,
        duplicate_match,
        evaluate,
        format_table,
    )
else:
    __getattr__, __dir__ = importer(
        __name__,
        {
            "deal_lists": ("deal_seeds",),
            "duplicate": (
                "MatchResult",
                "Points",
                "duplicate_match",
                "evaluate",
                "format_table",
            ),
        },
    )

__all__ = ["MatchResult", "Points", "deal_seeds", "duplicate_match", "evaluate", "format_table"]
