"""Times of the first use of each part in a new process, with kernels to compile and with cached kernels."""

from __future__ import annotations

import dataclasses
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import typer
from rich.console import Console

from krypenv import agents
from krypenv.rules import Rules
from krypenv.training.runs.machine import machine
from krypenv.training.runs.tables import print_table, write_json

ROUNDS = 3  # a time with cached kernels is their median
AGENTS = ("random", "greedy", "tactician", "rollout", "ismcts", "search", "champion(worlds=0)", "champion")
COLUMNS = ("what", "kernels not compiled yet", "kernels cached")
_STEP = """
from krypenv import Engine, Rules
engine = Engine(Rules.preset("krypkasino"), 1)
engine.step(engine.sample_actions())
"""
_ENV_STEP = """
from krypenv import krypkasino_v0
env = krypkasino_v0.env()
env.reset(seed=0)
env.step(env.last()[0]["action_mask"].argmax())
"""
_DECISION = """
from krypenv import agents
agents.make({agent!r}, engine.rules).act(engine.observation, engine.action_mask)
"""


@dataclass(frozen=True)
class FirstUse:
    """A part used for the first time in a new process, and the seconds it takes."""

    what: str
    compiled: float  # with no cached kernels; for an agent, with only those of the engine cached
    kept: float  # with all kernels cached on disk by an earlier process


def first_uses(names: Sequence[str] = AGENTS, progress: Callable[[str], None] = lambda _: None) -> list[FirstUse]:
    """Measure the import, the first step of engine and environment, and the first decision of some agents.

    All of them play Krypkasino for two. The time of a step includes the import. The time of a decision includes making
    the agent, in a process in which the engine has made its first step. Each measurement uses new processes and
    temporary kernel caches; the cache of this installation is neither used nor changed.

    Args:
        names: strings for `krypenv.agents.make`.
        progress: called with the name of the next measurement.

    Raises ValueError for an unknown agent, and for one that sees hidden cards.
    """
    for name in names:
        if getattr(agents.make(name, Rules.preset("krypkasino")), "cheats", False):
            raise ValueError(f"{name} sees hidden cards; the first decision of such an agent is not measured")
    found = []

    def measure(what: str, before: str, code: str, cache: Path) -> None:
        progress(what)
        compiled = _seconds(before, code, cache)
        found.append(FirstUse(what, compiled, statistics.median(_seconds(before, code, cache) for _ in range(ROUNDS))))

    with tempfile.TemporaryDirectory() as scratch:
        engine = Path(scratch) / "engine"
        measure("import krypenv", "", "import krypenv", engine)
        measure("engine, first step", "", _STEP, engine)
        measure("environment, first step", "", _ENV_STEP, Path(scratch) / "environment")
        for number, name in enumerate(names):
            cache = Path(scratch) / str(number)
            shutil.copytree(engine, cache)
            measure(f"{name}, first decision", _STEP, _DECISION.format(agent=name), cache)
    return found


def run(json_file: Path | None) -> None:
    """Measure all first uses, write them to a file if given, and print them."""
    console = Console(stderr=True)
    with console.status("measuring") as status:
        found = first_uses(progress=status.update)
    its_machine = machine()
    if json_file:
        write_json(json_file, {"machine": its_machine, "first_uses": [dataclasses.asdict(each) for each in found]})
    typer.echo(", ".join(f"{key} {value}" for key, value in its_machine.items()))
    print_table(COLUMNS, [(each.what, f"{each.compiled:.2f} s", f"{each.kept:.2f} s") for each in found])


def _seconds(before: str, code: str, cache: Path) -> float:
    """Return the seconds that some code takes in a new process, after other code."""
    clock = "import time\nbegan = time.perf_counter()"
    done = subprocess.run(
        [sys.executable, "-c", f"{before}\n{clock}\n{code}\nprint(time.perf_counter() - began)"],
        env=os.environ | {"NUMBA_CACHE_DIR": str(cache)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return float(done.stdout)
