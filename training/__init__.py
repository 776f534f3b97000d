"""Training: self-play, evaluation and benchmarks; imported as `krypenv.training`."""

if __name__ != "krypenv.training":
    raise ImportError(f"this package is krypenv.training, not {__name__}: import it under its full name")

from typing import TYPE_CHECKING

from krypenv.lazy import importer

if TYPE_CHECKING:
    from krypenv.training.arena import ArenaSettings, run_arena
    from krypenv.training.deals import deal_seeds
    from krypenv.training.evaluation import MatchResult, Points, duplicate_match, evaluate, format_table
    from krypenv.training.games import Games
    from krypenv.training.results import load_games
else:
    __getattr__ = importer(
        __name__,
        {
            "arena": ("ArenaSettings", "run_arena"),
            "deals": ("deal_seeds",),
            "evaluation": ("MatchResult", "Points", "duplicate_match", "evaluate", "format_table"),
            "games": ("Games",),
            "results": ("load_games",),
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
