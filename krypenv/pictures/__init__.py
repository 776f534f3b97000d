"""Pictures of a game: as pixels, as text for a terminal, as files, and in a window. They hold no rules.

drawing      pictures as arrays of pixels
scene        what a picture shows, and where
places       rectangles, and where cards lie in them
canvas       shapes and texts, drawn by pygame-ce
card_faces   the faces and the back of cards
suits        the shapes of the suits
figures      the figures of jacks, queens and kings
text         a game as text with colours
image_files  pictures and moving pictures as files
window       a window that shows pictures
rendering    the render modes of environments
"""

from typing import TYPE_CHECKING

from krypenv.runtime.lazy import importer

if TYPE_CHECKING:
    from krypenv.pictures.drawing import draw_game
    from krypenv.pictures.image_files import gif_of, png_of
    from krypenv.pictures.text import format_ansi
else:
    __getattr__, __dir__ = importer(
        __name__,
        {"drawing": ("draw_game",), "image_files": ("gif_of", "png_of"), "text": ("format_ansi",)},
    )

__all__ = ["draw_game", "format_ansi", "gif_of", "png_of"]
