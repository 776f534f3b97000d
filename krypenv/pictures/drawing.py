"""Pictures of a game as arrays of pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.game.core import Core
from krypenv.game.display import TURN, seats_shown
from krypenv.pictures.canvas import Canvas, pygame
from krypenv.pictures.card_faces import card_back, card_face
from krypenv.pictures.places import Rect
from krypenv.pictures.scene import HEIGHT, WIDTH, Said, Thing, lay_out

Pixels = npt.NDArray[np.uint8]

SIZE = WIDTH  # pixels in a row, by default
_ROOM, _FELT, _FELT_EDGE, _PANEL = (16, 44, 38), (30, 112, 80), (96, 66, 40), (24, 66, 56)
_GOLD, _LIGHT, _INK = (246, 198, 66), (238, 240, 232), (30, 26, 16)


def draw_game(
    game: Core,
    render_seat: int | str | None = TURN,
    width: int = SIZE,
    *,
    bottom: int = 0,
    names: Sequence[str] | None = None,
    four_colours: bool = False,
    said: Said = Said(),  # noqa: B008 - it can't be changed
) -> Pixels:
    """Return a picture of a game, (0.75 `width`, `width`, 3) uint8. No window is opened.

    Args:
        game: the game.
        render_seat: whose hand is open: the seat to act ("turn"), one seat (its number), "all" or none (None).
        width: pixels in a row.
        bottom: the seat at the bottom; the others follow from left to right, as they sit clockwise (R5).
        names: what the seats are called.
        four_colours: draw clubs green and diamonds blue.
        said: title, caption and score in words, as `krypenv.ui.captions.said_of` has them.

    Raises ValueError for a wrong `render_seat`, and ModuleNotFoundError without pygame-ce.
    """
    surface = draw_things(lay_out(game, seats_shown(game, render_seat), bottom, names, said), width, four_colours)
    return np.ascontiguousarray(pygame().surfarray.array3d(surface).swapaxes(0, 1))


def draw_things(things: Sequence[Thing], width: int, four_colours: bool) -> Any:
    """Return the surface, `width` pixels wide, on which the things of a picture are drawn."""
    canvas = Canvas(WIDTH, HEIGHT, width / WIDTH)
    canvas.box(Rect(0, 0, WIDTH, HEIGHT), _ROOM)
    for thing in things:
        _draw(canvas, thing, four_colours)
    return canvas.take()


def _draw(canvas: Canvas, thing: Thing, four_colours: bool) -> None:
    kind, rect, is_marked = thing.kind, thing.rect, thing.style == "marked"
    if kind == "felt":
        canvas.box(rect, _FELT_EDGE, 26)
        canvas.box(rect.inside(6), _FELT, 20)
    elif kind == "panel":
        canvas.box(rect, _PANEL, 12)
        if is_marked:
            canvas.box(rect, _GOLD, 12, 4)
    elif kind == "ribbon":
        canvas.box(rect, _GOLD, rect.h / 2)
        canvas.text(thing.text, rect.inside(4)._replace(x=rect.x + 16, w=rect.w - 32), _INK, 22, "Sans-Bold")
    elif kind == "text":
        align, _, weight = thing.style.partition(" ")
        style = "Sans-Bold" if weight else "Sans"
        canvas.text(thing.text, rect, _LIGHT, 22 if weight else 20, style, align)
    else:
        if is_marked:
            canvas.box(rect.inside(-5), _GOLD, 12)
        pixels = canvas.width_in_pixels(rect)
        canvas.paste(card_back(pixels) if kind == "back" else card_face(thing.text, pixels, four_colours), rect)
