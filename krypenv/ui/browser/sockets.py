"""A page's end of a socket: its key, its news, the next message, and a refusal with its reason."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.websockets import WebSocket, WebSocketState

from krypenv.ui.browser.guests import Place, Refused, Room
from krypenv.ui.browser.requests import parse_key

if TYPE_CHECKING:
    from krypenv.game.game import Game  # it loads the engine, for which no page is to wait

Result = TypeVar("Result")
WAIT_FOR_KEY = 10.0  # seconds that a page has for its first message
NOT_READ = "The message was not understood: {}."


Listen = Callable[[str, Place], Awaitable[None]]  # serves a page by its key and its place


class Gone(Exception):
    """The page is closed."""


async def welcome(socket: WebSocket, room: Room, listen: Listen) -> None:
    """Serve a page until it is closed: `listen` is called with its key and its place, and may raise Refused."""
    await socket.accept()
    with contextlib.suppress(asyncio.TimeoutError, Gone):
        try:
            await room.admit(socket.client.host if socket.client else "", partial(_hear, socket, listen))
        except Refused as reason:
            with contextlib.suppress(RuntimeError):
                await socket.send_json({"type": "closed", "say": str(reason)})
                return await socket.close(4403)
    if socket.client_state == WebSocketState.CONNECTED:
        with contextlib.suppress(RuntimeError):
            await socket.close()


async def _hear(socket: WebSocket, listen: Listen, place: Place) -> None:
    text = await asyncio.wait_for(received(socket), WAIT_FOR_KEY)
    try:
        key = parse_key(text)
    except ValueError as error:
        raise Refused(NOT_READ.format(error)) from None
    await listen(key, place)


async def received(socket: WebSocket) -> str:
    """Return the next message of a page; a message of bytes is an empty text. Raises Gone if the page is closed."""
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise Gone
    return message.get("text") or ""


class Page:
    """A page in a browser, and what it is still to be told."""

    def __init__(self, socket: WebSocket, seat: int | None, key: str = "") -> None:
        self.socket, self.seat, self.key = socket, seat, key
        self.chooses = False  # whether it shows the start screen
        self.asked: tuple[int, Game] | None = None  # of which edit, and its game, it wants a hint
        self.thinking: asyncio.Task[None] | None = None  # of its hints
        self._news = asyncio.Event()
        self._more: dict[str, Any] = {}

    def tell(self, **more: Any) -> None:
        """Send the view of its seat as soon as the page takes it, with something more."""
        self._more |= more
        self._news.set()

    async def send_news(self, view: Callable[[Page], dict[str, Any]]) -> None:
        """Send news for ever: always the latest view, however slow the page is."""
        while True:
            await self._news.wait()
            self._news.clear()
            more, self._more = self._more, {}
            await self.socket.send_json({**view(self), **more})


async def in_a_thread(work: Callable[[], Result]) -> Result:
    """Return what work gives in a thread for which nobody waits when the server is stopped."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Result] = loop.create_future()

    def run() -> None:
        try:
            tell = partial(done.set_result, work())
        except Exception as error:
            tell = partial(done.set_exception, error)
        with contextlib.suppress(RuntimeError):  # the server is stopped
            loop.call_soon_threadsafe(lambda: None if done.cancelled() else tell())

    threading.Thread(target=run, daemon=True).start()
    return await done
