"""This installation measured beside another one: both take turns at each line of the benchmark, in one run.

A machine's speed drifts by more than the differences of interest. So the two installations run the same work in turns
shorter than the drift, in processes that stay alive throughout, and only neighbouring turns are compared: by the ratio
of CPU times for each pair of turns, and the median of these ratios. Processors also differ, depending on their other
load, so both turns of a pair run on the same processor if the system allows that (Linux).
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
from krypenv.training.cli.speed import lines as bench_lines
from krypenv.training.cli.speed.benchmark import BenchSettings, chosen
from krypenv.training.cli.speed.lines import PEERS
from krypenv.training.runs.machine import machine

PAIRS = 40
FEWEST_PAIRS = 12  # for a line whose shortest turn takes longer than requested
TURNS_PER_ROUND = 10  # turns that together last as long as a round of the plain benchmark
SURE = 0.95
NOT_THERE = "not there"
COLUMNS = ("what", "steps/CPU s", "ratio", "95% interval", "verdict")


@dataclass(frozen=True)
class Compared:
    """A line of both installations; all figures are None if one of them lacks it.

    `ratio` is the number of steps of this installation in the time of one step of the other, the median of `pairs`
    pairs of turns; `low` to `high` is its 95% interval.
    """

    what: str
    verdict: str  # "faster", "slower", "same", or where the line is missing
    this: float | None = None  # steps per CPU second, all threads together
    other: float | None = None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    pairs: int = 0
    reason: str | None = None  # why it is missing


def beside(settings: BenchSettings, progress: Callable[[str], None] = lambda line: None) -> dict[str, Any]:
    """Measure lines in this installation and in that of the interpreter `beside`; return plain JSON values.

    A line has forty turns in each installation; ten of them take `seconds`. `progress` is called as in `benchmark`.
    Raises ValueError for a pattern that fits no line, a missing interpreter, or one without krypenv; ChildProcessError
    if one of the processes dies.
    """
    assert settings.beside is not None
    names = chosen(
        [name for name in bench_lines.lines(settings.games, settings.threads) if name not in PEERS], settings.only
    )
    return _measure(_find(settings.beside), names, settings.games, settings.seconds, settings.threads, progress)


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
    """Measure a line in two installations, in turns."""
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
        order = (0, 1) if pair % 4 in (0, 3) else (1, 0)  # balances who is first, and linear drift
        for side in order:
            processor = processors[pair // 4 % len(processors)]
            answer = (this, other)[side].ask("run", blocks=blocks, processor=processor)
            rates[pair, side] = answer["steps"] / answer["seconds"]
    ratio, low, high = ratio_of(rates[:, 0], rates[:, 1])
    mine, its = np.median(rates, axis=0)
    return Compared(name, verdict_of(low, high), float(mine), float(its), ratio, low, high, pairs)


def _processors() -> Sequence[int | None]:
    """Return the processors that this process may use, or None for no choice."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_setaffinity") else [None]


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
    """A process of an interpreter that measures its krypenv."""

    def __init__(self, python: str, process: subprocess.Popen[str], errors: Any) -> None:
        self.python, self._process, self._errors = python, process, errors
        self.threads = 1  # of the line

    def hello(self) -> dict[str, Any]:
        """Return which krypenv this is; raises ValueError if there is none."""
        answer = self._answer("hello", {})
        if "error" in answer:
            raise ValueError(f"{self.python} has no krypenv that can be imported: {one_line(answer['error'])}")
        return answer

    def make(self, line: str, games: int, threads: int) -> str | None:
        """Make a line; return why that fails, or None."""
        answer = self._answer("make", {"line": line, "games": games, "threads": threads})
        self.threads = answer.get("threads", 1)
        return one_line(answer["error"]) if "error" in answer else None

    def ask(self, what: str, **arguments: Any) -> dict[str, Any]:
        """Return the answer to a request about the line; ChildProcessError if it raised or the process died."""
        answer = self._answer(what, arguments)
        if "error" in answer:
            raise ChildProcessError(f"{self.python} failed: {one_line(answer['error'])}")
        return answer

    def _answer(self, what: str, arguments: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # reported when the answer is read
            self._process.stdin.write(json.dumps([what, arguments]) + "\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        with contextlib.suppress(ValueError):
            answer = parse_json(line)
            if isinstance(answer, dict):
                return answer
        raise ChildProcessError(self._end() if not line else f"{self.python} is no Python: it says {shown(line)}")

    def _end(self) -> str:
        """Return how the process died, with the last line of its error output."""
        code = self._process.wait()
        self._errors.seek(0)
        last = self._errors.read().strip().splitlines()[-1:]
        return f"{self.python} has ended with exit code {code}{': ' + one_line(last[0]) if last else ''}"


@contextlib.contextmanager
def _installation(python: str, is_other: bool = False) -> Iterator[Installation]:
    """Start a process that answers until the block or this process ends."""
    environment = {key: value for key, value in os.environ.items() if not (is_other and key.startswith("PYTHON"))}
    if not is_other:
        environment["PYTHONPATH"] = os.pathsep.join(sys.path)  # finds the same krypenv as this process
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
