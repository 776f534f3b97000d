"""The server's face: the pages' files, the socket, and what keeps strangers out."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from pathlib import Path

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketClose

from krypenv.ui.browser.pages import Pages
from krypenv.ui.browser.serving import is_loopback
from krypenv.ui.browser.start import serve_rules

STATIC = Path(__file__).parent / "static"
Serve = Callable[[WebSocket], Awaitable[None]]  # what serves a page until it is closed
NOT_HERE = "This is not the address of the table; who started it can allow it by --origin.\n"
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


def app_of(
    pages: Pages | None,
    is_local: bool,
    sockets: Mapping[str, Serve] = NO_SOCKETS,
    origins: Collection[str] = (),
) -> Starlette:
    """Make the web application that serves a table.

    Args:
        pages: the table; without one, the first page is the one that studies games.
        is_local: whether it answers only to links to this machine.
        sockets: what serves further pages, by their paths.
        origins: of pages that a proxy passes on.
    """

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        if pages:
            pages.begin()
        yield
        if pages:
            await pages.end()

    routes: list[BaseRoute] = [Route("/rules", serve_rules)]
    if pages:
        routes.append(WebSocketRoute("/socket", pages.serve))
    else:
        routes.append(Route("/", lambda _: RedirectResponse("study.html")))
    routes += [WebSocketRoute(path, serve) for path, serve in sockets.items()]
    app = Starlette(routes=[*routes, Mount("/", StaticFiles(directory=STATIC, html=True))], lifespan=lifespan)
    app.add_middleware(Guard, is_local=is_local, origins=origins)
    return app


class Guard:
    """Refuses pages of other sites, and tells browsers to load nothing from elsewhere.

    Args:
        app: what is guarded.
        is_local: whether links may name this machine only. It keeps out a site that calls itself by our address.
        origins: of pages that are not of the host that a request names, but allowed.
    """

    def __init__(self, app: ASGIApp, is_local: bool, origins: Collection[str]) -> None:
        self._app, self._is_local, self._origins = app, is_local, origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse it."""
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        is_known = not self._is_local or is_loopback(_without_port(host))
        origin = headers.get("origin", "") if is_known else f"http://{host}"
        is_plain = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")  # it tells no secret
        is_own = is_plain or origin in self._origins or (host and origin in (f"http://{host}", f"https://{host}"))
        app = self._app
        if not (is_known and is_own):
            status, said = (403, "This page is not of this table.") if is_known else (421, NOT_HERE)
            app = WebSocketClose(1008, said) if scope["type"] == "websocket" else PlainTextResponse(said, status)
        await app(scope, receive, _adding_headers(send))


def _adding_headers(send: Send) -> Send:
    async def send_more(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(HEADERS)
        await send(message)

    return send_more


def _without_port(host: str) -> str:
    name, _, port = host.rpartition(":")
    return name if port.isdigit() else host
