"""What a solve keeps in its folder: solved deals, stretch by stretch, so that the same command goes on after a kill.

Deals need each other's values and share one tree, so they are solved in this process, on several threads.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from krypenv.inputs.artifacts import Arrays, encode_artifact, read_artifact
from krypenv.runtime.threads import count_threads
from krypenv.training.runs import Run, Task
from krypenv.training.solving import deal_tree as tree
from krypenv.training.solving.deal_tree import Forest
from krypenv.training.solving.equilibrium import Solution

KIND, FORMAT = "stretch of solved deals", 1
FILES = "solved-deals-*.safetensors"
# Of a stretch: enough for all threads, but not many seconds.
NODES_AT_ONCE, DEALS_AT_ONCE = 200_000, 8  # nodes, and deals for each thread
Work = Callable[[int, int], None]  # solves the deals from one place to before another


def solve_in_stretches(run: Run, number: int, forest: Forest, solution: Solution, work: Work, threads: int = 0) -> None:
    """Fill in the solution of the deals with a number, 0 for the first ones: what the run lacks is solved and kept.

    Raises ValueError with one sentence for a file that is torn, was changed, or belongs to other trees.
    """
    start, deals = 0, len(forest.starts) - 1
    while start < deals:
        stop = _next_stop(forest, start, threads)
        name = FILES.replace("*", f"{number + 1}-from-{start + 1}")
        arguments = {"forest": forest, "solution": solution, "work": work, "start": start, "stop": stop}
        run.do_all([Task(f"deals {number + 1} from {start + 1}", _solve_stretch, arguments, file=name)])
        start = _read_stretch(run.folder / name, forest, solution, start)


def remove_stretches(folder: Path) -> None:
    """Remove the files: the strategy is saved."""
    for path in folder.glob(FILES):
        path.unlink()


def _solve_stretch(forest: Forest, solution: Solution, work: Work, start: int, stop: int) -> bytes:
    work(start, stop)
    return encode_artifact(KIND, FORMAT, _part_of(forest, solution, start, stop), {"stop": stop})


def _read_stretch(path: Path, forest: Forest, solution: Solution, start: int) -> int:
    """Fill in the deals in a file, which begins with the deal `start`; return the first deal after them."""
    arrays, about = read_artifact(path, KIND, FORMAT)
    stop: int = about["stop"]
    for name, room in _part_of(forest, solution, start, stop).items():
        if arrays[name].shape != room.shape:
            raise ValueError(f"{path} belongs to other trees than this version grows; remove it")
        room[:] = arrays[name]
    return stop


def _part_of(forest: Forest, solution: Solution, start: int, stop: int) -> Arrays:
    """Return what is known of some deals, as views of the solution."""
    choices = slice(*forest.starts[[start, stop], tree.CHOICES])
    return {
        "policy": solution.policy[choices],
        "values": solution.values[start:stop],
        "iterations": solution.iterations[start:stop],
    }


def _next_stop(forest: Forest, start: int, threads: int) -> int:
    """Return where a stretch ends."""
    nodes = forest.starts[:, tree.NODES]
    enough = int(np.searchsorted(nodes, nodes[start] + NODES_AT_ONCE))
    return min(max(enough, start + DEALS_AT_ONCE * count_threads(threads)), len(nodes) - 1)
