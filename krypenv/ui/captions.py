"""What pictures of a game say in words: its title, what was played, and the score at its end."""

from __future__ import annotations

from krypenv.game.game import Game
from krypenv.pictures.scene import Said
from krypenv.ui.narrator.came_to import rows_of
from krypenv.ui.narrator.narrator import Narrator


def said_of(game: Game, narrator: Narrator, before: Game | None = None, all_open: bool = False) -> Said:
    """Return what a picture of a game says.

    Args:
        game: the game.
        narrator: who tells it.
        before: the game before its last play, which is told; without it nothing is.
        all_open: say in the title that all hands are open, as no player sees them.
    """
    title = f"{narrator.table_title}, {narrator.say('picture.open')}" if all_open else narrator.table_title
    caption = "" if before is None else narrator.play(before, game)
    return Said(title, caption, rows_of(narrator, narrator.sheet(game)) if game.is_over else ())
