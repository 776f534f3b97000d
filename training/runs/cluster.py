"""Tasks on a Ray cluster; needs the extra `ray`."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from krypenv.inputs.words import to_install
from krypenv.training.runs.processes import RETRIES, use_one_thread

AHEAD = 4  # items submitted per processor


@contextlib.contextmanager
def ray_map(address: str | None = None) -> Iterator[Callable[..., Iterator[Any]]]:
    """Yield a map of a function over items as tasks of a Ray cluster, each on one processor.

    `address` is that of the cluster. None means the cluster of this process or of RAY_ADDRESS, or else a new one on
    this machine. Ray must be able to import krypenv on every node, and folders that a task names must have the same
    path on all nodes. Raises ValueError if Ray is not installed or there is no cluster, and ChildProcessError if the
    workers of one item keep dying.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")  # use the cluster's Python, and upload nothing
    ray = check_cluster(address)
    is_ours = not ray.is_initialized()
    if is_ours:
        ray.init(address, include_dashboard=False, logging_level=logging.ERROR)
    task, folder = ray.remote(num_cpus=1, max_retries=RETRIES)(_alone), os.getcwd()
    limit = AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))

    def work(function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        running: list[Any] = []
        for item in items:
            running.append(task.remote(function, item, folder))
            if len(running) >= limit:
                done, running = ray.wait(running)
                yield from ray.get(done)
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


def check_cluster(address: str | None = None) -> Any:
    """Import Ray; raises ValueError if it is not installed, or no cluster answers at the address.

    Ray itself would try for many minutes to reach a missing cluster.
    """
    try:
        import ray
    except ImportError:
        raise ValueError(f"work on Ray needs ray, which is not installed; {to_install('ray')}") from None
    place = address or os.environ.get("RAY_ADDRESS", "")
    host, _, port = place.removeprefix("ray://").rpartition(":")
    if port.isdecimal() and not ray.is_initialized():
        try:
            socket.create_connection((host, int(port)), timeout=10).close()
        except OSError as error:
            raise ValueError(f"no Ray cluster answers at {place}: {error.strerror or error}") from None
    return ray


def _alone(function: Callable[[Any], Any], item: Any, folder: str) -> Any:
    """Process an item on one thread, in the folder that relative paths refer to."""
    use_one_thread()
    with contextlib.suppress(FileNotFoundError):  # a node may lack the folder, and only some items name files
        os.chdir(folder)
    return function(item)
