"""A game, and how its kernels were compiled. `krypenv doctor` runs this file in a process of its own."""

from __future__ import annotations

import json
import sys
import time
from typing import Any


def play() -> dict[str, Any]:
    """Play a game of random actions.

    Returns how long the import and the first step took in seconds, how the kernels were compiled, how many of them just
    now, and the folders of their caches.
    """
    began = time.perf_counter()
    from krypenv import Engine, Rules

    engine = Engine(Rules.preset(), 1, seed=0)
    imported = time.perf_counter()
    engine.step(engine.sample_actions())
    stepped = time.perf_counter()
    while not engine.finished[0]:
        engine.step(engine.sample_actions())

    import numba

    import krypenv.agents
    import krypenv.training  # noqa: F401
    from krypenv.runtime import jit
    from krypenv.runtime.threads import count_threads

    loaded = [module for name, module in list(sys.modules.items()) if name.startswith("krypenv.")]
    named = [value for module in loaded for value in vars(module).values() if hasattr(value, "py_func")]
    stats = {id(value): value.stats for value in named if hasattr(value, "stats")}
    return {
        "import": imported - began,
        "first step": stepped - imported,
        "processors": count_threads(0),  # those granted
        "threads": numba.get_num_threads(),
        "is_off": jit.JIT_IS_OFF,
        "plain": jit.WHY_PLAIN,
        "now": sum(sum(each.cache_misses.values()) for each in stats.values()),
        "folders": sorted({each.cache_path for each in stats.values()} - {None}),
    }


def main() -> None:
    """Print what came of it, or the error, as JSON in a line that begins with the mark given."""
    try:
        told = play()
    except Exception as error:
        lines = str(error).strip().splitlines()
        told = {"error": ": ".join([type(error).__name__, *lines[:1]])}
    print(f"\n{sys.argv[1]}{json.dumps(told)}", flush=True)


if __name__ == "__main__":
    del sys.path[0]  # the folder of this file, whose modules are named like others
    main()
