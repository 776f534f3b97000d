"""Files: written whole or not at all, and read with the file's name in every error."""

from __future__ import annotations

import codecs
import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Any

from pydantic_core import from_json

LARGEST = 1 << 32  # bytes of a file
LARGEST_JSON = 1 << 26  # of one of JSON
PRIVATE = 0o600  # the mode of a file for its owner alone
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # with which files of Windows begin that are not in UTF-8
IN_UTF_16 = "is in UTF-16; write it in UTF-8, as PowerShell's Out-File -Encoding utf8 does"
_LONGEST_START = 40  # characters of a file's name that its partial file keeps


def write_whole(path: Path, data: bytes, mode: int = 0o666) -> None:
    """Write a file so that at any moment it has either the old or the new content; make the folders above it.

    Its mode is the given one without what the umask forbids. Where the path is a link, its target is written, and the
    link stays. Raises OSError with the file's name, and leaves nothing behind, if it can't be written.
    """
    with naming(path):
        target = _target(path)
        with _partial(target, data, mode) as partial:
            os.replace(partial, target)


def write_new(path: Path, data: bytes, mode: int = 0o666) -> None:
    """Write a file as `write_whole` does, but only where there is none, so that no other process gets its name.

    Raises FileExistsError with the file's name if there is something at its path, or a link, even a broken one.
    """
    with naming(path):
        target = _target(path)
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        with _partial(target, data, mode) as partial:
            try:
                os.link(partial, target)
            except FileExistsError:
                raise
            except OSError:  # this file system has no second names for a file
                os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
                os.replace(partial, target)


@contextlib.contextmanager
def _partial(target: Path, data: bytes, mode: int) -> Iterator[Path]:
    """Write a file beside the target, which is gone after the block.

    Nobody can foresee its name and lay a link to another file there.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name[:_LONGEST_START]}.{secrets.token_hex(8)}.part")
    try:
        with open(partial, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield partial
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)


def _target(path: Path) -> Path:
    """Resolve a path to the plain file that it leads to, or would; raise OSError where there can't be one."""
    try:
        target = Path(os.path.realpath(path, strict=True))
    except FileNotFoundError:
        target = Path(os.path.realpath(path))
    except ValueError:
        raise OSError(errno.EINVAL, "no file can have this name") from None
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if target.exists() and not target.is_file():
        raise OSError("not a plain file")
    return target


def open_unlinked(path: str, flags: int) -> int:
    """Open a file for `open(path, ..., opener=open_unlinked)`; raise OSError if it is a link to another one.

    For files that are written bit by bit under a name that others can foresee.
    """
    check_unlinked(Path(path))
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


def check_unlinked(path: Path) -> None:
    """Raise OSError if a file is a link to another one."""
    if path.is_symlink():
        raise OSError(errno.ELOOP, "is a link; remove it, for what is written here would go elsewhere", str(path))


def append_whole(file: FileIO, data: bytes) -> None:
    """Append to a file that was opened with `buffering=0`; when this returns, the data are on the disk.

    Raises OSError with the file's name, and leaves the file as it was, if they don't fit.
    """
    size = file.seek(0, os.SEEK_END)
    with naming(Path(os.fsdecode(file.name))):
        try:
            unwritten = memoryview(data)
            while unwritten:
                unwritten = unwritten[file.write(unwritten) :]
            os.fsync(file.fileno())
        except OSError:
            with contextlib.suppress(OSError):
                file.truncate(size)
            raise


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put the name of this file into any OSError, in place of that of a partial file."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def read_file(path: Path, most: int = LARGEST) -> bytes:
    """Read the content of a file.

    Raises OSError with its name unless it is a plain file (no folder or pipe), and ValueError, before anything is read,
    if it has more than `most` bytes.
    """
    with naming(path):
        if path.exists() and not path.is_file():
            raise OSError("not a plain file")
        size = path.stat().st_size
        if size <= most:
            return path.read_bytes()
    raise ValueError(f"{path} is too large: it has {size:,} bytes, and at most {most:,} are read")


def read_json(path: Path) -> Any:
    """Read the plain values in a file of JSON.

    Raises OSError if it can't be read. Raises ValueError with its name if it is not JSON, is larger than any file of
    this package, is nested 200 deep, or holds NaN or Infinity.
    """
    data = read_file(path, LARGEST_JSON)
    try:
        return parse_json(data)
    except ValueError as error:
        raise ValueError(f"{path} {error}") from None


def parse_json(data: bytes | str, infinite: bool = False) -> Any:
    """Parse JSON in UTF-8 to plain values; `infinite` allows NaN, Infinity and -Infinity.

    Raises ValueError with a sentence that continues the name of what was read, also for values that are nested 200
    deep.
    """
    if isinstance(data, bytes) and data.startswith(UTF_16):
        raise ValueError(IN_UTF_16)
    mark: Any = codecs.BOM_UTF8 if isinstance(data, bytes) else "\ufeff"
    try:
        return from_json(data.removeprefix(mark), allow_inf_nan=infinite)
    except (ValueError, TypeError, MemoryError):  # TypeError for a text with half of a character
        raise ValueError("is not JSON; it was not written whole or was changed") from None
