"""The keys in the links to a table: one for each seat, and one for who watches."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from krypenv.inputs import schema
from krypenv.inputs.files import naming, read_json

MOST_SEATS = 6
_A_KEY = schema.matching(r"[\w-]{22,64}", "a key")
_KEYS = schema.a_record({"seats": schema.a_list(_A_KEY, MOST_SEATS, MOST_SEATS), "watch": _A_KEY})


class Keys(NamedTuple):
    """The keys of a table."""

    seats: tuple[str, ...]  # by seat
    watch: str  # of who only watches
    is_open: bool = False  # whether a page without a key gets the first person's seat

    @classmethod
    def new(cls, is_open: bool) -> Keys:
        """Return keys that nobody can guess."""
        return cls(tuple(secrets.token_urlsafe(16) for _ in range(MOST_SEATS)), secrets.token_urlsafe(16), is_open)

    @classmethod
    def kept(cls, path: Path, is_open: bool) -> Keys:
        """Return the keys in a file that only its owner may read, so that links outlive the server; make it if need be.

        Raises OSError with the file's name, and ValueError for a file that holds no keys.
        """
        if path.exists():
            found = read_json(path)
            try:
                _KEYS(found, "")
            except ValueError as error:
                raise ValueError(f"{path} holds no keys of a table: {error}; remove it") from None
            return cls(tuple(found["seats"]), found["watch"], is_open)
        keys = cls.new(is_open)
        with naming(path), open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump({"seats": keys.seats, "watch": keys.watch}, file)
        return keys

    def seat(self, key: str, people: Sequence[int]) -> int | None:
        """Return the seat that a key leads to, None for who watches; raises LookupError if it leads nowhere."""
        if not key and self.is_open:
            return people[0] if people else None
        given = key.encode()
        if secrets.compare_digest(given, self.watch.encode()):
            return None
        for seat in people:
            if secrets.compare_digest(given, self.seats[seat].encode()):
                return seat
        raise LookupError(key)

    def opens(self, key: str) -> bool:
        """Return whether a key is one of these, whatever it leads to."""
        with contextlib.suppress(LookupError):
            self.seat(key, range(MOST_SEATS))
            return True
        return False
