"""The figures of jacks, queens and kings: half of one, which the card shows twice."""

from __future__ import annotations

from krypenv.cards import JACK, KING, QUEEN
from krypenv.pictures.canvas import Canvas, Colour
from krypenv.pictures.places import SHAPE, Rect
from krypenv.pictures.suits import Polygon, circle

GOLD, INK, SKIN, PAPER = (236, 182, 48), (44, 38, 44), (247, 218, 186), (252, 243, 220)
_HAIR = {JACK: (150, 98, 44), QUEEN: (206, 150, 60), KING: (128, 116, 108)}
_FRAME = Rect(0.285, 0.09, 0.43, SHAPE - 0.18)
_HEAD = (0.5, 0.375)  # its middle


def draw_figure(canvas: Canvas, rank: int, colour: Colour) -> None:
    """Draw the upper half of a figure in a frame in the middle of a card of width 1."""
    canvas.box(_FRAME, PAPER, 0.03)
    _draw_robe(canvas, rank, colour)
    _draw_head(canvas, rank)
    _draw_crown(canvas, rank, colour)
    canvas.box(_FRAME, colour, 0.03, 0.012)


def _draw_robe(canvas: Canvas, rank: int, colour: Colour) -> None:
    robe = (
        (0.295, 0.72),
        (0.295, 0.6),
        (0.36, 0.515),
        (0.45, 0.47),
        (0.55, 0.47),
        (0.64, 0.515),
        (0.705, 0.6),
        (0.705, 0.72),
    )
    canvas.polygon(robe, colour)
    collar = {
        JACK: ((0.41, 0.48), (0.59, 0.48), (0.5, 0.58)),
        QUEEN: ((0.39, 0.5), (0.61, 0.5), (0.56, 0.6), (0.5, 0.63), (0.44, 0.6)),
        KING: ((0.36, 0.515), (0.45, 0.46), (0.55, 0.46), (0.64, 0.515), (0.57, 0.72), (0.43, 0.72)),
    }[rank]
    canvas.polygon(collar, PAPER if rank == KING else GOLD)
    if rank == KING:  # ermine
        for x, y in ((0.46, 0.56), (0.54, 0.56), (0.5, 0.61), (0.465, 0.66), (0.535, 0.66)):
            canvas.polygon(circle(x, y, 0.011, 12), INK)
    for left in (0.3, 0.66):
        canvas.polygon(((left, 0.62), (left + 0.04, 0.6), (left + 0.04, 0.72), (left, 0.72)), GOLD)


def _draw_head(canvas: Canvas, rank: int) -> None:
    x, y = _HEAD
    hair = _HAIR[rank]
    reach = {JACK: 0.46, QUEEN: 0.55, KING: 0.45}[rank]  # how far down the hair falls
    canvas.polygon(circle(x, y - 0.02, 0.125), hair)
    canvas.polygon(((x - 0.125, y - 0.02), (x + 0.125, y - 0.02), (x + 0.13, reach), (x - 0.13, reach)), hair)
    canvas.polygon([(px, y + (py - y) * 1.15) for px, py in circle(x, y, 0.095)], SKIN)
    if rank == KING:
        canvas.polygon(
            ((0.405, 0.385), (0.45, 0.41), (0.55, 0.41), (0.595, 0.385), (0.57, 0.49), (0.5, 0.53), (0.43, 0.49)), hair
        )
    for side in (-1, 1):
        canvas.polygon(circle(x + side * 0.038, y - 0.015, 0.012, 12), INK)
        canvas.line([(x + side * 0.022, y - 0.045), (x + side * 0.056, y - 0.045)], INK, 0.009)
    canvas.line([(x, y - 0.01), (x - 0.012, y + 0.03), (x + 0.004, y + 0.032)], (190, 140, 110), 0.008)
    canvas.line([(x - 0.026, y + 0.06), (x, y + 0.068), (x + 0.026, y + 0.06)], (176, 50, 60), 0.014)


def _draw_crown(canvas: Canvas, rank: int, colour: Colour) -> None:
    shapes: dict[int, tuple[Polygon, ...]] = {
        JACK: (((0.365, 0.3), (0.37, 0.22), (0.43, 0.18), (0.57, 0.18), (0.635, 0.24), (0.635, 0.3)),),
        QUEEN: (((0.385, 0.3), (0.37, 0.2), (0.43, 0.245), (0.5, 0.16), (0.57, 0.245), (0.63, 0.2), (0.615, 0.3)),),
        KING: (
            (
                (0.37, 0.3),
                (0.345, 0.17),
                (0.42, 0.23),
                (0.455, 0.14),
                (0.5, 0.21),
                (0.545, 0.14),
                (0.58, 0.23),
                (0.655, 0.17),
                (0.63, 0.3),
            ),
        ),
    }
    for shape in shapes[rank]:
        canvas.polygon(shape, colour if rank == JACK else GOLD)
    if rank == JACK:  # a brim and a feather
        canvas.box(Rect(0.35, 0.275, 0.3, 0.035), GOLD, 0.015)
        canvas.polygon(((0.6, 0.285), (0.685, 0.2), (0.7, 0.125), (0.64, 0.165), (0.59, 0.25)), GOLD)
        return
    canvas.box(Rect(0.37, 0.275, 0.26, 0.035), colour, 0.01)
    jewels = (
        ((0.5, 0.155), (0.372, 0.195), (0.628, 0.195))
        if rank == QUEEN
        else ((0.345, 0.16), (0.455, 0.135), (0.545, 0.135), (0.655, 0.16))
    )
    for x, y in jewels:
        canvas.polygon(circle(x, y, 0.018, 16), colour)
