"""Training, evaluation and exact solving; imported as `krypenv.training`.

runs        long work that can be stopped, resumed and distributed
settings    settings of commands, as typed models
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
    from krypenv.training.evaluation.analysis.analysis import analyze, analyze_position
    from krypenv.training.evaluation.analysis.picture import draw_position, draw_record
    from krypenv.training.evaluation.arena.arena import ArenaSettings, run_arena
    from krypenv.training.evaluation.arena.games import Games, load_games
    from krypenv.training.evaluation.arena.standings import Standing, Standings, standings
    from krypenv.training.evaluation.arena.tables import print_standings
    from krypenv.training.evaluation.matches.deal_lists import deal_seeds
    from krypenv.training.evaluation.matches.duplicate import (
        MatchResult,
        Points,
        duplicate_match,
        evaluate,
        format_table,
    )
    from krypenv.training.evaluation.score.board import make_board, print_score
    from krypenv.training.evaluation.score.playing import ScoreSettings, check_score, score_agent
    from krypenv.training.evaluation.score.score_file import Score, read_score
    from krypenv.training.exploiting import ExploitResult, ExploitSettings, exploit
    from krypenv.training.learn.policy import CardPolicy
    from krypenv.training.learn.run import train
    from krypenv.training.learn.settings import TrainSettings
    from krypenv.training.solving import solve
else:
    __getattr__, __dir__ = importer(
        __name__,
        {
            "evaluation.analysis.analysis": ("analyze", "analyze_position"),
            "evaluation.analysis.picture": ("draw_position", "draw_record"),
            "evaluation.arena.arena": ("ArenaSettings", "run_arena"),
            "evaluation.arena.games": ("Games", "load_games"),
            "evaluation.arena.standings": ("Standing", "Standings", "standings"),
            "evaluation.arena.tables": ("print_standings",),
            "evaluation.matches.deal_lists": ("deal_seeds",),
            "evaluation.matches.duplicate": ("MatchResult", "Points", "duplicate_match", "evaluate", "format_table"),
            "evaluation.score.board": ("make_board", "print_score"),
            "evaluation.score.playing": ("ScoreSettings", "check_score", "score_agent"),
            "evaluation.score.score_file": ("Score", "read_score"),
            "exploiting": ("ExploitResult", "ExploitSettings", "exploit"),
            "learn.policy": ("CardPolicy",),
            "learn.run": ("train",),
            "learn.settings": ("TrainSettings",),
            "solving": ("solve",),
        },
    )  # fmt: skip

__all__ = [
    "ArenaSettings", "CardPolicy", "ExploitResult", "ExploitSettings", "Games", "MatchResult", "Points", "Score",
    "ScoreSettings", "Standing", "Standings", "TrainSettings", "analyze", "analyze_position", "check_score",
    "deal_seeds", "draw_position", "draw_record", "duplicate_match", "evaluate", "exploit", "format_table",
    "load_games", "make_board", "print_score", "print_standings", "read_score", "run_arena", "score_agent", "solve",
    "standings", "train",
]  # fmt: skip
