"""Ctrl-C ends the command `krypenv` with one line and exit code 130, even while its modules are being loaded.

`krypenv/__init__.py` imports this first: loading takes a second, in which an interrupt would print a traceback. The
command also ends with one line in a deleted working folder, where libraries would fail to load.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

EXIT_CODE = 130
GONE = "krypenv: the working folder was deleted; go to one that is there\n"
LINE = "krypenv: stopped"
PATIENCE = 1.0  # seconds in which a kernel may return after Ctrl-C
_SHOW_CURSOR = b"\x1b[?25h"


def is_command() -> bool:
    """Whether this process was started as `krypenv` or as `python -m krypenv`."""
    name = os.path.basename(sys.argv[0] if sys.argv else "")
    if name == "-m":  # `python -m` imports the package before it knows the path of `__main__`
        words = sys.orig_argv
        return "-m" in words and words[words.index("-m") + 1 :][:1] == ["krypenv"]
    return name.partition(".")[0].removesuffix("-script") == "krypenv"


def end_at_once(*_: Any) -> None:
    """End this process at once, without cleaning up: files are written whole or not at all."""
    with contextlib.suppress(OSError):
        os.write(2, (_SHOW_CURSOR if os.isatty(2) else b"") + f"{LINE}\n".encode())
    os._exit(EXIT_CODE)


@contextlib.contextmanager
def as_exception() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt in the block; outside it, Ctrl-C ends the process at once.

    The process is also ended if this thread runs no Python code within PATIENCE, as in a long search, and PATIENCE
    after an interrupted block: Python would wait for searches in other threads.
    """
    if signal.getsignal(signal.SIGINT) is not end_at_once:
        yield
        return
    raised, is_interrupted, main = float("-inf"), False, threading.get_ident()

    def interrupt(*_: Any) -> None:
        nonlocal raised
        raised = time.monotonic()
        raise KeyboardInterrupt

    def has_raised() -> bool:
        time.sleep(PATIENCE / 2)
        return time.monotonic() - raised < 2 * PATIENCE

    def watch() -> None:
        with reader:
            while numbers := reader.recv(100):  # nothing once the block has ended
                if signal.SIGINT in numbers and signal.getsignal(signal.SIGINT) is interrupt and not has_raised():
                    if hasattr(signal, "pthread_kill"):  # wakes a thread that had just begun to wait for input
                        signal.pthread_kill(main, signal.SIGINT)
                    if not has_raised():
                        end_at_once()
        if is_interrupted:
            time.sleep(PATIENCE)
            os._exit(EXIT_CODE)

    reader, writer = socket.socketpair()  # Python itself writes to it when a signal arrives, whatever code runs
    writer.setblocking(False)
    with writer:
        signal.signal(signal.SIGINT, interrupt)
        signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        threading.Thread(target=watch, daemon=True).start()
        try:
            yield
        except KeyboardInterrupt:
            is_interrupted = True
            raise
        finally:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGINT, end_at_once)


if is_command():
    try:
        os.getcwd()
    except OSError:
        sys.stderr.write(GONE)
        raise SystemExit(2) from None

if is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    with contextlib.suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGINT, end_at_once)
