"""The machine and versions that a measured time depends on."""

from __future__ import annotations

import contextlib
import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

import krypenv
from krypenv.runtime.threads import count_threads

PACKAGES = ("numpy", "numba", "torch")


def machine() -> dict[str, Any]:
    """Read the processor, the cores, their load in the last minute, the system and the versions."""
    info = Path("/proc/cpuinfo")
    models = [line for line in info.read_text().splitlines() if line.startswith("model name")] if info.exists() else []
    facts = {
        "cpu": models[0].partition(":")[2].strip() if models else platform.processor(),
        "cores": count_threads(0),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "system": platform.system(),
        "python": platform.python_version(),
    }
    for name in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            facts[name] = metadata.version(name)
    return {**facts, "krypenv": krypenv.__version__}
