"""The benchmark: steps a second of the engine, the environments, the agents and their peers, in the same run."""

from __future__ import annotations

import contextlib
import dataclasses
import fnmatch
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from krypenv.inputs.words import shown
from krypenv.training.cli.speed.lines import (
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
    Block,
    lines,
)
from krypenv.training.runs import limits
from krypenv.training.runs.machine import machine
from krypenv.training.runs.options import Command, a_json_file, setting
from krypenv.training.runs.panels import LENGTH, MEASURED

ROUNDS = 3  # each figure is their median
Rates = tuple[float, float]  # steps per CPU second, steps per second on the clock

ON_THE_CLOCK = ", on the clock"
RATIOS = (
    ("several threads / one" + ON_THE_CLOCK, THREADS, ENGINE),
    ("engine / hearts, moves", ENGINE, HEARTS),
    ("engine / hearts, observed", ENGINE, HEARTS_SEEN),
    ("engine / uno", ENGINE, UNO),
    ("engine / sparrow_mahjong", ENGINE, SPARROW_MAHJONG),
    ("engine / hanabi", ENGINE, HANABI),
    ("AEC env() / connect_four", AEC, CONNECT_FOUR),
)
FIRST_STEP = "first step, not cached"
FIRST_STEP_CACHED = "first step, cached"
IMPORT = "import krypenv"
NEW_PROCESSES = (FIRST_STEP, FIRST_STEP_CACHED, IMPORT)
_FIRST_STEP = """
import time; began = time.perf_counter()
from krypenv import Engine, Rules
engine = Engine(Rules.preset("krypkasino"), 1)
engine.step(engine.sample_actions())
print(time.perf_counter() - began)
"""
_IMPORT = "import time; began = time.perf_counter(); import krypenv; print(time.perf_counter() - began)"


@dataclass(frozen=True)
class Line:
    """A median of the benchmark: two rates of steps, a time, or a ratio of two rates."""

    what: str
    per_cpu_second: float | None = None  # steps per second of CPU time, all threads together
    per_second: float | None = None  # steps per second of wall-clock time
    seconds: float | None = None
    ratio: float | None = None
    batch: int | None = None  # games at once
    threads: int | None = None


@dataclass(frozen=True)
class BenchSettings(Command):
    """The settings of `krypenv bench`."""

    command: ClassVar[str] = "bench"
    only: tuple[str, ...] = setting(
        (), "lines to measure, as in 'engine*'; repeatable [default: all lines]", panel=MEASURED, metavar="PATTERN"
    )
    peers: bool = setting(False, "also measure other libraries that are installed", panel=MEASURED)
    beside: str | None = setting(
        None, "compare with the krypenv of this interpreter, in alternating turns", panel=MEASURED, metavar="PYTHON"
    )
    first_use: bool = setting(
        False, "measure the import and the first use of each part instead; takes minutes", panel=MEASURED
    )
    games: int = setting(4096, "games in a batch of the engine", limits.GAMES, LENGTH)
    threads: int = setting(2, "threads of the multi-threaded lines", limits.THREADS, LENGTH)
    seconds: float = setting(
        1.0, "seconds to measure a rate in each of three rounds; with --beside, in ten turns", limits.SECONDS, LENGTH
    )
    json: Path | None = a_json_file()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.peers + (self.beside is not None) + self.first_use > 1:
            raise ValueError("--peers, --beside and --first-use are three measurements; give one of them")


def benchmark(settings: BenchSettings, progress: Callable[[str], None] = lambda line: None) -> dict[str, Any]:
    """Measure lines and return them with the machine, as plain JSON values.

    The rates are measured in three rounds, each over all lines, so that a ratio compares measurements close in time.
    `progress` is called with the name of the next measurement. Raises ValueError for a pattern that fits no line.
    """
    makers = {
        name: make
        for name, make in lines(settings.games, settings.threads).items()
        if settings.peers or name not in PEERS
    }
    return _measure(makers, chosen([*makers, *NEW_PROCESSES], settings.only), settings.seconds, progress)


def _measure(
    makers: dict[str, Callable[[], Block]], names: Sequence[str], seconds: float, tell: Callable[[str], None]
) -> dict[str, Any]:
    blocks = _make(makers, [name for name in names if name in makers], tell)
    rounds: dict[str, list[Rates]] = {name: [] for name in blocks}
    for number in range(1, ROUNDS + 1):
        for name, block in blocks.items():
            tell(f"round {number}: {name}")
            rounds[name].append(_rates(block, seconds))
    table = [_rate_line(name, block, rounds[name]) for name, block in blocks.items()]
    table += [
        _ratio_line(what, rounds[one], rounds[other]) for what, one, other in RATIOS if {one, other} <= set(rounds)
    ]
    table += [
        Line("self-play, share of games and opponents", ratio=block.share()) for block in blocks.values() if block.share
    ]
    if new_processes := [name for name in names if name in NEW_PROCESSES]:
        tell("new processes")
        table += _process_lines(new_processes)
    return {"machine": machine(), "rounds": ROUNDS, "lines": [dataclasses.asdict(line) for line in table]}


# ---------------------------------------------------------------------- rates of steps


def chosen(names: Iterable[str], only: Sequence[str]) -> list[str]:
    """Return the names that fit any of some shell patterns (`engine*`); all names without patterns.

    Raises ValueError for a pattern that fits no name.
    """
    names = list(names)
    for pattern in only:
        if not any(_fits(name, pattern) for name in names):
            raise ValueError(f"no line of the benchmark fits {shown(pattern)}; the lines are {'; '.join(names)}")
    return [name for name in names if not only or any(_fits(name, pattern) for pattern in only)]


def _fits(name: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(name.lower(), pattern.lower())


def _make(
    makers: dict[str, Callable[[], Block]], names: Sequence[str], tell: Callable[[str], None]
) -> dict[str, Block]:
    """Make lines and run each once to compile its kernels; skip lines that need something not installed."""
    blocks = {}
    for name in names:
        tell(f"getting ready: {name}")
        with contextlib.suppress(ImportError):
            blocks[name] = makers[name]()
            blocks[name].run()
    return blocks


def _rates(block: Block, seconds: float) -> Rates:
    """Run a block repeatedly, at least once; return its steps per CPU second and per second."""
    began, began_cpu = time.perf_counter(), time.process_time()
    steps = block.run()
    while time.perf_counter() - began < seconds:
        steps += block.run()
    return steps / (time.process_time() - began_cpu), steps / (time.perf_counter() - began)


def _rate_line(what: str, block: Block, rounds: list[Rates]) -> Line:
    per_cpu_second, per_second = (statistics.median(rates) for rates in zip(*rounds, strict=True))
    return Line(what, per_cpu_second, per_second, batch=block.batch, threads=block.threads)


def _ratio_line(what: str, rounds: list[Rates], base: list[Rates]) -> Line:
    """Return the ratio of two rates: of wall-clock time if `what` says so, else of CPU time."""
    clock = int(what.endswith(ON_THE_CLOCK))
    return Line(
        what, ratio=statistics.median(one[clock] / other[clock] for one, other in zip(rounds, base, strict=True))
    )


# ---------------------------------------------------------------------- new processes


def _process_lines(names: Sequence[str]) -> list[Line]:
    """Time the first step, with and without cached kernels, and the import, in new processes."""
    with tempfile.TemporaryDirectory() as cache:
        not_cached = _timed(_FIRST_STEP, cache)  # always measured, as it fills the cache for the others
        seconds = {
            FIRST_STEP: lambda: not_cached,
            FIRST_STEP_CACHED: lambda: statistics.median(_timed(_FIRST_STEP, cache) for _ in range(ROUNDS)),
            IMPORT: lambda: statistics.median(_timed(_IMPORT, cache) for _ in range(ROUNDS)),
        }
        return [Line(name, seconds=seconds[name]()) for name in names]


def _timed(code: str, cache: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"NUMBA_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


# ---------------------------------------------------------------------- tables

COLUMNS = ("what", "steps/CPU s", "steps/s", "value", "batch", "threads")


def table_row(line: Line) -> tuple[str, ...]:
    """Return a line as texts under `COLUMNS`."""
    value = (
        f"{line.seconds:.2f} s" if line.seconds is not None else f"{line.ratio:.2f} x" if line.ratio is not None else ""
    )
    rates = [f"{rate:,.0f}" if rate is not None else "" for rate in (line.per_cpu_second, line.per_second)]
    return (line.what, *rates, value, *(str(number or "") for number in (line.batch, line.threads)))
