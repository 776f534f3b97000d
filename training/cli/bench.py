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
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import typer
from rich.console import Console
from scipy import stats

import krypenv
from krypenv.inputs.words import one_line, shown
from krypenv.training.cli import bench_lines
from krypenv.training.cli.bench_lines import LINES, PEERS
from krypenv.training.runs.journal import machine
from krypenv.training.runs.tables import INTERVAL, print_table, write_json
from krypenv.training.settings.base import File, Settings, option
from krypenv.training.settings.groups import LENGTH, MEASURED, json_output

TURNS, FEWEST = 40, 12  # of a measurement: the usual number, and the least where turns last longer than planned
CHECKOUT = Path(krypenv.__file__).resolve().parents[1]
RATES = {"per_cpu_second": "steps/CPU s", "per_second": "steps/s"}  # of all threads together, and by the clock
Turn = Callable[[float], dict[str, Any]]  # of a line, for some seconds; see `bench_lines.serve`


class BenchSettings(Settings):
    """The settings of `krypenv bench`."""

    command: ClassVar[str] = "bench"
    group: ClassVar[str] = MEASURED

    only: tuple[str, ...] = option((), "lines to measure, as in 'engine*' [default: all lines]", metavar="PATTERN")
    peers: bool = option(False, "also measure other libraries, each in turn with this one")
    beside: str | None = option(None, "measure a commit of this checkout in turn with this version", metavar="COMMIT")
    seconds: float = option(4.0, "seconds of CPU time for a line, in forty turns or fewer", LENGTH, gt=0, le=3600)
    json_file: File | None = json_output()


def bench_command(settings: BenchSettings) -> None:
    """Measure the speed of the engine, the environments and the agents, also beside peers or another version."""
    with Console(stderr=True).status("measuring") as status:
        lines = list(bench(settings, status.update))
    if settings.json_file:
        write_json(settings.json_file, {"machine": machine(), "beside": settings.beside, "lines": lines})
    good = [line for line in lines if "error" not in line]
    if good:
        rows = [
            [line["what"], *(f"{line[name]:,.0f}" for name in RATES), f"{line['first_use']:.2f} s"] for line in good
        ]
        print_table(("what", *RATES.values(), "first use"), rows)
    for line in lines:
        if "error" in line:
            hint = "; docs/speed.md says how to install it" if line["what"] in PEERS else ""
            typer.echo(f"{line['what']}: {line['error']}{hint}")
    ratios = [
        [line["what"], line["against"], f"{line['ratio']:.3f}", "{:.3f} to {:.3f}".format(*line["interval"])]
        for line in good
        if "ratio" in line
    ]
    if ratios:
        print_table(("what", "against", "ratio", INTERVAL), ratios)
        typer.echo("ratio: steps of krypenv, in this version, in the time of one step of the other")


def bench(settings: BenchSettings, progress: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """Measure lines; yield them as plain JSON values. `progress` is called with the name of the next line.

    Raises ValueError for a pattern that fits no line and for an unknown commit, and ChildProcessError if a process
    dies.
    """
    names, beside = [*LINES, *(PEERS if settings.peers else ())], settings.beside
    for pattern in settings.only:
        if not fnmatch.filter(names, pattern):
            raise ValueError(f"no line of the benchmark fits {shown(pattern)}; the lines are {'; '.join(names)}")
    patterns = settings.only or ["*"]
    with version() as here, version(beside) as there:
        for name in (name for name in names if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)):
            progress(name)
            ours, _ = PEERS.get(name, (None, None))
            others = [partial(here, name)] if ours else [partial(there, name)] if beside else []
            line = measure([partial(here, ours or name), *others], settings.seconds, int(bool(ours)))
            yield {"what": name, "against": ours or beside, **line}


def measure(sides: Sequence[Turn], seconds: float, reported: int = 0) -> dict[str, Any]:
    """Measure a line, or two in turn; return the median rates of one, and the ratio of the first to the second.

    The 95% interval of the ratio is that of the sign test: its bounds are two of the sorted ratios, so a few pairs
    disturbed by other work don't move them far. If a line can't be measured, the reason is returned as `error` instead.
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
    line = dict(zip(RATES, np.median(figures[:, reported], axis=0).tolist(), strict=True))
    line |= {"first_use": first[reported]["clock"], "turns": len(rates)}
    if len(sides) == 2:
        ratios = figures[:, 0, 0] / figures[:, 1, 0]
        low, high = stats.quantile_test(ratios, p=0.5).confidence_interval(0.95)
        line |= {"ratio": float(np.median(ratios)), "interval": [float(low), float(high)]}
    return line


@contextlib.contextmanager
def version(commit: str | None = None) -> Iterator[Callable[[str, float], dict[str, Any]]]:
    """Yield a function that does a turn of a line in this version or a commit of its checkout; see `bench_lines.serve`.

    Raises ValueError for an unknown commit.
    """
    with tempfile.TemporaryDirectory() as folder:
        if commit:
            archive = subprocess.run(["git", "archive", commit], cwd=CHECKOUT, capture_output=True, check=False)
            if archive.returncode:
                raise ValueError(f"{CHECKOUT} has no commit {shown(commit)}: {one_line(archive.stderr.decode())}")
            subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        words, pipe = [sys.executable, bench_lines.__file__, folder if commit else str(CHECKOUT)], subprocess.PIPE
        with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as child:
            answers: Any = child.stdout

            def turn(name: str, seconds: float) -> dict[str, Any]:
                print(seconds, name, file=child.stdin, flush=True)
                if answer := answers.readline():
                    return dict(json.loads(answer))
                raise ChildProcessError(f"the process that measured {name} has ended with exit code {child.wait()}")

            yield turn  # at the end of the block the process sees the end of its input, and ends
