"""Pictures of a game: as SVG, as pixels, and as files of PNG and GIF."""

from __future__ import annotations

import functools
import io
import os
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.game.display import TURN, seats_shown
from krypenv.game.game import Game
from krypenv.inputs.words import to_install
from krypenv.pictures.card_faces import CARD_HEIGHT, CARD_WIDTH, card_of
from krypenv.pictures.scene import BOLD, HEIGHT, PLAIN, WIDTH, Item, Said, lay_out
from krypenv.pictures.svg import Rect, box, document, put, shorten, text

Pixels = npt.NDArray[np.uint8]

_ROOM, _FELT, _FELT_EDGE, _PANEL = "#102c26", "#1e7050", "#604228", "#184238"
_GOLD, _LIGHT, _INK = "#f6c642", "#eef0e8", "#1e1a10"
_COLOURS = 96  # of a GIF
_SAMPLED = 8  # first pictures of a GIF, which decide its palette
_LAST = 5  # how many times as long the last picture of a GIF stays

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")


def draw_svg(
    game: Game,
    render_seat: int | str | None = TURN,
    *,
    bottom: int = 0,
    names: Sequence[str] | None = None,
    four_colours: bool = False,
    said: Said = Said(),  # noqa: B008 - it can't be changed
) -> str:
    """Draw a game as SVG, 960 by 720; the arguments are those of `draw_game`."""
    items = lay_out(game, seats_shown(game, render_seat), bottom, names, said)
    return shorten(_document(items, four_colours))


def _document(items: Sequence[Item], four_colours: bool, faces: bool = True) -> str:
    """Draw items as SVG, with or without the faces and backs of cards."""
    ground = box(Rect(0, 0, WIDTH, HEIGHT), _ROOM)
    return document([ground, *(_drawn(item, four_colours, faces) for item in items)], WIDTH, HEIGHT)


def draw_game(
    game: Game,
    render_seat: int | str | None = TURN,
    width: int = WIDTH,
    *,
    bottom: int = 0,
    names: Sequence[str] | None = None,
    four_colours: bool = False,
    said: Said = Said(),  # noqa: B008 - it can't be changed
) -> Pixels:
    """Draw a game as pixels, (0.75 `width`, `width`, 3) uint8. No window is opened.

    Args:
        game: the game.
        render_seat: whose hand is open: the seat to act ("turn"), one seat (its number), "all" or none (None).
        width: pixels in a row.
        bottom: the seat at the bottom; the others follow from left to right, as they sit clockwise (R5).
        names: the names of the seats, by default their numbers.
        four_colours: draw clubs green and diamonds blue.
        said: title, caption and score in words, as `krypenv.ui.captions.said_of` has them.

    Raises ValueError for a wrong `render_seat`, and ModuleNotFoundError without pygame-ce.
    """
    items = lay_out(game, seats_shown(game, render_seat), bottom, names, said)
    scale = width / WIDTH
    surface = _surface(_document(items, four_colours, faces=False), width, round(HEIGHT * scale))
    for item in items:
        if item.kind in ("card", "back"):
            x, y, w, h = (round(scale * number) for number in item.rect)
            surface.blit(_card_surface(item.text, four_colours, w, h), (x, y))
    return np.ascontiguousarray(pygame().surfarray.array3d(surface).swapaxes(0, 1))


def _surface(picture: str, width: int, height: int) -> Any:
    return pygame().image.load_sized_svg(io.BytesIO(picture.encode()), (width, height))


@functools.lru_cache(maxsize=1024)
def _card_surface(name: str, four_colours: bool, width: int, height: int) -> Any:
    """Draw the face of a card as pixels, or the back for no name. Pictures share them."""
    return _surface(document([card_of(name, four_colours)], CARD_WIDTH, CARD_HEIGHT), width, height)


def pygame() -> Any:
    """Import pygame; raise ModuleNotFoundError, naming the extra, if it is missing."""
    try:
        import pygame
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            f"pictures are drawn with pygame-ce, which is not installed; {to_install('render')}", name="pygame"
        ) from None
    return pygame


def _drawn(item: Item, four_colours: bool, faces: bool) -> str:
    """Draw an item as SVG."""
    kind, rect, is_marked = item.kind, item.rect, item.style == "marked"
    if kind == "felt":
        return box(rect, _FELT_EDGE, 26) + box(rect.inside(6), _FELT, 20)
    if kind == "panel":
        return box(rect, _PANEL, 12) + (box(rect, _GOLD, 12, 4) if is_marked else "")
    if kind == "ribbon":
        return box(rect, _GOLD, rect.h / 2) + text(item.text, rect.inside(4), _INK, BOLD, True)
    if kind == "text":
        align, _, weight = item.style.partition(" ")
        return text(item.text, rect, _LIGHT, BOLD if weight else PLAIN, bool(weight), align)
    mark = box(rect.inside(-5), _GOLD, 12) if is_marked else ""
    return mark + put(card_of(item.text, four_colours), rect, CARD_WIDTH) if faces else mark


def png_of(pixels: Pixels) -> bytes:
    """Write a picture, (H, W, 3) uint8, as a PNG file."""
    file = io.BytesIO()
    _pillow().fromarray(pixels).save(file, "PNG", optimize=True)
    return file.getvalue()


def gif_of(pictures: Iterable[Pixels], seconds: float = 1.0) -> bytes:
    """Write pictures of one size, (H, W, 3) uint8 each, as a GIF file that repeats.

    Each is shown for some seconds, the last one for five times as long. Raises ValueError if there is no picture.
    """
    image = _pillow()
    source = iter(pictures)
    beginning = list(islice(source, _SAMPLED))
    if not beginning:
        raise ValueError("a GIF is made of one picture at least")
    palette = image.fromarray(np.concatenate(beginning)).quantize(_COLOURS)
    first, *rest = (
        image.fromarray(picture).quantize(palette=palette, dither=image.Dither.NONE)
        for picture in chain(beginning, source)
    )
    times = [round(1000 * seconds)] * len(rest) + [round(1000 * seconds * _LAST)]
    file = io.BytesIO()
    first.save(file, "GIF", save_all=True, append_images=rest, duration=times, loop=0, optimize=True)
    return file.getvalue()


def _pillow() -> Any:
    try:
        from PIL import Image
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            f"pictures are stored by pillow, which is not installed; {to_install('render')}", name="PIL"
        ) from None
    return Image
