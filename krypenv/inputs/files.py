"""Files: written whole or not at all, and read with the file's name in every error."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic_core import from_json

LARGEST = 1 << 32  # bytes of a file
LARGEST_JSON = 1 << 26  # of one of JSON
PRIVATE = 0o600  # the mode of a file for its owner alone


def write_whole(path: Path, data: bytes, mode: int = 0o666, is_synced: bool = True) -> None:
    """Write a file so that at any moment it has either the old or the new content; make the folders above it.

    Its permissions are `mode` less the umask. A link stays, and its target is written. Without `is_synced` it doesn't
    wait for the disk: the content outlives a killed process, but the old one may come back after a power cut. Raises
    OSError with the file's name, and leaves no partial file, if it can't be written.
    """
    with naming(path):
        try:
            target = Path(os.path.realpath(path))
        except ValueError:
            raise OSError("no file can have this name") from None
        check_plain(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        # an unpredictable name, so that nobody can plant a link there
        partial = target.with_name(f".{secrets.token_hex(16)}.part")
        try:
            with open(partial, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
                file.write(data)
                file.flush()
                if is_synced:
                    os.fsync(file.fileno())
            os.replace(partial, target)
        finally:
            with contextlib.suppress(OSError):
                partial.unlink(missing_ok=True)


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name this file in any OSError, in place of a partial file."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def check_plain(path: Path) -> None:
    """Raise OSError for a path to something else than a plain file, such as a folder, a pipe or a circle of links."""
    try:
        is_plain = stat.S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return
    if not is_plain:
        raise OSError("not a plain file")


def read_file(path: Path, most: int = LARGEST) -> bytes:
    """Read the content of a file.

    Raises OSError with its name unless it is a plain file, and ValueError, before anything is read, if it has more than
    `most` bytes.
    """
    with naming(path):
        check_plain(path)
        size = path.stat().st_size
        if size <= most:
            return path.read_bytes()
    raise ValueError(f"{path} is too large: it has {size:,} bytes, and at most {most:,} are read")


def read_json(path: Path) -> Any:
    """Read the plain values in a file of JSON.

    Raises OSError if it can't be read, and ValueError with its name if it is larger than any file of this package, or
    as `parse_json` does.
    """
    data = read_file(path, LARGEST_JSON)
    try:
        return parse_json(data)
    except ValueError as error:
        raise ValueError(f"{path} {error}") from None


def parse_json(data: bytes | str) -> Any:
    """Parse JSON in UTF-8 to plain values.

    Raises ValueError for anything but JSON (NaN and Infinity are refused too), for values nested 200 deep, and for
    numbers that no float can hold. Its sentence lacks the subject, as in "is not JSON": callers put the name before it.
    """
    try:
        values = from_json(data.decode("utf-8-sig") if isinstance(data, bytes) else data, allow_inf_nan=False)
    except (ValueError, TypeError, MemoryError):  # TypeError for a text with half of a character
        raise ValueError("is not JSON; it was not written whole or was changed") from None
    try:
        json.dumps(values, allow_nan=False)
    except ValueError:
        raise ValueError("has a number that no float can hold, as 1e999 is none") from None
    return values
