"""Tasks that are done in other processes, which import nothing else."""

from __future__ import annotations

import os
import signal
from pathlib import Path


def square(number: int, deaths: Path | None = None) -> int:
    """Square a number; the first process that is asked for 3 with a file for deaths dies of it."""
    if number == 3 and deaths and not deaths.exists():
        deaths.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def deadly(number: int) -> int:
    """Kill the process that is asked."""
    os.kill(os.getpid(), signal.SIGKILL)
    return number


def wrong(number: int) -> int:
    """Refuse a number."""
    raise ValueError(f"{number} is no number")


def some_bytes(number: int) -> bytes:
    """Return five bytes."""
    return bytes([number] * 5)
