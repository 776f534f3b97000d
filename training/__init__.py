"""Training: self-play, evaluation and benchmarks; imported as `krypenv.training`."""

if __name__ != "krypenv.training":
    raise ImportError(f"this package is krypenv.training, not {__name__}: import it under its full name")

from krypenv.training.arena import ArenaSettings, run_arena
from krypenv.training.deals import deal_seeds
from krypenv.training.evaluation import MatchResult, Points, duplicate_match, evaluate, format_table
from krypenv.training.games import Games
from krypenv.training.results import load_games

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
