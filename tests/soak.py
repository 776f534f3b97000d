"""The long run of all fuzzers and of the plies with every invariant: `make soak`. Prints what each came to.

A fault ends it with the seed that makes it again.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed

ROUND = 250  # mutants of one seed


def run(name: str, seed: int, mutants: int) -> tuple[str, float, Counter[str]]:
    """Run a fuzzer with one seed; return its name, the seconds that it took, and its tally."""
    from fuzzing import watchdog
    from test_fuzz import FUZZERS

    began = time.perf_counter()
    try:
        with watchdog(600):
            tally = FUZZERS[name](seed, mutants)
    except BaseException as error:
        raise RuntimeError(f"{name} with seed {seed} and {mutants} mutants: {error}") from error
    return name, time.perf_counter() - began, tally


def main() -> None:
    """Run all fuzzers in turn until there were so many mutants."""
    from test_fuzz import FUZZERS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="fuzzers whose name holds this")
    given = parser.parse_args()
    names = [name for name in FUZZERS if given.only in name]
    each = -(-given.mutants // (len(names) * ROUND))
    tasks = [(name, given.seed + number, ROUND) for number in range(each) for name in names]
    seconds: Counter[str] = Counter()
    totals: dict[str, Counter[str]] = {name: Counter() for name in names}
    began = time.perf_counter()
    with ProcessPoolExecutor(given.workers, multiprocessing.get_context("spawn")) as pool:
        for number, future in enumerate(as_completed([pool.submit(run, *task) for task in tasks]), 1):
            name, took, tally = future.result()
            seconds[name] += took
            totals[name] += tally
            if number % 200 == 0:
                print(f"{number} of {len(tasks)} rounds, {time.perf_counter() - began:.0f} s", flush=True)
    for name in names:
        print(f"{name}: {dict(totals[name])}, {seconds[name]:.0f} s")
    print(f"{len(tasks) * ROUND:,} mutants in {time.perf_counter() - began:.0f} s, no fault")


if __name__ == "__main__":
    main()
