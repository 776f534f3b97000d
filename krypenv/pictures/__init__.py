"""Pictures of a game: as SVG and pixels, as text for a terminal, as files, and in a window. They hold no rules.

drawing      pictures as SVG, as pixels and as files
scene        what a picture shows, and where
places       rectangles, and where cards lie in them
svg          shapes and texts as SVG
card_faces   the faces and the back of cards
text         a game as text with colours
rendering    the render modes of environments, and the window
"""

from typing import TYPE_CHECKING

from krypenv.runtime.lazy import importer

if TYPE_CHECKING:
    from krypenv.pictures.drawing import draw_game, draw_svg, gif_of, png_of
    from krypenv.pictures.text import format_ansi
else:
    _OFFERED = {"drawing": ("draw_game", "draw_svg", "gif_of", "png_of"), "text": ("format_ansi",)}
    __getattr__, __dir__ = importer(__name__, _OFFERED)

__all__ = ["draw_game", "draw_svg", "format_ansi", "gif_of", "png_of"]
