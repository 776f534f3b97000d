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
from support.fuzzing import REFUSED, Fuzzer, Tally, attempt
from support.small_files import PLAN, files_of, scratch, tiny_protocol

from fuzz.scores import SETUP, STUDY, each_task_once, points
from krypenv import Rules
from krypenv.training.data import DataSettings, make_data, making
from krypenv.training.evaluation.score.playing import ScoreSettings, score_agent
from krypenv.training.exploiting import ExploitSettings, exploit
from krypenv.training.lab import run_study, study
from krypenv.training.lab.study import FIGURE, RESULT
from krypenv.training.learn.imitation.demonstrations import make_demonstrations
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


def fuzz(work: Work, seed: int, mutants: int) -> Tally:
    """Kill some work again and again until it gets through; it ends like work that was not killed."""
    rng, tally = random.Random(seed), Tally()
    folder, whole, twin = (scratch() / "kills" / name for name in ("killed", "whole", "twin"))
    shutil.rmtree(scratch() / "kills", ignore_errors=True)
    work.do(whole)  # what is only done once is done
    shutil.rmtree(whole)
    with moments().counted():
        work.do(whole)
    most, right, names = moments().count, work.result(whole), set(files_of(whole))
    while tally["right"] + tally["refused"] < mutants:
        shutil.rmtree(folder, ignore_errors=True)
        while is_killed(partial(work.do, folder), rng.randrange(1, most + 2), rng.randrange(LONGEST_TEAR)):
            tally["right"] += 1
            if rng.random() < 0.2:
                is_refused(work, folder, twin, tally)
        assert work.result(folder) == right
        assert is_refused(work, folder, twin, tally)
        left = set(files_of(folder)) - names
        assert all(name.startswith(".") and name.endswith(".part") for name in left), left
    return tally


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


def fuzz_score(seed: int, mutants: int) -> Tally:
    """A score."""

    def settings(folder: Path, agent: str = "tactician") -> ScoreSettings:
        return ScoreSettings(agent, folder / "score.json", (), 4)

    work = Work(
        lambda folder: score_agent(settings(folder)),
        lambda folder: score_agent(settings(folder, "greedy")),
        lambda folder: points((folder / "score.json").read_bytes()),
    )
    with tiny_protocol(), each_task_once():
        return fuzz(work, seed, mutants)


def study_result(folder: Path) -> Any:
    """What is in the files of a study, but for the machine, which tells its load too."""
    [run] = json.loads((folder / RESULT).read_bytes())["runs"]
    journal, data = read_journal(folder, "study"), (folder / JOURNAL).read_bytes()
    told = run | {"machine": "any"}, journal.header.identity, journal.results
    return *told, data.endswith(b"\n"), (folder / FIGURE).read_bytes()


def fuzz_study(seed: int, mutants: int) -> Tally:
    """A study."""
    work = Work(
        lambda folder: run_study(STUDY, SETUP, folder),
        lambda folder: run_study(STUDY, replace(SETUP, seed=SETUP.seed + 1), folder),
        study_result,
    )
    with mock.patch.object(study, "picture", return_value=b"no picture"):
        return fuzz(work, seed, mutants)


def fuzz_demonstrations(seed: int, mutants: int) -> Tally:
    """Demonstrations."""
    work = Work(
        lambda folder: make_demonstrations(folder, PLAN, 6),
        lambda folder: make_demonstrations(folder, replace(PLAN, seed=PLAN.seed + 1), 6),
        lambda folder: {name: data for name, data in meant(folder).items() if name != JOURNAL},
    )
    with each_task_once():
        return fuzz(work, seed, mutants)


def fuzz_data(seed: int, mutants: int) -> Tally:
    """A data set."""

    def settings(folder: Path, seed: int = 0) -> DataSettings:
        return DataSettings.of(agent="random", rules="mini-low", games=5, seed=seed, out=folder)

    work = Work(
        lambda folder: make_data(settings(folder)),
        lambda folder: make_data(settings(folder, 1)),
        lambda folder: {name: data for name, data in meant(folder).items() if name.endswith(".parquet")},
    )
    with mock.patch.object(making, "CHUNK", 2), each_task_once():
        return fuzz(work, seed, mutants)


def fuzz_solve(seed: int, mutants: int) -> Tally:
    """A solve, which keeps the solved deals of each number."""
    rules = Rules.preset("mini-last")
    work = Work(
        lambda folder: solve_into(folder, rules, gap=0.5, threads=1, command="krypenv solve"),
        lambda folder: solve_into(folder, rules, gap=0.4, threads=1, command="krypenv solve"),
        lambda folder: {name: data for name, data in meant(folder).items() if name != JOURNAL},
    )
    return fuzz(work, seed, mutants)


def fuzz_exploit(seed: int, mutants: int) -> Tally:
    """Searches that exploit an agent."""

    def settings(folder: Path, worlds: int = 2) -> ExploitSettings:
        return ExploitSettings.of(
            agent="greedy", rules="mini-low", seeds=0, worlds=worlds, own=("greedy", "tactician"), selection=2, deals=2,
            out=str(folder),
        )  # fmt: skip

    def margins(folder: Path) -> dict[str, Any]:
        return {key: result["margins"] for key, result in read_journal(folder, "exploit").results.items()}

    quiet = Console(quiet=True)
    work = Work(
        lambda folder: exploit(settings(folder), quiet), lambda folder: exploit(settings(folder, 3), quiet), margins
    )
    with each_task_once():
        return fuzz(work, seed, mutants)


FUZZERS: dict[str, Fuzzer] = (
    {
        "score": fuzz_score,
        "study": fuzz_study,
        "data": fuzz_data,
        "demonstrations": fuzz_demonstrations,
        "exploit": fuzz_exploit,
        "solve": fuzz_solve,
    }
    if hasattr(os, "fork")
    else {}
)
