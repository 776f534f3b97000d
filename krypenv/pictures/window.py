"""A window that shows pictures, for people who watch a game."""

from __future__ import annotations

from typing import Any

from krypenv.pictures.canvas import pygame
from krypenv.pictures.drawing import Pixels


class Window:
    """A window. It opens with the first picture, and a person may close it: later pictures are then not shown.

    Args:
        title: its title.
        fps: pictures in a second, at most: `show` waits.
    """

    def __init__(self, title: str, fps: float) -> None:
        self._pygame = pygame()
        self._title, self._fps = title, fps
        self._screen: Any = None
        self._clock = self._pygame.time.Clock()
        self._is_closed = False

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy has no window yet, and opens its own: what is on a screen can't be copied.
        return Window, (self._title, self._fps)

    def show(self, pixels: Pixels) -> None:
        """Show a picture, (H, W, 3) uint8, and read what happened to the window.

        Raises RuntimeError, in one sentence, where no window can be opened.
        """
        if self._is_closed:
            return
        if self._screen is None or not self._pygame.display.get_init():
            self._open((pixels.shape[1], pixels.shape[0]))
        self._screen.blit(self._pygame.surfarray.make_surface(pixels.swapaxes(0, 1)), (0, 0))
        self._pygame.display.flip()
        for event in self._pygame.event.get():
            if event.type == self._pygame.QUIT:
                self.close()
                return
        self._clock.tick(self._fps)

    def _open(self, size: tuple[int, int]) -> None:
        try:
            self._pygame.display.init()
            self._screen = self._pygame.display.set_mode(size)
        except self._pygame.error as error:
            raise RuntimeError(
                f"no window can be opened here ({error}); render_mode='ansi' shows the game as text, and 'rgb_array' "
                "gives pictures"
            ) from None
        self._pygame.display.set_caption(self._title)

    def close(self) -> None:
        """Close the window for good."""
        if self._screen is not None:
            self._pygame.display.quit()
        self._screen, self._is_closed = None, True
