"""Rectangles, and where cards lie in them."""

from __future__ import annotations

import math
from typing import NamedTuple

SHAPE = 1.4  # height of a card for a width of 1
_GAP = 8.0
_CORNER = 0.32  # of a card's width must be seen: its index
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
        return (
            self.x <= other.x + 1e-6
            and self.y <= other.y + 1e-6
            and other.x + other.w <= self.x + self.w + 1e-6
            and other.y + other.h <= self.y + self.h + 1e-6
        )


def lay_cards(count: int, room: Rect, widest: float) -> list[Rect]:
    """Return where some cards lie: side by side in rows in the middle of a room, as wide as they fit, up to `widest`.

    Cards that would be too small to read overlap from left to right instead.
    """
    width = next((float(w) for w in range(int(widest), int(_SMALLEST), -1) if _fits(count, room, w)), _SMALLEST)
    height = SHAPE * width
    most_rows = max(1, int((room.h + _GAP) // (height + _GAP)))
    per_row = max(1, int((room.w + _GAP) // (width + _GAP)), math.ceil(count / most_rows))
    rows = math.ceil(count / per_row)
    per_row = math.ceil(count / max(1, rows))
    step = min(width + _GAP, (room.w - width) / max(1, per_row - 1))
    top = room.y + (room.h - rows * (height + _GAP) + _GAP) / 2
    places = []
    for row in range(rows):
        cards = min(per_row, count - row * per_row)
        left = room.x + (room.w - (cards - 1) * step - width) / 2
        places += [Rect(left + at * step, top + row * (height + _GAP), width, height) for at in range(cards)]
    return places


def lay_row(count: int, room: Rect, widest: float) -> list[Rect]:
    """Return where some cards lie in one row in the middle of a room, over each other where there is no space."""
    width = min(widest, room.h / SHAPE, room.w / (1 + _CORNER * (count - 1)))
    step = min(width + _GAP, (room.w - width) / max(1, count - 1))
    left = room.x + (room.w - (count - 1) * step - width) / 2
    top = room.y + (room.h - SHAPE * width) / 2
    return [Rect(left + at * step, top, width, SHAPE * width) for at in range(count)]


def _fits(count: int, room: Rect, width: float) -> bool:
    """Return whether cards of a width fit side by side."""
    return int((room.w + _GAP) // (width + _GAP)) * int((room.h + _GAP) // (SHAPE * width + _GAP)) >= count
