"""Training, evaluation and exact solving; imported as `krypenv.training`.

runs        long work that can be stopped, resumed and distributed; the options of commands
learn       how agents are trained
evaluation  how strong agents are
solving     small games solved exactly
exploiting  how much an agent loses to one that knows it
lab         studies: questions about play, asked of agents
examples    training in one file, to read and to change
data        data sets of decisions
cli         the command `krypenv`
"""

if __name__ != "krypenv.training":
    raise ImportError(f"this package is krypenv.training, not {__name__}: import it under its full name")

from typing import TYPE_CHECKING

from krypenv.runtime.lazy import importer

if TYPE_CHECKING:
    from krypenv.training.evaluation.analysis import analyze, analyze_position, draw_position, draw_record
    from krypenv.training.evaluation.arena import ArenaSettings, Games, load_games, run_arena
    from krypenv.training.evaluation.arena.standings import Standing, Standings, print_standings, standings
    from krypenv.training.evaluation.matches import (
        MatchResult,
        Points,
        deal_seeds,
        duplicate_match,
        evaluate,
        format_table,
    )
    from krypenv.training.evaluation.score import (
        Score,
        ScoreSettings,
        check_score,
        make_board,
        print_score,
        read_score,
        score_agent,
    )
    from krypenv.training.exploiting import ExploitResult, ExploitSettings, exploit
    from krypenv.training.learn.learner.policy import CardPolicy
    from krypenv.training.learn.selfplay import Settings, train
    from krypenv.training.solving import solve
else:
    __getattr__, __dir__ = importer(
        __name__,
        {
            "evaluation.analysis": ("analyze", "analyze_position", "draw_position", "draw_record"),
            "evaluation.arena": ("ArenaSettings", "Games", "load_games", "run_arena"),
            "evaluation.arena.standings": ("Standing", "Standings", "print_standings", "standings"),
            "evaluation.matches": (
                "MatchResult", "Points", "deal_seeds", "duplicate_match", "evaluate", "format_table",
            ),
            "evaluation.score": (
                "Score", "ScoreSettings", "check_score", "make_board", "print_score", "read_score", "score_agent",
            ),
            "exploiting": ("ExploitResult", "ExploitSettings", "exploit"),
            "learn.learner.policy": ("CardPolicy",),
            "learn.selfplay": ("Settings", "train"),
            "solving": ("solve",),
        },
    )  # fmt: skip

__all__ = [
    "ArenaSettings", "CardPolicy", "ExploitResult", "ExploitSettings", "Games", "MatchResult", "Points", "Score",
    "ScoreSettings", "Settings", "Standing", "Standings", "analyze", "analyze_position", "check_score", "deal_seeds",
    "draw_position", "draw_record", "duplicate_match", "evaluate", "exploit", "format_table", "load_games",
    "make_board", "print_score", "print_standings", "read_score", "run_arena", "score_agent", "solve", "standings",
    "train",
]  # fmt: skip
