"""Small files of every kind that the package reads back, made once in each process, and the same in all of them."""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from rich.console import Console

from krypenv import Rules
from krypenv.agents.neural.model_file import CARD, save_model
from krypenv.agents.neural.network import Arrays, Shape
from krypenv.training.evaluation.arena.arena import ArenaSettings, run_arena
from krypenv.training.evaluation.score import board, playing as run, protocol, score_file as results
from krypenv.training.learn.run import CHECKPOINT, TrainingRun
from krypenv.training.learn.settings import TrainSettings
from krypenv.training.runs.journal import JOURNAL, machine
from support.games import some_arrays

RULES, TEAMS = "mini-low players=2", "krypkasino players=4 teams=2"
TINY: dict[str, Any] = {
    "rules": RULES, "also": ("mini-low players=3",), "envs": 4, "steps": 4, "batch": 16, "epochs": 1,
    "frames": 6 * 4 * 8, "opponents": ("past", "greedy"), "opponent_share": 0.5, "curve_every": 1e9, "curve_deals": 2,
    "deals": 2, "against": ("random", "greedy"), "yardstick": "greedy", "context": 4, "card": 3, "embedding": 2,
    "checkpoint_every": 1e9,
}  # fmt: skip


@functools.cache
def scratch() -> Path:
    """A folder of this process."""
    folder = tempfile.TemporaryDirectory(prefix="krypenv-fuzz-")
    scratch.__dict__["kept"] = folder  # removed when the process ends
    return Path(folder.name)


@contextlib.contextmanager
def some_folder() -> Iterator[Path]:
    """Go to a folder deep in a temporary one, which is also the home."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as top, mock.patch.dict(os.environ, {"HOME": top}):
        folder = Path(top) / "a" / "b"
        folder.mkdir(parents=True)
        os.chdir(folder)
        try:
            yield folder
        finally:
            os.chdir(before)


def dumped(value: Any, indent: int | None = None) -> bytes:
    """JSON, also of what is none."""
    return json.dumps(value, indent=indent).encode()


MACHINE = {"cpu": "x", "cores": 2, "load": 0.0, "system": "Linux", "python": "3", "numpy": "2", "numba": "0"}


@contextlib.contextmanager
def same_everywhere() -> Iterator[None]:
    """Let files hold the same in every process: clocks count calls, the machine is no one's, and paths are relative."""
    told = [module for module in sys.modules.values() if getattr(module, "machine", None) is machine]
    before = Path.cwd()
    with contextlib.ExitStack() as stack:
        for clock in ("perf_counter", "process_time", "monotonic"):
            ticks = (tick / 1024 for tick in itertools.count(1))
            stack.enter_context(mock.patch.object(time, clock, side_effect=ticks))
        for module in told:
            stack.enter_context(mock.patch.object(module, "machine", return_value=MACHINE))
        os.chdir(scratch())
        stack.callback(os.chdir, before)
        yield


@functools.cache
def arenas() -> list[tuple[Path, bytes]]:
    """Folders of small arenas with their journals: two and three players, teams, sessions, forfeits."""
    made = []
    for name, rules, agents, options in (
        ("two", RULES, ("greedy", "random", "tactician"), {"deals": 7, "chunk": 3}),
        ("three", "mini-low players=3", ("greedy", "random"), {"deals": 4, "chunk": 2}),
        ("teams", TEAMS, ("greedy", Absent(Rules.parse(TEAMS))), {"deals": 4, "chunk": 2}),
        ("sessions", f"{RULES} games=3 threshold=10", ("greedy", "random"), {"deals": 4, "chunk": 2}),
    ):
        folder = scratch() / f"arena-{name}"
        with same_everywhere():
            run_arena(ArenaSettings(agents=agents, rules=Rules.parse(rules), out=Path(folder.name), **options))  # type: ignore[arg-type]
        made.append((folder, (folder / JOURNAL).read_bytes()))
    return made


class Absent:
    """Has no answer where it holds both copies of a card."""

    name = "absent"

    def __init__(self, rules: Rules, seed: int = 0) -> None:
        self.rules = rules

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        if (observations[:, :52] == 2).any():
            raise RuntimeError("both")
        return action_masks.argmax(axis=1)


class Failing(Absent):
    """Has no answer ever."""

    name = "failing"

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        raise RuntimeError("no")


@functools.cache
def model() -> tuple[Arrays, dict[str, Any]]:
    """The weights of a model and its card, which is in `scratch() / "model"`."""
    arrays = some_arrays(Shape(4, 3, 2))
    settings = {"reward": "centred", "warm": ""}
    folder = save_model(
        scratch() / "model", arrays, Rules.parse(RULES), also=["mini-low players=3"], settings=settings, seed=1,
        frames=10, seconds=1.5, command="krypenv train", commit="1" * 40, version="0", created="2026", regret=0.5,
    )  # fmt: skip
    return arrays, json.loads((folder / CARD).read_text())


@functools.cache
def checkpoint() -> bytes:
    """The last checkpoint of a small run."""
    folder = scratch() / "run"
    folder.mkdir()
    with same_everywhere():
        TrainingRun(TrainSettings(**TINY), Path(folder.name)).train(Console(quiet=True))
    return (folder / CHECKPOINT).read_bytes()


@contextlib.contextmanager
def tiny_protocol() -> Iterator[None]:
    """Make the official score a matter of a moment: two tables, two quick opponents at each, chunks of two deals."""
    tables = {
        name: protocol.OfficialTable(name, text, ("greedy", "tactician(shed=True)"))
        for name, text in (("two", RULES), ("three", "mini-low players=3"))
    }
    with contextlib.ExitStack() as stack:
        for module in (board, protocol, results, run):
            for name, value in (("TABLES", tables), ("CHUNK", 2), ("QUICK", 4)):
                if hasattr(module, name):
                    stack.enter_context(mock.patch.object(module, name, value))
        yield


@functools.cache
def scores() -> list[bytes]:
    """Score files by the tiny protocol: of both tables, of one with forfeits, and of other deals."""
    made = []
    with tiny_protocol(), same_everywhere():
        for number, (agent, tables, deals) in enumerate(
            (("tactician", (), 4), ("support.small_files:Failing", ("two",), 2), ("greedy", ("three",), 2))
        ):
            path = scratch() / "scores" / f"{number}.json"
            run.score_agent(run.ScoreSettings(agent=agent, out=path, table=tables, deals=deals))
            made.append(path.read_bytes())
    return made


@functools.cache
def stopped_score() -> tuple[run.ScoreSettings, bytes, bytes]:
    """A score by the tiny protocol, its journal when it was stopped in the middle, and its file when it was done."""

    def stop(done: int, games: int) -> None:
        if done > games / 2:
            raise KeyboardInterrupt

    with tiny_protocol(), same_everywhere():
        settings = run.ScoreSettings(agent="tactician", out=scratch() / "stopped" / "score.json", deals=4)
        with contextlib.suppress(KeyboardInterrupt):
            run.score_agent(settings, stop)
        stopped = (run.journal_of(settings.out) / JOURNAL).read_bytes()
        run.score_agent(settings)
    return settings, stopped, settings.out.read_bytes()


def files_of(folder: Path) -> dict[str, bytes]:
    """The files in a folder and below it, by their paths in it."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
