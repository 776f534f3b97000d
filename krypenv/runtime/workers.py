"""Worker processes that never import the main module of the program that starts them."""

from __future__ import annotations

import sys
import threading
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
