"""Runs: independent tasks, executed anywhere in any order, whose results are kept as they come.

A task has a key and a pure function of plain values, so that its result is the same in this process, in another one, on
a cluster, and after a kill. The runner executes the tasks that the folder's journal lacks. The outcome of a run is a
*fold* of all results, which does not depend on their order.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import Any

from krypenv.inputs.files import naming, write_whole
from krypenv.training.runs.executors import Map, open_map
from krypenv.training.runs.journal import Header, append, open_journal

LOCK = ".lock"
Progress = Callable[[int, int], None]  # work done, of how much


@dataclass(frozen=True)
class Task:
    """A task: `function(**arguments)` returns plain JSON values, or the bytes of a file of the folder."""

    key: str  # unique in a run, and the same for the same work
    function: Callable[..., Any]  # of a module, so that other processes can import it
    arguments: dict[str, Any] = field(default_factory=dict)
    size: int = 1  # its share of the progress
    file: str = ""  # name of the file for the bytes; the result is then their SHA-256


@dataclass
class Run:
    """A run whose folder is locked for writing; made by `open_run`."""

    folder: Path
    results: dict[str, Any]  # of the finished tasks, by key
    about: dict[str, Any]  # facts for readers, as in the journal's header
    file: FileIO
    map: Map  # by which its tasks are executed

    def has(self, task: Task) -> bool:
        """Tell whether a task is finished."""
        return task.key in self.results and (not task.file or (self.folder / task.file).is_file())

    def do(self, tasks: Sequence[Task]) -> Iterator[Task]:
        """Execute the unfinished tasks; yield each task after its result is on the disk, in any order."""
        left = {task.key: task for task in tasks if not self.has(task)}
        for key, result in self.map(_do, left.values()) if left else ():
            if left[key].file:
                write_whole(self.folder / left[key].file, result)
                result = hashlib.sha256(result).hexdigest()
            append(self.file, {"key": key, "result": result})
            self.results[key] = result
            yield left[key]

    def do_all(self, tasks: Sequence[Task], progress: Progress = lambda done, total: None) -> dict[str, Any]:
        """Execute the unfinished tasks, and return the results of all tasks by key."""
        total = sum(task.size for task in tasks)
        done = sum(task.size for task in tasks if self.has(task))
        progress(done, total)
        for task in self.do(tasks):
            done += task.size
            progress(done, total)
        return {task.key: self.results[task.key] for task in tasks}


@contextlib.contextmanager
def open_run(folder: Path, header: Header, workers: int = 1, ray: bool = False) -> Iterator[Run]:
    """Open a folder for a run: a new folder, or one in which the same run was begun.

    Tasks are executed in this process, in `workers` processes of this machine, or on a Ray cluster.

    Raises ValueError with one sentence, and changes nothing, if the folder holds another run, was changed, or another
    process is writing to it; and before it makes the folder, if there is no Ray or no cluster.
    """
    with open_map(workers, ray) as work, writing_to(folder):
        file, journal = open_journal(folder, header)
        with file:
            yield Run(folder, journal.results, journal.header.about, file, work)


def _do(task: Task) -> tuple[str, Any]:
    return task.key, task.function(**task.arguments)


# ---------------------------------------------------------------------- folders that only one run at a time writes to


@contextlib.contextmanager
def writing_to(folder: Path, file: str = "") -> Iterator[None]:
    """Lock a folder against other writers, of any process or thread, for the block; create it if necessary.

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
