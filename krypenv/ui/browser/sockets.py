"""A page's end of a socket: its key, the next message, and a refusal with its reason."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from functools import partial

from starlette.websockets import WebSocket, WebSocketState

from krypenv.ui.browser.guests import Place, Refused, Room
from krypenv.ui.browser.requests import parse_key

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
