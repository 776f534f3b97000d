"""Whether rectangles of pictures lie within each other, and whether they overlap."""

from krypenv.pictures.scene import Rect


def holds(room: Rect, other: Rect) -> bool:
    """Whether a rectangle lies within another one."""
    across = room.x <= other.x + 1e-6 and other.x + other.w <= room.x + room.w + 1e-6
    return across and room.y <= other.y + 1e-6 and other.y + other.h <= room.y + room.h + 1e-6


def overlap(one: Rect, other: Rect) -> bool:
    """Whether two rectangles have more than an edge in common."""
    across = max(one.x, other.x) + 1e-6 < min(one.x + one.w, other.x + other.w)
    return across and max(one.y, other.y) + 1e-6 < min(one.y + one.h, other.y + other.h)
