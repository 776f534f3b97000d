"""What environments show: the render modes, with a window that is opened when it is needed."""

from __future__ import annotations

from typing import Any

from krypenv.game.core import Core
from krypenv.inputs.words import shown
from krypenv.pictures.canvas import pygame
from krypenv.pictures.drawing import Pixels, draw_game
from krypenv.pictures.text import TextStyle, format_ansi
from krypenv.pictures.window import Window

RENDER_MODES = ("human", "rgb_array", "ansi")
FPS = 2  # pictures in a second


class Renderer:
    """Shows games in a render mode: "human" in a window, "rgb_array" as pixels, "ansi" as text.

    Args:
        render_mode: one of `RENDER_MODES`.
        title: the title of the window.

    Raises ValueError for any other mode, and ModuleNotFoundError where pygame-ce is needed and missing.
    """

    def __init__(self, render_mode: str, title: str) -> None:
        if not isinstance(render_mode, str) or render_mode not in RENDER_MODES:
            modes = ", ".join(RENDER_MODES)
            raise ValueError(f"unknown render_mode {shown(render_mode)}; it is one of {modes}, or None")
        if render_mode != "ansi":
            pygame()
        self.mode = render_mode
        self._window = Window(title, FPS) if render_mode == "human" else None

    def show(self, game: Core, render_seat: Any, bottom: int = 0) -> Pixels | str | None:
        """Return a picture of a game as the mode says, or show it in the window; a seat is at the bottom."""
        if self.mode == "ansi":
            return format_ansi(game, render_seat, look=TextStyle(bottom=bottom))
        pixels = draw_game(game, render_seat, bottom=bottom)
        if self._window is None:
            return pixels
        self._window.show(pixels)
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
