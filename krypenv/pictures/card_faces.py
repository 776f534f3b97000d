"""The faces and the back of cards: a large index in two corners, and the pips or a figure between them."""

from __future__ import annotations

import functools
from typing import Any

from krypenv.cards import ACE, CLUBS, DIAMONDS, HEARTS, PICTURES, RANK_NAMES, SPADES, TEN, parse_card, rank_of, suit_of
from krypenv.pictures.canvas import Canvas, Colour
from krypenv.pictures.figures import draw_figure
from krypenv.pictures.places import SHAPE, Rect
from krypenv.pictures.suits import SUIT_SHAPES, circle

WHITE, EDGE, BACK, BACK_LIGHT = (252, 251, 247), (120, 116, 108), (34, 62, 122), (126, 152, 206)
_BLACK, _RED, _GREEN, _BLUE = (22, 24, 30), (196, 22, 36), (10, 122, 60), (24, 84, 190)
TWO_COLOURS = {CLUBS: _BLACK, DIAMONDS: _RED, HEARTS: _RED, SPADES: _BLACK}
FOUR_COLOURS = {CLUBS: _GREEN, DIAMONDS: _BLUE, HEARTS: _RED, SPADES: _BLACK}

_L, _C, _R = 0.37, 0.5, 0.63  # columns of pips, in widths of a card
_ROWS = (0.24, 0.5467, 0.8533, 1.16)  # of four pips, from the top
_TOP, _MIDDLE, _BOTTOM = _ROWS[0], SHAPE / 2, _ROWS[3]
_CORNERS = tuple((x, y) for x in (_L, _R) for y in (_TOP, _BOTTOM))
_SIDES = ((_L, _MIDDLE), (_R, _MIDDLE))
_EIGHT = tuple((x, y) for x in (_L, _R) for y in _ROWS)
PIPS: dict[int, tuple[tuple[float, float], ...]] = {  # by rank; those below the middle stand on their heads
    2: ((_C, _TOP), (_C, _BOTTOM)),
    3: ((_C, _TOP), (_C, _MIDDLE), (_C, _BOTTOM)),
    4: _CORNERS,
    5: (*_CORNERS, (_C, _MIDDLE)),
    6: (*_CORNERS, *_SIDES),
    7: (*_CORNERS, *_SIDES, (_C, 0.47)),
    8: (*_CORNERS, *_SIDES, (_C, 0.47), (_C, 0.93)),
    9: (*_EIGHT, (_C, _MIDDLE)),
    TEN: (*_EIGHT, (_C, 0.39), (_C, 1.01)),
}


def draw_pip(
    canvas: Canvas, suit: int, x: float, y: float, size: float, colour: Colour, upside_down: bool = False
) -> None:
    """Draw the sign of a suit around a point."""
    turn = -1 if upside_down else 1
    for shape in SUIT_SHAPES[suit]:
        canvas.polygon([(x + turn * size * px, y + turn * size * py) for px, py in shape], colour)


@functools.lru_cache(maxsize=1024)
def card_face(name: str, width: int, four_colours: bool) -> Any:
    """Return the face of a card as a surface of some width in pixels."""
    card = parse_card(name)
    rank, suit = rank_of(card), suit_of(card)
    colour = (FOUR_COLOURS if four_colours else TWO_COLOURS)[suit]
    canvas = Canvas(1, SHAPE, width)
    canvas.box(Rect(0, 0, 1, SHAPE), EDGE, 0.09)
    canvas.box(Rect(0.012, 0.012, 0.976, SHAPE - 0.024), WHITE, 0.08)
    if rank in PICTURES:
        draw_figure(canvas, rank, colour)
    index = "10" if rank == TEN else RANK_NAMES[rank - 1]
    canvas.text(index, Rect(0.03, 0.02, 0.25, 0.3), colour, 0.33, "Sans-Bold")
    draw_pip(canvas, suit, 0.155, 0.44, 0.24, colour)
    canvas.turn_round()
    if rank in PICTURES:
        canvas.polygon(circle(_C, _MIDDLE, 0.155), colour)
        canvas.polygon(circle(_C, _MIDDLE, 0.14), WHITE)
        draw_pip(canvas, suit, _C, _MIDDLE, 0.2, colour)
    elif rank == ACE:
        draw_pip(canvas, suit, _C, _MIDDLE, 0.44, colour)
    for x, y in PIPS.get(rank, ()):
        draw_pip(canvas, suit, x, y, 0.185, colour, y > _MIDDLE)
    return canvas.take()


@functools.lru_cache(maxsize=64)
def card_back(width: int) -> Any:
    """Return the back of the cards as a surface of some width in pixels."""
    canvas = Canvas(1, SHAPE, width)
    canvas.box(Rect(0, 0, 1, SHAPE), EDGE, 0.09)
    canvas.box(Rect(0.012, 0.012, 0.976, SHAPE - 0.024), WHITE, 0.08)
    inner = Rect(0.07, 0.07, 0.86, SHAPE - 0.14)
    canvas.box(inner, BACK, 0.05)
    step = inner.w / 5
    for row in range(7):
        for column in range(5):
            x, y = inner.x + step * (column + 0.5), inner.y + inner.h / 7 * (row + 0.5)
            canvas.polygon([(x, y - 0.075), (x + 0.06, y), (x, y + 0.075), (x - 0.06, y)], BACK_LIGHT)
            canvas.polygon([(x, y - 0.04), (x + 0.032, y), (x, y + 0.04), (x - 0.032, y)], BACK)
    return canvas.take()
