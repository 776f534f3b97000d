"""Ctrl-C ends the command `krypenv` with one line and exit code 130, even while its modules are being loaded.

`krypenv/__init__.py` imports this first: loading takes a second, and an interrupt would print a traceback.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any

EXIT_CODE = 130
LINE = "krypenv: stopped"


def is_command() -> bool:
    """Whether this process was started as `krypenv` or as `python -m krypenv`."""
    name = os.path.basename(sys.argv[0] if sys.argv else "")
    if name == "-m":  # `python -m` imports the package before it knows the path of `__main__`
        words = sys.orig_argv
        return "-m" in words and words[words.index("-m") + 1 :][:1] == ["krypenv"]
    return name.partition(".")[0].removesuffix("-script") == "krypenv"


def end_at_once(*_: Any) -> None:
    """End this process. Nothing has begun, so nothing is lost."""
    with contextlib.suppress(OSError):
        os.write(2, f"{LINE}\n".encode())
    os._exit(EXIT_CODE)


@contextlib.contextmanager
def as_exception() -> Iterator[None]:
    """Make Ctrl-C raise KeyboardInterrupt in the block; before and after it, Ctrl-C ends the process at once."""
    if signal.getsignal(signal.SIGINT) is not end_at_once:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, end_at_once)


if is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    with contextlib.suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGINT, end_at_once)
