"""Executors of tasks: this process, worker processes, or a Ray cluster. The results are the same in all.

Worker processes are single-threaded and never outlive the process that started them.
"""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import signal
import socket
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, nullcontext
from multiprocessing import resource_tracker
from typing import Any

from krypenv.inputs.words import to_install
from krypenv.runtime.workers import WORKERS, belong_to_parent, end_pool

RETRIES = 5  # times in a row that workers may die without a result
Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]  # yields results as they are ready


def open_map(workers: int, ray: bool) -> AbstractContextManager[Map]:
    """Yield a map of a function over items: in this process, in several, or on a Ray cluster.

    Results come as they are ready; a dead worker's items are retried. Raises ValueError without Ray or a cluster, and
    ChildProcessError if one item's workers keep dying.
    """
    return ray_map() if ray else process_map(workers) if workers > 1 else nullcontext(map)


# ---------------------------------------------------------------------- worker processes


@contextlib.contextmanager
def process_map(workers: int) -> Iterator[Callable[..., Iterator[Any]]]:
    """Yield a map of a function over items in `workers` new processes; results come as they are ready.

    If a worker dies, the items without a result go to new workers. Raises ChildProcessError if workers keep dying
    without a result. Workers ignore Ctrl-C: this process ends them, as it does for every exception.
    """
    from cloudpickle import dumps  # with the code that the main module or a notebook defines

    pools = [ProcessPoolExecutor(workers, WORKERS, _begin_worker)]

    def work(function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        left, deaths = dict(enumerate(items)), 0
        while left:
            try:
                with _interrupts_held_back():  # the new processes inherit this and keep it
                    places = {pools[-1].submit(_do, dumps((function, item))): place for place, item in left.items()}
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
        for pool in pools:
            end_pool(pool)
        raise
    for pool in pools:
        pool.shutdown()


def _do(sent: bytes) -> Any:
    function, item = pickle.loads(sent)
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
    belong_to_parent()


def use_one_thread() -> None:
    """Limit this process to one thread, as one of several workers."""
    import numba

    os.environ["OMP_NUM_THREADS"] = "1"  # torch reads it when it is imported
    numba.set_num_threads(1)


# ---------------------------------------------------------------------- a Ray cluster; needs the extra `ray`


@contextlib.contextmanager
def ray_map() -> Iterator[Callable[..., Iterator[Any]]]:
    """Yield a map of a function over items as tasks of a Ray cluster, each on one processor.

    The cluster is that of this process or of the variable RAY_ADDRESS, or else a new one on this machine. Ray must be
    able to import krypenv on every node, and folders that a task names must have the same path on all nodes. Raises
    ValueError if Ray is not installed or no cluster answers, and ChildProcessError if the workers of one item keep
    dying.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")  # use the cluster's Python, and upload nothing
    try:
        import ray
    except ImportError:
        raise ValueError(f"work on Ray needs ray, which is not installed; {to_install('ray')}") from None
    is_ours = not ray.is_initialized()
    if is_ours:
        _check_answer(os.environ.get("RAY_ADDRESS", ""))
        ray.init(include_dashboard=False, logging_level=logging.ERROR)
    task, folder = ray.remote(num_cpus=1, max_retries=RETRIES)(_alone), os.getcwd()

    def work(function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        running = [task.remote(function, item, folder) for item in items]
        while running:
            done, running = ray.wait(running)
            yield from ray.get(done)

    try:
        yield work
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None  # as if it had been raised here
    except ray.exceptions.WorkerCrashedError:
        raise ChildProcessError(
            f"a worker of the cluster died {RETRIES + 1} times over one task; the same command resumes where it stopped"
        ) from None
    finally:
        if is_ours:
            ray.shutdown()


def _check_answer(address: str) -> None:
    """Raise ValueError if no cluster answers at an address with a port; Ray would try for many minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if port.isdecimal():
        try:
            socket.create_connection((host, int(port)), timeout=10).close()
        except OSError as error:
            raise ValueError(f"no Ray cluster answers at {address}: {error.strerror or error}") from None


def _alone(function: Callable[[Any], Any], item: Any, folder: str) -> Any:
    """Process an item on one thread, in the folder that relative paths refer to."""
    use_one_thread()
    with contextlib.suppress(FileNotFoundError):  # a node may lack the folder, and only some items name files
        os.chdir(folder)
    return function(item)
