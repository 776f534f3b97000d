"""This installation measured beside another one: both take turns at each line of the benchmark, in one run.

A machine's speed drifts by more than what is looked for. So the two run the same work in turns shorter than the
drift, in processes that live through all of them, and only what ran side by side is compared: by CPU time, a ratio
for each pair of turns, and of these the median. Processors differ too, by who else uses them: both turns of a pair are
on the same one, where the system lets a process choose (Linux).
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from krypenv.inputs.files import parse_json
from krypenv.inputs.words import one_line, shown
from krypenv.training.common import bounds
from krypenv.training.common.machine import machine
from krypenv.training.experiments import bench_lines
from krypenv.training.experiments.bench_lines import PEERS
from krypenv.training.experiments.benchmark import chosen

PAIRS = 40
FEWEST_PAIRS = 12  # of a line whose shortest turn lasts longer than was asked for
TURNS_PER_ROUND = 10  # the turns of this many pairs last as long as a round of the plain benchmark
SURE = 0.95
NOT_THERE = "not there"
COLUMNS = ("what", "steps/CPU s", "ratio", "95% interval", "verdict")


@dataclass(frozen=True)
class Compared:
    """A line of both installations; all figures are None where one of them lacks it.

    `ratio` is how many steps this installation makes in the time of one step of the other, the median of `pairs` pairs
    of turns; `low` to `high` is its 95% interval.
    """

    what: str
    verdict: str  # "faster", "slower", "same", or what is not there
    this: float | None = None  # steps per CPU second, all threads together
    other: float | None = None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    pairs: int = 0
    reason: str | None = None  # why it is not there


def beside(
    python: str,
    games: int = 4096,
    seconds: float = 1.0,
    threads: int = 2,
    only: Sequence[str] = (),
    progress: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Measure lines in this installation and in that of another interpreter; return plain JSON values.

    Args:
        python: the other interpreter, as in `../before/.venv/bin/python`.
        seconds: how long ten turns of a line last; it has forty in each installation.
        games, threads, only, progress: as in `krypenv.training.experiments.benchmark.benchmark`.

    Raises ValueError for numbers that can't be measured with, for a pattern that no line fits, and where there is no
    interpreter or no krypenv in it; ChildProcessError where one of them has died.
    """
    bounds.check("games", games, bounds.GAMES)
    bounds.check("seconds", seconds, bounds.SECONDS)
    bounds.check("threads", threads, bounds.THREADS)
    names = chosen([name for name in bench_lines.lines(games, threads) if name not in PEERS], only)
    return _measure(_find(python), names, games, seconds, threads, progress or (lambda _: None))


def _measure(
    python: str, names: Sequence[str], games: int, seconds: float, threads: int, tell: Callable[[str], None]
) -> dict[str, Any]:
    with _installation(python, is_other=True) as other, _installation(sys.executable) as this:
        who = {"other": other.hello(), "this": this.hello()}
        compared = []
        for number, name in enumerate(names, 1):
            tell(f"line {number} of {len(names)}: {name}")
            compared.append(_compare(this, other, name, games, seconds / TURNS_PER_ROUND, threads))
    return {"machine": machine(), **who, "lines": [dataclasses.asdict(line) for line in compared]}


def _compare(this: Installation, other: Installation, name: str, games: int, seconds: float, threads: int) -> Compared:
    """Let two installations take turns at a line."""
    lacking = {}
    for who, installation in (("here", this), ("there", other)):
        reason = installation.make(name, games, threads)
        if reason:
            lacking[who] = reason
    if lacking:
        where = "not here" if list(lacking) == ["here"] else NOT_THERE
        return Compared(name, where, reason="; ".join(lacking.values()))
    tried = [installation.ask("count", seconds=seconds) for installation in (this, other)]
    blocks = min(answer["blocks"] for answer in tried)
    turn = max(answer["seconds"] / answer["blocks"] for answer in tried) * blocks
    pairs = int(np.clip(round(PAIRS * seconds / turn), FEWEST_PAIRS, PAIRS))
    processors = _processors() if this.threads == 1 else [None]
    rates = np.empty((pairs, 2))
    for pair in range(pairs):
        order = (0, 1) if pair % 4 in (0, 3) else (1, 0)  # neither is the first more often, nor before a drift
        for side in order:
            processor = processors[pair // 4 % len(processors)]
            answer = (this, other)[side].ask("run", blocks=blocks, processor=processor)
            rates[pair, side] = answer["steps"] / answer["seconds"]
    ratio, low, high = ratio_of(rates[:, 0], rates[:, 1])
    mine, its = np.median(rates, axis=0)
    return Compared(name, verdict_of(low, high), float(mine), float(its), ratio, low, high, pairs)


def _processors() -> Sequence[int | None]:
    """Return the processors that a process can choose from."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_setaffinity") else [None]


def ratio_of(rates: npt.ArrayLike, others: npt.ArrayLike) -> tuple[float, float, float]:
    """Return the median ratio of two rates and its 95% interval, from pairs measured side by side.

    Args:
        rates, others: (n,) steps a second, above 0; n is 6 or more.

    The interval is that of the sign test: it reaches from one of the sorted ratios to another, and supposes nothing
    about how they are spread. So a pair that something else on the machine has spoilt does no harm.

    >>> ratio_of([2.0, 4.0, 6.0, 8.0, 2.2, 1.9], [1.0, 2.0, 3.0, 4.0, 1.0, 1.0])
    (2.0, 1.9, 2.2)
    """
    ratios = np.asarray(rates, float) / np.asarray(others, float)
    interval = stats.quantile_test(ratios, p=0.5).confidence_interval(SURE)
    return float(np.median(ratios)), float(interval.low), float(interval.high)


def verdict_of(low: float, high: float) -> str:
    """Return what an interval of a ratio says: "faster", "slower", or "same" where it holds 1."""
    return "faster" if low > 1 else "slower" if high < 1 else "same"


def table_row(line: Compared) -> tuple[str, ...]:
    """Return a line as texts under `COLUMNS`."""
    if line.ratio is None:
        return line.what, "", "", "", line.verdict
    return (
        line.what, f"{line.this:,.0f}", f"{line.ratio:.3f}", f"{line.low:.3f} to {line.high:.3f}", line.verdict
    )  # fmt: skip


# ---------------------------------------------------------------------- the two installations


def _find(python: str) -> str:
    found = shutil.which(python)
    if not found:
        raise ValueError(
            f"there is no interpreter {shown(python)}; name the python of another environment, "
            "as in ../before/.venv/bin/python"
        )
    return found


class Installation:
    """A process of an interpreter that measures what its krypenv does."""

    def __init__(self, python: str, process: subprocess.Popen[str], errors: Any) -> None:
        self.python, self._process, self._errors = python, process, errors
        self.threads = 1  # of the line

    def hello(self) -> dict[str, Any]:
        """Return which krypenv this is; ValueError where there is none."""
        answer = self._answer("hello", {})
        if "error" in answer:
            raise ValueError(f"{self.python} has no krypenv that can be imported: {one_line(answer['error'])}")
        return answer

    def make(self, line: str, games: int, threads: int) -> str | None:
        """Make a line; return why that can't be done, or None."""
        answer = self._answer("make", {"line": line, "games": games, "threads": threads})
        self.threads = answer.get("threads", 1)
        return one_line(answer["error"]) if "error" in answer else None

    def ask(self, what: str, **arguments: Any) -> dict[str, Any]:
        """Return the answer to a question about the line; ChildProcessError where it raised something or died."""
        answer = self._answer(what, arguments)
        if "error" in answer:
            raise ChildProcessError(f"{self.python} failed: {one_line(answer['error'])}")
        return answer

    def _answer(self, what: str, arguments: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # the answer tells it
            self._process.stdin.write(json.dumps([what, arguments]) + "\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        with contextlib.suppress(ValueError):
            answer = parse_json(line)
            if isinstance(answer, dict):
                return answer
        raise ChildProcessError(self._end() if not line else f"{self.python} is no Python: it says {shown(line)}")

    def _end(self) -> str:
        """Return how a process has died, with the last line of what it wrote of it."""
        code = self._process.wait()
        self._errors.seek(0)
        last = self._errors.read().strip().splitlines()[-1:]
        return f"{self.python} has ended with exit code {code}{': ' + one_line(last[0]) if last else ''}"


@contextlib.contextmanager
def _installation(python: str, is_other: bool = False) -> Iterator[Installation]:
    """Start a process that answers until the block ends, or this process does."""
    environment = {key: value for key, value in os.environ.items() if not (is_other and key.startswith("PYTHON"))}
    if not is_other:
        environment["PYTHONPATH"] = os.pathsep.join(sys.path)  # where this krypenv was found, however it was
    with tempfile.TemporaryFile("w+", errors="replace") as errors:
        process = subprocess.Popen(
            [python, bench_lines.__file__],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=environment, text=True, errors="replace",
        )  # fmt: skip
        try:
            yield Installation(python, process, errors)
        finally:
            process.kill()
            process.communicate()
