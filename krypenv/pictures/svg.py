"""Rectangles, shapes and texts as SVG. Letters are outlines, so that they look alike wherever they are shown."""

from __future__ import annotations

import functools
import importlib.util
import re
import zlib
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from krypenv.cards import CLUBS, DIAMONDS, HEARTS, SPADES

SIGNS = {CLUBS: "♣", DIAMONDS: "♦", HEARTS: "♥", SPADES: "♠"}
_PATH = re.compile(r'<path([^>]*) d="([^"]*)"/>')
SHAPE = 1.4  # height of a card for a width of 1
_EM = 2048  # units of the fonts
_RISE = 0.36  # of the size of a text: from the middle of a line down to where its letters stand


class Rect(NamedTuple):
    """A rectangle in the units of a picture; y grows downwards."""

    x: float
    y: float
    w: float
    h: float

    def inside(self, margin: float) -> Rect:
        """Shrink the rectangle by a margin."""
        return Rect(self.x + margin, self.y + margin, self.w - 2 * margin, self.h - 2 * margin)

    def split_rows(self, height: float) -> tuple[Rect, Rect]:
        """Split off the upper part, of some height; return it and the rest."""
        return self._replace(h=height), Rect(self.x, self.y + height, self.w, self.h - height)

    def split_columns(self, width: float) -> tuple[Rect, Rect]:
        """Split off the left part, of some width; return it and the rest."""
        return self._replace(w=width), Rect(self.x + width, self.y, self.w - width, self.h)


class Glyph(NamedTuple):
    """A letter of a font in its units, y upwards."""

    path: str  # as SVG writes it
    advance: float  # to the next letter
    middle: tuple[float, float]


@functools.cache
def _font(is_bold: bool) -> Any:
    """Read a font that comes with Matplotlib, without loading Matplotlib."""
    from fontTools.ttLib import TTFont

    spec = importlib.util.find_spec("matplotlib")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("the fonts of pictures come with matplotlib, which is not installed")
    folder = Path(spec.submodule_search_locations[0]) / "mpl-data" / "fonts" / "ttf"
    return TTFont(folder / f"DejaVuSans{'-Bold' * is_bold}.ttf", lazy=True)


@functools.cache
def glyph(letter: str, is_bold: bool) -> Glyph:
    """Read the outline of a letter; a box stands for one that the font does not have."""
    from fontTools.pens.boundsPen import BoundsPen
    from fontTools.pens.svgPathPen import SVGPathPen

    font = _font(is_bold)
    glyphs = font.getGlyphSet()
    shape = glyphs[font.getBestCmap().get(ord(letter), ".notdef")]
    outline, bounds = SVGPathPen(glyphs, lambda number: str(round(number))), BoundsPen(glyphs)
    shape.draw(outline)
    shape.draw(bounds)
    left, low, right, high = bounds.bounds or (0, 0, 0, 0)
    return Glyph(outline.getCommands(), shape.width, ((left + right) / 2, (low + high) / 2))


def text_width(words: str, size: float, is_bold: bool = False) -> float:
    """Measure the width of a line."""
    return size / _EM * sum(glyph(letter, is_bold).advance for letter in words)


def box(rect: Rect, colour: str, radius: float = 0, border: float = 0) -> str:
    """Draw a rectangle with round corners; with a border, only its outline, inside the rectangle."""
    x, y, width, height = rect.inside(border / 2)
    paint = f'fill="none" stroke="{colour}" stroke-width="{border:g}"' if border else f'fill="{colour}"'
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius:g}" {paint}/>'


def text(words: str, rect: Rect, colour: str, size: float, is_bold: bool = False, align: str = "") -> str:
    """Draw a line of text in the middle of a rectangle, or at its "left" or "right", narrower if it would not fit."""
    width = text_width(words, size, is_bold)
    squeezed = min(1, rect.w / width) if width else 1
    x = rect.x + {"left": 0.0, "right": 1.0}.get(align, 0.5) * (rect.w - squeezed * width)
    y = rect.y + rect.h / 2 + _RISE * size
    letters, start = [], 0.0
    for letter in words:
        path, advance, _ = glyph(letter, is_bold)
        letters.append(f'<path transform="translate({start:g} 0)" d="{path}"/>' if path else "")
        start += advance
    scale = f"translate({x:.2f} {y:.2f}) scale({squeezed * size / _EM:.6f} {-size / _EM:.6f})"
    return f'<g fill="{colour}" transform="{scale}">{"".join(letters)}</g>'


def sign(suit: int, x: float, y: float, size: float, colour: str, upside_down: bool = False) -> str:
    """Draw the sign of a suit around a point."""
    path, _, (left, low) = glyph(SIGNS[suit], True)
    turn = (-size if upside_down else size) / _EM
    matrix = f"matrix({turn:.6f} 0 0 {-turn:.6f} {x - turn * left:.2f} {y + turn * low:.2f})"
    return f'<path fill="{colour}" transform="{matrix}" d="{path}"/>'


def put(markup: str, rect: Rect, width: float) -> str:
    """Scale a drawing of some width to a rectangle."""
    return f'<g transform="translate({rect.x:.2f} {rect.y:.2f}) scale({rect.w / width:.4f})">{markup}</g>'


def document(parts: list[str], width: int, height: int) -> str:
    """Make an SVG document of its parts."""
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(parts)}</svg>'


def shorten(picture: str) -> str:
    """Define each outline of a document once and refer to it, as browsers read it.

    An outline is named by its checksum, so that several pictures may stand in one page.
    """
    counts = Counter(way for _, way in _PATH.findall(picture))
    names = {way: f"krypenv-{zlib.crc32(way.encode()):08x}" for way, count in counts.items() if count > 1}
    shared = "".join(f'<path id="{name}" d="{way}"/>' for way, name in names.items())
    head, end, body = picture.partition(">")
    parts = _PATH.sub(lambda m: f'<use{m[1]} href="#{names[m[2]]}"/>' if m[2] in names else m[0], body)
    return f"{head}{end}<defs>{shared}</defs>{parts}"
