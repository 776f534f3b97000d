"""Fuzzers of data sets: whatever is changed in the card or in a file, the rows are those that were written, or none."""

from __future__ import annotations

import functools
import hashlib
import json
import random
from collections import Counter
from pathlib import Path
from unittest import mock

import numpy as np
from support.fuzzing import REFUSED, Fuzzer, Tally, attempt, mutate_bytes, mutate_json
from support.small_files import RULES, scratch

from krypenv.training.data import DataSettings, load, make_data, making
from krypenv.training.data.card import CARD, write_card
from krypenv.training.data.reading import Arrays


@functools.cache
def made() -> tuple[Path, Arrays]:
    """A data set of two files, and its rows."""
    folder = scratch() / "data"
    with mock.patch.object(making, "CHUNK", 2):
        make_data(DataSettings.of(agent="random", rules=RULES, games=3, out=folder))
    return folder, load(folder).arrays()


def read(folder: Path) -> Arrays:
    """All rows, as batches have them."""
    parts = list(load(folder).batches(1000))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def same(found: Arrays) -> bool:
    """Whether rows are those that were written."""
    right = made()[1]
    return found.keys() == right.keys() and all(np.array_equal(found[name], right[name]) for name in right)


def fuzz_card(seed: int, mutants: int) -> Tally:
    """A changed card is told; with a right digest, what it says of the columns is true."""
    rng, tally = random.Random(seed), Counter()
    folder = made()[0]
    good = (folder / CARD).read_bytes()
    try:
        for _ in range(mutants):
            changed = mutate_json(json.loads(good), rng)
            if rng.random() < 0.3:
                (folder / CARD).write_bytes(mutate_bytes(good, rng))
            elif isinstance(changed, dict) and rng.random() < 0.5:
                write_card(folder, {key: value for key, value in changed.items() if key != "sha256"})
            else:
                (folder / CARD).write_text(json.dumps(changed), encoding="utf-8")
            found = attempt(lambda: read(folder), tally, changed)
            assert found is REFUSED or found.keys() == made()[1].keys()
    finally:
        (folder / CARD).write_bytes(good)
    return tally


def fuzz_rows(seed: int, mutants: int) -> Tally:
    """Any changed byte of a file is told, even where the card has its digest."""
    rng, tally = random.Random(seed), Counter()
    folder = made()[0]
    path = folder / "games-00000.parquet"
    good, card = path.read_bytes(), json.loads((folder / CARD).read_bytes())
    try:
        for _ in range(mutants):
            data = mutate_bytes(good, rng)
            path.write_bytes(data)
            is_told = rng.random() < 0.5
            if is_told:
                file = {**card["files"][0], "sha256": hashlib.sha256(data).hexdigest()}
                facts = {key: value for key, value in card.items() if key != "sha256"}
                write_card(folder, {**facts, "files": [file, *card["files"][1:]]})
            found = attempt(lambda: read(folder), tally, "bytes")
            assert found is REFUSED or is_told or same(found)
            write_card(folder, {key: value for key, value in card.items() if key != "sha256"})
    finally:
        path.write_bytes(good)
    return tally


FUZZERS: dict[str, Fuzzer] = {"card": fuzz_card, "rows": fuzz_rows}
