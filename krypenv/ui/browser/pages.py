"""The pages at a table: each gets the view of its seat when something changes, and agents play in their turn."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from krypenv.inputs.words import one_line
from krypenv.ui.browser.guests import Place, Refused, Room
from krypenv.ui.browser.keys import Keys
from krypenv.ui.browser.pace import Pace
from krypenv.ui.browser.requests import OF_PACE, Request, parse_request
from krypenv.ui.browser.sockets import NOT_READ, Gone, received, welcome
from krypenv.ui.browser.thinking import AgentFailed, Thinker

if TYPE_CHECKING:
    from krypenv.game.game import Game
    from krypenv.ui.browser.hosted import Hosted  # it loads the engine, for which no page is to wait

MOST_PAGES = 50  # open at once
_UNKNOWN_KEY = "This link leads to no seat of this table. Ask for a new link where the table was started."
_NOT_BEGUN = "The table can't begin. Why is said where it was started."


class Page:
    """A page in a browser, and what it is still to be told."""

    def __init__(self, socket: WebSocket, seat: int | None) -> None:
        self.socket, self.seat = socket, seat
        self.asked: tuple[int, Game] | None = None  # of which edit, and its game, it wants a hint
        self.thinking: asyncio.Task[None] | None = None  # of its hints
        self._news = asyncio.Event()
        self._more: dict[str, Any] = {}

    def tell(self, **more: Any) -> None:
        """Send the view of its seat as soon as the page takes it, with something more."""
        self._more |= more
        self._news.set()

    async def send_news(self, view: Callable[[int | None], dict[str, Any]]) -> None:
        """Send news for ever: always the latest view, however slow the page is."""
        while True:
            await self._news.wait()
            self._news.clear()
            more, self._more = self._more, {}
            await self.socket.send_json({"type": "table", **view(self.seat), **more})


class Pages:
    """All pages of a table.

    Args:
        load: makes the game; called in a thread, for it loads the engine. ValueError ends the table.
        keys: which key leads to which seat; `begun` may still change them.
        thinker: where agents think.
        pause: seconds between the moves of agents, so that people see them.
        begun: called with the game when it can be played.
        stop: called with the reason if the table can't begin.
        report: called with what goes wrong, for the host alone: it may tell what is hidden, and files.

    Attributes:
        keys, report: as given.
    """

    def __init__(
        self,
        load: Callable[[], Hosted],
        keys: Keys,
        thinker: Thinker,
        pause: float = 0.9,
        begun: Callable[[Hosted], object] = id,
        stop: Callable[[str], object] = id,
        report: Callable[[str], object] = id,
    ) -> None:
        self._load, self.keys, self._thinker = load, keys, thinker
        self._pace, self._begun, self._stop, self.report = Pace(pause), begun, stop, report
        self._hosted: Hosted | None = None
        self._loaded = asyncio.Event()
        self._is_watched = asyncio.Event()
        self._is_ready = False  # whether the agents have compiled what they need
        self._failed = ""  # why the agent to act can't
        self._ended = ""  # why the table has ended
        self._room = Room(MOST_PAGES)
        self._pages: list[Page] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._playing: asyncio.Task[None] | None = None

    # ------------------------------------------------------------------ beginning and end

    def begin(self) -> None:
        """Make the game and the agents, while pages may already come."""
        self._start(self._begin())

    async def _begin(self) -> None:
        try:
            hosted = await _in_a_thread(self._load_and_compile)
            self._hosted = hosted
            self._begun(hosted)
            self._loaded.set()
            self._wake()
            agents = {player: seat for seat, player in enumerate(hosted.players) if seat not in hosted.people}
            await self._thinker.prepare(hosted.game.rules, {hosted.adviser: hosted.first_seat, **agents})
        except (ValueError, OSError, AgentFailed) as error:
            self._ended = _NOT_BEGUN
            self._loaded.set()
            self.tell_all()
            await self._pace.rest()  # so that the pages hear of it
            self._stop(one_line(str(error)))
            return
        self._is_ready = True
        self.tell_all()
        with contextlib.suppress(AgentFailed):
            await self._thinker.prepare_advice(hosted.adviser, hosted.first_seat, hosted.game.rules)

    def _load_and_compile(self) -> Hosted:
        """Make the game, and compile what pages will need, for which they are not to wait one by one."""
        hosted = self._load()
        hosted.view(None if hosted.game.is_over else hosted.game.turn)
        return hosted

    @property
    def is_loading(self) -> bool:
        """Whether the game has not been made yet."""
        return not self._loaded.is_set()

    async def end(self) -> None:
        """Stop whatever is being done."""
        self._thinker.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # ------------------------------------------------------------------ a page

    async def serve(self, socket: WebSocket) -> None:
        """Serve a page until it is closed."""
        await welcome(socket, self._room, partial(self._enter, socket))

    async def _enter(self, socket: WebSocket, key: str, place: Place) -> None:
        hosted, seat = await self.seat_of(key)
        place.sit(seat)
        await self._listen(Page(socket, seat), hosted)

    @property
    def hosted(self) -> Hosted | None:
        """The game at the table; None until it is there."""
        return self._hosted

    async def seat_of(self, key: str) -> tuple[Hosted, int | None]:
        """Return the game, once it is there, and the seat that a key leads to; raises Refused if it leads nowhere."""
        await self._loaded.wait()
        if self._hosted is None:
            raise Refused(self._ended)
        try:
            return self._hosted, self.keys.seat(key, self._hosted.people)
        except LookupError:
            raise Refused(_UNKNOWN_KEY) from None

    async def _listen(self, page: Page, hosted: Hosted) -> None:
        page.tell(texts=hosted.texts, language=hosted.language)
        self._pages.append(page)
        self._is_watched.set()
        hosted.stand_ins.discard(-1 if page.seat is None else page.seat)
        self.tell_all()  # who is here
        sender = self._start(self._send(page))
        try:
            while True:
                self._answer(page, hosted, await received(page.socket))
        finally:
            sender.cancel()
            if page.thinking:
                page.thinking.cancel()
            self._pages.remove(page)
            if not self._pages:
                self._is_watched.clear()
            self.tell_all()

    async def _send(self, page: Page) -> None:
        # The page is gone, as `received` finds out.
        with contextlib.suppress(RuntimeError, OSError, WebSocketDisconnect, Gone):
            await page.send_news(self._message)

    def _answer(self, page: Page, hosted: Hosted, text: str) -> None:
        """Do what a page asks for; it is answered by its view, and by a sentence if it can't be done."""
        try:
            request = parse_request(text)
        except ValueError as error:
            return page.tell(say=NOT_READ.format(error))
        if request.do in OF_PACE:
            return self._change_pace(page, hosted, request)
        before, is_here = hosted.edit, request.do == "stand_in" and request.seat in self._here()
        reason = hosted.say("is_here") if is_here else hosted.do(page.seat, request)
        if reason:
            page.tell(say=reason)
        elif request.do == "hint":
            page.asked = hosted.edit, hosted.game.copy()
            if page.thinking is None or page.thinking.done():
                page.thinking = self._start(self._give_hints(page, hosted))
        elif before != hosted.edit or request.do in ("go", "stand_in"):
            self._failed = ""
            self.tell_all()
            self._wake()

    def _change_pace(self, page: Page, hosted: Hosted, request: Request) -> None:
        if not hosted.leads(page.seat):
            return page.tell(say=hosted.say("only_watching"))
        if request.do == "pace":
            self._pace.set(request.pace)
        elif hosted.people:
            return page.tell(say=hosted.say("no_pause"))
        elif request.do == "pause":
            self._pace.pause(request.on)
        else:
            self._pace.step()
        self.tell_all()

    # ------------------------------------------------------------------ news

    def tell_all(self, **more: Any) -> None:
        """Send each page the view of its seat."""
        for page in self._pages:
            page.tell(**more)

    def _message(self, seat: int | None) -> dict[str, Any]:
        hosted = self._hosted
        assert hosted
        return {
            "edit": hosted.edit,
            "game": hosted.number,
            "moves": len(hosted.game.moves),
            "view": hosted.view(seat),
            "of": str(hosted.game.rules),
            "goal": hosted.goal,
            "people": hosted.people,
            "here": sorted(self._here()),
            "stand_ins": sorted(hosted.stand_ins),
            "adviser": hosted.helper,
            "leads": hosted.leads(seat),
            "pace": self._pace.name,
            "paused": self._pace.is_paused,
            "thinking": hosted.thinker,
            "ready": self._is_ready,
            "fault": self._failed or hosted.fault,
            "ended": self._ended,
            "compared": hosted.compared(hosted.number, seat) if hosted.game.is_over else "",
            "stuck": bool(self._failed),
            "undo": seat in hosted.people and len(hosted.people) == 1,
        }

    def _here(self) -> set[int]:
        """Return the seats whose page is open."""
        return {page.seat for page in self._pages if page.seat is not None}

    # ------------------------------------------------------------------ agents

    def _wake(self) -> None:
        """Have agents play if it is their turn."""
        self._pace.wake()
        if self._playing is None or self._playing.done():
            self._playing = self._start(self._play_agents())

    async def _play_agents(self) -> None:
        hosted = self._hosted
        assert hosted
        while (seat := hosted.thinker) is not None and not self._failed:
            state = hosted.edit, seat

            def is_wanted(state: tuple = state) -> bool:  # or a person has taken a move back, or has come back
                return state == (hosted.edit, hosted.thinker)

            if not hosted.people:
                await self._is_watched.wait()
            try:
                thought = self._thinker.decide(hosted.agent(seat), seat, hosted.game.copy())
                move = await self._pace.awaited(seat, thought, is_usual=self._is_ready)
                if await self._pace.allow(is_wanted):
                    hosted.push(move)
            except (AgentFailed, ValueError) as error:
                if is_wanted():
                    self._failed = self._told_of(hosted.name(seat), error, hosted)
            self.tell_all()

    async def _give_hints(self, page: Page, hosted: Hosted) -> None:
        """Give a page the hints that it asks for, one at a time, each of the game as it was then."""
        while page.asked:
            (edit, game), page.asked = page.asked, None
            try:
                advice = await self._thinker.advise(hosted.adviser, game)
            except AgentFailed as error:
                page.tell(say=self._told_of(hosted.helper, error, hosted))
                continue
            if edit == hosted.edit:
                page.tell(hint=hosted.hint(game.turn, advice))

    def _told_of(self, who: str, error: Exception, hosted: Hosted) -> str:
        """Report why an agent can't go on, and return what pages are told of it."""
        self.report(f"{who}: {one_line(str(error))}")
        return hosted.say("agent_failed", who=who)


async def _in_a_thread(work: Callable[[], Hosted]) -> Hosted:
    """Return what work gives in a thread for which nobody waits when the server is stopped."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Hosted] = loop.create_future()

    def tell(result: Hosted | None, error: BaseException | None) -> None:
        if done.cancelled():
            return
        if error:
            done.set_exception(error)
        elif result:
            done.set_result(result)

    def run() -> None:
        result, error = None, None
        try:
            result = work()
        except Exception as raised:
            error = raised
        with contextlib.suppress(RuntimeError):  # the server is stopped
            loop.call_soon_threadsafe(tell, result, error)

    threading.Thread(target=run, daemon=True).start()
    return await done
