"""Work distributed over single-threaded processes that never outlive the process that started them."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import resource_tracker
from typing import TypeVar

import numba

Task = TypeVar("Task")
Result = TypeVar("Result")


@contextlib.contextmanager
def pool_of(function: Callable[[Task], Result], workers: int) -> Iterator[Callable[[Iterable[Task]], Iterator[Result]]]:
    """Yield a map of a function over tasks: in this process with one worker, else in `workers` new processes.

    Results come in the order in which they are ready. Raises ChildProcessError if a worker dies. Workers ignore
    Ctrl-C; this process ends them then, as for any other exception.
    """
    if workers == 1:
        yield lambda tasks: map(function, tasks)
        return
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _begin_worker)

    def work(tasks: Iterable[Task]) -> Iterator[Result]:
        with _interrupts_held_back():  # the new processes inherit this and keep it
            futures = [pool.submit(function, task) for task in tasks]
        for future in as_completed(futures):
            yield future.result()

    try:
        yield work
    except BaseException as error:
        for process in list((pool._processes or {}).values()):
            process.terminate()
        if isinstance(error, BrokenProcessPool):
            raise ChildProcessError("a worker process has died; the same command resumes where it stopped") from None
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextlib.contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Delay Ctrl-C to the end of the block; processes started in the block never see it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # its start unblocks interrupts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def use_one_thread() -> None:
    """Limit this process to one thread, as one of several workers."""
    os.environ["OMP_NUM_THREADS"] = "1"  # torch reads it when it is imported
    numba.set_num_threads(1)


def _begin_worker() -> None:
    use_one_thread()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started it ends it
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when its parent ends, even if the parent was killed."""
    parent = multiprocessing.parent_process()
    if parent:
        parent.join()
        os._exit(1)
