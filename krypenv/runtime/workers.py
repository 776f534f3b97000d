"""Processes that import what they are sent, and never the main module of the program that starts them."""

from __future__ import annotations

import sys
import threading
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any

_STARTING = threading.Lock()


class Worker(SpawnProcess):
    """A process of its own interpreter, for which a script needs no `if __name__ == "__main__"`."""

    def start(self) -> None:
        """Start the process. Meanwhile the main module hides its file, which multiprocessing would run again."""
        with _STARTING:
            main = vars(sys.modules["__main__"])
            hidden: dict[str, Any] = {name: main[name] for name in ("__file__", "__spec__") if name in main}
            main.update(dict.fromkeys(hidden))
            try:
                super().start()
            finally:
                main.update(hidden)


class Workers(SpawnContext):
    """What `ProcessPoolExecutor` takes as `mp_context` to start such processes."""

    Process = Worker


WORKERS = Workers()
