"""Training: self-play, evaluation and benchmarks; imported as `krypenv.training`."""

if __name__ != "krypenv.training":
    raise ImportError(f"this package is krypenv.training, not {__name__}: import it under its full name")

from typing import TYPE_CHECKING

from krypenv.runtime.lazy import importer

if TYPE_CHECKING:
    from krypenv.training.arena import ArenaSettings, Games, load_games, run_arena
    from krypenv.training.evaluation import MatchResult, Points, deal_seeds, duplicate_match, evaluate, format_table
else:
    __getattr__ = importer(
        __name__,
        {
            "arena": ("ArenaSettings", "Games", "load_games", "run_arena"),
            "evaluation": ("MatchResult", "Points", "deal_seeds", "duplicate_match", "evaluate", "format_table"),
        },
    )

__all__ = [
    "ArenaSettings",
    "Games",
    "MatchResult",
    "Points",
    "deal_seeds",
    "duplicate_match",
    "evaluate",
    "format_table",
    "load_games",
    "run_arena",
]
