"""Where a table is served: address, port and links, and the server until somebody stops it."""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import os
import re
import socket
import threading
import webbrowser

import uvicorn
from starlette.applications import Starlette

from krypenv.inputs.words import shown
from krypenv.ui.browser.guests import BACKLOG, Connection, leave_out_tracebacks

PORT, NEXT = 8765, 20  # the usual port, and how many from it on are tried
MOST_BYTES = 1 << 18  # of a message on a socket: a game in any letters
_ADDRESS = re.compile(r"(https?://(?:[\w.-]{1,253}|\[[\da-fA-F:.]+\])(?::\d{1,5})?)(?:/[!-~]*)?", re.ASCII)
_EXAMPLE = "https://cards.example or https://cards.example/table/"
SOON = 2  # seconds that pages have to close when the server stops


def bound(host: str, port: int | None) -> socket.socket:
    """Return a socket that listens at an address; port 0 stands for any free one, None for the usual or the next free.

    Raises ValueError with one sentence if there is no such address, or if the port is busy.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.getaddrinfo(host, port)
        for usual in range(PORT, PORT + NEXT) if port is None else ():
            with contextlib.suppress(OSError):
                return socket.create_server((host, usual), family=family)
        return socket.create_server((host, PORT if port is None else port), family=family)
    except socket.gaierror:
        raise ValueError(f"{host!r} is no address of this machine; --host is one, as in 0.0.0.0") from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise ValueError(f"port {port} is busy; give another one by --port, or --port 0 for any free one") from None
        raise ValueError(f"{host} port {port} can't be used: {os.strerror(error.errno or 0)}") from None


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches an address, which links name in brackets if it is of IPv6."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def origin_of(address: str) -> str:
    """Return the origin of a page, as browsers send it, from its address; raises ValueError with one sentence."""
    found = _ADDRESS.fullmatch(address)
    if not found:
        raise ValueError(f"--origin is the table's address in browsers, as in {_EXAMPLE}, not {shown(address)}")
    return found[1].lower()


def address_of(listening: socket.socket, host: str, port: int = 0) -> str:
    """Return the address of the first page, at another port if one is given."""
    port = port or listening.getsockname()[1]
    name = socket.gethostname() if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/"


def link(address: str, key: str = "", page: str = "") -> str:
    """Return the link to a seat, or to another page.

    The key follows a #, so browsers keep it to themselves and send it in no address.
    """
    return f"{address.rstrip('/')}/{page}{f'#{key}' if key else ''}"


def config_of(app: Starlette) -> uvicorn.Config:
    """Return how an application is served to guests."""
    leave_out_tracebacks()
    return uvicorn.Config(
        app,
        log_config=None,  # uvicorn's own closes the logs of all other libraries, with the files that they write to
        log_level="error",
        access_log=False,
        http=Connection,
        ws="websockets-sansio",
        ws_max_size=MOST_BYTES,
        backlog=BACKLOG,
        timeout_graceful_shutdown=SOON,
        lifespan="on",
    )


class Serving:
    """A server, which `stop` ends with a reason."""

    def __init__(self) -> None:
        self._server: uvicorn.Server | None = None
        self._reason = ""

    def stop(self, reason: str) -> None:
        """End the server."""
        self._reason = reason
        if self._server:
            self._server.should_exit = True

    def run(self, app: Starlette, listening: socket.socket, opened: str = "") -> None:
        """Serve until Ctrl-C, and open a link in the browser; raises ValueError with the reason of `stop`."""
        self._server = uvicorn.Server(config_of(app))
        if opened:
            open_soon(opened)  # what comes before the server runs waits at the socket
        self._server.run(sockets=[listening])
        if self._reason:
            raise ValueError(self._reason)


def open_soon(address: str) -> None:
    """Open a link in the browser, which may take its time."""
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
