"""Shapes and texts on a surface of pixels, drawn by pygame-ce without a window."""

from __future__ import annotations

import functools
import importlib.util
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from krypenv.inputs.words import to_install
from krypenv.pictures.places import Rect

Colour = tuple[int, int, int]
_SQUEEZED = 0.9  # height of a text that is too wide for its place, which is squeezed
_SMOOTH = 2  # pixels drawn for each pixel of the finished picture, in each direction

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")


def pygame() -> Any:
    """Return the module pygame; raise ModuleNotFoundError, in a sentence that names the extra, if it is missing."""
    try:
        import pygame
        import pygame.font
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            f"pictures are drawn with pygame-ce, which is not installed; {to_install('render')}", name="pygame"
        ) from None
    if not pygame.font.get_init():
        pygame.font.init()
    return pygame


@functools.cache
def _font(size: int, style: str) -> Any:
    """Return a font of a size in pixels; the fonts come with Matplotlib, whose code is not loaded."""
    spec = importlib.util.find_spec("matplotlib")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("the fonts of pictures come with matplotlib, which is not installed")
    folder = Path(spec.submodule_search_locations[0]) / "mpl-data" / "fonts" / "ttf"
    return pygame().font.Font(str(folder / f"DejaVu{style}.ttf"), size)


class Canvas:
    """A surface to draw on in units of its own; what is drawn is smoothed when the surface is taken.

    Args:
        width, height: its size in units.
        scale: pixels for each unit.
    """

    def __init__(self, width: float, height: float, scale: float) -> None:
        self.size = (round(width * scale), round(height * scale))
        self._scale = scale * _SMOOTH
        self._pygame = pygame()
        large = (self.size[0] * _SMOOTH, self.size[1] * _SMOOTH)
        self._surface = self._pygame.Surface(large, self._pygame.SRCALPHA, 32)

    def take(self) -> Any:
        """Return the finished surface."""
        return self._pygame.transform.smoothscale(self._surface, self.size)

    def box(self, rect: Rect, colour: Colour, radius: float = 0, border: float = 0) -> None:
        """Draw a rectangle with round corners, or with a border only its outline, inside the rectangle."""
        self._pygame.draw.rect(
            self._surface, colour, self._pixels(rect),
            width=max(1, round(border * self._scale)) if border else 0, border_radius=round(radius * self._scale),
        )  # fmt: skip

    def polygon(self, points: Iterable[tuple[float, float]], colour: Colour) -> None:
        """Draw a filled polygon."""
        self._pygame.draw.polygon(self._surface, colour, [(x * self._scale, y * self._scale) for x, y in points])

    def line(self, points: Iterable[tuple[float, float]], colour: Colour, width: float) -> None:
        """Draw connected lines."""
        ends = [(x * self._scale, y * self._scale) for x, y in points]
        self._pygame.draw.lines(self._surface, colour, False, ends, max(1, round(width * self._scale)))

    def text(self, words: str, rect: Rect, colour: Colour, size: float, style: str = "Sans", align: str = "") -> None:
        """Write a line in the middle of a rectangle, or at its "left" or "right", narrower if it would not fit."""
        pixels = max(1, round(size * self._scale))
        drawn = _font(pixels, style).render(words, True, colour)
        x, y, width, height = self._pixels(rect)
        if drawn.get_width() > width:
            drawn = self._pygame.transform.smoothscale(drawn, (width, round(_SQUEEZED * drawn.get_height())))
        left = {"left": x, "right": x + width - drawn.get_width()}.get(align, x + (width - drawn.get_width()) // 2)
        self._surface.blit(drawn, (left, y + (height - drawn.get_height()) // 2))

    def paste(self, other: Any, rect: Rect) -> None:
        """Draw a surface made by another canvas, stretched to a rectangle."""
        x, y, width, height = self._pixels(rect)
        if other.get_size() != (width, height):
            other = self._pygame.transform.smoothscale(other, (width, height))
        self._surface.blit(other, (x, y))

    def turn_round(self) -> None:
        """Draw the upper half once more, upside down, as the lower half."""
        width, height = self._surface.get_size()
        upper = self._surface.subsurface((0, 0, width, height // 2)).copy()
        self._surface.blit(self._pygame.transform.rotate(upper, 180), (0, height - height // 2))

    def width_in_pixels(self, rect: Rect) -> int:
        """Return how wide a rectangle is on the unfinished surface."""
        return self._pixels(rect)[2]

    def _pixels(self, rect: Rect) -> tuple[int, int, int, int]:
        left, top = round(rect.x * self._scale), round(rect.y * self._scale)
        return left, top, round(rect.w * self._scale), round(rect.h * self._scale)
