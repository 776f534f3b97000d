"""The official score of an agent: a number with an interval that papers can quote, and a file that proves it.

identity  who is scored
protocol  tables, panels and deals, frozen under a version
playing     playing for a score, and checking one
score_file  the file of a score
score_table  a score in the terminal
board     one page of many scores
"""

from typing import TYPE_CHECKING

from krypenv.runtime.lazy import importer

if TYPE_CHECKING:
    from krypenv.training.evaluation.score.board import make_board
    from krypenv.training.evaluation.score.playing import ScoreSettings, check_score, score_agent
    from krypenv.training.evaluation.score.protocol import DEALS, QUICK, TABLES, VERSION
    from krypenv.training.evaluation.score.score_file import Score, TableScore, read_score
    from krypenv.training.evaluation.score.score_table import print_score
else:
    __getattr__, __dir__ = importer(
        __name__,
        {
            "board": ("make_board",),
            "protocol": ("DEALS", "QUICK", "TABLES", "VERSION"),
            "score_file": ("Score", "TableScore", "read_score"),
            "score_table": ("print_score",),
            "playing": ("ScoreSettings", "check_score", "score_agent"),
        },
    )

__all__ = [
    "DEALS", "QUICK", "TABLES", "VERSION", "Score", "ScoreSettings", "TableScore", "check_score", "make_board",
    "print_score", "read_score", "score_agent",
]  # fmt: skip
