"""Folders that only one run at a time writes to."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from krypenv.inputs.files import naming

LOCK = ".lock"


@contextlib.contextmanager
def writing_to(folder: Path, file: str = "") -> Iterator[None]:
    """Lock a folder against other writers, of any process or thread, for the block; create it if necessary.

    A function that writes several files to a folder, or appends to one, does so in such a block.

    With `file` only that file of the folder is locked. The operating system holds the lock and releases it when the
    process ends, even if killed. The file `.lock`, or `.FILE.lock`, stays, without a meaning. Raises ValueError at once
    if another block holds the lock, even an enclosing one.
    """
    from filelock import FileLock, Timeout

    path = folder / (f".{file}{LOCK}" if file else LOCK)
    lock = FileLock(path, thread_local=False)  # a block may be left in another thread than it was entered in
    with naming(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with naming(path):
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise ValueError(
                f"another run is writing to {folder / file}; wait for its end, or give another --out"
            ) from None
    try:
        yield
    finally:
        lock.release()


def is_empty(folder: Path) -> bool:
    """Tell whether a folder is missing or empty apart from a lock; raises OSError if it is a file."""
    with naming(folder):
        return not folder.exists() or all(path.name == LOCK for path in folder.iterdir())
