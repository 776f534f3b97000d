"""The server's face: the pages' files, the socket, and what keeps strangers out."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketClose

from krypenv.ui.browser.pages import Pages

STATIC = Path(__file__).parent / "static"
LOCAL = ("127.0.0.1", "localhost", "[::1]")  # hosts of links to this machine
Serve = Callable[[WebSocket], Awaitable[None]]  # what serves a page until it is closed
NO_SOCKETS: Mapping[str, Serve] = {}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


def app_of(pages: Pages | None, is_local: bool, sockets: Mapping[str, Serve] = NO_SOCKETS) -> Starlette:
    """Return the application of a table; a local one answers only to links to this machine.

    `sockets` serve further pages, by their paths. Without a table, the first page is the one that studies games.
    """

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        if pages:
            pages.begin()
        yield
        if pages:
            await pages.end()

    routes: list[BaseRoute] = []
    if pages:
        routes.append(WebSocketRoute("/socket", pages.serve))
    else:
        routes.append(Route("/", lambda _: RedirectResponse("/study.html")))
    routes += [WebSocketRoute(path, serve) for path, serve in sockets.items()]
    app = Starlette(routes=[*routes, Mount("/", StaticFiles(directory=STATIC, html=True))], lifespan=lifespan)
    app.add_middleware(Guard, hosts=LOCAL if is_local else ())
    return app


class Guard:
    """Refuses pages of other sites, and tells browsers to load nothing from elsewhere.

    Args:
        app: what is guarded.
        hosts: the hosts that links may name; none for any. It keeps out a site that calls itself by our address.
    """

    def __init__(self, app: ASGIApp, hosts: tuple[str, ...] = ()) -> None:
        self._app, self._hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse it."""
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        is_known = not self._hosts or _without_port(host) in self._hosts
        if scope["type"] == "websocket":
            is_own = urlsplit(headers.get("origin", "")).netloc == host != ""
            refused: ASGIApp = WebSocketClose(1008, "This page is not of this table.")
        else:
            is_own = True
            refused = PlainTextResponse("This is not the address of the table.\n", 421)
        await (self._app if is_known and is_own else refused)(scope, receive, _adding_headers(send))


def _adding_headers(send: Send) -> Send:
    async def send_more(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(HEADERS)
        await send(message)

    return send_more


def _without_port(host: str) -> str:
    name, _, port = host.rpartition(":")
    return name if port.isdigit() else host
