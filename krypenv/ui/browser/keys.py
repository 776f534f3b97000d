"""The keys in the links to a table: one for each seat, one for who watches, and the host's."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from krypenv.inputs import schema
from krypenv.inputs.files import PRIVATE, naming, read_json, write_whole

MOST_SEATS = 6
_A_KEY = schema.matching(r"[\w-]{22,64}", "a key")
_KEYS = schema.a_record({"seats": schema.a_list(_A_KEY, MOST_SEATS, MOST_SEATS), "watch": _A_KEY, "host": _A_KEY})


class Keys(NamedTuple):
    """The keys of a table."""

    seats: tuple[str, ...]  # by seat
    watch: str  # of who only watches
    host: str  # of who chooses the game, who has the first person's seat
    is_open: bool = False  # whether a page without a key is the host's, unless several people play

    @classmethod
    def new(cls, is_open: bool) -> Keys:
        """Return keys that nobody can guess."""
        *seats, watch, host = (secrets.token_urlsafe(16) for _ in range(MOST_SEATS + 2))
        return cls(tuple(seats), watch, host, is_open)

    @classmethod
    def kept(cls, path: Path, is_open: bool) -> Keys:
        """Return the keys in a file, so that links outlive the server; new ones if there is no file.

        Raises OSError with the file's name, and ValueError for a file that others may have read or written, or that
        holds no keys.
        """
        with naming(path):
            if not os.path.lexists(path):
                return cls.new(is_open)
            about = path.lstat()
        is_own = not hasattr(os, "geteuid") or (about.st_uid == os.geteuid() and not about.st_mode & 0o077)
        if not is_own or not stat.S_ISREG(about.st_mode):
            raise ValueError(f"{path} is to be a file that only you may read; remove it, and there are new links")
        found = read_json(path)
        try:
            schema.check(_KEYS, found)
            if len({found["watch"], found["host"], *found["seats"]}) < MOST_SEATS + 2:
                raise ValueError("two of them are the same")
        except ValueError as error:
            raise ValueError(f"{path} holds no keys of a table: {error}; remove it") from None
        return cls(tuple(found["seats"]), found["watch"], found["host"], is_open)

    def keep(self, path: Path) -> None:
        """Write the keys to a file that only its owner may read; raises OSError with its name."""
        write_whole(path, json.dumps({"seats": self.seats, "watch": self.watch, "host": self.host}).encode(), PRIVATE)

    def seat(self, key: str, people: Sequence[int]) -> int | None:
        """Return the seat that a key leads to, None for who watches; raises LookupError if it leads nowhere."""
        if self.is_host(key, people):
            return people[0] if people else None
        given = key.encode()
        if secrets.compare_digest(given, self.watch.encode()):
            return None
        for seat in people:
            if secrets.compare_digest(given, self.seats[seat].encode()):
                return seat
        raise LookupError(key)

    def is_host(self, key: str, people: Sequence[int]) -> bool:
        """Return whether a key is the host's, who needs none at an open table unless several people play."""
        return secrets.compare_digest(key.encode(), self.host.encode()) or bool(
            not key and self.is_open and len(people) <= 1
        )

    def opens(self, key: str) -> bool:
        """Return whether a key is one of these, whatever it leads to, or none is needed."""
        if not key:
            return self.is_open
        with contextlib.suppress(LookupError):
            self.seat(key, range(MOST_SEATS))
            return True
        return False
