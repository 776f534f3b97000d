"""`krypenv bench`: rates of steps and their ratios.

A machine's speed drifts by more than the differences of interest. So two lines, or a line in two installations, are
compared in alternating turns that are shorter than the drift, in processes that live throughout. The figure is the
median ratio of neighbouring turns. Processors also differ, depending on their other load, so both turns of a pair run
on the same processor if the system allows that (Linux).
"""

from __future__ import annotations

import contextlib
import fnmatch
import importlib.util
import itertools
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import typer
from rich.console import Console
from scipy import stats

from krypenv.inputs.files import parse_json
from krypenv.inputs.words import one_line, shown
from krypenv.training.cli.outputs import check_files
from krypenv.training.cli.upkeep import bench_lines
from krypenv.training.cli.upkeep.bench_lines import (
    AEC,
    CONNECT_FOUR,
    ENGINE,
    HANABI,
    HEARTS,
    HEARTS_SEEN,
    PEERS,
    SPARROW_MAHJONG,
    THREADS,
    UNO,
)
from krypenv.training.runs import limits
from krypenv.training.runs.machine import machine
from krypenv.training.runs.options import Command, a_json_file, setting
from krypenv.training.runs.panels import LENGTH, MEASURED
from krypenv.training.runs.tables import INTERVAL, print_table, write_json

TURNS = 40
FEWEST_PAIRS = 12  # of turns that last longer than requested
FEWEST_TURNS = 3  # of a line alone
CACHED_USES = 3
SURE = 0.95
ON_THE_CLOCK = ", on the clock"
RATIOS = {
    "several threads / one" + ON_THE_CLOCK: (THREADS, ENGINE),
    "engine / hearts, moves": (ENGINE, HEARTS),
    "engine / hearts, observed": (ENGINE, HEARTS_SEEN),
    "engine / uno": (ENGINE, UNO),
    "engine / sparrow_mahjong": (ENGINE, SPARROW_MAHJONG),
    "engine / hanabi": (ENGINE, HANABI),
    "AEC env() / connect_four": (AEC, CONNECT_FOUR),
}
CHECKOUT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class BenchSettings(Command):
    """The settings of `krypenv bench`."""

    command: ClassVar[str] = "bench"
    only: tuple[str, ...] = setting(
        (), "lines to measure, as in 'engine*'; repeatable [default: all lines]", panel=MEASURED, metavar="PATTERN"
    )
    peers: bool = setting(False, "also measure other libraries that are installed", panel=MEASURED)
    beside: str | None = setting(
        None, "compare with this commit, or with the krypenv of this interpreter", panel=MEASURED, metavar="COMMIT"
    )
    first_use: bool = setting(
        False, "measure the first use of each line in a new process instead; takes minutes", panel=MEASURED
    )
    games: int = setting(4096, "games in a batch of the engine", limits.GAMES, LENGTH)
    threads: int = setting(2, "threads of the multi-threaded lines", limits.THREADS, LENGTH)
    seconds: float = setting(4.0, "seconds of CPU time for a line, in forty turns or fewer", limits.SECONDS, LENGTH)
    json: Path | None = a_json_file()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.peers + (self.beside is not None) + self.first_use > 1:
            raise ValueError("--peers, --beside and --first-use are three measurements; give one of them")


COLUMNS: dict[str, tuple[str, Callable[[Any], str]]] = {  # of the report: what a line may have, and how it is shown
    "what": ("what", str),
    "per_cpu_second": ("steps/CPU s", "{:,.0f}".format),  # of all threads together, the median of the turns
    "per_second": ("steps/s", "{:,.0f}".format),  # by the clock
    "ratio": ("ratio", "{:.3f}".format),  # of two rates, the median of the pairs of turns
    "interval": (INTERVAL, lambda ends: "{:.3f} to {:.3f}".format(*ends)),
    "verdict": ("verdict", str),  # "faster", "slower" or "same" beside another installation, or where the line lacks
    "compiled": ("kernels not compiled yet", "{:.2f} s".format),  # the first use
    "kept": ("kernels cached", "{:.2f} s".format),  # the first use, the median
    "batch": ("batch", str),  # games at once
    "threads": ("threads", str),
}


def run(settings: BenchSettings) -> None:
    """Measure the speed of the engine, the environments and the agents, also beside peers or another version."""
    check_files(settings.json)
    with Console(stderr=True).status("measuring") as status:
        report = bench(settings, status.update)
    if settings.json:
        write_json(settings.json, report)
    for title in ("machine", "this", "other"):
        if title in report:
            typer.echo(f"{title}: " + ", ".join(f"{key} {value}" for key, value in report[title].items()))
    for _, lines in itertools.groupby(report["lines"], lambda line: line["what"] in RATIOS):
        print_table(*table_of(list(lines)))
    for line in report["lines"]:
        if "reason" in line:
            typer.echo(f"{line['what']}: {line['reason']}")
    if "other" in report:
        typer.echo("ratio: steps of this krypenv in the time of one step of the other; above 1 this one is faster")


def table_of(lines: Sequence[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Return the headings and the rows of a table of lines; a column that no line has is left out."""
    keys = [key for key in COLUMNS if any(key in line for line in lines)]
    rows = [[COLUMNS[key][1](line[key]) if key in line else "" for key in keys] for line in lines]
    return [COLUMNS[key][0] for key in keys], rows


def bench(settings: BenchSettings, progress: Callable[[str], None] = lambda line: None) -> dict[str, Any]:
    """Measure lines; return the report as plain JSON values. `progress` is called with the name of the next line.

    Raises ValueError for a pattern that fits no line and for another installation without krypenv, and
    ChildProcessError if a process dies.
    """
    made = bench_lines.lines(settings.games, settings.threads)
    has = {name: settings.peers and importlib.util.find_spec(module) is not None for name, module in PEERS.items()}
    names = chosen([name for name in made if has.get(name, True)], settings.only)
    this = Installation(sys.executable, os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
    with contextlib.nullcontext() if settings.beside is None else installation_of(settings.beside) as other:
        if settings.first_use:
            jobs = {name: partial(_first_use, name, settings, this) for name in names}
        elif other:
            jobs = {name: partial(_measure, name, settings, (this, name), (other, name)) for name in names}
        else:
            jobs = {name: partial(_measure, name, settings, (this, name)) for name in names}
            for what, (one, base) in RATIOS.items():
                if {one, base} <= set(names):
                    jobs[what] = partial(_measure, what, settings, (this, one), (this, base))
        lines = []
        for number, (name, job) in enumerate(jobs.items(), 1):
            progress(f"line {number} of {len(jobs)}: {name}")
            lines.append(job())
    return {"machine": machine(), "this": this.who} | ({"other": other.who} if other else {}) | {"lines": lines}


def chosen(names: Sequence[str], only: Sequence[str]) -> list[str]:
    """Return the names that fit any of some shell patterns (`engine*`); all names without patterns.

    Raises ValueError for a pattern that fits no name.
    """
    found = {
        pattern: [name for name in names if fnmatch.fnmatchcase(name.lower(), pattern.lower())] for pattern in only
    }
    for pattern, fitting in found.items():
        if not fitting:
            raise ValueError(f"no line of the benchmark fits {shown(pattern)}; the lines are {'; '.join(names)}")
    return [name for name in names if not only or any(name in fitting for fitting in found.values())]


# ---------------------------------------------------------------------- measurements


def _measure(what: str, settings: BenchSettings, *sides: tuple[Installation, str]) -> dict[str, Any]:
    """Measure a line of an installation, alone or beside another one."""
    with contextlib.ExitStack() as stack:
        processes = [stack.enter_context(its.process(name, settings)) for its, name in sides[::-1]][::-1]
        reasons = [one_line(process.told.get("error", "")) for process in processes]
        if any(reasons):
            where = "not there" if any(reasons[1:]) else "not here"
            return {"what": what, "verdict": where, "reason": "; ".join(filter(None, reasons))}
        rates = take_turns(processes, settings.seconds)
    told, (cpu, clock) = processes[0].told, np.median(rates[:, 0], axis=0).tolist()
    line = {"what": what, "turns": len(rates)}
    if len(sides) == 1:
        return line | {key: told[key] for key in ("batch", "threads")} | {"per_cpu_second": cpu, "per_second": clock}
    ratio, low, high = ratio_of(*rates[:, :, int(what.endswith(ON_THE_CLOCK))].T)
    line |= {"ratio": ratio, "interval": [low, high]}
    is_other = sides[0][0] is not sides[1][0]
    return line | ({"per_cpu_second": cpu, "verdict": verdict_of(low, high)} if is_other else {})


def take_turns(processes: Sequence[Process], seconds: float) -> npt.NDArray[np.float64]:
    """Return the rates of one or two processes in turns, as (turns, processes, 2): per CPU second and per second."""
    fewest = FEWEST_TURNS if len(processes) == 1 else FEWEST_PAIRS
    is_pinned = len(processes) == 2 and all(process.told["threads"] == 1 for process in processes)
    rates: list[list[tuple[float, float]]] = []
    spent = 0.0
    while len(rates) < fewest or (len(rates) < TURNS and spent < seconds):
        processor = len(rates) // 4 if is_pinned else None
        order = 1 if len(rates) % 4 in (0, 3) else -1  # balances who is first, and linear drift
        turns = [process.turn(seconds / TURNS, processor) for process in processes[::order]][::order]
        rates.append([(turn["steps"] / turn["cpu"], turn["steps"] / turn["clock"]) for turn in turns])
        spent += max(turn["cpu"] for turn in turns)
    return np.array(rates)


def ratio_of(rates: npt.ArrayLike, others: npt.ArrayLike) -> tuple[float, float, float]:
    """Return the median ratio of two rates and its 95% interval, from pairs measured side by side.

    Args:
        rates, others: (n,) steps a second, above 0; n is 6 or more.

    The interval is that of the sign test: its bounds are two of the sorted ratios, and it assumes nothing about their
    distribution. So a few pairs disturbed by other work on the machine do no harm.

    >>> ratio_of([2.0, 4.0, 6.0, 8.0, 2.2, 1.9], [1.0, 2.0, 3.0, 4.0, 1.0, 1.0])
    (2.0, 1.9, 2.2)
    """
    ratios = np.asarray(rates, float) / np.asarray(others, float)
    interval = stats.quantile_test(ratios, p=0.5).confidence_interval(SURE)
    return float(np.median(ratios)), float(interval.low), float(interval.high)


def verdict_of(low: float, high: float) -> str:
    """Return the verdict on an interval of a ratio: "faster", "slower", or "same" if it contains 1."""
    return "faster" if low > 1 else "slower" if high < 1 else "same"


def _first_use(what: str, settings: BenchSettings, this: Installation) -> dict[str, Any]:
    """Time the first use of a line in new processes, with a kernel cache of its own that the first one fills."""
    seconds = []
    with tempfile.TemporaryDirectory() as cache:
        for _ in range(1 + CACHED_USES):
            with this.process(what, settings, {"NUMBA_CACHE_DIR": cache}) as process:
                if "error" in process.told:
                    return {"what": what, "verdict": "not here", "reason": one_line(process.told["error"])}
                seconds.append(process.told["first"])
    return {"what": what, "compiled": seconds[0], "kept": statistics.median(seconds[1:])}


# ---------------------------------------------------------------------- installations


@dataclass
class Installation:
    """An interpreter and the environment in which it finds its krypenv."""

    python: str
    environment: Mapping[str, str]
    who: dict[str, str] = field(default_factory=dict)  # what its last process told

    @contextlib.contextmanager
    def process(self, name: str, settings: BenchSettings, variables: Mapping[str, str] = {}) -> Iterator[Process]:
        """Start a process that measures a line; it ends with the block or with this process."""
        words = [self.python, bench_lines.__file__, name, str(settings.games), str(settings.threads)]
        pipe, environment = subprocess.PIPE, {**self.environment, **variables}
        with tempfile.TemporaryFile("w+", errors="replace") as errors:
            child = subprocess.Popen(
                words, stdin=pipe, stdout=pipe, stderr=errors, env=environment, text=True, errors="replace"
            )
            try:
                process = Process(self.python, child, errors)
                self.who = process.told["who"]
                yield process
            finally:
                child.kill()
                child.communicate()


class Process:
    """A process that measures a line; `told` is what it told first (see `bench_lines.measure`)."""

    def __init__(self, python: str, child: subprocess.Popen[str], errors: Any) -> None:
        self._python, self._child, self._errors = python, child, errors
        self.told = self._answer()
        if "who" not in self.told:
            raise ValueError(f"{python} has no krypenv that can be imported: {one_line(str(self.told.get('error')))}")

    def turn(self, seconds: float, processor: int | None = None) -> dict[str, float]:
        """Return the steps of a turn, and its seconds by `cpu` and `clock`; on a processor if the system allows."""
        if processor is not None and hasattr(os, "sched_setaffinity"):
            allowed = sorted(os.sched_getaffinity(0))
            os.sched_setaffinity(self._child.pid, {allowed[processor % len(allowed)]})
        assert self._child.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # reported when the answer is read
            self._child.stdin.write(f"{seconds}\n")
            self._child.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        with contextlib.suppress(ValueError):
            answer = parse_json(line)
            if isinstance(answer, dict):
                return answer
        if line:
            raise ChildProcessError(f"{self._python} is no Python: it says {shown(line)}")
        code = self._child.wait()
        self._errors.seek(0)
        last = self._errors.read().strip().splitlines()[-1:]
        raise ChildProcessError(
            f"{self._python} has ended with exit code {': '.join([str(code), *map(one_line, last)])}"
        )


@contextlib.contextmanager
def installation_of(beside: str) -> Iterator[Installation]:
    """Yield the installation of an interpreter, or of a commit of this checkout that this interpreter runs."""
    plain = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    with tempfile.TemporaryDirectory() as folder:
        if python := shutil.which(beside):
            yield Installation(python, plain)
        elif commit := _git("rev-parse", "--verify", f"{beside}^{{commit}}"):
            _git("clone", "--shared", "--no-checkout", str(CHECKOUT), folder)
            _git("-C", folder, "checkout", commit)
            yield Installation(sys.executable, {**plain, "PYTHONPATH": folder})
        else:
            raise ValueError(
                f"there is no interpreter or commit {shown(beside)}; name a commit of this checkout, or the python of "
                "another environment, as in ../before/.venv/bin/python"
            )


def _git(*words: str) -> str:
    """Return what git prints in this checkout; nothing if it fails."""
    done = subprocess.run(["git", *words], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""
