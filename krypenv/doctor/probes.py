"""Probes that `krypenv doctor` runs in separate processes, so that nothing that breaks there breaks the report.

Run it as a program with a mark, the name of a probe and its arguments as JSON. It imports nothing from the package
until a probe does.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pkgutil
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any


def try_imports(names: list[str]) -> Iterator[dict[str, Any]]:
    """Import modules one after another; yield each one's name and what it raised."""
    for name in names:
        yield {"begins": name}
        try:
            importlib.import_module(name)
            yield {"module": name, "error": None}
        except BaseException as error:  # even SystemExit
            yield {"module": name, "error": describe(error)}
    torch = sys.modules.get("torch")
    if hasattr(torch, "get_num_threads"):
        yield {"torch threads": torch.get_num_threads()}  # type: ignore[union-attr]


def play_a_game() -> Iterator[dict[str, Any]]:
    """Play one game; yield how long its first step took, then the threads and the state of the kernel cache."""
    try:
        began = time.perf_counter()
        from krypenv import Engine, Rules

        imported = time.perf_counter()
        engine = Engine(Rules.preset(), 1, seed=0)
        engine.step(engine.sample_actions())
        stepped = time.perf_counter()
        steps = 1
        while not engine.finished[0]:
            engine.step(engine.sample_actions())
            steps += 1
        yield {"import": imported - began, "first step": stepped - imported, "steps": steps}
        import krypenv.agents
        import krypenv.training  # noqa: F401

        yield {"whole": True}
        yield kernels()
    except Exception as error:
        yield {"error": describe(error)}


def kernels() -> dict[str, Any]:
    """Return the number of threads, how many kernels there are, how many are compiled, and the folders of the cache."""
    import numba

    import krypenv
    from krypenv.runtime import jit

    found: dict[int, Any] = {}
    for module in _modules(krypenv):
        for value in vars(module).values():
            if hasattr(value, "py_func"):
                found[id(value)] = value
    stats = [kernel.stats for kernel in found.values() if hasattr(kernel, "stats")]
    return {
        "threads": numba.get_num_threads(),
        "is_off": jit.JIT_IS_OFF,
        "plain": jit.WHY_PLAIN,
        "kernels": len(found),
        "compiled": sum(jit.is_compiled(kernel) for kernel in found.values()),
        "now": sum(sum(each.cache_misses.values()) for each in stats),
        "folders": sorted({each.cache_path for each in stats} - {None}),
    }


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    """Import and yield the modules of a package, subpackage by subpackage, except for programs and training."""
    for found in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        if found.name != "krypenv.training" and found.name.rpartition(".")[2] not in ("__main__", "report", "probes"):
            with contextlib.suppress(Exception):  # networks need torch
                module = importlib.import_module(found.name)
                yield module
                if found.ispkg:
                    yield from _modules(module)


def describe(error: BaseException) -> str:
    """Return the type of an error and the first line of its message."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0].strip()}" if lines else type(error).__name__


PROBES: dict[str, Callable[..., Iterator[dict[str, Any]]]] = {"imports": try_imports, "game": play_a_game}


def main() -> None:
    """Run the requested probe; each line of its answer begins with the mark."""
    mark, name, arguments = sys.argv[1:]
    here = Path(__file__).resolve().parent
    sys.path[:] = [folder for folder in sys.path if Path(folder).resolve() != here]
    warnings.simplefilter("ignore")
    answers = os.fdopen(os.dup(1), "w")
    for answer in PROBES[name](*json.loads(arguments)):
        print(mark + json.dumps(answer), file=answers, flush=True)
    answers.flush()
    os._exit(0)  # skip whatever libraries do at exit


if __name__ == "__main__":
    main()
