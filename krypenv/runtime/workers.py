"""Worker processes that never import the main module of the program that starts them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any

_STARTING = threading.Lock()


class Worker(SpawnProcess):
    """A spawned process; the script that starts it needs no `if __name__ == "__main__"`."""

    def start(self) -> None:
        """Start the process, while the main module hides its file: multiprocessing would run that again."""
        with _STARTING:
            main = vars(sys.modules["__main__"])
            hidden: dict[str, Any] = {name: main[name] for name in ("__file__", "__spec__") if name in main}
            main.update(dict.fromkeys(hidden))
            try:
                super().start()
            finally:
                main.update(hidden)


class Workers(SpawnContext):
    """The `mp_context` by which `ProcessPoolExecutor` starts workers."""

    Process = Worker


WORKERS = Workers()


def end_pool(pool: ProcessPoolExecutor) -> None:
    """Kill the processes of a pool, and wait for its thread: the interpreter may end right after."""
    for process in list((pool._processes or {}).values()):
        process.kill()
    pool.shutdown(cancel_futures=True)


def belong_to_parent() -> None:
    """Leave Ctrl-C to the process that started this one, and end with it; it may be killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(0)
