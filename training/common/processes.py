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
from multiprocessing import resource_tracker
from typing import TypeVar

import numba

Task = TypeVar("Task")
Result = TypeVar("Result")


@contextlib.contextmanager
def pool_of(function: Callable[[Task], Result], workers: int) -> Iterator[Callable[[Iterable[Task]], Iterator[Result]]]:
    """Give what does a function's work one task after another here, or with more workers in as many new processes.

    Results come in the order in which they are ready. Raises ChildProcessError where a worker has died. Ctrl-C reaches
    the workers through this process alone, which ends them, as it does when anything else is raised.
    """
    if workers == 1:
        yield lambda tasks: map(function, tasks)
        return
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _begin_worker)

    def work(tasks: Iterable[Task]) -> Iterator[Result]:
        with _interrupts_held_back():  # in the new processes for good
            futures = [pool.submit(function, task) for task in tasks]
        for future in as_completed(futures):
            yield future.result()

    try:
        yield work
    except BaseException as error:
        for process in list((pool._processes or {}).values()):
            process.terminate()
        if isinstance(error, BrokenProcessPool):
            raise ChildProcessError("a worker process has died; the same command goes on where it stopped") from None
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextlib.contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Let Ctrl-C wait for the end of the block; processes that are started in it never see it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # it lets interrupts through when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def use_one_thread() -> None:
    """Let this process compute on one thread, as one of several workers."""
    os.environ["OMP_NUM_THREADS"] = "1"  # torch reads it when it is loaded, with the first learned agent
    numba.set_num_threads(1)


def _begin_worker() -> None:
    use_one_thread()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started it ends it
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, even if it was killed."""
    parent = multiprocessing.parent_process()
    if parent:
        parent.join()
        os._exit(1)
