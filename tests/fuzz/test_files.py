"""Files that are read back: where they are damaged they give what was written, or one sentence, and stay as they are.

Where a digest guards what is read, it is damaged with the old digest, and with a right one.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pytest
import safetensors.numpy
from support.fuzzing import REFUSED, attempt, fuzz, mutate_bytes, mutate_json, seeded
from support.small_files import RULES, checkpoint, dumped, files_of, half, model, scores, scratch, tiny_protocol

from krypenv import Rules
from krypenv.agents.neural.inference import Weights
from krypenv.agents.neural.learned import LearnedAgent
from krypenv.agents.neural.model_file import CARD, WEIGHTS, load_model
from krypenv.agents.neural.network import Arrays
from krypenv.engine import Engine
from krypenv.training.data import DataSettings, load, make_data, making, reading
from krypenv.training.evaluation.score.board import make_board
from krypenv.training.evaluation.score.protocol import encode, read_score
from krypenv.training.learn.run import CHECKPOINT, read_checkpoint
from krypenv.training.runs import Header, Task, open_run
from krypenv.training.runs.journal import JOURNAL

Files = dict[str, bytes]
ROWS, SCORE = "games-00000.parquet", "score.json"


def equal(found: Any, right: Any, files: Any = None) -> bool:
    """Whether what was read is what was written: plain values, arrays and their types, and whatever is made of them."""
    if isinstance(right, np.ndarray):
        return found.dtype == right.dtype and np.array_equal(found, right)
    if isinstance(right, dict):
        return found.keys() == right.keys() and all(equal(found[name], right[name]) for name in right)
    return all(map(equal, found, right)) if isinstance(right, tuple) else found == right


# ---------------------------------------------------------------------- damage


def any_file(files: Files, rng: random.Random) -> Files:
    """Bytes of a file changed, or values of one of JSON, or of a line of a journal."""
    name = rng.choice([*files])
    if name.endswith(".json") and rng.random() < 0.7:
        return {**files, name: dumped(mutate_json(json.loads(files[name]), rng), 2)}
    if name == JOURNAL and rng.random() < 0.3:
        lines = files[name].splitlines()
        at = rng.randrange(len(lines))
        lines[at] = dumped(mutate_json(json.loads(lines[at]), rng))
        return {name: b"\n".join([*lines, b""])}
    return {**files, name: mutate_bytes(files[name], rng)}


def signed_score(files: Files, rng: random.Random) -> Files:
    """The values of a score changed, with a right checksum where they can have one."""
    values = json.loads(files[SCORE])
    del values["checksum"]
    values = mutate_json(values, rng)
    try:
        return {SCORE: encode(values) if isinstance(values, dict) else dumped(values)}
    except ValueError:  # no number in JSON
        return {SCORE: dumped(values)}


def signed_rows(files: Files, rng: random.Random) -> Files:
    """Bytes of a file of a data set changed, with a right digest."""
    rows, card = mutate_bytes(files[ROWS], rng), json.loads(files[reading.CARD])
    card["files"][ROWS] = hashlib.sha256(rows).hexdigest()
    return {**files, ROWS: rows, reading.CARD: dumped(card)}


STRANGE = (float("nan"), float("inf"), -float("inf"), 3e38, -3e38, 1e20, 1e9, -1.0, 0.0, 1e-45)
DTYPES = ("float64", "float16", "int8", "int64", "bool", "complex64")


def signed_weights(files: Files, rng: random.Random) -> Files:
    """A tensor of a model lost, doubled, renamed, swapped, of another type or shape, or with odd numbers."""
    arrays = safetensors.numpy.load(files[WEIGHTS])
    name, other = rng.sample([*arrays], 2)
    array = arrays[name]
    left = {each: arrays[each] for each in arrays if each != name}
    odd = array.copy()
    odd.reshape(-1)[slice(None) if rng.random() < 0.3 else rng.randrange(odd.size)] = rng.choice(STRANGE)
    shapes = array[None], array.reshape(-1), array[:0], np.concatenate([array, array[:1]])
    data = safetensors.numpy.save(rng.choice((
        left, {**arrays, f"{name}x": array}, {**left, name.upper(): array}, {**arrays, name: arrays[other]},
        {**arrays, name: array.astype(rng.choice(DTYPES))}, {**arrays, name: rng.choice(shapes)},
        *[{**arrays, name: odd}] * 3,
    )))  # fmt: skip
    data = mutate_bytes(data, rng) if rng.random() < 0.2 else data
    card = json.loads(files[CARD]) | {"weights_sha256": hashlib.sha256(data).hexdigest()}
    return {**files, WEIGHTS: data, CARD: dumped(card)}


# ---------------------------------------------------------------------- what is written and read


def data_set() -> Files:
    """The files of a data set."""
    with mock.patch.object(making, "CHUNK", 2):
        make_data(DataSettings(agent="random", rules=RULES, games=3, out=scratch() / "data"))
    return {name: data for name, data in files_of(scratch() / "data").items() if not name.startswith(".")}


def read_data(folder: Path) -> Arrays:
    """Return all rows of a data set, as batches have them."""
    parts = list(load(folder).batches(1000))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def model_files() -> Files:
    """The files of a model."""
    model()
    return files_of(scratch() / "model")


def use_model(folder: Path) -> Arrays:
    """Load a model, let it act, and return its weights."""
    arrays, card = load_model(folder)
    rules = Rules.parse(card["rules"])
    engine = Engine(rules, 4, seed=3)
    agent = LearnedAgent(Weights.of(arrays), rules, "it", solver=False)
    for _ in range(3):
        engine.step(agent.act(engine.observation, engine.action_mask))
        assert np.isfinite(agent.logits(engine.observation, engine.action_mask)).all()
    return arrays


def read_score_and_board(folder: Path) -> dict[str, Any]:
    """Read a score, and a board of it; return what it says."""
    with tiny_protocol():
        make_board(folder)
        score = read_score(folder / SCORE)
    assert all(np.isfinite(table.interval).all() for table in score.tables.values())
    return score.model_dump()


def resume(folder: Path) -> dict[str, Any]:
    """Do what a run lacks, or all of it."""
    tasks = [Task(f"{number}", half, {"number": number}) for number in range(8)]
    with open_run(folder, Header("sum", {"of": 8}, {})) as run:
        return run.do_all(tasks)


def stopped_run() -> Files:
    """The journal of a run of which the last tasks are missing."""
    resume(scratch() / "sum")
    lines = (scratch() / "sum" / JOURNAL).read_bytes().splitlines(keepends=True)
    return {JOURNAL: b"".join(lines[:6])}


class Kind(NamedTuple):
    """A kind of folder: its files, how they are damaged, what reads them, and what holds of what is read of them."""

    files: Callable[[], Files]
    damage: Callable[[Files, random.Random], Files]
    read: Callable[[Path], Any]
    holds: Callable[[Any, Any, Files], bool] = equal  # of what is read of damaged files, of right ones, and the damaged


KINDS = {
    "checkpoint": Kind(lambda: {CHECKPOINT: checkpoint()}, any_file, lambda folder: read_checkpoint(folder)[1:]),
    "data set": Kind(data_set, any_file, read_data),
    "signed data set": Kind(data_set, signed_rows, read_data, lambda found, right, _: found.keys() == right.keys()),
    "model": Kind(model_files, any_file, lambda folder: load_model(folder)[0]),
    "signed model": Kind(
        model_files, signed_weights, use_model,
        lambda found, _, files: equal(found, safetensors.numpy.load(files[WEIGHTS])),
    ),
    "score": Kind(lambda: {SCORE: scores()[1]}, any_file, read_score_and_board),
    "signed score": Kind(lambda: {SCORE: scores()[2]}, signed_score, read_score_and_board, lambda *_: True),
    "run": Kind(stopped_run, any_file, resume),
}  # fmt: skip


def written(folder: Path, files: Files) -> Path:
    """Return a new folder of some files."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


@cache
def right_files(name: str) -> tuple[Files, Any]:
    """The files of a kind, and what is read of them."""
    files = KINDS[name].files()
    return files, KINDS[name].read(written(scratch() / "right", files))


@pytest.mark.few(3)
@pytest.mark.parametrize("name", KINDS)
@fuzz(share=2, rng=seeded)
def test_damaged_files_give_what_was_written_or_are_refused_and_stay_as_they_are(name: str, rng: random.Random) -> None:
    kind, folder, (files, right) = KINDS[name], scratch() / "damaged", right_files(name)
    other = kind.damage(files, rng) if rng.random() < 0.9 else files
    found = attempt(partial(kind.read, written(folder, other)), other)
    if found is REFUSED:
        assert {name: data for name, data in files_of(folder).items() if not name.startswith(".")} == other
    else:
        assert kind.holds(found, right, other), other
