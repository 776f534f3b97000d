"""Bounds of all numbers that a user can give. Every command checks them before any work."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from krypenv.inputs.words import shown


class Bounds(NamedTuple):
    """The range of a number. Whole numbers have whole bounds; `why` gives the reason for the upper bound."""

    low: float
    high: float
    why: str = ""
    is_above: bool = False  # excludes the lower bound itself
    low_text: str = ""  # error for a number below the lower bound, instead of the usual one

    @property
    def is_whole(self) -> bool:
        """Whether the number must be whole."""
        return isinstance(self.high, int)

    def __str__(self) -> str:
        """Return the range, as in 1 to 1,000."""
        return f"{'above ' if self.is_above else ''}{self.low:g} to {self.high:{',' if self.is_whole else ',g'}}"


SEED = Bounds(0, 2**64 - 2, "as a seed has 64 bits")
SMALL_SEED = Bounds(0, 2**32 - 1, "as NumPy's older generators take no more")
DEALS = Bounds(1, 1_000_000, "whose scores fit into memory and resolve a hundredth of a point")
MATCH_DEALS = DEALS._replace(low_text="a match needs at least one deal")
GAMES = Bounds(1, 1_000_000, "which fit into memory")
DEMONSTRATIONS = Bounds(0, 10_000_000, "which fit on a disk")
WORLDS = Bounds(2, 10_000, "which fit into memory", low_text="an analysis needs at least two worlds")
SEARCHED_WORLDS = Bounds(0, 10_000, "which fit into memory")
WORKERS = Bounds(1, 1024, "as more than one per processor is of no use")
WORKERS_OR_ALL = WORKERS._replace(low=0, low_text="workers is 0, for all processors, or more")
THREADS = Bounds(1, 1024, "as more than one per processor is of no use")
THREADS_OR_ALL = THREADS._replace(low=0)
RUNS = Bounds(1, 1000, "which would take months")
RUNS_OR_NONE = RUNS._replace(low=0)
SECONDS = Bounds(0.0, 3600.0, "an hour for each of some thirty rates", is_above=True)
MINUTES = Bounds(0.0, 1e6, "which is two years", is_above=True)
GAP = Bounds(1e-9, 100.0, "which no game needs")
ITERATIONS = Bounds(1, 10**9, "which would take years")
FRAMES = Bounds(0, 10**12, "which would take years")
PAUSE = Bounds(0.0, 1e12, "which is longer than any run", is_above=True)
POINTS = Bounds(0.0, 1e6, "which is more than any game holds", is_above=True)
POINTS_OR_NONE = POINTS._replace(is_above=False)
UNITS = Bounds(1, 8192, "which fit into memory")
PASSES = Bounds(1, 10_000, "which would take years")
ROWS = Bounds(0, 1_000_000, "which fit into memory")
STEPS = Bounds(1, 10_000, "which fit into memory")
BATCH = Bounds(1, 10_000_000, "which fit into memory")
SNAPSHOTS = Bounds(0, 1000, "which fit into memory")
SHARE = Bounds(0.0, 1.0)
RATE = Bounds(0.0, 10.0, "as larger ones diverge at once", is_above=True)
WEIGHT = Bounds(0.0, 1000.0, "as larger ones drown everything else")


def check(name: str, value: Any, bounds: Bounds) -> None:
    """Raise ValueError with one sentence unless a value is a number within the bounds."""
    kind = (int, np.integer) if bounds.is_whole else (int, float, np.integer, np.floating)
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, kind):
        raise ValueError(f"{name} is a {'whole ' if bounds.is_whole else ''}number, not {shown(value)}")
    if not bounds.why:
        if not bounds.low <= value <= bounds.high:
            raise ValueError(f"{name} is from {bounds.low:g} to {bounds.high:g}, not {shown(value)}")
    elif not value >= bounds.low or (bounds.is_above and value == bounds.low):  # false for nan, too
        usual = f"{name} is {'above' if bounds.is_above else 'at least'} {bounds.low:g}"
        raise ValueError(f"{bounds.low_text or usual}, not {shown(value)}")
    elif value > bounds.high:
        most = f"{bounds.high:,}" if bounds.is_whole else f"{bounds.high:,g}"
        raise ValueError(f"{name} is at most {most}, {bounds.why}, not {shown(value)}")
