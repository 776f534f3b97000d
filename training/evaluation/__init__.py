"""Matches between agents over duplicate deals.

matches  matches of two agents, with confidence intervals
deals    lists of deals
report   tables in the terminal
table    many games of several agents at once
"""

from typing import TYPE_CHECKING

from krypenv.runtime.lazy import importer

if TYPE_CHECKING:
    from krypenv.training.evaluation.deals import deal_seeds
    from krypenv.training.evaluation.matches import MatchResult, Points, duplicate_match, evaluate, format_table
else:
    __getattr__ = importer(
        __name__,
        {
            "deals": ("deal_seeds",),
            "matches": (
                "MatchResult",
                "Points",
                "duplicate_match",
                "evaluate",
                "format_table",
            ),
        },
    )

__all__ = ["MatchResult", "Points", "deal_seeds", "duplicate_match", "evaluate", "format_table"]
