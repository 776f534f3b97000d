"""The value of each move in a position or a recorded game.

analysis  positions and records
comments  tables, and comments in records
picture   pictures
streamed  one move after another, for pages
"""

from typing import TYPE_CHECKING

from krypenv.runtime.lazy import importer

if TYPE_CHECKING:
    from krypenv.training.evaluation.analysis.analysis import analyze, analyze_position
    from krypenv.training.evaluation.analysis.picture import draw_position, draw_record
else:
    __getattr__, __dir__ = importer(
        __name__, {"analysis": ("analyze", "analyze_position"), "picture": ("draw_position", "draw_record")}
    )

__all__ = ["analyze", "analyze_position", "draw_position", "draw_record"]
