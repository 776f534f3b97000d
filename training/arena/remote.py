"""Shards on a Ray cluster; needs `pip install "krypenv[ray]"`."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from krypenv.training.arena.shards import Line, Player, Shard, play_shard
from krypenv.training.common.processes import use_one_thread

RETRIES = 5  # of a shard whose worker died
AHEAD = 4  # shards submitted per processor


@contextlib.contextmanager
def ray_player(address: str | None = None) -> Iterator[Player]:
    """Yield a player of shards as tasks of a Ray cluster, each on one processor. Shards of dead workers are retried.

    `address` is that of the cluster. None stands for the cluster that this process is connected to or that RAY_ADDRESS
    names, or else for a new one on this machine. Ray must be able to import krypenv on every node, and model folders
    must be at the same path there. Raises ValueError if Ray is not installed or there is no cluster.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")  # use the cluster's Python, and upload nothing
    ray = _ray()
    is_ours = not ray.is_initialized()
    if is_ours:
        _check_reachable(address or os.environ.get("RAY_ADDRESS", ""))
        ray.init(address, include_dashboard=False, logging_level=logging.ERROR)
    task = ray.remote(num_cpus=1, max_retries=RETRIES)(_play_alone)

    def play(shards: Iterable[Shard]) -> Iterator[list[Line]]:
        waiting = iter(shards)
        room = AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))
        running: list[Any] = []
        while True:
            running += [task.remote(shard) for _, shard in zip(range(room - len(running)), waiting, strict=False)]
            if not running:
                return
            done, running = ray.wait(running)
            yield from ray.get(done)

    try:
        yield play
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None  # as if it had been raised here
    except ray.exceptions.WorkerCrashedError:
        raise ChildProcessError(
            f"a worker of the cluster died {RETRIES + 1} times over one chunk; the same command resumes the arena"
        ) from None
    finally:
        if is_ours:
            ray.shutdown()


def packer() -> Callable[[Any], bytes]:
    """Return the function that pickles objects for a cluster; raises ValueError if Ray is not installed."""
    dumps: Callable[[Any], bytes] = _ray().cloudpickle.dumps
    return dumps


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise ValueError('an arena on Ray needs more: pip install "krypenv[ray]"') from None
    return ray


def _play_alone(shard: Shard) -> list[Line]:
    use_one_thread()
    return play_shard(shard)


def _check_reachable(address: str) -> None:
    """Raise ValueError if nothing answers at a HOST:PORT; Ray itself would try for many minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if port.isdecimal():
        try:
            socket.create_connection((host, int(port)), timeout=10).close()
        except OSError as error:
            raise ValueError(f"no Ray cluster answers at {address}: {error.strerror or error}") from None
