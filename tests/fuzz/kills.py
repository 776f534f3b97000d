"""Kills of all writers: whatever kill -9 leaves in a folder, the same call ends like one that nobody disturbed.

A process is killed just before it opens, renames or removes a file for writing, or while it appends to one. Between
these moments nothing on the disk changes, so they stand for all others.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from rich.console import Console
from support.fuzzing import REFUSED, Tally, attempt, fuzzer, seeded
from support.small_files import RULES, files_of, scratch, tiny_protocol
from support.terminals import sitting, typed

from krypenv import Game, Rules
from krypenv.inputs.files import write_whole
from krypenv.training.data import DataSettings, make_data, making
from krypenv.training.evaluation.arena.arena import ArenaSettings, run_arena
from krypenv.training.evaluation.score.playing import ScoreSettings, score_agent
from krypenv.training.exploiting import ExploitSettings, exploit
from krypenv.training.lab import Answer, Setup, Study, run_study, study
from krypenv.training.runs import Task, tasks
from krypenv.training.runs.journal import read_journal
from krypenv.training.solving import solve_into
from krypenv.ui.table import Table

LONGEST_TEAR = 30  # bytes that are lost of what was being appended: less than any line
WRITES = {"os.rename", "os.remove", "os.link", "os.mkdir"}


class Moments:
    """Counts the moments at which a kill would leave something else on the disk, and kills this process at one."""

    def __init__(self) -> None:
        self.count, self.at, self.torn, self.is_on = 0, 0, 0, False
        self._fsync = os.fsync
        sys.addaudithook(self._hear)

    @contextlib.contextmanager
    def counted(self, at: int = 0, torn: int = 0) -> Iterator[None]:
        """Count from 1 within the block; kill the process at a number, with so many bytes of a file torn off."""
        self.count, self.at, self.torn, self.is_on = 0, at, torn, True
        try:
            with mock.patch.object(os, "fsync", self._sync):
                yield
        finally:
            self.is_on = False

    def _pass(self) -> bool:
        self.count += self.is_on
        return self.is_on and self.count == self.at

    def _hear(self, event: str, given: tuple[Any, ...]) -> None:
        is_write = event == "open" and bool(given[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        if (is_write or event in WRITES) and self._pass():
            os.kill(os.getpid(), signal.SIGKILL)

    def _sync(self, file: int) -> None:
        if self._pass():
            os.ftruncate(file, max(0, os.fstat(file).st_size - self.torn))
            os.kill(os.getpid(), signal.SIGKILL)
        self._fsync(file)


moments = cache(Moments)  # the one of this process: what hears of its files can't be taken away


def is_killed(work: Callable[[], Any], at: int, torn: int) -> bool:
    """Do some work in a process that is killed at a moment; return whether it was, or came to its end before."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            with moments().counted(at, torn):
                work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, -signal.SIGKILL), f"the work ended with code {code}, to be killed at moment {at}"
    return code != 0


# ---------------------------------------------------------------------- writers


def half(number: int) -> float:
    """Return the result of a task."""
    return number / 2


SETUP = Setup(Rules.parse(RULES), "greedy", 4)
STUDY = Study(
    "sum", "What is the sum?",
    lambda setup: [Task(f"{number}", half, {"number": number}) for number in range(setup.deals)],
    lambda setup, results: Answer({"sum": sum(results[f"{number}"] for number in range(setup.deals))}), 4,
)  # fmt: skip


def write_arena(folder: Path, seed: int) -> None:
    """Play an arena."""
    run_arena(ArenaSettings(agents=("greedy", "random"), rules=SETUP.rules, out=folder, deals=4, chunk=2, seed=seed))


def write_score(folder: Path, seed: int) -> None:
    """Score an agent, or another one."""
    score_agent(ScoreSettings(agent=("tactician", "greedy")[seed], out=folder / "score.json", deals=4))


def read_score(folder: Path) -> Any:
    """Return the points of every deal."""
    return [table["opponents"] for table in json.loads((folder / "score.json").read_bytes())["tables"].values()]


def write_study(folder: Path, seed: int) -> None:
    """Run a study."""
    run_study(STUDY, Setup(SETUP.rules, "greedy", 4, seed), folder)


def read_study(folder: Path) -> Any:
    """Return an answer, all results, and the figure."""
    [run] = json.loads((folder / study.RESULT).read_bytes())["runs"]
    return run["figures"], read_journal(folder, "study").results, (folder / study.FIGURE).read_bytes()


def write_data(folder: Path, seed: int) -> None:
    """Make a data set."""
    make_data(DataSettings(agent="random", rules=RULES, games=5, seed=seed, out=folder))


def write_strategy(folder: Path, seed: int) -> None:
    """Solve a small game."""
    solve_into(folder, Rules.preset("mini-last"), gap=(0.5, 0.4)[seed], threads=1, command="krypenv solve")


def write_exploiters(folder: Path, seed: int) -> None:
    """Find exploiters."""
    own: dict[str, Any] = {"own": ("greedy", "tactician"), "selection": 2, "deals": 2, "worlds": 2 + seed}
    exploit(ExploitSettings(agent="greedy", rules="mini-low", seeds=0, out=folder, **own), Console(quiet=True))


def read_exploiters(folder: Path) -> Any:
    """Return the margins of exploiters."""
    return {key: result["margins"] for key, result in read_journal(folder, "exploit").results.items()}


def write_game(folder: Path, seed: int) -> None:
    """Play a game in the terminal to its end, or go on with the one that is there."""
    folder.mkdir(exist_ok=True, parents=True)
    path = folder / "game.krk"
    game = Game.replay(path.read_text()) if path.exists() else Game(RULES, seed=3)
    if not game.is_over:
        table = Table(game, 0, ["greedy"], 0)
        lines = iter(lambda: "" if table.game.is_over else typed(table.game.legal_moves()[0]), "")
        sitting(table, lines, path)[0].run()


def files_named(folder: Path, end: str) -> dict[str, bytes]:
    """Return the files whose names end in some way."""
    return {name: data for name, data in meant(folder).items() if name.endswith(end)}


class Writer(NamedTuple):
    """What writes to a folder, by a seed, and what comes of it."""

    write: Callable[[Path, int], None]
    read: Callable[[Path], Any]


WRITERS = {
    "arena": Writer(write_arena, lambda folder: read_journal(folder, "arena").results),
    "score": Writer(write_score, read_score),
    "study": Writer(write_study, read_study),
    "data": Writer(write_data, partial(files_named, end=".parquet")),  # the card tells when it was made
    "strategy": Writer(write_strategy, partial(files_named, end=".safetensors")),
    "exploiters": Writer(write_exploiters, read_exploiters),
    "game": Writer(write_game, partial(files_named, end=".krk")),
}


# ---------------------------------------------------------------------- kills


def meant(folder: Path) -> dict[str, bytes]:
    """The files of a folder that mean something: no locks, and no parts of files that a kill has left."""
    return {name: data for name, data in files_of(folder).items() if not name.startswith(".")}


@cache
def whole(name: str) -> tuple[int, Any, set[str]]:
    """Do some work that is not killed; return at how many moments it can be, its result, and the names of its files."""
    folder, writer = scratch() / "whole", WRITERS[name]
    for _ in range(2):  # what is only done once is done
        shutil.rmtree(folder, ignore_errors=True)
        with moments().counted():
            writer.write(folder, 0)
    return moments().count, writer.read(folder), set(files_of(folder))


def kill(name: str, tally: Tally, rng: random.Random) -> None:
    """Kill some work again and again until it gets through; it ends like work that was not killed."""
    most, right, names = whole(name)
    folder, (write, read) = scratch() / "killed", WRITERS[name]
    shutil.rmtree(folder, ignore_errors=True)
    while is_killed(partial(write, folder, 0), rng.randrange(1, most + 2), rng.randrange(LONGEST_TEAR)):
        tally["right"] += 1
    assert read(folder) == right
    left = set(files_of(folder)) - names
    assert all(each.startswith(".") and each.endswith(".part") for each in left), left
    before = meant(folder)
    if name != "game":  # other work than that which the folder is of
        assert attempt(partial(write, folder, 1), tally, before) is REFUSED
    assert meant(folder) == before
    tally["refused"] += name == "game"


@contextlib.contextmanager
def small_and_once() -> Iterator[None]:
    """Make works small, do each task once but for those of a solve, and leave drawing out."""
    do, done = tasks._do, dict[str, Any]()

    def do_once(task: Task) -> Any:
        known = f"{task.key}: {task.arguments}"
        if known not in done:
            done[known] = do(task)
        return done[known]

    with (
        tiny_protocol(),
        mock.patch.object(tasks, "_do", do_once),
        mock.patch.object(study, "draw_picture", lambda path, *_: write_whole(path, b"no picture")),
        mock.patch.object(making, "CHUNK", 2),
    ):
        yield


if hasattr(os, "fork"):
    for _name in WRITERS:
        fuzzer(share=0.1, name=f"kills.{_name}", within=small_and_once, rng=seeded)(partial(kill, _name))
