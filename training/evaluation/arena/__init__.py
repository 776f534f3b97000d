"""Tournaments: many agents over the same deals, with ratings and a report.

arena      a tournament
lineups    matches and seatings
shards     portions of a tournament, for workers
stored_games  the folder of a tournament
stored_luck  how a stored tournament measures luck
games      games as arrays
payoffs    margins between agents
ratings    ratings
standings  the table
html_report  the HTML page
"""

from typing import TYPE_CHECKING

from krypenv.runtime.lazy import importer

if TYPE_CHECKING:
    from krypenv.training.evaluation.arena.arena import ArenaSettings, run_arena
    from krypenv.training.evaluation.arena.games import Games
    from krypenv.training.evaluation.arena.stored_games import load_games
else:
    __getattr__, __dir__ = importer(
        __name__,
        {
            "arena": (
                "ArenaSettings",
                "run_arena",
            ),
            "games": ("Games",),
            "stored_games": ("load_games",),
        },
    )

__all__ = ["ArenaSettings", "Games", "load_games", "run_arena"]
