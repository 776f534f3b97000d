"""Threads: calls split over several, and objects that several threads call. Kernels run without the GIL."""

from __future__ import annotations

import math
import os
import re
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache, wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

CGROUPS = Path("/sys/fs/cgroup")
OWN_CGROUP = Path("/proc/self/cgroup")
Method = TypeVar("Method", bound=Callable[..., Any])


class Lock:
    """A lock whose copies, also by pickle and in forked processes, are free locks of their own."""

    acquire: Callable[..., bool]
    release: Callable[[], None]

    def __init__(self) -> None:
        self.renew()
        _LOCKS.add(self)

    def renew(self) -> None:
        """Free the lock, whoever holds it, by putting another one in its place."""
        lock = threading.Lock()
        self.acquire, self.release = lock.acquire, lock.release

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *error: object) -> None:
        self.release()

    def __reduce__(self) -> tuple[Any, ...]:
        return Lock, ()


_LOCKS: weakref.WeakSet[Lock] = weakref.WeakSet()
NUMBA_THREADS = Lock()  # Numba's "workqueue" threads end the process if two kernels start them at once


def in_turn(method: Method) -> Method:
    """Serialize the calls of an object's decorated methods by its `lock`, a `Lock`; they must not call each other."""

    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        with self.lock:
            return method(self, *args, **kwargs)

    return cast(Method, call)


def never_at_once(method: Method) -> Method:
    """Let a method raise RuntimeError while another decorated method of the object runs.

    The object has a list `turn` with one entry, which a call pops and puts back: that is atomic, and several times
    faster than a lock.
    """

    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            self.turn.pop()
        except IndexError:
            raise called_at_once(self, method.__name__) from None
        try:
            return method(self, *args, **kwargs)
        finally:
            self.turn.append(None)

    return cast(Method, call)


def called_at_once(called: object, method: str) -> RuntimeError:
    """Make the error for a call of an object during another call."""
    name = type(called).__name__
    return RuntimeError(
        f"{name}.{method} was called before another call of the same {name} had ended; give each thread one of its "
        "own, or let the threads take turns with a lock"
    )


def share(work: Callable[[int, int], object], parts: int) -> None:
    """Call `work(part, parts)` for every part, each on its own thread, and wait for all of them.

    The first part runs on this thread. Raises an error of a part once all have ended.
    """
    if parts > 1:
        others = [_pool(parts - 1).submit(work, part, parts) for part in range(1, parts)]
        try:
            work(0, parts)
        finally:
            wait(others)
        for other in others:
            other.result()
    else:
        work(0, 1)


def cut(arrays: tuple[np.ndarray, ...], part: int, parts: int) -> tuple[np.ndarray, ...]:
    """Slice each array to one of `parts` parts of consecutive rows, as views of about equal length."""
    if parts == 1:
        return arrays
    return tuple(array[len(array) * part // parts : len(array) * (part + 1) // parts] for array in arrays)


def count_threads(threads: int) -> int:
    """Count the threads or workers that an option asks for; 0 means all processors that this process is granted."""
    return threads or max(1, math.ceil(min(_processors(), _quota())))


def _processors() -> int:
    """Count the processors that this process may run on."""
    processors = os.cpu_count() or 1
    return min(processors, len(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else processors


def _quota() -> float:
    """Read the CPU quota of this process, in processors, from its control groups of version 2 or 1."""
    group = CGROUPS / _text(OWN_CGROUP).rpartition("0::/")[2]
    limits = [_text(folder / "cpu.max") for folder in (group, *group.parents)]
    limits.append(f"{_text(CGROUPS / 'cpu/cpu.cfs_quota_us')} {_text(CGROUPS / 'cpu/cpu.cfs_period_us')}")
    pairs = filter(None, (re.fullmatch(r"(\d+) ([1-9]\d*)", limit) for limit in limits))
    return min((int(quota) / int(period) for quota, period in map(re.Match.groups, pairs)), default=math.inf)


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Make a pool of threads, which start on first use, once for each size."""
    return ThreadPoolExecutor(threads, "krypenv")


def _forget_threads() -> None:
    """Drop the pools and free the locks in a forked process, which has none of the threads."""
    _pool.cache_clear()
    for lock in _LOCKS:
        lock.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
