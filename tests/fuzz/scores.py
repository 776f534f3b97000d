"""Fuzzers of scores and studies: their files and journals give what they were, or one sentence."""

from __future__ import annotations

import contextlib
import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
from support.fuzzing import REFUSED, Fuzzer, Tally, attempt, mutate_json
from support.small_files import RULES, dumped, scores, scratch, stopped_score, tiny_protocol

from fuzz.files import change_lines, changed_bytes
from krypenv import Rules
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
    tables = {
        name: (table.deals, table.margins.tolist(), table.milliseconds, table.forfeits)
        for name, table in score.tables.items()
    }
    return score.agent, score.weights, tables


def fuzz_score(seed: int, mutants: int) -> Tally:
    """A score that is read is what was written; a forged one with a right checksum has figures too."""
    rng, tally = random.Random(seed), Counter()
    path, whole = scratch() / "board" / "score.json", scratch() / "whole.json"
    path.parent.mkdir(exist_ok=True)
    for _ in range(mutants):
        good = rng.choice(scores())
        data, signed = change_score(good, rng)
        path.write_bytes(data)
        whole.write_bytes(good)
        with tiny_protocol():
            found = attempt(lambda: (read_score(path), make_board(path.parent))[0], tally, data)
            if found is REFUSED:
                continue
            assert all(np.isfinite(table.interval).all() for table in found.tables.values())
            assert signed or figures(found) == figures(read_score(whole)), f"other figures: {data!r}"
    return tally


def fuzz_score_journal(seed: int, mutants: int) -> Tally:
    """A score that was stopped comes to the same file, or its journal is refused and left alone."""
    rng, tally = random.Random(seed), Counter()
    settings, stopped, whole = stopped_score()
    journal = journal_of(settings.out) / JOURNAL
    with tiny_protocol(), each_task_once():
        for _ in range(mutants):
            data = change_lines(stopped, rng)
            journal.parent.mkdir(exist_ok=True)
            journal.write_bytes(data)
            settings.out.unlink(missing_ok=True)
            found = attempt(lambda: score_agent(settings), tally, data)
            if found is REFUSED:
                assert journal.read_bytes() == data
                assert not settings.out.exists()
            else:
                assert not journal.parent.exists()
                assert points(settings.out.read_bytes()) == points(whole), f"other points: {data!r}"
    return tally


def points(data: bytes) -> Any:
    """What a score's file says of every deal."""
    return {name: table["opponents"] for name, table in json.loads(data)["tables"].items()}


# ---------------------------------------------------------------------- a study


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


def fuzz_study_journal(seed: int, mutants: int) -> Tally:
    """A study that was stopped comes to the same answer, or its journal is refused and left alone."""
    rng, tally = random.Random(seed), Counter()
    folder = scratch() / "study"
    journal, result = folder / JOURNAL, folder / RESULT
    for left in (journal, result):
        left.unlink(missing_ok=True)
    with mock.patch.object(study, "picture", return_value=b"no picture"):
        right = run_study(STUDY, SETUP, folder)
        lines = journal.read_bytes().splitlines(keepends=True)
        for _ in range(mutants):
            stopped = b"".join(lines[: rng.randrange(1, len(lines) + 1)])
            data = changed_bytes(stopped, rng) if rng.random() < 0.5 else change_lines(stopped, rng)
            journal.write_bytes(data)
            result.unlink(missing_ok=True)
            found = attempt(lambda: run_study(STUDY, SETUP, folder), tally, data)
            if found is REFUSED:
                assert journal.read_bytes() == data
                assert not result.exists()
            else:
                assert found.figures == right.figures, f"another answer: {data!r}"
                assert json.loads(result.read_bytes())["runs"][0]["figures"] == right.figures
    return tally


FUZZERS: dict[str, Fuzzer] = {
    "score": fuzz_score,
    "score_journal": fuzz_score_journal,
    "study_journal": fuzz_study_journal,
}
