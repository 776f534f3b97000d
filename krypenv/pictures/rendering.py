"""The render modes of environments; a window is opened with its first picture."""

from __future__ import annotations

from typing import Any

from krypenv.game.display import format_game, seats_shown
from krypenv.game.game import Game
from krypenv.inputs.words import shown
from krypenv.pictures.drawing import Pixels, draw_game, pygame

RENDER_MODES = ("human", "rgb_array", "ansi")
FPS = 2  # pictures in a second


class Renderer:
    """Shows games in a render mode: "human" in a window, "rgb_array" as pixels, "ansi" as text.

    The window opens with the first picture, and a person may close it: later pictures are then not shown. A copy has no
    window yet, and opens its own.

    Args:
        render_mode: one of `RENDER_MODES`.
        title: the title of the window.

    Raises ValueError for any other mode, and ModuleNotFoundError where pygame-ce is needed and missing.
    """

    pause = 1000 // FPS  # milliseconds for which the window shows a picture

    def __init__(self, render_mode: str, title: str) -> None:
        if not isinstance(render_mode, str) or render_mode not in RENDER_MODES:
            modes = ", ".join(RENDER_MODES)
            raise ValueError(f"unknown render_mode {shown(render_mode)}; it is one of {modes}, or None")
        if render_mode != "ansi":
            pygame()
        self.mode, self.title = render_mode, title
        self._screen: Any = None
        self._is_closed = False

    def __reduce__(self) -> tuple[Any, ...]:
        return Renderer, (self.mode, self.title)  # what is on a screen can't be copied

    def show(self, game: Game, render_seat: Any, bottom: int = 0) -> Pixels | str | None:
        """Draw a game as pixels or text by the mode, or show it in the window; `bottom` is the seat at the bottom.

        Raises RuntimeError, in one sentence, where no window can be opened.
        """
        if self.mode == "ansi":
            return format_game(game, seats_shown(game, render_seat))
        pixels = draw_game(game, render_seat, bottom=bottom)
        if self.mode == "rgb_array":
            return pixels
        if not self._is_closed:
            self._show(pixels)
        return None

    def _show(self, pixels: Pixels) -> None:
        """Show a picture, (H, W, 3) uint8, for its time, and close the window if a person asks for it."""
        game = pygame()
        if self._screen is None or not game.display.get_init():
            self._screen = self._opened((pixels.shape[1], pixels.shape[0]))
        self._screen.blit(game.surfarray.make_surface(pixels.swapaxes(0, 1)), (0, 0))
        game.display.flip()
        if any(event.type == game.QUIT for event in game.event.get()):
            self.close()
        else:
            game.time.wait(self.pause)

    def _opened(self, size: tuple[int, int]) -> Any:
        """Open the window; return its surface."""
        display = pygame().display
        try:
            display.init()
            screen = display.set_mode(size)
        except pygame().error as error:
            raise RuntimeError(
                f"no window can be opened here ({error}); render_mode='ansi' shows the game as text, and 'rgb_array' "
                "gives pictures"
            ) from None
        display.set_caption(self.title)
        return screen

    def close(self) -> None:
        """Close the window for good, if there is one."""
        if self._screen is not None:
            pygame().display.quit()
        self._screen, self._is_closed = None, True
