"""The value of each move in a position or a recorded game.

analysis  positions and records
comments  tables, and comments in records
picture   pictures
streamed  one move after another, for pages
"""

from typing import TYPE_CHECKING

from krypenv.runtime.lazy import importer

if TYPE_CHECKING:
    from krypenv.training.evaluation.analysis.analysis import analyze_position, analyze_record
else:
    __getattr__, __dir__ = importer(
        __name__,
        {
            "analysis": (
                "analyze_position",
                "analyze_record",
            ),
        },
    )

__all__ = ["analyze_position", "analyze_record"]
