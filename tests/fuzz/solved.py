"""Fuzzers of what exact solving keeps: strategies, and the deals of a solve that was stopped."""

from __future__ import annotations

import random
from collections import Counter
from functools import lru_cache, partial

import numpy as np
from support.fuzzing import REFUSED, Fuzzer, Tally, attempt
from support.small_files import in_order, scratch

from fuzz.files import changed_bytes
from krypenv import Rules
from krypenv.agents.solved import FACTS, STRATEGY, load_strategy
from krypenv.training.research.exact.resuming import KEPT, Kept
from krypenv.training.research.exact.solving import Solved, blank, solve
from krypenv.training.research.exact.strategies import save

SWEEP = Rules.preset("mini-sweep")


@lru_cache(1)
def solved() -> Solved:
    """An equilibrium of mini-sweep, kept and saved."""
    found = solve(SWEEP, sees=True, keep=Kept(scratch() / "kept", SWEEP, 1e-4, 20_000))
    save(scratch() / "strategy", found)
    return found


def fuzz_strategy(seed: int, mutants: int) -> Tally:
    """A strategy is what was saved, whatever its facts say, or it is refused."""
    rng, tally = random.Random(seed), Counter()
    solved()
    folder = scratch() / "strategy"
    good = {name: (folder / name).read_bytes() for name in (FACTS, STRATEGY)}
    strategy, _ = load_strategy(folder)
    for _ in range(mutants):
        name = rng.choice((FACTS, STRATEGY))
        (folder / name).write_bytes(changed_bytes(good[name], rng))
        found = attempt(partial(load_strategy, folder), tally, name)
        if found is not REFUSED:
            assert all(np.array_equal(mine, its) for mine, its in zip(found[0], strategy, strict=True))
        (folder / name).write_bytes(good[name])
    return tally


def fuzz_kept_deals(seed: int, mutants: int) -> Tally:
    """The deals that a solve goes on from are those that were kept, or they are refused."""
    rng, tally = random.Random(seed), Counter()
    game = solved()
    kept = Kept(scratch() / "kept", SWEEP, 1e-4, 20_000)
    path = kept.path(0)
    good = in_order(path.read_bytes())
    for _ in range(mutants):
        path.write_bytes(changed_bytes(good, rng))
        solution = blank(game.trees.forests[0])
        found = attempt(partial(kept.read, 0, solution), tally, path.read_bytes())
        if found is not REFUSED:
            assert found == len(solution.values)
            for name in KEPT[:-1]:
                assert np.array_equal(getattr(solution, name), getattr(game.solutions[0], name))
    path.write_bytes(good)
    return tally


FUZZERS: dict[str, Fuzzer] = {"strategy": fuzz_strategy, "kept_deals": fuzz_kept_deals}
