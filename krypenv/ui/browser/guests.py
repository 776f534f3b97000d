"""How much of a table its guests may take: who gives way where too many come, and how long a request may take."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 100  # at once, those of pages that are open apart
LONGEST_REQUEST = 15.0  # seconds from a connection, or from the request before, until it is answered
BACKLOG = 16  # connections that are accepted in one go, before any is counted
_GAVE_WAY = "Too many pages of this table are open, so this one was closed. Load it again to come back."
_NO_UTF8 = "Invalid UTF-8 sequence"  # with which uvicorn logs the traceback of a guest's message


@dataclass(eq=False)
class Place:
    """What a guest has taken."""

    guest: int | str  # who: a player's seat, or an address
    leave: Callable[[], object]  # gives it back

    def sit(self, seat: int | None) -> None:
        """Take the place for a player's seat; None for who only watches."""
        self.guest = self.guest if seat is None else seat


def first_to_leave(places: Iterable[Place]) -> Place:
    """Choose the place to free, of places ordered by age: the oldest of the guest with most places, players last."""
    found = list(places)
    held = Counter(place.guest for place in found)
    return max(found, key=lambda place: (held[place.guest], isinstance(place.guest, str)))


class Refused(Exception):
    """A page that gets no seat; the message is the reason, in a sentence."""


class Room:
    """Pages that are open at once; where too many are, one is closed for who comes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._places: list[Place] = []

    async def admit(self, guest: str, serve: Callable[[Place], Coroutine[Any, Any, None]]) -> None:
        """Serve a page that takes a place; raises Refused if it has to give way."""
        own = Place(guest, lambda: serving.cancel())
        serving = asyncio.get_running_loop().create_task(serve(own))
        self._places.append(own)
        if len(self._places) > self._most:
            given = first_to_leave(self._places)
            self._places.remove(given)
            given.leave()
        try:
            await serving
        except asyncio.CancelledError:
            if own in self._places:
                raise  # the server ends
            raise Refused(_GAVE_WAY) from None
        finally:
            if own in self._places:
                self._places.remove(own)


class Connection(H11Protocol):
    """A guest's connection until it is a page's: one of a limited number, with a time limit for each request."""

    _limit: asyncio.TimerHandle | None = None
    _since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a place, for which the oldest may have to leave."""
        super().connection_made(transport)
        self._since = time.monotonic()
        self._set_limit()
        others = (each for each in self.connections if isinstance(each, Connection) and not each._is_left)
        places = [each._place for each in sorted(others, key=lambda each: each._since)]
        if len(places) > MOST_CONNECTIONS:
            first_to_leave(places).leave()

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave."""
        self._end_limit()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._set_limit()
        super().on_response_complete()

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Leave the connection to the page's socket."""
        self._end_limit()
        super().handle_websocket_upgrade(event)

    @property
    def _place(self) -> Place:
        return Place(self.client[0] if self.client else "", self.transport.abort)

    @property
    def _is_left(self) -> bool:
        return self.transport.is_closing()

    def _set_limit(self) -> None:
        self._end_limit()
        self._limit = self.loop.call_later(LONGEST_REQUEST, self.transport.abort)

    def _end_limit(self) -> None:
        if self._limit:
            self._limit.cancel()


def leave_out_tracebacks() -> None:
    """Keep malformed messages and requests, at which uvicorn closes the connection, out of the host's terminal."""
    logging.getLogger("uvicorn.error").addFilter(_is_our_fault)


def _is_our_fault(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    return not (str(record.msg).startswith(_NO_UTF8) or isinstance(error, h11.ProtocolError))
