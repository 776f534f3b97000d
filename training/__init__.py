"""Training, evaluation and research; imported as `krypenv.training`.

runs        long work that can be stopped, resumed and distributed; the options of commands
learn       how agents are trained
evaluation  how strong agents are
solving     small games solved exactly
exploiting  how much an agent loses to one that knows it
lab         what studies share
examples    training in one file, to read and to change
data        data sets of decisions
cli         the command `krypenv`
"""

if __name__ != "krypenv.training":
    raise ImportError(f"this package is krypenv.training, not {__name__}: import it under its full name")

from typing import TYPE_CHECKING

from krypenv.runtime.lazy import importer

if TYPE_CHECKING:
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
    from krypenv.training.learn.learner.policy import CardPolicy
    from krypenv.training.learn.selfplay import Settings, train
else:
    __getattr__, __dir__ = importer(
        __name__,
        {
            "evaluation.arena": ("ArenaSettings", "Games", "load_games", "run_arena"),
            "evaluation.arena.standings": ("Standing", "Standings", "print_standings", "standings"),
            "evaluation.matches": (
                "MatchResult", "Points", "deal_seeds", "duplicate_match", "evaluate", "format_table",
            ),
            "learn.learner.policy": ("CardPolicy",),
            "learn.selfplay": ("Settings", "train"),
        },
    )  # fmt: skip

__all__ = [
    "ArenaSettings", "CardPolicy", "Games", "MatchResult", "Points", "Settings", "Standing", "Standings", "deal_seeds",
    "duplicate_match", "evaluate", "format_table", "load_games", "print_standings", "run_arena", "standings", "train",
]  # fmt: skip
