"""One game, for people: moves by name, undo, texts of positions and records.

game      the game, with its texts
core      a game without its texts
starts    decks and places in a session that a game may start from
history   the states of a game, and how they follow each other
stack     the kernels over those states
plays     which whole plays are legal, and how they are carried out
moves     whole plays as people write them
entries   a position's text as entries
notation  a position as a text
records   a game as a text
display   a game drawn as text
view      what one seat may see of a game, as text
"""

from typing import TYPE_CHECKING

from krypenv.runtime.lazy import importer

if TYPE_CHECKING:
    from krypenv.game.game import Game
    from krypenv.game.moves import Move
else:
    __getattr__ = importer(
        __name__,
        {
            "game": ("Game",),
            "moves": ("Move",),
        },
    )

__all__ = ["Game", "Move"]
