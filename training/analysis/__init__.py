"""What each move of a game was worth.

analysis  positions and records
sweeps    sweeps that a move sets up and risks
report    as a table
picture   as a picture
"""

from typing import TYPE_CHECKING

from krypenv.runtime.lazy import importer

if TYPE_CHECKING:
    from krypenv.training.analysis.analysis import analyze_position, analyze_record
else:
    __getattr__ = importer(
        __name__,
        {
            "analysis": (
                "analyze_position",
                "analyze_record",
            ),
        },
    )

__all__ = ["analyze_position", "analyze_record"]
