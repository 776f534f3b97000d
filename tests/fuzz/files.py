"""Fuzzers of files that are read back: whatever is changed in them, they give what they were or one sentence."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import safetensors.numpy
from hypothesis import strategies as st
from support.fuzzing import REFUSED, Tally, attempt, fuzzer, mutate_bytes, mutate_json, mutate_text, seeded
from support.small_files import RULES, arenas, checkpoint, dumped, model, scratch

from krypenv import Rules
from krypenv.agents.neural.inference import Weights
from krypenv.agents.neural.learned import LearnedAgent
from krypenv.agents.neural.model_file import CARD, WEIGHTS, load_model
from krypenv.agents.neural.network import Arrays
from krypenv.engine import Engine
from krypenv.training.data import DataSettings, card as data_card, load, make_data, making
from krypenv.training.evaluation.arena.games import chunks_of, games_of
from krypenv.training.learn.run import CHECKPOINT, read_checkpoint
from krypenv.training.runs.journal import JOURNAL, Journal, read_journal


def changed_bytes(data: bytes, rng: random.Random) -> bytes:
    """Bytes, or the text that they are, with something changed."""
    if rng.random() < 0.5:
        return mutate_bytes(data, rng)
    return mutate_text(data.decode("utf-8", "replace"), rng).encode("utf-8", "surrogatepass")


def equal(found: Any, right: Any) -> bool:
    """Whether what was read is what was written: plain values, arrays and their types, and whatever is made of them."""
    if isinstance(right, np.ndarray):
        return found.dtype == right.dtype and np.array_equal(found, right)
    if isinstance(right, dict):
        return found.keys() == right.keys() and all(equal(found[name], right[name]) for name in right)
    if isinstance(right, tuple):
        return len(found) == len(right) and all(map(equal, found, right))
    return found == right


# ---------------------------------------------------------------------- files with a digest


class Kept(NamedTuple):
    """A file, and what reads it."""

    path: Path
    good: bytes
    read: Callable[[], Any]
    right: Any


def kept(folder: Path, name: str, read: Callable[[], Any]) -> Kept:
    """Return a file of a folder as it is now, and what is read of it."""
    return Kept(folder / name, (folder / name).read_bytes(), read, read())


@cache
def a_checkpoint() -> Kept:
    """The checkpoint of a run: an artifact, as strategies are."""
    folder = scratch() / "checkpoint"
    folder.mkdir()
    (folder / CHECKPOINT).write_bytes(checkpoint())
    return kept(folder, CHECKPOINT, lambda: read_checkpoint(folder)[1:])


def read_data(folder: Path) -> Arrays:
    """Return all rows of a data set, as batches have them."""
    parts = list(load(folder).batches(1000))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


@cache
def a_data_set() -> Path:
    """The folder of a data set of two files."""
    folder = scratch() / "data"
    with mock.patch.object(making, "CHUNK", 2):
        make_data(DataSettings(agent="random", rules=RULES, games=3, out=folder))
    return folder


@cache
def some_rows() -> Kept:
    """A file of a data set."""
    return kept(a_data_set(), "games-00000.parquet", partial(read_data, a_data_set()))


@fuzzer(share=2, of=st.sampled_from((a_checkpoint, some_rows)), rng=seeded)
def digests(tally: Tally, of: Callable[[], Kept], rng: random.Random) -> None:
    """Any changed byte is told; one file in ten is as it was."""
    file = of()
    data = changed_bytes(file.good, rng) if rng.random() < 0.9 else file.good
    file.path.write_bytes(data)
    try:
        found = attempt(file.read, tally, "bytes")
    finally:
        file.path.write_bytes(file.good)
    assert found is REFUSED or equal(found, file.right)


# ---------------------------------------------------------------------- an arena


def change_lines(journal: bytes, rng: random.Random) -> bytes:
    """Change a journal: lines doubled, swapped or lost, values without a checksum of their own, or any bytes."""
    lines = journal.split(b"\n")[:-1]
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(6)
    if kind == 0:
        lines.insert(other, lines[at])
    elif kind == 1:
        lines[at], lines[other] = lines[other], lines[at]
    elif kind == 2:
        del lines[at : at + rng.choice((1, 1, 3))]
    elif kind == 3:
        return changed_bytes(journal, rng)
    else:
        changed = mutate_json(json.loads(lines[at]), rng)
        lines[at] = json.dumps(changed, separators=(",", ":")).encode()
    return b"\n".join(lines) + b"\n"


@fuzzer(share=2, home=st.deferred(lambda: st.sampled_from(arenas())), rng=seeded)
def arena(tally: Tally, home: tuple[Path, bytes], rng: random.Random) -> None:
    """A changed line is told; what is read is what was there, or a part of it by whole chunks."""
    folder = scratch() / "arena"
    folder.mkdir(exist_ok=True)

    def read() -> Journal:
        journal = read_journal(folder, "arena")
        if journal.results:
            games_of(*journal)
        return journal

    data = change_lines(home[1], rng)
    (folder / JOURNAL).write_bytes(data)
    there = attempt(read, tally, data)
    if there is not REFUSED:
        whole = read_journal(home[0], "arena")
        assert there.header == whole.header
        chunks = chunks_of(whole.results)
        assert all(chunk == chunks[place] for place, chunk in chunks_of(there.results).items()), data


# ---------------------------------------------------------------------- a model


def use_model(folder: Path) -> Arrays:
    """Load a model, let it act, and return its weights."""
    arrays, card = load_model(folder)
    rules = Rules.parse(card["rules"])
    engine = Engine(rules, 4, seed=3)
    agent = LearnedAgent(Weights.of(arrays), rules, "it", solver=False)
    for _ in range(3):
        engine.step(agent.act(engine.observation, engine.action_mask))
        assert np.isfinite(agent.evaluate(engine.observation, engine.action_mask)[1]).all()
    return arrays


@fuzzer(share=4, rng=seeded)
def model_card(tally: Tally, rng: random.Random) -> None:
    """Whatever is in model.json, the model that is loaded has the weights that were saved."""
    weights, card = model()
    path = scratch() / "model" / CARD
    good = dumped(card, 2)
    data = changed_bytes(good, rng) if rng.random() < 0.4 else dumped(mutate_json(card, rng), 2)
    path.write_bytes(data)
    try:
        found = attempt(lambda: load_model(path.parent), tally, data)
    finally:
        path.write_bytes(good)
    assert found is REFUSED or equal(found[0], weights)


DTYPES = ("float64", "float16", "int8", "uint8", "int16", "int32", "int64", "bool", "complex64")
STRANGE = (float("nan"), float("inf"), -float("inf"), 3e38, -3e38, 1e20, 1e9, -1.0, 0.0, 1e-45)


def change_arrays(arrays: Arrays, rng: random.Random) -> Arrays:
    """Arrays with one of them renamed, gone, doubled, of another shape or type, or with other numbers."""
    arrays = dict(arrays)
    name = rng.choice(list(arrays))
    array = arrays[name].copy()
    kind = rng.randrange(9)
    if kind == 0:
        del arrays[name]
    elif kind == 1:
        arrays[rng.choice(["", "x", name + "x", name.upper(), rng.choice(list(arrays)) + ".0"])] = array
    elif kind == 2:
        arrays[rng.choice(["x", name + "x"])] = arrays.pop(name)
    elif kind == 3:
        other = rng.choice(list(arrays))
        arrays[name], arrays[other] = arrays[other], array
    elif kind == 4:
        with np.errstate(all="ignore"):  # numbers that do not fit
            arrays[name] = array.astype(rng.choice(DTYPES))
    elif kind == 5:
        arrays[name] = rng.choice([array[None], array.reshape(-1), array[:0] if array.ndim else array[None]])
    elif kind == 6 and array.ndim:
        arrays[name] = np.concatenate([array, array[:1]])
    elif array.size:
        flat = array.reshape(-1)
        value = rng.choice(STRANGE if array.dtype.kind == "f" else (0, 1, 2, 3, 5, 100, 127))
        if array.dtype.kind == "f" and rng.random() < 0.3:
            flat[:] = value
        else:
            flat[rng.randrange(len(flat))] = value
        arrays[name] = flat.reshape(array.shape)
    return arrays


@fuzzer(share=4, rng=seeded)
def model_weights(tally: Tally, rng: random.Random) -> None:
    """Weights are as they are in the file, fit, and come to finite numbers; or they are refused."""
    weights, card = model()
    folder = scratch() / "weights"
    folder.mkdir(exist_ok=True)
    changed = change_arrays(weights, rng)
    data = safetensors.numpy.save(changed)
    if rng.random() < 0.3:
        data = mutate_bytes(data, rng)
    (folder / WEIGHTS).write_bytes(data)
    (folder / CARD).write_bytes(dumped({**card, "weights_sha256": hashlib.sha256(data).hexdigest()}))
    found = attempt(lambda: use_model(folder), tally, {name: each.shape for name, each in changed.items()})
    assert found is REFUSED or equal(found, safetensors.numpy.load(data))


# ---------------------------------------------------------------------- a data set with right digests


@fuzzer(share=4, rng=seeded)
def data_set(tally: Tally, rng: random.Random) -> None:
    """Whatever the card and the files hold, what is read has the columns that were written."""
    rows, path = some_rows(), a_data_set() / data_card.CARD
    good = path.read_bytes()
    card = json.loads(good)
    kind = rng.randrange(3)
    try:
        if kind == 0:
            path.write_bytes(mutate_bytes(good, rng))
        elif kind == 1:
            path.write_text(json.dumps(mutate_json(card, rng)), encoding="utf-8")
        else:
            rows.path.write_bytes(data := mutate_bytes(rows.good, rng))
            file = {**card["files"][0], "sha256": hashlib.sha256(data).hexdigest()}
            data_card.write_card(path.parent, {**card, "files": [file, *card["files"][1:]]})
        found = attempt(rows.read, tally, path.read_bytes())
    finally:
        path.write_bytes(good)
        rows.path.write_bytes(rows.good)
    assert found is REFUSED or found.keys() == rows.right.keys()
