"""The pages at a table: each gets the view of its seat when something changes, and agents play in their turn."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from krypenv.inputs.schema import Schema
from krypenv.inputs.words import one_line
from krypenv.ui.browser.guests import Place, Refused, Room
from krypenv.ui.browser.keys import Keys
from krypenv.ui.browser.pace import Pace
from krypenv.ui.browser.requests import CHOOSING, OF_PACE, REQUESTS, Request, parse_message
from krypenv.ui.browser.serving import link
from krypenv.ui.browser.sockets import NOT_READ, Gone, Page, in_a_thread, received, welcome
from krypenv.ui.browser.start import Choice, offered
from krypenv.ui.browser.thinking import AgentFailed, Thinker
from krypenv.ui.narrator.texts import CATALOGUES, LANGUAGES, say

if TYPE_CHECKING:
    from krypenv.ui.browser.hosted import Hosted  # it loads the engine, for which no page is to wait

MOST_PAGES = 50  # open at once
_UNKNOWN_KEY = "This link leads to no seat of this table. Ask for a new link where the table was started."
_NOT_BEGUN = "The table can't begin. Why is said where it was started."


class Pages:
    """All pages of a table.

    Args:
        load: makes the game of the command line, None if a page is to choose it, or the game of a choice; called in a
            thread, for it loads the engine. ValueError ends the table, or refuses the choice.
        keys: which key leads to which seat; `begun` may still change them.
        thinker: where agents think.
        pause: seconds between the moves of agents, so that people see them.
        begun: called with the game, and each new one, when it can be played.
        stop: called with the reason if the table can't begin.
        report: called with what goes wrong, for the host alone: it may tell what is hidden, and files.
        saved: returns the games that can be gone on with, each with its file and a line in a language.
        address: of the first page, with which links begin.
        language: of the texts until there is a game.

    Attributes:
        keys, report: as given.
        hosted: the game at the table; None until it is there.
        language: of the texts.
        choosing: the schemas of the messages by which a page chooses what is played.
    """

    choosing: Mapping[str, Schema] = CHOOSING

    def __init__(
        self,
        load: Callable[[Choice | None], Hosted | None],
        keys: Keys,
        thinker: Thinker,
        pause: float = 0.9,
        begun: Callable[[Hosted], object] = id,
        stop: Callable[[str], object] = id,
        report: Callable[[str], object] = id,
        saved: Callable[[str], list[dict[str, str]]] = lambda language: [],
        address: str = "",
        language: str = "en",
        helper: str = "",
    ) -> None:
        self._saved, self._address, self.language, self._helper = saved, address, language, helper
        self._load, self.keys, self._thinker = load, keys, thinker
        self._pace, self._begun, self._stop, self.report = Pace(pause), begun, stop, report
        self.hosted: Hosted | None = None
        self._loaded = asyncio.Event()  # the game is there, or a page may choose it
        self._dealt = asyncio.Event()  # the game is there, or will never be
        self._is_watched = asyncio.Event()
        self._is_ready = False  # whether the agents have compiled what they need
        self._failed = ""  # why the agent to act can't
        self._ended = ""  # why the table has ended
        self._room = Room(MOST_PAGES)
        self._pages: list[Page] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._playing: asyncio.Task[None] | None = None
        self._is_beginning = False  # whether a choice is being made a game

    # ------------------------------------------------------------------ beginning and end

    def begin(self) -> None:
        """Make the game and the agents, while pages may already come."""
        self._start(self._begin())

    async def _begin(self, choice: Choice | None = None, page: Page | None = None) -> None:
        """Make the game, of the command line or of the choice of a page, and have its agents compile."""
        try:
            hosted = await in_a_thread(partial(self._load_and_compile, choice))
            self._is_beginning = False
            if hosted:
                self._take(hosted)
                agents = {player: seat for seat, player in enumerate(hosted.players) if seat not in hosted.people}
                await self._thinker.prepare(hosted.game.rules, {hosted.adviser: hosted.first_seat, **agents})
        except (ValueError, OSError, AgentFailed) as error:
            return await self._refuse(error, page)
        self._loaded.set()
        if hosted is None:
            await in_a_thread(partial(offered, self.language))  # before the first page comes
        elif hosted is self.hosted:
            self._is_ready = True
            self.tell_all()
            with contextlib.suppress(AgentFailed, ValueError):  # what goes wrong is told to who asks for a hint
                await self._thinker.prepare(hosted.game.rules, {hosted.adviser: hosted.first_seat}, helps=True)

    async def _refuse(self, error: Exception, page: Page | None) -> None:
        """Tell the page why its choice can't be played; end a table whose own game can't."""
        reason, self._is_beginning = one_line(str(error)), False
        if page and isinstance(error, OSError):
            return page.tell(say=say(self.language, "not_saved", reason=error.strerror or reason))
        if page:
            return page.tell(say=f"{reason[:1].upper()}{reason[1:]}.")
        self._ended = _NOT_BEGUN
        self._loaded.set()
        self._dealt.set()
        self.tell_all()
        await self._pace.rest()  # so that the pages hear of it
        self._stop(reason)

    def _load_and_compile(self, choice: Choice | None) -> Hosted | None:
        """Make the game, and compile what pages will need, for which they are not to wait one by one."""
        hosted = self._load(choice)
        if hosted:
            hosted.view(None if hosted.is_over else hosted.game.turn)
        return hosted

    def _take(self, hosted: Hosted) -> None:
        """Play this game from now on, in place of the one before."""
        if self.hosted:
            hosted.follow(self.hosted)
        self.hosted, self.language, self._is_ready, self._failed = hosted, hosted.language, False, ""
        self._begun(hosted)
        self._loaded.set()
        self._dealt.set()
        for page in self._pages:
            page.seat = None  # who had a seat that an agent has now, watches
            with contextlib.suppress(LookupError):
                page.seat = self.keys.seat(page.key, hosted.people)
            self._greet(page)
        self.tell_all()
        self._wake()

    @property
    def is_loading(self) -> bool:
        """Whether a game is being made."""
        return not self._loaded.is_set() or self._is_beginning

    async def end(self) -> None:
        """Stop whatever is being done, and end the process of the agents."""
        self._thinker.close()
        await self.stop()

    async def stop(self) -> None:
        """Stop whatever is being done."""
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
        for event in (self._loaded, self._dealt):
            if not event.is_set() and not (self._loaded.is_set() and self.keys.is_host(key, ())):
                await self.ask_to_wait(socket, "host" if self._loaded.is_set() else "")
                await event.wait()
        _, seat = await self.seat_of(key)
        place.sit(seat)
        await self._listen(Page(socket, seat, key))

    async def ask_to_wait(self, socket: WebSocket, what: str = "") -> None:
        """Tell a page that it waits, for the host or for the engine."""
        texts = {"texts": CATALOGUES[self.language], "language": self.language}
        with contextlib.suppress(RuntimeError, OSError, WebSocketDisconnect):
            await socket.send_json({"type": "wait", "for": what, **texts})

    async def seat_of(self, key: str) -> tuple[Hosted | None, int | None]:
        """Return the game, None while it is chosen, and the seat of a key; raises Refused if the key leads nowhere."""
        await self._loaded.wait()
        if self._ended:
            raise Refused(self._ended)
        try:
            return self.hosted, self.keys.seat(key, self.hosted.people if self.hosted else ())
        except LookupError:
            raise Refused(_UNKNOWN_KEY) from None

    async def _listen(self, page: Page) -> None:
        self._pages.append(page)
        self._is_watched.set()
        if self.hosted:
            self.hosted.stand_ins.discard(-1 if page.seat is None else page.seat)
            self._greet(page)
        else:
            self._start(self._offer(page, self.language))
        self.tell_all()  # who is here
        sender = self._start(self._send(page))
        try:
            while True:
                self._answer(page, await received(page.socket))
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

    def _greet(self, page: Page) -> None:
        """Tell a page the texts of the game."""
        page.chooses = False
        page.tell(texts=CATALOGUES[self.language], language=self.language)

    def _answer(self, page: Page, text: str) -> None:
        """Do what a page asks for; it is answered by its view, and by a sentence if it can't be done."""
        try:
            found = parse_message(text, {**REQUESTS, **self.choosing})
        except ValueError as error:
            return page.tell(say=NOT_READ.format(error))
        if found["do"] in self.choosing:
            return self._choose(page, **found)
        if self.hosted:
            self._ask(page, self.hosted, Request(**found))

    def _choose(self, page: Page, do: str, language: str = "", **its: Any) -> None:
        """Have the host choose what is played, or play it."""
        hosted = self.hosted
        language = language if language in LANGUAGES else self.language
        if not self.keys.is_host(page.key, hosted.people if hosted else ()):
            page.tell(say=say(self.language, "only_host"))
        elif do == "start":
            self._start(self._offer(page, language))
        elif do == "back" and hosted:
            self._greet(page)
        elif hosted and not hosted.is_over and len(self._here() & set(hosted.people)) > 1:
            page.tell(say=say(self.language, "not_over"))
        elif not self._is_beginning:
            self._is_beginning = True
            self._start(self._begin(Choice(language=language, **its), page))

    async def _offer(self, page: Page, language: str) -> None:
        """Have a page show the start screen."""
        page.chooses, page.key = True, self.keys.host
        page.tell(texts=CATALOGUES[language], language=language, **await asyncio.to_thread(offered, language))
        page.tell(saved=await asyncio.to_thread(self._saved, language))
        await in_a_thread(partial(_load_engine, language))

    def _ask(self, page: Page, hosted: Hosted, request: Request) -> None:
        """Do what a page asks for at the game."""
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
        elif before != hosted.edit or request.do in ("go", "stand_in", "end"):
            self._go_on()

    def _go_on(self) -> None:
        """Tell the pages what was done, and have agents play."""
        self._failed = ""
        self.tell_all()
        self._wake()

    def _change_pace(self, page: Page, hosted: Hosted, request: Request) -> None:
        if not hosted.leads(page.seat):
            return page.tell(say=hosted.say("only_watching"))
        if request.do == "pace":
            self._pace.name = request.pace
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
            if not page.chooses:
                page.tell(**more)

    def _now(self, hosted: Hosted | None) -> dict[str, Any]:
        """Return what is played now, as the start screen has it."""
        if hosted is None:
            return {"helper": self._helper}
        rules, helper = hosted.game.rules, hosted.adviser if hosted.hints else ""
        sides = {"size": f"{rules.players}/{rules.teams or 0}", "players": hosted.players}
        return {"game": rules.name, **sides, "helper": helper}

    def _message(self, page: Page) -> dict[str, Any]:
        hosted, seat = self.hosted, page.seat
        if page.chooses or hosted is None:
            return {"type": "start", "key": self.keys.host, "begun": hosted is not None, "now": self._now(hosted)}
        is_host = self.keys.is_host(page.key, hosted.people)
        return {
            "type": "table",
            "edit": hosted.edit,
            "game": hosted.number,
            "moves": len(hosted.game.moves),
            "view": hosted.view(seat),
            "of": str(hosted.game.rules),
            "goal": hosted.goal,
            "people": hosted.people,
            "here": sorted(self._here()),
            "stand_ins": sorted(hosted.stand_ins),
            "enders": sorted(hosted.enders),
            "adviser": hosted.helper,
            "leads": hosted.leads(seat),
            "host": is_host,
            "links": self._links(page, hosted) if is_host else [],
            "hints": hosted.hints,
            "pace": self._pace.name,
            "paused": self._pace.is_paused,
            "thinking": hosted.thinker,
            "ready": self._is_ready,
            "fault": self._failed or hosted.fault,
            "ended": self._ended,
            "compared": hosted.compared(hosted.number, seat) if hosted.is_over else "",
            "stuck": bool(self._failed),
            "undo": seat in hosted.people and len(hosted.people) == 1,
        }

    def _links(self, page: Page, hosted: Hosted) -> list[list[str]]:
        """Return who may be let in, each with the link; nobody where one person plays at this machine."""
        if self.keys.is_open and len(hosted.people) <= 1:
            return []
        keys = [(hosted.name(seat), self.keys.seats[seat]) for seat in hosted.people if seat != page.seat]
        return [[who, link(self._address, key)] for who, key in (*keys, (hosted.say("to_watch"), self.keys.watch))]

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
        while (hosted := self.hosted) and (seat := hosted.thinker) is not None and not self._failed:
            state = hosted, hosted.edit, seat

            def is_wanted(state: tuple = state) -> bool:  # or a person has taken a move back, or has come back
                return state == (self.hosted, state[0].edit, state[0].thinker)

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
            if (hosted, edit) == (self.hosted, hosted.edit):
                page.tell(hint=hosted.hint(game.turn, advice))

    def _told_of(self, who: str, error: Exception, hosted: Hosted) -> str:
        """Report why an agent can't go on, and return what pages are told of it."""
        self.report(f"{who}: {one_line(str(error))}")
        return hosted.say("agent_failed", who=who)


@lru_cache
def _load_engine(language: str) -> None:
    """Load what games and lessons need, while somebody reads the start screen."""
    from krypenv.ui.study.exercises import Exercise

    Exercise(0, language).view(0)
