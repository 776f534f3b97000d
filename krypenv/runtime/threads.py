"""Split one call over several threads: kernels run without the GIL."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache

import numpy as np


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
    """Return the number of threads that an option asks for; 0 means all processors."""
    return threads or os.cpu_count() or 1


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Return a pool of threads, which start on first use and are kept."""
    return ThreadPoolExecutor(threads, "krypenv")


if hasattr(os, "register_at_fork"):  # a forked process has the pools and none of their threads
    os.register_at_fork(after_in_child=_pool.cache_clear)
