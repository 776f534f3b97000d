"""Fuzzers of files that are read back: whatever is changed in them, they give what they were or one sentence."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import safetensors.numpy
from support.fuzzing import REFUSED, Fuzzer, Tally, attempt, mutate_bytes, mutate_json, mutate_text
from support.small_files import PLAN, arenas, checkpoint, demonstrations, dumped, model, scratch

from krypenv import Rules
from krypenv.agents.neural.inference import Weights
from krypenv.agents.neural.learned import LearnedAgent
from krypenv.agents.neural.model_file import CARD, WEIGHTS, load_model
from krypenv.agents.neural.network import Arrays
from krypenv.engine import Engine
from krypenv.training.evaluation.arena.arena import ArenaSettings
from krypenv.training.evaluation.arena.games import Games
from krypenv.training.evaluation.arena.stored_games import chunks_of, games_of, read_results
from krypenv.training.learn.imitation.demonstrations import file_of, read_demonstrations
from krypenv.training.learn.selfplay.checkpoint import CHECKPOINT, read_checkpoint
from krypenv.training.runs.journal import JOURNAL, Journal


def changed_bytes(data: bytes, rng: random.Random) -> bytes:
    """Bytes, or the text that they are, with something changed."""
    if rng.random() < 0.5:
        return mutate_bytes(data, rng)
    return mutate_text(data.decode("utf-8", "replace"), rng).encode("utf-8", "surrogatepass")


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


def fuzz_arena(seed: int, mutants: int) -> Tally:
    """A changed line is told; what is read is what was there, or a part of it by whole chunks."""
    rng, tally = random.Random(seed), Counter()
    folder = scratch() / "arena"
    folder.mkdir(exist_ok=True)

    def read() -> tuple[Journal, Games | None]:
        journal = read_results(folder)
        ArenaSettings.of_folder(folder)
        return journal, games_of(*journal) if journal.results else None

    for number in range(mutants):
        home, good = arenas()[number % len(arenas())]
        data = change_lines(good, rng)
        (folder / JOURNAL).write_bytes(data)
        found = attempt(read, tally, data)
        if found is not REFUSED:
            there, whole = found[0], read_results(home)
            assert there.header == whole.header
            chunks = chunks_of(whole.results)
            for place, chunk in chunks_of(there.results).items():
                assert chunk == chunks[place], f"other games: {data!r}"
    return tally


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


def fuzz_model_card(seed: int, mutants: int) -> Tally:
    """Whatever is in model.json, the model that is loaded has the weights that were saved."""
    rng, tally = random.Random(seed), Counter()
    weights, card = model()
    folder = scratch() / "model"
    good = dumped(card, 2)
    for _ in range(mutants):
        data = changed_bytes(good, rng) if rng.random() < 0.4 else dumped(mutate_json(card, rng), 2)
        (folder / CARD).write_bytes(data)
        found = attempt(lambda: load_model(folder), tally, data)
        if found is not REFUSED:
            same_arrays(found[0], weights)
    (folder / CARD).write_bytes(good)
    return tally


def same_arrays(found: Arrays, arrays: Arrays) -> None:
    """Assert that what was read is what was written."""
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert np.array_equal(found[name], array)


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


def fuzz_model_weights(seed: int, mutants: int) -> Tally:
    """Weights are as they are in the file, fit, and come to finite numbers; or they are refused."""
    rng, tally = random.Random(seed), Counter()
    weights, card = model()
    folder = scratch() / "weights"
    folder.mkdir(exist_ok=True)
    for _ in range(mutants):
        changed = change_arrays(weights, rng)
        data = safetensors.numpy.save(changed)
        if rng.random() < 0.3:
            data = mutate_bytes(data, rng)
        (folder / WEIGHTS).write_bytes(data)
        right = hashlib.sha256(data).hexdigest()
        (folder / CARD).write_bytes(dumped({**card, "weights_sha256": right}))
        found = attempt(lambda: use_model(folder), tally, {name: each.shape for name, each in changed.items()})
        if found is not REFUSED:
            same_arrays(found, safetensors.numpy.load(data))
    return tally


# ---------------------------------------------------------------------- artifacts


def fuzz_checkpoint(seed: int, mutants: int) -> Tally:
    """Any changed byte is told."""
    rng, tally = random.Random(seed), Counter()
    good, folder = checkpoint(), scratch() / "checkpoint"
    folder.mkdir(exist_ok=True)
    path = folder / CHECKPOINT
    path.write_bytes(good)
    right = read_checkpoint(folder)
    for _ in range(mutants):
        path.write_bytes(mutate_bytes(good, rng))
        found = attempt(partial(read_checkpoint, folder), tally, "bytes")
        if found is not REFUSED:
            same_arrays(found.arrays, right.arrays)
            assert found.progress == right.progress
    return tally


def fuzz_demonstrations(seed: int, mutants: int) -> Tally:
    """Any changed byte is told."""
    rng, tally = random.Random(seed), Counter()
    good = (demonstrations() / file_of(0)).read_bytes()
    right = read_demonstrations(demonstrations(), PLAN, 0, 0.9)
    folder = scratch() / "changed demonstrations"
    folder.mkdir(exist_ok=True)
    for _ in range(mutants):
        (folder / file_of(0)).write_bytes(mutate_bytes(good, rng))
        found = attempt(lambda: read_demonstrations(folder, PLAN, 0, 0.9), tally, "bytes")
        if found is not REFUSED:
            assert np.array_equal(found.values, right.values)
            assert np.array_equal(found.observations, right.observations)
    return tally


FUZZERS: dict[str, Fuzzer] = {
    "arena": fuzz_arena,
    "model_card": fuzz_model_card,
    "model_weights": fuzz_model_weights,
    "checkpoint": fuzz_checkpoint,
    "demonstrations": fuzz_demonstrations,
}
