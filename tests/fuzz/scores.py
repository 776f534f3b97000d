"""Fuzzers of scores and studies: their files and journals give what they were, or one sentence."""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from hypothesis import strategies as st
from support.fuzzing import REFUSED, Tally, attempt, fuzzer, mutate_json, seeded
from support.small_files import RULES, dumped, scores, scratch, stopped_score, tiny_protocol

from fuzz.files import change_lines, changed_bytes, equal
from krypenv import Rules
from krypenv.inputs.files import write_whole
from krypenv.training.evaluation.score.board import make_board
from krypenv.training.evaluation.score.playing import journal_of, score_agent
from krypenv.training.evaluation.score.score_file import Score, encode, read_score
from krypenv.training.lab import Answer, Setup, Study, run_study, study
from krypenv.training.lab.study import RESULT
from krypenv.training.runs import Task, tasks
from krypenv.training.runs.journal import JOURNAL


@contextlib.contextmanager
def each_task_once() -> Iterator[None]:
    """Do each task once within the block, and know its result from then on."""
    do, done = tasks._do, dict[str, Any]()

    def do_once(task: Task) -> Any:
        known = f"{task.key}: {task.arguments}"
        if known not in done:
            done[known] = do(task)
        return done[known]

    with mock.patch.object(tasks, "_do", do_once):
        yield


def change_score(good: bytes, rng: random.Random) -> tuple[bytes, bool]:
    """Change the file of a score; return it and whether it has a right checksum again."""
    if rng.random() < 0.3:
        return changed_bytes(good, rng), False
    fields = json.loads(good)
    signed = rng.random() < 0.7
    if signed:
        del fields["checksum"]
    changed = mutate_json(fields, rng)
    if signed and isinstance(changed, dict):
        with contextlib.suppress(ValueError):  # no number in JSON
            return encode(changed), True
    return dumped(changed), False


def figures(score: Score) -> Any:
    """What a score says."""
    tables = {name: (each.deals, each.margins, each.milliseconds, each.forfeits) for name, each in score.tables.items()}
    return score.identity, tables


@fuzzer(share=4, within=tiny_protocol, good=st.deferred(lambda: st.sampled_from(scores())), rng=seeded)
def score(tally: Tally, good: bytes, rng: random.Random) -> None:
    """A score that is read is what was written; a forged one with a right checksum has figures too."""
    path, whole = scratch() / "board" / "score.json", scratch() / "whole.json"
    path.parent.mkdir(exist_ok=True)
    data, signed = change_score(good, rng)
    path.write_bytes(data)
    whole.write_bytes(good)
    found = attempt(lambda: (read_score(path), make_board(path.parent))[0], tally, data)
    if found is not REFUSED:
        assert all(np.isfinite(table.interval).all() for table in found.tables.values())
        assert signed or equal(figures(found), figures(read_score(whole))), f"other figures: {data!r}"


def points(data: bytes) -> Any:
    """What a score's file says of every deal."""
    return {name: table["opponents"] for name, table in json.loads(data)["tables"].items()}


# ---------------------------------------------------------------------- what was stopped


SETUP = Setup(Rules.parse(RULES), "greedy", 4)


def two_numbers(number: int) -> list[float]:
    """Return the result of a task."""
    return [number / 7, float(number)]


def sum_up(setup: Setup, results: dict[str, Any]) -> Answer:
    """Return what fails where a result is not what it was."""
    total = sum(sum(results[f"{number}"]) for number in range(setup.deals))
    return Answer({"sum": total})


STUDY = Study(
    "sum", "What is the sum?",
    lambda setup: [Task(f"{number}", two_numbers, {"number": number}) for number in range(setup.deals)], sum_up, 4,
)  # fmt: skip


@contextlib.contextmanager
def small_and_once() -> Iterator[None]:
    """Play by the tiny protocol, do each task once, and leave drawing out."""

    def no_picture(path: Path, *_: Any) -> None:
        write_whole(path, b"no picture")

    with tiny_protocol(), each_task_once(), mock.patch.object(study, "draw_picture", no_picture):
        yield


class Stopped(NamedTuple):
    """A run that was stopped."""

    journal: Path
    lines: bytes  # of the journal
    result: Path
    resume: Callable[[], Any]
    read: Callable[[bytes], Any]  # what the result says
    right: Any


@cache
def a_score() -> Stopped:
    """A score, in the middle."""
    settings, stopped, whole = stopped_score()
    journal = journal_of(settings.out) / JOURNAL
    return Stopped(journal, stopped, settings.out, lambda: score_agent(settings), points, points(whole))


@cache
def a_study() -> Stopped:
    """A study, all of whose tasks are done."""
    folder = scratch() / "study"
    right = run_study(STUDY, SETUP, folder).figures
    journal, result = folder / JOURNAL, folder / RESULT

    def figures_of(data: bytes) -> Any:
        return json.loads(data)["runs"][0]["figures"]

    return Stopped(journal, journal.read_bytes(), result, lambda: run_study(STUDY, SETUP, folder), figures_of, right)


@fuzzer(share=2, within=small_and_once, of=st.sampled_from((a_score, a_study)), rng=seeded)
def journals(tally: Tally, of: Callable[[], Stopped], rng: random.Random) -> None:
    """What was stopped comes to the same result, or its journal is refused and left alone."""
    run = of()
    data = change_lines(run.lines, rng)
    run.journal.parent.mkdir(exist_ok=True)
    run.journal.write_bytes(data)
    run.result.unlink(missing_ok=True)
    if attempt(run.resume, tally, data) is REFUSED:
        assert run.journal.read_bytes() == data
        assert not run.result.exists()
    else:
        assert run.read(run.result.read_bytes()) == run.right, f"another result: {data!r}"
