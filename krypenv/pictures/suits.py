"""The shapes of the suits: polygons around the middle of a square of side 1, y downwards."""

from __future__ import annotations

import math

from krypenv.cards import CLUBS, DIAMONDS, HEARTS, SPADES

Polygon = tuple[tuple[float, float], ...]
_STEPS = 48


def circle(x: float, y: float, radius: float, steps: int = 32) -> Polygon:
    """Return a circle as a polygon."""
    angles = [2 * math.pi * step / steps for step in range(steps)]
    return tuple((x + radius * math.cos(angle), y + radius * math.sin(angle)) for angle in angles)


def _heart(scale: float, top: float) -> Polygon:
    """Return a heart, its point downwards, `scale` high, with its top at some height."""
    points = []
    for step in range(_STEPS):
        t = 2 * math.pi * step / _STEPS
        x = 16 * math.sin(t) ** 3
        y = -(13 * math.cos(t) - 5 * math.cos(2 * t) - 2 * math.cos(3 * t) - math.cos(4 * t))
        points.append((scale * x / 31, top + scale * (y + 12) / 29))
    return tuple(points)


def _diamond() -> Polygon:
    """Return a diamond whose sides are bent inwards a little."""
    corners = ((0.0, -0.5), (0.4, 0.0), (0.0, 0.5), (-0.4, 0.0))
    points: list[tuple[float, float]] = []
    for (x, y), (to_x, to_y) in zip(corners, (*corners[1:], corners[0]), strict=True):
        middle = (0.46 * (x + to_x), 0.46 * (y + to_y))
        for step in range(8):
            t = step / 8
            a, b, c = (1 - t) ** 2, 2 * t * (1 - t), t**2
            points.append((a * x + b * middle[0] + c * to_x, a * y + b * middle[1] + c * to_y))
    return tuple(points)


def _stem(top: float) -> Polygon:
    """Return the foot of a spade or a club."""
    return ((-0.03, top), (0.03, top), (0.06, 0.32), (0.2, 0.5), (-0.2, 0.5), (-0.06, 0.32))


SUIT_SHAPES: dict[int, tuple[Polygon, ...]] = {
    CLUBS: (circle(0, -0.27, 0.22), circle(-0.24, 0.1, 0.22), circle(0.24, 0.1, 0.22), circle(0, 0, 0.12), _stem(0.0)),
    DIAMONDS: (_diamond(),),
    HEARTS: (_heart(0.96, -0.47),),
    SPADES: (tuple((x, -0.1 - y) for x, y in _heart(0.84, -0.42 + 0.02)), _stem(0.1)),
}
