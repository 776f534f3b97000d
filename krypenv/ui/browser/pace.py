"""How fast agents play at a table: their pause between moves, and whether they wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from krypenv.ui.browser.requests import PACES


class Pace:
    """The pace of a table's agents.

    Args:
        pause: seconds between their moves at a normal pace, so that people see them.

    Attributes:
        name: one of `PACES`.
        is_paused: whether they wait for each step.
    """

    def __init__(self, pause: float) -> None:
        self._pause, self._steps = pause, 0
        self.name, self.is_paused = "normal", False
        self._news = asyncio.Event()

    def set(self, name: str) -> None:
        """Go on at another pace."""
        self.name = name

    def pause(self, is_paused: bool) -> None:
        """Have agents wait, or go on."""
        self.is_paused, self._steps = is_paused, 0
        self._news.set()

    def step(self) -> None:
        """Let one more move be made while agents wait."""
        self._steps += 1
        self._news.set()

    async def rest(self) -> None:
        """Wait as long as people need to see a move."""
        await asyncio.sleep(self._pause * PACES[self.name])

    def wake(self) -> None:
        """Have who waits for a step ask anew whether it is still wanted."""
        self._news.set()

    async def allow(self, is_wanted: Callable[[], bool]) -> bool:
        """Wait until the next move may be made; return whether it is still wanted, and only then use up a step."""
        while is_wanted() and self.is_paused and not self._steps:
            self._news.clear()
            await self._news.wait()
        if not is_wanted():
            return False
        self._steps = max(0, self._steps - 1)
        return True
