"""`krypenv bench`: steps a second of the engine, the environments and the agents, beside other libraries or a commit.

A machine's speed drifts by more than the differences of interest. So two lines, or a line in two versions, work in
alternating turns that are shorter than the drift, and the figure is the median ratio of neighbouring turns.
"""

from __future__ import annotations

import contextlib
import fnmatch
import json
import subprocess
import sys
import tempfile
import typing
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any, ClassVar

import numpy as np
import numpy.typing as npt
import typer
from pydantic import model_validator
from rich.console import Console
from scipy import stats

import krypenv
from krypenv.inputs.words import one_line, shown
from krypenv.training.cli import bench_lines
from krypenv.training.runs.journal import machine
from krypenv.training.runs.tables import INTERVAL, print_table, write_json
from krypenv.training.settings.base import File, Settings, option
from krypenv.training.settings.groups import LENGTH, MEASURED, json_output

TURNS, FEWEST = 40, 12  # of a measurement; and at least, where a turn lasts longer than it should
CHECKOUT = Path(krypenv.__file__).resolve().parents[1]
COLUMNS: dict[str, tuple[str, Callable[[Any], str]]] = {  # what a line of the report may have, and how it is shown
    "what": ("what", str),
    "per_cpu_second": ("steps/CPU s", "{:,.0f}".format),  # of all threads together, the median of the turns
    "per_second": ("steps/s", "{:,.0f}".format),  # by the clock
    "first_use": ("first use", "{:.2f} s".format),  # with the kernels that it compiles or loads
    "ratio": ("ratio", "{:.3f}".format),  # of two rates, the median of the pairs of turns
    "interval": (INTERVAL, lambda ends: "{:.3f} to {:.3f}".format(*ends)),
}
Turn = Callable[[float], dict[str, Any]]  # of a line, for some seconds; see `bench_lines.serve`


class BenchSettings(Settings):
    """The settings of `krypenv bench`."""

    command: ClassVar[str] = "bench"
    group: ClassVar[str] = MEASURED

    only: tuple[str, ...] = option(
        (), "lines to measure, as in 'engine*'; repeatable [default: all lines]", metavar="PATTERN"
    )
    peers: bool = option(False, "also measure other libraries, each in turn with this one")
    beside: str | None = option(None, "measure a commit of this checkout in turn with this version", metavar="COMMIT")
    games: int = option(4096, "games in a batch of the engine", LENGTH, ge=1, le=1_000_000)
    threads: int = option(2, "threads of the multi-threaded line", LENGTH, ge=1, le=1024)
    seconds: float = option(4.0, "seconds of CPU time for a line, in forty turns or fewer", LENGTH, gt=0, le=3600)
    json_file: File | None = json_output()

    @model_validator(mode="after")
    def _check(self) -> BenchSettings:
        if self.peers and self.beside is not None:
            raise ValueError("--peers and --beside are two measurements; give one of them")
        return self


def bench_command(settings: BenchSettings) -> None:
    """Measure the speed of the engine, the environments and the agents, also beside peers or another version."""
    with Console(stderr=True).status("measuring") as status:
        lines = bench(settings, status.update)
    if settings.json_file:
        write_json(settings.json_file, {"machine": machine(), "beside": settings.beside, "lines": lines})
    print_table(*table_of(lines))
    for line in lines:
        if "error" in line:
            typer.echo(f"{line['what']}: {line['error']}")
    if settings.beside is not None:
        typer.echo(f"ratio: steps of this version in the time of one step of {settings.beside}")
    elif settings.peers:
        typer.echo("ratio: steps of krypenv, engine or AEC env(), in the time of one step of the line")


def bench(settings: BenchSettings, progress: Callable[[str], None]) -> list[dict[str, Any]]:
    """Measure lines; return them as plain JSON values. `progress` is called with the name of the next line.

    Raises ValueError for a pattern that fits no line and for an unknown commit, and ChildProcessError if a process
    dies.
    """
    lines = bench_lines.lines_of(settings.games, settings.threads)
    names = chosen([name for name in lines if settings.peers or name not in bench_lines.PEERS], settings.only)
    report = []
    with contextlib.ExitStack() as stack:
        here = there = stack.enter_context(version(CHECKOUT, settings))
        if settings.beside is not None:
            there = stack.enter_context(version(stack.enter_context(checkout_of(settings.beside)), settings))
        for number, name in enumerate(names, 1):
            progress(f"line {number} of {len(names)}: {name}")
            sides = [partial(here, name)]
            if peer := bench_lines.PEERS.get(name):
                sides = [partial(here, peer), *sides]
            elif settings.beside is not None:
                sides += [partial(there, name)]
            report.append({"what": name, **measure(sides, settings.seconds, int(bool(peer)))})
    return report


def chosen(names: Sequence[str], only: Sequence[str]) -> list[str]:
    """Select the names that fit any of some shell patterns (`engine*`), or all; ValueError if one fits no name."""
    fits = {pattern: [fnmatch.fnmatch(name.lower(), pattern.lower()) for name in names] for pattern in only}
    for pattern, fitting in fits.items():
        if not any(fitting):
            raise ValueError(f"no line of the benchmark fits {shown(pattern)}; the lines are {'; '.join(names)}")
    return [name for name, *fitting in zip(names, *fits.values(), strict=True) if not only or any(fitting)]


def measure(sides: Sequence[Turn], seconds: float, reported: int = 0) -> dict[str, Any]:
    """Measure a line, or two in turn; report the median rates of one of them, and the ratio of the first to the second.

    If a line can't be measured, return the reason as `error` instead.
    """
    first = [turn(0.0) for turn in sides]
    if errors := [one_line(answer["error"]) for answer in first if "error" in answer]:
        return {"error": errors[0]}
    rates: list[list[tuple[float, float]]] = []
    spent = 0.0
    while len(rates) < FEWEST or (len(rates) < TURNS and spent < seconds):
        order = 1 if len(rates) % 4 in (0, 3) else -1  # balances who is first, and linear drift
        turns = [turn(seconds / TURNS) for turn in sides[::order]][::order]
        rates.append([(turn["steps"] / turn["cpu"], turn["steps"] / turn["clock"]) for turn in turns])
        spent += max(turn["cpu"] for turn in turns)
    figures = np.array(rates)  # (turns, sides, 2): by the processor, of all threads together, and by the clock
    cpu, clock = np.median(figures[:, reported], axis=0).tolist()
    line = {"per_cpu_second": cpu, "per_second": clock, "first_use": first[reported]["clock"], "turns": len(rates)}
    if len(sides) == 2:
        line["ratio"], *line["interval"] = ratio_of(*figures[:, :, 0].T)
    return line


def ratio_of(rates: npt.ArrayLike, others: npt.ArrayLike) -> tuple[float, float, float]:
    """Compute the median ratio of two rates and its 95% interval, that of the sign test, from pairs of turns.

    Its bounds are two of the sorted ratios, so a few pairs that other work on the machine disturbs do no harm.

    Args:
        rates, others: (n,) steps a second, above 0; n is 6 or more.

    >>> ratio_of([2.0, 4.0, 6.0, 8.0, 2.2, 1.9], [1.0, 2.0, 3.0, 4.0, 1.0, 1.0])
    (2.0, 1.9, 2.2)
    """
    ratios = np.asarray(rates, float) / np.asarray(others, float)
    interval = stats.quantile_test(ratios, p=0.5).confidence_interval(0.95)
    return float(np.median(ratios)), float(interval.low), float(interval.high)


def table_of(lines: Sequence[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Format the headings and the rows of a table of lines; a column that no line has is left out."""
    keys = [key for key in COLUMNS if any(key in line for line in lines)]
    rows = [[COLUMNS[key][1](line[key]) if key in line else "" for key in keys] for line in lines]
    return [COLUMNS[key][0] for key in keys], rows


# ---------------------------------------------------------------------- versions


@contextlib.contextmanager
def version(folder: Path, settings: BenchSettings) -> Iterator[Callable[[str, float], dict[str, Any]]]:
    """Yield a function that does a turn of a line with the krypenv of a folder; see `bench_lines.serve`."""
    words = [sys.executable, bench_lines.__file__, str(folder), str(settings.games), str(settings.threads)]
    pipe = subprocess.PIPE
    child = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
    requests, answers = typing.cast("IO[str]", child.stdin), typing.cast("IO[str]", child.stdout)

    def turn(name: str, seconds: float) -> dict[str, Any]:
        print(seconds, name, file=requests, flush=True)
        if line := answers.readline():
            return dict(json.loads(line))
        raise ChildProcessError(f"the process that measured {name} has ended with exit code {child.wait()}")

    try:
        yield turn
    finally:
        child.kill()
        child.communicate()


@contextlib.contextmanager
def checkout_of(commit: str) -> Iterator[Path]:
    """Yield a temporary folder with a commit of this checkout."""
    git = partial(subprocess.run, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "krypenv")
        done = git(["git", "worktree", "add", "--detach", str(folder), commit])
        try:
            if done.returncode:
                raise ValueError(f"{CHECKOUT} has no commit {shown(commit)}: {one_line(done.stderr)}")
            yield folder
        finally:
            git(["git", "worktree", "remove", "--force", str(folder)])
