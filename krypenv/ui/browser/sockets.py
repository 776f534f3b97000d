"""A page's end of a socket: its key, the next message, and a refusal with its reason."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from starlette.websockets import WebSocket, WebSocketState

from krypenv.ui.browser.requests import parse_key

WAIT_FOR_KEY = 10.0  # seconds that a page has for its first message
NOT_READ = "The message was not understood: {}."


class Gone(Exception):
    """The page is closed."""


class Refused(Exception):
    """A page that gets no seat; the message is the reason, in a sentence."""


async def welcome(socket: WebSocket, listen: Callable[[str], Awaitable[None]]) -> None:
    """Serve a page until it is closed: `listen` is called with its key, and may raise Refused."""
    await socket.accept()
    with contextlib.suppress(asyncio.TimeoutError, Gone):
        try:
            text = await asyncio.wait_for(received(socket), WAIT_FOR_KEY)
            try:
                key = parse_key(text)
            except ValueError as error:
                raise Refused(NOT_READ.format(error)) from None
            await listen(key)
        except Refused as reason:
            with contextlib.suppress(RuntimeError):
                await socket.send_json({"type": "closed", "say": str(reason)})
                return await socket.close(4403)
    if socket.client_state == WebSocketState.CONNECTED:
        with contextlib.suppress(RuntimeError):
            await socket.close()


async def received(socket: WebSocket) -> str:
    """Return the next message of a page; a message of bytes is an empty text. Raises Gone if the page is closed."""
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise Gone
    return message.get("text") or ""
