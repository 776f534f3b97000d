"""The pages of who learns: twelve positions, then a first deal with a guide; each page has a table of its own."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.websockets import WebSocket

from krypenv.inputs import schema
from krypenv.ui.browser.guests import Place, Room
from krypenv.ui.browser.keys import Keys
from krypenv.ui.browser.pages import Pages
from krypenv.ui.browser.requests import a_message
from krypenv.ui.browser.sockets import Page, welcome
from krypenv.ui.browser.start import Choice
from krypenv.ui.browser.thinking import AgentFailed, Thinker

if TYPE_CHECKING:
    from krypenv.ui.browser.hosted import Hosted
    from krypenv.ui.study.exercises import Exercise  # it loads the engine, for which no page is to wait

MOST_LEARNERS = 20  # pages at once


class Lessons:
    """All pages on which the game is learned.

    Args:
        pages: the table, whose keys let a page in.
        thinker: where agents think.
    """

    def __init__(self, pages: Pages, thinker: Thinker) -> None:
        self._pages, self._thinker = pages, thinker
        self._room = Room(MOST_LEARNERS)

    async def serve(self, socket: WebSocket) -> None:
        """Serve a page until it is closed."""
        await welcome(socket, self._room, partial(self._enter, socket))

    async def _enter(self, socket: WebSocket, key: str, place: Place) -> None:
        if not self._pages.keys.is_host(key, ()):  # who chooses the game learns meanwhile
            _, seat = await self._pages.seat_of(key)
            place.sit(seat)
        language, report = self._pages.language, self._pages.report
        first, keys = partial(_first_lesson, language), Keys.new(is_open=True)
        learner = Learner(first, keys, self._thinker, report=report, language=language)
        learner.begin()
        try:
            await learner.welcome(socket)
        finally:
            await learner.stop()  # the agents go on thinking for others


def _first_lesson(language: str, choice: Choice | None) -> Hosted:
    from krypenv.ui.study.exercises import Exercise

    return Exercise(0, language)


class Learner(Pages):
    """The table of one page, at which somebody learns, and chooses lessons in place of games; see `Pages`."""

    choosing: Mapping[str, schema.Schema] = {"lesson": a_message({"lesson": schema.whole(0, 100)})}
    _advising: asyncio.Task[None] | None = None
    _advised = 0  # the edit of what was last advised

    async def _begin(self, choice: Choice | None = None, page: Page | None = None) -> None:
        self.hosted = await asyncio.to_thread(self._load, None)
        self._loaded.set()
        self._is_ready = True
        from krypenv.ui.study.exercises import GUIDE, OPPONENT

        rules = self._exercise.game.rules
        with contextlib.suppress(AgentFailed, ValueError):  # what goes wrong is told when they are to act
            await self._thinker.prepare(rules, {OPPONENT: 1})
            await self._thinker.prepare(rules, {GUIDE: 0}, helps=True)

    async def welcome(self, socket: WebSocket) -> None:
        """Let the page have the first seat."""
        if not self._loaded.is_set():
            await self.ask_to_wait(socket)
        _, seat = await self.seat_of("")
        await self._listen(Page(socket, seat))

    @property
    def _exercise(self) -> Exercise:
        from krypenv.ui.study.exercises import Exercise

        assert isinstance(self.hosted, Exercise)
        return self.hosted

    def _message(self, page: Page) -> dict[str, Any]:
        return super()._message(page) | {"lesson": self._exercise.told()}

    def _choose(self, page: Page, do: str, language: str = "", **its: Any) -> None:
        self._exercise.choose(its["lesson"])
        self._go_on()

    def tell_all(self, **more: Any) -> None:
        """Send the page the view of its seat, and have the guide think if it is to speak."""
        super().tell_all(**more)
        exercise = self._exercise if self.hosted else None
        if exercise and exercise.wants_advice and self._advised != exercise.edit:
            self._advised = exercise.edit
            self._advising = self._start(self._advise(exercise))

    async def _advise(self, exercise: Exercise) -> None:
        from krypenv.ui.study.exercises import GUIDE

        edit, game = exercise.edit, exercise.game.copy()
        with contextlib.suppress(AgentFailed, ValueError):  # the guide is silent then
            advice: Any = await self._thinker.advise(GUIDE, game)  # values, as of any search
            if edit == exercise.edit:
                exercise.hear(advice)
                super().tell_all()
