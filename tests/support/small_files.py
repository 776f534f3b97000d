"""Small files of every kind that the package reads back, made once in each process."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from rich.console import Console

from krypenv import Rules
from krypenv.agents.neural.model_file import CARD, save_model
from krypenv.agents.neural.network import Arrays, Shape
from krypenv.training.evaluation.score import board, playing as run, protocol
from krypenv.training.lab import Answer, Setup, Study
from krypenv.training.learn.run import CHECKPOINT, TrainingRun
from krypenv.training.learn.settings import TrainSettings
from krypenv.training.runs import Task
from support.games import some_arrays

RULES = "mini-low players=2"
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


def half(number: int) -> float:
    """Return the result of a task."""
    return number / 2


SETUP = Setup(Rules.parse(RULES), "greedy", 4)
STUDY = Study(
    "sum", "What is the sum?",
    lambda setup: [Task(f"{number}", half, {"number": number}) for number in range(setup.deals)],
    lambda setup, results: Answer({"sum": sum(results[f"{number}"] for number in range(setup.deals))}), 4,
)  # fmt: skip


class Failing:
    """Has no answer ever."""

    name = "failing"

    def __init__(self, rules: Rules, seed: int = 0) -> None:
        self.rules = rules

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
    TrainingRun(TrainSettings(**TINY), folder).train(Console(quiet=True))
    return (folder / CHECKPOINT).read_bytes()


@contextlib.contextmanager
def tiny_protocol() -> Iterator[None]:
    """Make the official score a matter of a moment: two tables, two quick opponents at each, chunks of two deals."""
    tables = {
        name: protocol.OfficialTable(name, Rules.parse(text), ("greedy", "tactician(shed=True)"))
        for name, text in (("two", RULES), ("three", "mini-low players=3"))
    }
    with contextlib.ExitStack() as stack:
        for module in (board, protocol):
            for name, value in (("TABLES", tables), ("CHUNK", 2), ("QUICK", 4)):
                if hasattr(module, name):
                    stack.enter_context(mock.patch.object(module, name, value))
        yield


@functools.cache
def scores() -> list[bytes]:
    """Score files by the tiny protocol: of both tables, of one with forfeits, and of other deals."""
    made = []
    with tiny_protocol():
        for number, (agent, tables, deals) in enumerate(
            (("tactician", (), 4), ("support.small_files:Failing", ("two",), 2), ("greedy", ("three",), 2))
        ):
            path = scratch() / "scores" / f"{number}.json"
            run.score_agent(run.ScoreSettings(agent=agent, out=path, table=tables, deals=deals))
            made.append(path.read_bytes())
    return made


def forged(data: bytes, change: Callable[[Any], Any]) -> bytes:
    """A score file that was changed by somebody who knows how to make a checksum."""
    fields = json.loads(data)
    del fields["checksum"]
    change(fields)
    return protocol.encode(fields)


def files_of(folder: Path) -> dict[str, bytes]:
    """The files in a folder and below it, by their paths in it."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
