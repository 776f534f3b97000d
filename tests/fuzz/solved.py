"""Fuzzer of the strategies that exact solving saves."""

from __future__ import annotations

import random
from collections import Counter
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
from support.fuzzing import REFUSED, Fuzzer, Tally, attempt
from support.small_files import scratch

from fuzz.files import changed_bytes
from krypenv import Rules
from krypenv.agents.solved import STRATEGY, load_strategy
from krypenv.training.solving import save, solve


@lru_cache(1)
def solved() -> Path:
    """The folder of an equilibrium of mini-sweep."""
    return save(scratch() / "strategy", solve(Rules.preset("mini-sweep"), sees=True))


def fuzz_strategy(seed: int, mutants: int) -> Tally:
    """A strategy is what was saved, or it is refused."""
    rng, tally = random.Random(seed), Counter()
    path = solved() / STRATEGY
    good = path.read_bytes()
    strategy, facts = load_strategy(solved())
    for _ in range(mutants):
        path.write_bytes(changed_bytes(good, rng))
        found = attempt(partial(load_strategy, solved()), tally, path.read_bytes())
        if found is not REFUSED:
            assert found[1] == facts
            assert all(np.array_equal(mine, its) for mine, its in zip(found[0], strategy, strict=True))
    path.write_bytes(good)
    return tally


FUZZERS: dict[str, Fuzzer] = {"strategy": fuzz_strategy}
