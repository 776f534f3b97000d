"""Training: self-play, evaluation and benchmarks; imported as `krypenv.training`."""

if __name__ != "krypenv.training":
    raise ImportError(f"this package is krypenv.training, not {__name__}: import it under its full name")

from krypenv.training.evaluation import MatchResult, Points, duplicate_match, evaluate, format_table

__all__ = ["MatchResult", "Points", "duplicate_match", "evaluate", "format_table"]
