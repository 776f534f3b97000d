"""Threads: one call split over several, and objects that are called from several. Kernels run without the GIL."""

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
    """A lock that one call holds at a time. Copies, pickles and forked processes get a free one of their own."""

    acquire: Callable[..., bool]
    release: Callable[[], None]

    def __init__(self) -> None:
        self.renew()
        _LOCKS.add(self)

    def renew(self) -> None:
        """Put a free lock in the place of this one, whoever holds it."""
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
    """Make calls of a method wait for each other, and for those of other such methods of the object.

    The object has a `Lock` as `lock`. Such a method must not call another one.
    """

    @wraps(method)
    def call(self: Any, *given: Any, **named: Any) -> Any:
        with self.lock:
            return method(self, *given, **named)

    return cast(Method, call)


def never_at_once(method: Method) -> Method:
    """Make a method raise RuntimeError if it is called before another call of such a method of the object has ended.

    The object has a list as `turn`, of one entry while no call is under way: taking it out and putting it back is
    atomic, and several times faster than a lock.
    """

    @wraps(method)
    def call(self: Any, *given: Any, **named: Any) -> Any:
        try:
            self.turn.pop()
        except IndexError:
            raise called_at_once(self, method.__name__) from None
        try:
            return method(self, *given, **named)
        finally:
            self.turn.append(None)

    return cast(Method, call)


def called_at_once(called: object, method: str) -> RuntimeError:
    """Return the error for a method of an object that is in the middle of another call."""
    name = type(called).__name__
    return RuntimeError(
        f"{name}.{method} was called before another call of the same {name} had ended; give each thread one of its "
        "own, or let the threads take turns with a lock"
    )


def share(work: Callable[[int, int], object], parts: int) -> None:
    """Call `work(part, parts)` for every part, each on its own thread, and return when all have ended.

    The first part runs on this thread. Raises what a part raises.
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
    """Return one of `parts` parts of each array, as views: consecutive rows, about as many in each part."""
    if parts == 1:
        return arrays
    return tuple(array[len(array) * part // parts : len(array) * (part + 1) // parts] for array in arrays)


def count_threads(threads: int) -> int:
    """Return the number of threads or workers that an option asks for; 0 means all processors granted here."""
    return threads or max(1, math.ceil(min(_processors(), _quota())))


def _processors() -> int:
    """Return on how many processors this process may run."""
    processors = os.cpu_count() or 1
    return min(processors, len(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else processors


def _quota() -> float:
    """Return how many processors' time the control groups of this process grant, of version 2 or 1."""
    folder = CGROUPS / _text(OWN_CGROUP).rpartition("0::/")[2]
    limits = [_text(each / "cpu.max") for each in (folder, *folder.parents)]
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
    """Return a pool of threads, which start on first use and are kept."""
    return ThreadPoolExecutor(threads, "krypenv")


def _forget_threads() -> None:
    """Forget the pools and who holds the locks: a forked process has none of the threads."""
    _pool.cache_clear()
    for lock in _LOCKS:
        lock.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
