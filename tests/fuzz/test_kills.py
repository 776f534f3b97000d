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
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from rich.console import Console
from support.fuzzing import fuzz, seeded
from support.small_files import RULES, SETUP, STUDY, files_of, scratch, tiny_protocol
from support.terminals import sitting, typed

from krypenv import Game, Rules
from krypenv.inputs.files import write_whole
from krypenv.training.data import DataSettings, make_data, making
from krypenv.training.evaluation.arena.arena import ArenaSettings, run_arena
from krypenv.training.evaluation.score.playing import ScoreSettings, score_agent
from krypenv.training.exploiting import ExploitSettings, exploit
from krypenv.training.lab import run_study, study
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
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, -signal.SIGKILL), f"the work ended with code {code}, to be killed at moment {at}"
    return code != 0


# ---------------------------------------------------------------------- writers


def write_game(folder: Path) -> None:
    """Play a game in the terminal to its end, or go on with the one that is there."""
    folder.mkdir(exist_ok=True, parents=True)
    path = folder / "game.krk"
    game = Game.replay(path.read_text()) if path.exists() else Game(RULES, seed=3)
    if not game.is_over:
        table = Table(game, 0, ["greedy"], 0)
        lines = iter(lambda: "" if table.game.is_over else typed(table.game.legal_moves()[0]), "")
        sitting(table, lines, path)[0].run()


def meant(folder: Path, ends: str = "") -> dict[str, bytes]:
    """The files of a folder that mean something, but for locks, and for parts of files that a kill has left."""
    return {name: data for name, data in files_of(folder).items() if name[0] != "." and name.endswith(ends)}


def results_of(folder: Path, kind: str, name: str) -> Any:
    """One of the results of each task of a run; times differ."""
    return {key: result[name] for key, result in read_journal(folder, kind).results.items()}


def figures_of(folder: Path) -> Any:
    """What a study has found, but for the machine."""
    figures = json.loads((folder / study.RESULT).read_bytes())["runs"][0]["figures"]
    return figures, read_journal(folder, "study").results, meant(folder, study.FIGURE)


def points_of(folder: Path) -> Any:
    """The points of every deal of a score."""
    return [table["opponents"] for table in json.loads((folder / "score.json").read_bytes())["tables"].values()]


def ended_game(folder: Path) -> Any:
    """The deal of a game that is over; who goes on with it may be answered otherwise."""
    game = Game.replay((folder / "game.krk").read_text())
    return game.is_over, game.deck, [*meant(folder)]


FEW: dict[str, Any] = {"rules": RULES, "seeds": 0, "own": ("greedy",), "selection": 2, "deals": 2, "worlds": 2}
WRITERS: dict[str, tuple[Callable[[Path], Any], Callable[[Path], Any]]] = {  # what is done, and what comes of it
    "arena": (
        lambda out: run_arena(ArenaSettings(agents=("greedy", "random"), rules=SETUP.rules, out=out, deals=4, chunk=2)),
        lambda folder: results_of(folder, "arena", "scores"),
    ),
    "score": (lambda out: score_agent(ScoreSettings(agent="tactician", out=out / "score.json", deals=4)), points_of),
    "study": (lambda out: run_study(STUDY, SETUP, out), figures_of),
    "data": (
        lambda out: make_data(DataSettings(agent="random", rules=RULES, games=5, out=out)),
        partial(meant, ends=".parquet"),
    ),
    "strategy": (
        lambda out: solve_into(out, Rules.preset("mini-last"), gap=0.5, threads=1, command=""),
        partial(meant, ends=".safetensors"),
    ),
    "exploiters": (
        lambda out: exploit(ExploitSettings(agent="greedy", out=out, **FEW), Console(quiet=True)),
        lambda folder: results_of(folder, "exploit", "margins"),
    ),
    "game": (write_game, ended_game),
}


# ---------------------------------------------------------------------- kills


@cache
def whole(name: str) -> tuple[int, Any, set[str]]:
    """Do some work that is not killed; return at how many moments it can be, its result, and the names of its files."""
    folder, (write, read) = scratch() / "whole", WRITERS[name]
    for _ in range(2):  # what is only done once is done
        shutil.rmtree(folder, ignore_errors=True)
        with moments().counted():
            write(folder)
    return moments().count, read(folder), set(files_of(folder))


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
        mock.patch.object(study, "save_figure", lambda path, *_, **__: write_whole(path, b"no picture")),
        mock.patch.object(making, "CHUNK", 2),
    ):
        yield


@pytest.mark.few(3)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # newer Pythons warn of forks beside threads
@pytest.mark.parametrize("name", WRITERS)
@fuzz(share=0.2, within=small_and_once, rng=seeded)
def test_work_that_is_killed_again_and_again_ends_like_work_that_was_not(name: str, rng: random.Random) -> None:
    most, right, names = whole(name)
    folder, (write, read) = scratch() / "killed", WRITERS[name]
    shutil.rmtree(folder, ignore_errors=True)
    while is_killed(partial(write, folder), rng.randrange(1, most + 2), rng.randrange(LONGEST_TEAR)):
        pass
    assert read(folder) == right
    left = set(files_of(folder)) - names
    assert all(each.startswith(".") and each.endswith(".part") for each in left), left
