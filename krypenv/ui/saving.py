"""The files of a game that is being played: its own, saved as it goes, and copies that the person asks for.

They hold the whole deck, so only their owner may read them.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
import traceback
from pathlib import Path

from krypenv.inputs.files import PRIVATE, write_whole
from krypenv.ui.table import Table


class Saver:
    """Saves the game of a table.

    Args:
        table: the table.
        path: the file to which the game is saved as it goes.
    """

    def __init__(self, table: Table, path: Path) -> None:
        self._table, self.path = table, path
        self._kept = b""  # the record as it was last saved
        self._copies: set[str] = set()  # the real paths of the files that the person has saved it to
        self._file = Path(os.path.abspath(path))  # the same file, though an agent goes to another folder

    def keep(self) -> None:
        """Save the game as it stands, unless it stands there already; raise OSError if it can't be saved."""
        record = self._table.record()
        if record != self._kept:
            write_whole(self._file, record, PRIVATE)
            self._kept = record

    def explain(self, error: BaseException) -> Path:
        """Write why an error was raised to a file beside the game's, and return its path."""
        told = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        write_whole(self._file.with_name(f"{self._file.name}.log"), told.encode(errors="replace"), PRIVATE)
        return self.path.with_name(f"{self.path.name}.log")

    def copy(self, path: Path) -> None:
        """Save a copy of the game; raise FileExistsError for a file that is neither the game's own nor a copy of it."""
        record = self._table.record()
        if os.path.lexists(path) and os.path.realpath(path) not in {os.path.realpath(self._file), *self._copies}:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
        write_whole(path, record, PRIVATE)
        self._copies.add(os.path.realpath(path))
        with contextlib.suppress(OSError):  # the game stays the latest of its folder, with which `krypenv play` goes on
            os.utime(self._file, ns=(time.time_ns(),) * 2)


def reason_of(error: OSError) -> str:
    """Return what is wrong with a file, with its name."""
    return f"{error.filename}: {error.strerror or error}"
