"""Work shared out over processes that compute on one thread each and never outlive the one that started them."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

import numba

Task = TypeVar("Task")
Result = TypeVar("Result")


@contextlib.contextmanager
def pool_of(function: Callable[[Task], Result], workers: int) -> Iterator[Callable[[Iterable[Task]], Iterator[Result]]]:
    """Give what does a function's work one task after another here, or with more workers in as many new processes.

    Results come in the order in which they are ready. Raises ChildProcessError where a worker has died.
    """
    if workers == 1:
        yield lambda tasks: map(function, tasks)
        return
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _begin_worker)

    def work(tasks: Iterable[Task]) -> Iterator[Result]:
        for future in as_completed([pool.submit(function, task) for task in tasks]):
            yield future.result()

    try:
        yield work
    except BrokenProcessPool:
        raise ChildProcessError("a worker process has died; the same command goes on where it stopped") from None
    finally:
        pool.shutdown(cancel_futures=True)


def use_one_thread() -> None:
    """Let this process compute on one thread, as one of several workers."""
    os.environ["OMP_NUM_THREADS"] = "1"  # torch reads it when it is loaded, with the first learned agent
    numba.set_num_threads(1)


def _begin_worker() -> None:
    use_one_thread()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends a worker without a traceback
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, even if it was killed."""
    parent = multiprocessing.parent_process()
    if parent:
        parent.join()
        os._exit(1)
