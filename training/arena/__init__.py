"""Tournaments: many agents over the same deals, with ratings and a report.

arena      a tournament
lineups    matches and seatings
shards     portions of a tournament, for workers
results    the folder of a tournament
games      games as arrays
payoffs    margins between agents
ratings    ratings
standings  the table
report     the HTML page
"""

from typing import TYPE_CHECKING

from krypenv.runtime.lazy import importer

if TYPE_CHECKING:
    from krypenv.training.arena.arena import ArenaSettings, run_arena
    from krypenv.training.arena.games import Games
    from krypenv.training.arena.results import load_games
else:
    __getattr__ = importer(
        __name__,
        {
            "arena": (
                "ArenaSettings",
                "run_arena",
            ),
            "games": ("Games",),
            "results": ("load_games",),
        },
    )

__all__ = ["ArenaSettings", "Games", "load_games", "run_arena"]
