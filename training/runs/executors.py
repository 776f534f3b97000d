"""Executors of tasks: this process, worker processes, or a Ray cluster. The results are the same in all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]  # yields results as they are ready


@dataclass(frozen=True)
class Executor:
    """Where tasks run, and how many at a time."""

    workers: int = 1  # processes of this machine; 1 for this process
    ray: bool = False  # on a Ray cluster instead
    address: str | None = None  # of the cluster; None for the one that Ray finds, else a new one on this machine

    @property
    def sends(self) -> bool:
        """Whether tasks run in other processes."""
        return self.ray or self.workers > 1

    def check(self, names: Any = None) -> None:
        """Raise ValueError without Ray or a cluster, or for an agent's class that other processes can't import.

        `names` are plain values that contain the names of the agents.
        """
        if self.sends and (name := re.search(r"__main__:[\w.]+", str(names))):
            raise ValueError(
                f"{name[0]} is a class of the main module, which other processes can't import; put it into a module "
                "of its own, or take one worker"
            )
        if self.ray:
            from krypenv.training.runs.cluster import check_cluster

            check_cluster(self.address)

    def open(self) -> AbstractContextManager[Map]:
        """Yield a map of a function over items. Results come as they are ready; a dead worker's items are retried.

        Raises ValueError without Ray or a cluster, and ChildProcessError if one item's workers keep dying.
        """
        if self.ray:
            from krypenv.training.runs.cluster import ray_map

            return ray_map(self.address)
        if self.workers > 1:
            from krypenv.training.runs.processes import process_map

            return process_map(self.workers)
        return nullcontext(map)


HERE = Executor()  # one task after another, in this process


def executor_of(workers: int = 1, ray: bool = False, ray_address: str | None = None) -> Executor:
    """Make the executor of a command's options; an address implies Ray."""
    if workers < 1:
        raise ValueError(f"workers is at least 1, not {workers}")
    address = str(ray_address) if ray_address else None  # Ray takes no subclass of str, such as `typed` makes
    return Executor(workers, ray or address is not None, address)
