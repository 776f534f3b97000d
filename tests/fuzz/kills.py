"""Fuzzers of kills: whatever a kill leaves in a folder, the same call ends like one that nobody disturbed.

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
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest import mock

from rich.console import Console
from support.fuzzing import REFUSED, Tally, attempt, fuzzer, seeded
from support.small_files import files_of, scratch

from fuzz.scores import SETUP, STUDY, points, small_and_once
from krypenv import Rules
from krypenv.training.data import DataSettings, make_data, making
from krypenv.training.evaluation.score.playing import ScoreSettings, score_agent
from krypenv.training.exploiting import ExploitSettings, exploit
from krypenv.training.lab import run_study
from krypenv.training.lab.study import FIGURE, RESULT
from krypenv.training.runs.journal import JOURNAL, read_journal
from krypenv.training.solving import solve_into

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


@cache
def moments() -> Moments:
    """The one of this process: what hears of its files can't be taken away."""
    return Moments()


@dataclass(frozen=True)
class Work:
    """What is killed: a call that writes to a folder, another one that the folder is not for, and what comes out."""

    do: Callable[[Path], Any]
    other: Callable[[Path], Any]
    result: Callable[[Path], Any]


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


@cache
def whole(work: Work) -> tuple[int, Any, set[str]]:
    """Do some work that is not killed; return at how many moments it can be, its result, and the names of its files."""
    folder = scratch() / "kills" / "whole"
    shutil.rmtree(folder, ignore_errors=True)
    work.do(folder)  # what is only done once is done
    shutil.rmtree(folder)
    with moments().counted():
        work.do(folder)
    return moments().count, work.result(folder), set(files_of(folder))


def kill(work: Work, tally: Tally, rng: random.Random) -> None:
    """Kill some work again and again until it gets through; it ends like work that was not killed."""
    most, right, names = whole(work)
    folder, twin = scratch() / "kills" / "killed", scratch() / "kills" / "twin"
    shutil.rmtree(folder, ignore_errors=True)
    while is_killed(partial(work.do, folder), rng.randrange(1, most + 2), rng.randrange(LONGEST_TEAR)):
        tally["right"] += 1
        if rng.random() < 0.2:
            is_refused(work, folder, twin, tally)
    assert work.result(folder) == right
    assert is_refused(work, folder, twin, tally)
    left = set(files_of(folder)) - names
    assert all(name.startswith(".") and name.endswith(".part") for name in left), left


def is_refused(work: Work, folder: Path, twin: Path, tally: Tally) -> bool:
    """Do the other work in a copy of a folder; return whether it refuses it, and then changes nothing."""
    shutil.rmtree(twin, ignore_errors=True)
    shutil.copytree(folder, twin) if folder.exists() else twin.mkdir(parents=True)
    before = meant(twin)
    refused = attempt(partial(work.other, twin), tally, before) is REFUSED
    assert not refused or meant(twin) == before
    return refused


def meant(folder: Path) -> dict[str, bytes]:
    """The files of a folder that mean something: no locks, and no parts of files that a kill has left."""
    return {name: data for name, data in files_of(folder).items() if not name.startswith(".")}


# ---------------------------------------------------------------------- what is killed


def score_settings(folder: Path, agent: str = "tactician") -> ScoreSettings:
    """Return the settings of a score by the tiny protocol."""
    return ScoreSettings(agent=agent, out=folder / "score.json", deals=4)


def study_result(folder: Path) -> Any:
    """What is in the files of a study, but for the machine, which tells its load too."""
    [run] = json.loads((folder / RESULT).read_bytes())["runs"]
    journal, data = read_journal(folder, "study"), (folder / JOURNAL).read_bytes()
    told = run | {"machine": "any"}, journal.header.identity, journal.results
    return *told, data.endswith(b"\n"), (folder / FIGURE).read_bytes()


def data_settings(folder: Path, seed: int = 0) -> DataSettings:
    """Return the settings of a small data set."""
    return DataSettings(agent="random", rules="mini-low", games=5, seed=seed, out=folder)


def exploit_settings(folder: Path, worlds: int = 2) -> ExploitSettings:
    """Return the settings of a small search for exploiters."""
    return ExploitSettings(
        agent="greedy", rules="mini-low", seeds=0, worlds=worlds, own=("greedy", "tactician"), selection=2, deals=2,
        out=folder,
    )  # fmt: skip


def margins(folder: Path) -> dict[str, Any]:
    """Return the margins of exploiters."""
    return {key: result["margins"] for key, result in read_journal(folder, "exploit").results.items()}


def artifacts(folder: Path) -> dict[str, bytes]:
    """Return the files beside a journal."""
    return {name: data for name, data in meant(folder).items() if name != JOURNAL}


def solve_small(folder: Path, gap: float) -> None:
    """Solve a small game."""
    solve_into(folder, Rules.preset("mini-last"), gap=gap, threads=1, command="krypenv solve")


QUIET = Console(quiet=True)
WORKS = {
    "score": Work(
        lambda folder: score_agent(score_settings(folder)),
        lambda folder: score_agent(score_settings(folder, "greedy")),
        lambda folder: points((folder / "score.json").read_bytes()),
    ),
    "study": Work(
        lambda folder: run_study(STUDY, SETUP, folder),
        lambda folder: run_study(STUDY, replace(SETUP, seed=SETUP.seed + 1), folder),
        study_result,
    ),
    "data": Work(  # the card tells when it was made
        lambda folder: make_data(data_settings(folder)),
        lambda folder: make_data(data_settings(folder, 1)),
        lambda folder: {name: data for name, data in meant(folder).items() if name.endswith(".parquet")},
    ),
    "solve": Work(lambda folder: solve_small(folder, 0.5), lambda folder: solve_small(folder, 0.4), artifacts),
    "exploit": Work(
        lambda folder: exploit(exploit_settings(folder), QUIET),
        lambda folder: exploit(exploit_settings(folder, 3), QUIET),
        margins,
    ),
}


@contextlib.contextmanager
def small_files() -> Iterator[None]:
    """Make works small, and do each task once, but for those of a solve."""
    with small_and_once(), mock.patch.object(making, "CHUNK", 2):
        yield


if hasattr(os, "fork"):
    for _name, _work in WORKS.items():
        fuzzer(share=0.1, name=f"kills.{_name}", within=small_files, rng=seeded)(partial(kill, _work))
