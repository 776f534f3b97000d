"""Worker processes of this machine, single-threaded, that never outlive the process that started them."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import resource_tracker
from typing import Any

import cloudpickle
import numba

from krypenv.runtime.workers import WORKERS

RETRIES = 5  # times in a row that workers may die without a result


@contextlib.contextmanager
def process_map(workers: int) -> Iterator[Callable[..., Iterator[Any]]]:
    """Yield a map of a function over items in `workers` new processes; results come as they are ready.

    If a worker dies, the items without a result go to new workers. Raises ChildProcessError if workers keep dying
    without a result. Workers ignore Ctrl-C; this process terminates them then, as for any other exception.
    """
    pools = [ProcessPoolExecutor(workers, WORKERS, _begin_worker)]

    def work(function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        left, deaths = dict(enumerate(items)), 0
        while left:
            try:
                with _interrupts_held_back():  # the new processes inherit this and keep it
                    places = {pools[-1].submit(_do, _Sent(function, item)): place for place, item in left.items()}
                for future in as_completed(places):
                    result = future.result()
                    del left[places[future]]
                    deaths = 0
                    yield result
            except BrokenProcessPool:
                deaths += 1
                if deaths > RETRIES:
                    raise ChildProcessError(
                        f"worker processes have died {deaths} times in a row; the same command resumes where it stopped"
                    ) from None
                pools.append(ProcessPoolExecutor(workers, WORKERS, _begin_worker))

    try:
        yield work
    except BaseException:
        for process in [process for pool in pools for process in (pool._processes or {}).values()]:
            process.terminate()
        raise
    finally:
        for pool in pools:
            pool.shutdown(cancel_futures=True)


class _Sent:
    """A function and its argument, pickled with the code that the main module or a notebook defines."""

    def __init__(self, function: Callable[[Any], Any], item: Any) -> None:
        self.parts = function, item

    def __reduce__(self) -> tuple[Any, ...]:
        return pickle.loads, (cloudpickle.dumps(self.parts),)  # unpickled as a pair


def _do(sent: Any) -> Any:
    function, item = sent
    return function(item)


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


def use_one_thread() -> None:
    """Limit this process to one thread, as one of several workers."""
    os.environ["OMP_NUM_THREADS"] = "1"  # torch reads it when it is imported
    numba.set_num_threads(1)
