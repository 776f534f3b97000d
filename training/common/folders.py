"""Folders that one process at a time writes to."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from krypenv.inputs.files import naming

LOCK = ".lock"


@contextlib.contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """Keep other processes from writing to a folder, which is made if need be, until the block is over.

    The lock is the system's, and ends with the process however that ends; the file `.lock` stays and means nothing.
    Raises ValueError where another process, or a block around this one, is writing to the folder.
    """
    from filelock import FileLock, Timeout

    with naming(folder):
        folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / LOCK)
    with naming(folder / LOCK):
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise ValueError(
                f"another process is writing to {folder}; wait for its end, or give another --out"
            ) from None
    try:
        yield
    finally:
        lock.release()


def is_empty(folder: Path) -> bool:
    """Whether a folder does not exist or holds nothing but a lock; raises OSError where it is a file."""
    with naming(folder):
        return not folder.exists() or all(path.name == LOCK for path in folder.iterdir())
