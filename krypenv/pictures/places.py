"""Rectangles, and where cards lie in them."""

from __future__ import annotations

import math
from typing import NamedTuple

SHAPE = 1.4  # height of a card for a width of 1
_GAP = 8.0
_SMALLEST = 28.0  # width of a card that can still be read; more of them overlap


class Rect(NamedTuple):
    """A rectangle in the units of a picture; y grows downwards."""

    x: float
    y: float
    w: float
    h: float

    def inside(self, margin: float) -> Rect:
        """Return the rectangle without a margin."""
        return Rect(self.x + margin, self.y + margin, self.w - 2 * margin, self.h - 2 * margin)

    def split_rows(self, height: float) -> tuple[Rect, Rect]:
        """Return the upper part of some height, and the rest."""
        return self._replace(h=height), Rect(self.x, self.y + height, self.w, self.h - height)

    def split_columns(self, width: float) -> tuple[Rect, Rect]:
        """Return the left part of some width, and the rest."""
        return self._replace(w=width), Rect(self.x + width, self.y, self.w - width, self.h)

    def holds(self, other: Rect) -> bool:
        """Return whether another rectangle lies within this one."""
        across = self.x <= other.x + 1e-6 and other.x + other.w <= self.x + self.w + 1e-6
        return across and self.y <= other.y + 1e-6 and other.y + other.h <= self.y + self.h + 1e-6


def lay_cards(count: int, room: Rect, widest: float) -> list[Rect]:
    """Return where some cards lie: side by side in rows in the middle of a room, as wide as they fit, up to `widest`.

    Cards that would be too small to read overlap from left to right instead.
    """

    def fit(width: float) -> tuple[int, int]:
        """Return how many rows and columns of cards of a width fit."""
        return int((room.h + _GAP) // (SHAPE * width + _GAP)), int((room.w + _GAP) // (width + _GAP))

    widths = (float(width) for width in range(int(widest), int(_SMALLEST), -1))
    width = next((width for width in widths if math.prod(fit(width)) >= count), _SMALLEST)
    most_rows, most_columns = fit(width)
    rows = math.ceil(count / max(1, most_columns, math.ceil(count / max(1, most_rows))))
    columns = math.ceil(count / max(1, rows))
    step = min(width + _GAP, (room.w - width) / max(1, columns - 1))
    down = SHAPE * width + _GAP
    top = room.y + (room.h - rows * down + _GAP) / 2
    places = []
    for at in range(count):
        row, column = divmod(at, columns)
        left = room.x + (room.w - (min(columns, count - row * columns) - 1) * step - width) / 2
        places.append(Rect(left + column * step, top + row * down, width, SHAPE * width))
    return places
