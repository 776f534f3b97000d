"""Fuzzers of files that are read back: whatever is changed in them, they give what they were or one sentence."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from fuzzing import REFUSED, Fuzzer, Tally, attempt, mutate_bytes, mutate_json, mutate_text
from small_files import PLAN, RULES, arenas, checkpoint, demonstrations, dumped, model, scratch, without_checksums

from krypenv import Rules
from krypenv.agents.neural.inference import Weights
from krypenv.agents.neural.learned import LearnedAgent
from krypenv.agents.neural.model_file import CARD, WEIGHTS, load_model
from krypenv.agents.neural.network import Arrays
from krypenv.engine import Engine
from krypenv.training.arena.arena import ArenaSettings
from krypenv.training.arena.result_lines import encode
from krypenv.training.arena.results import FILE, read_header, read_results
from krypenv.training.experiments.ablation import RESULT, _read_result
from krypenv.training.experiments.model_card import _exploit, _made
from krypenv.training.imitation.demonstrations import INDEX, file_of, read_demonstrations, read_index
from krypenv.training.selfplay.checkpoint import encode_checkpoint, parse_checkpoint
from krypenv.training.selfplay.settings import Settings


def changed_bytes(data: bytes, rng: random.Random) -> bytes:
    """Bytes, or the text that they are, with something changed."""
    if rng.random() < 0.5:
        return mutate_bytes(data, rng)
    return mutate_text(data.decode("utf-8", "replace"), rng).encode("utf-8", "surrogatepass")


# ---------------------------------------------------------------------- an arena


def change_lines(data: bytes, others: list[bytes], rng: random.Random, sign: bool = True) -> tuple[bytes, bool]:
    """Change the lines of a file, also to those of others; return them and whether one was changed and signed again."""
    lines = data.split(b"\n")[:-1]
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(8)
    if kind == 0:
        lines.insert(other, lines[at])
    elif kind == 1:
        lines[at], lines[other] = lines[other], lines[at]
    elif kind == 2:
        del lines[at : at + rng.choice((1, 1, 3))]
    elif kind == 3:
        strange = rng.choice(others).split(b"\n")[:-1]
        lines[at] = rng.choice(strange)
    elif kind == 4:
        return changed_bytes(data, rng), False
    else:
        signed = sign and rng.random() < 0.7
        values = json.loads(lines[at])
        changed = mutate_json(values, rng)
        if signed and isinstance(changed, dict):
            try:
                lines[at] = encode(changed)[:-1]
            except ValueError:  # no number in JSON
                lines[at] = dumped(changed)
        else:
            lines[at] = dumped(changed)
        return b"\n".join(lines) + b"\n", signed
    return b"\n".join(lines) + b"\n", False


def figures(results: Any) -> dict[Any, Any]:
    """What results say of each chunk."""
    return {
        place: (block.deal.tolist(), block.agents.tolist(), block.scores.tolist(), block.forfeit.tolist())
        for place, block in results.blocks.items()
    }


def fuzz_arena(seed: int, mutants: int) -> Tally:
    """A changed line is told; what is read is what was there, or a part of it by whole chunks."""
    rng, tally = random.Random(seed), Counter()
    folder = scratch() / "arena"
    folder.mkdir(exist_ok=True)
    for number in range(mutants):
        home, good = arenas()[number % len(arenas())]
        is_old = rng.random() < 0.3
        others = [lines for _, lines in arenas()]
        data, signed = change_lines(without_checksums(good) if is_old else good, others, rng)
        (folder / FILE).write_bytes(data)

        def read() -> Any:
            results = read_results(folder)
            ArenaSettings.of_folder(folder)
            return results, results.games() if results.blocks else None

        found = attempt(read, tally, data)
        if found is not REFUSED and not signed and not is_old:
            there, whole = figures(found[0]), figures(read_results(home))
            assert all(whole.get(place) == block for place, block in there.items()), f"other figures: {data!r}"
            if there:  # a header alone can lose its checksum unseen
                assert found[0].header == {**read_header(home), "machine": found[0].header["machine"]}
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
    _made(folder, card)
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
            _made(folder, found[1])
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


# ---------------------------------------------------------------------- a checkpoint


def fuzz_checkpoint_bytes(seed: int, mutants: int) -> Tally:
    """Any changed byte is told."""
    rng, tally = random.Random(seed), Counter()
    data, arrays, texts = checkpoint()
    for _ in range(mutants):
        changed = mutate_bytes(data, rng)
        found = attempt(partial(parse_checkpoint, changed), tally, "bytes")
        if found is not REFUSED:
            same_arrays(found.arrays, arrays)
            assert found.progress == json.loads(texts["progress"])
    return tally


def fuzz_checkpoint_tensors(seed: int, mutants: int) -> Tally:
    """Tensors that a run can't go on with are told, in a checkpoint that is whole otherwise."""
    rng, tally = random.Random(seed), Counter()
    _, arrays, texts = checkpoint()
    for _ in range(mutants):
        changed = change_arrays(arrays, rng)
        data = encode_checkpoint(changed, texts)
        found = attempt(partial(parse_checkpoint, data), tally, {name: each.shape for name, each in changed.items()})
        if found is not REFUSED:
            same_arrays(found.arrays, changed)
    return tally


def fuzz_checkpoint_progress(seed: int, mutants: int) -> Tally:
    """Values that a run can't go on with are told, in a checkpoint that is whole otherwise."""
    rng, tally = random.Random(seed), Counter()
    _, arrays, texts = checkpoint()
    progress = json.loads(texts["progress"])
    for _ in range(mutants):
        changed = dict(texts)
        if rng.random() < 0.8:
            changed["progress"] = json.dumps(mutate_json(progress, rng))
        else:
            key = rng.choice(list(changed))
            changed[key] = mutate_text(changed[key], rng).encode("utf-8", "replace").decode()
        data = encode_checkpoint(arrays, changed)
        found = attempt(partial(parse_checkpoint, data), tally, changed)
        if found is not REFUSED:
            assert json.loads(json.dumps(found.progress)) == json.loads(changed["progress"])
            assert Settings.from_json(found.progress["settings"]) == found.settings
            same_arrays(found.arrays, arrays)
    return tally


# ---------------------------------------------------------------------- demonstrations


def fuzz_demonstration_index(seed: int, mutants: int) -> Tally:
    """A plan that is read is one that can be carried out."""
    rng, tally = random.Random(seed), Counter()
    good = json.loads((demonstrations() / INDEX).read_text())
    folder = scratch() / "index"
    folder.mkdir(exist_ok=True)
    for _ in range(mutants):
        data = changed_bytes(dumped(good, 2), rng) if rng.random() < 0.4 else dumped(mutate_json(good, rng))
        (folder / INDEX).write_bytes(data)
        found = attempt(lambda: read_index(folder), tally, data)
        if found is not REFUSED:
            assert {"format": 1, **found.__dict__} == json.loads(data)
    return tally


def change_demonstrations(rng: random.Random) -> dict[str, np.ndarray]:
    """The arrays of a file of demonstrations with something changed in them."""
    with np.load(file_of(demonstrations(), 0)) as file:
        arrays = {name: file[name].copy() for name in file.files}
    name = rng.choice(list(arrays))
    array = arrays[name]
    kind = rng.randrange(7)
    if kind == 0:
        del arrays[name]
    elif kind == 1:
        arrays[name] = array.astype(
            rng.choice(["u1", "i8", "f2", "f4", "f8", "c16", "U3", "?", ">f2", ">i4", "M8[s]", "S2"])
        )
    elif kind == 2:
        arrays[name] = rng.choice([array[:-1], array[1:], array[:0], array[None], array.reshape(-1, 1), array[0]])
    elif kind == 3:
        arrays[name] = np.append(array, array[:1])
    elif kind == 4:
        arrays["values"][rng.randrange(len(arrays["values"]))] = rng.choice([np.nan, np.inf, -np.inf, 60000, 1, -1])
    elif kind == 5:
        arrays["values"][:] = rng.choice([np.nan, np.inf, -np.inf, 0])
    else:
        arrays["actions"][rng.randrange(len(arrays["actions"]))] = rng.randrange(256)
    return arrays


def fuzz_demonstration_file(seed: int, mutants: int) -> Tally:
    """A file of demonstrations gives what was in it, of whole games; or it is refused."""
    rng, tally = random.Random(seed), Counter()
    good = [file_of(demonstrations(), number).read_bytes() for number in (0, 1)]
    whole = read_demonstrations(demonstrations(), PLAN, 0, 0.9)
    folder = scratch() / "demonstration"
    folder.mkdir(exist_ok=True)
    for _ in range(mutants):
        kind, arrays = rng.randrange(10), None
        if kind == 0:
            file_of(folder, 0).write_bytes(good[1])
        elif kind < 5:
            file_of(folder, 0).write_bytes(mutate_bytes(good[0], rng))
        else:
            arrays = change_demonstrations(rng)
            np.savez_compressed(file_of(folder, 0), **arrays)
        found = attempt(lambda: read_demonstrations(folder, PLAN, 0, 0.9), tally, arrays)
        if found is REFUSED:
            continue
        if arrays is None:
            assert np.array_equal(found.values, whole.values)
            assert np.array_equal(found.observations, whole.observations)
        else:
            assert np.array_equal(found.values, arrays["values"].astype(np.float32))
            assert np.isfinite(
                np.maximum.reduceat(found.values, np.cumsum(found.features.counts) - found.features.counts)
            ).all()
    return tally


# ---------------------------------------------------------------------- figures


def fuzz_figures(seed: int, mutants: int) -> Tally:
    """What `exploit --json` wrote, as a card reads it, and what an ablation keeps of a run."""
    rng, tally = random.Random(seed), Counter()
    exploiter = {
        "kind": "policy-aware search", "name": "with greedy", "budget": "1 world", "seconds": 1.0, "margin": 2.5,
        "low": 1.0, "high": 4.0,
    }  # fmt: skip
    found = {
        "agent": "greedy", "rules": RULES, "seed": 0, "exploiters": [exploiter, {**exploiter, "low": None}],
        "best": 0, "margin": 2.0, "low": 1.0, "high": 3.0, "selection": "2 deals", "measured": "3 deals",
    }  # fmt: skip
    goods = [
        {"exploit": found, "settings": {}, "command": "x"},
        {"deals": 3, "margins": {"greedy": 1.5, "random": 2.0}},
    ]
    path = scratch() / RESULT
    for _ in range(mutants):
        at = rng.randrange(2)
        data = changed_bytes(dumped(goods[at], 2), rng) if rng.random() < 0.4 else dumped(mutate_json(goods[at], rng))
        path.write_bytes(data)
        read: list[Callable[[], Any]] = [lambda: _exploit(path), lambda: _read_result(path.parent)]
        result = attempt(read[at], tally, data)
        if result is not REFUSED and at == 1:
            assert result == json.loads(data)
    return tally


FUZZERS: dict[str, Fuzzer] = {
    "arena": fuzz_arena,
    "model_card": fuzz_model_card,
    "model_weights": fuzz_model_weights,
    "checkpoint_bytes": fuzz_checkpoint_bytes,
    "checkpoint_tensors": fuzz_checkpoint_tensors,
    "checkpoint_progress": fuzz_checkpoint_progress,
    "demonstration_index": fuzz_demonstration_index,
    "demonstration_file": fuzz_demonstration_file,
    "figures": fuzz_figures,
}
