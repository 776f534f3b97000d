"""The official score of an agent: a number with an interval that papers can quote, and a file that proves it.

protocol  tables, panels and deals, frozen under a version
run       playing for a score, and checking one
results   the file of a score
report    a score in the terminal
board     one page of many scores
"""

from typing import TYPE_CHECKING

from krypenv.runtime.lazy import importer

if TYPE_CHECKING:
    from krypenv.training.score.board import make_board
    from krypenv.training.score.protocol import DEALS, QUICK, TABLES, VERSION
    from krypenv.training.score.results import Score, TableScore, read_score
    from krypenv.training.score.run import ScoreSettings, check_score, play_score
else:
    __getattr__ = importer(
        __name__,
        {
            "board": ("make_board",),
            "protocol": ("DEALS", "QUICK", "TABLES", "VERSION"),
            "results": ("Score", "TableScore", "read_score"),
            "run": ("ScoreSettings", "check_score", "play_score"),
        },
    )

__all__ = [
    "DEALS", "QUICK", "TABLES", "VERSION", "Score", "ScoreSettings", "TableScore", "check_score", "make_board",
    "play_score", "read_score",
]  # fmt: skip
