"""How fast agents play at a table: their pause between moves, and whether they wait."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TypeVar

from krypenv.ui.browser.requests import PACES

Thought = TypeVar("Thought")
REMEMBERED = 10  # decisions of a seat, by whose times it is waited


class Pace:
    """The pace of a table's agents.

    Args:
        pause: seconds between their moves at a normal pace, so that people see them.

    Attributes:
        name: one of `PACES`; it may be set.
        is_paused: whether they wait for each step.
    """

    def __init__(self, pause: float) -> None:
        self._pause, self._steps = pause, 0
        self.name, self.is_paused = "normal", False
        self._news = asyncio.Event()
        self._times: dict[int, deque[float]] = {}  # seconds that a seat's agent has thought, by seat

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

    async def awaited(self, seat: int, thought: Awaitable[Thought], is_usual: bool = True) -> Thought:
        """Return what a seat's agent has thought of, after the pause and no sooner than is usual for this seat.

        So the time gives no hint whether a move was forced. The usual time is the second longest remembered one, as a
        single decision may have waited for something else; without `is_usual` this one is not remembered.
        """
        pause, begun = self._pause * PACES[self.name], time.monotonic()
        move = await thought
        taken = time.monotonic() - begun
        times = self._times.setdefault(seat, deque(maxlen=REMEMBERED))
        if is_usual:
            times.append(taken)
        usual = sorted(times)[-2] if len(times) > 1 else 0.0
        await asyncio.sleep(max(pause, usual) - taken)
        return move

    def wake(self) -> None:
        """Wake agents that wait for a step, so that they recheck `is_wanted`."""
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
