"""The progress of long runs, and a notice while kernels are compiled."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from krypenv.runtime.jit import compilations

COMPILING = "Compiling the kernels: one to two minutes the first time, cached afterwards."
PAUSE = 30.0  # seconds between two lines where there is no bar
Show = Callable[[float, str], None]


@contextlib.contextmanager
def progress(console: Console) -> Iterator[Show]:
    """Yield a function that shows the progress of a run, called with the fraction done, 0 to 1, and a text.

    In a terminal it moves a bar. In a notebook or a file it writes a line every half minute and one at the end.
    """
    if console.is_terminal:
        columns = TextColumn("{task.percentage:>3.0f}%"), BarColumn(bar_width=6), TextColumn("{task.fields[text]}")
        with Progress(*columns, console=console, refresh_per_second=2) as bar:
            task = bar.add_task("", total=1.0, text="starting")
            yield lambda done, text: bar.update(task, completed=done, text=text)
        return
    line, last = "", time.monotonic()

    def show(done: float, text: str) -> None:
        nonlocal line, last
        line = f"{done:4.0%}  {text}"
        if time.monotonic() - last >= PAUSE:
            console.print(line, highlight=False, soft_wrap=True)
            line, last = "", time.monotonic()

    try:
        yield show
    finally:
        if line:
            console.print(line, highlight=False, soft_wrap=True)


@contextlib.contextmanager
def bar_of(title: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that moves a bar in the terminal, called with the numbers done and in all."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def compiling(console: Console) -> AbstractContextManager[None]:
    """Print a notice once if the block compiles kernels that are not cached."""
    return compilations(functools.cache(lambda: console.print(COMPILING)))
