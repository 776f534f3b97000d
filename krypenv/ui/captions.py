"""Captions of pictures, and the story of a whole game, deal by deal."""

from __future__ import annotations

from collections.abc import Iterator

from krypenv.game.game import Game
from krypenv.pictures.scene import Said
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.narrator.score_sheet import rows_of


def said_of(game: Game, narrator: Narrator, before: Game | None = None, all_open: bool = False) -> Said:
    """Write the texts of a picture of a game.

    Args:
        game: the game.
        narrator: who tells it.
        before: the game before its last play, which is told; without it nothing is.
        all_open: say in the title that all hands are open, as no player sees them.
    """
    title = f"{narrator.table_title}, {narrator.say('picture.open')}" if all_open else narrator.table_title
    caption = "" if before is None else narrator.play(before, game)
    return Said(title, caption, rows_of(narrator, narrator.sheet(game)) if game.is_over else ())


def story_of(game: Game, narrator: Narrator) -> Iterator[str]:
    """Yield the lines of a whole game: its tags, each deal with all hands, the plays with the comments, and the end."""
    yield narrator.table_title
    yield from (f"{name}: {text}" for name, text in game.tags.items())
    twin, deal = game.rewound(), 0
    for ply, move in enumerate([*game.moves, None]):
        if twin.deal_number != deal and not twin.is_over:
            deal = twin.deal_number
            yield from ("", *str(twin).splitlines()[:-1])
        if ply in game.comments:
            yield f"      {{{game.comments[ply]}}}"
        if move:
            before = twin.copy()
            twin.push(move)
            yield f" {ply + 1:3}. {narrator.play(before, twin)}"
    end = [*narrator.sheet_lines(game), "", narrator.result(game)] if game.is_over else [str(game)]
    yield from ("", *end)
