"""The long run of all fuzzers and of the plies with every invariant: `make soak`. Prints what each came to.

A fault ends it with the seed that makes it again.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

ROUND = 250  # mutants of one seed
GAMES = 4096  # at once, where plies are played
# Mutants that a fuzzer gets for one of the others: text costs little, what trains, rates or runs a command much.
SHARES = {
    "fuzz_text": 4.0, "arena_games": 0.2, "command_lines": 0.2, "checkpoint_tensors": 0.2, "checkpoint_progress": 0.2,
    "model_weights": 0.2, "game_states": 0.2, "fuzz_games.rules": 0.2,
}  # fmt: skip


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


def play(text: str, seed: int, plies: int) -> tuple[str, float, Counter[str]]:
    """Play so many random plies by some rules, and check every invariant after each; return what `run` does.

    Some of the games are completed anew from what a seat sees of them, after each step those of another seat.
    """
    import numpy as np
    from fuzz_games import PLAYABLE
    from support import seen_by

    from krypenv import Engine, determinize
    from krypenv.worlds.invariants import check_state

    began = time.perf_counter()
    engine = Engine(PLAYABLE[text], GAMES, seed=seed)
    for step in range(-(-plies // GAMES)):
        engine.step(engine.sample_actions())
        check_state(engine.rules, engine.state)
        if step % 50 == 0:
            seat = step // 50 % engine.rules.players
            determinize(seen_by(engine, np.full(GAMES, seat)), step, engine.rules)
    done = -(-plies // GAMES) * GAMES
    return f"plies of {text}", time.perf_counter() - began, Counter(right=done)


def main() -> None:
    """Run all fuzzers in turn until there were so many mutants, and play so many plies."""
    from fuzz_games import PLAYABLE
    from test_fuzz import FUZZERS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=1_000_000)
    parser.add_argument("--plies", type=int, default=100_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="fuzzers and plies whose name holds this")
    given = parser.parse_args()
    names = [name for name in FUZZERS if given.only in name]
    texts = [text for text in PLAYABLE if given.only in f"plies of {text}"]
    shares = {name: next((share for part, share in SHARES.items() if part in name), 1.0) for name in names}
    rounds = {name: math.ceil(given.mutants * shares[name] / sum(shares.values()) / ROUND) for name in names}
    tasks: list[tuple[Any, ...]] = [(play, text, given.seed, -(-given.plies // len(texts))) for text in texts]
    tasks += [
        (run, name, given.seed + number, ROUND)
        for number in range(max(rounds.values(), default=0))
        for name in names
        if number < rounds[name]
    ]
    seconds: Counter[str] = Counter()
    totals: dict[str, Counter[str]] = {}
    began = time.perf_counter()
    pool = ProcessPoolExecutor(given.workers, multiprocessing.get_context("spawn"))
    try:
        for number, future in enumerate(as_completed([pool.submit(*task) for task in tasks]), 1):
            name, took, tally = future.result()
            seconds[name] += took
            totals[name] = totals.get(name, Counter()) + tally
            if number % 50 == 0:
                print(f"{number} of {len(tasks)} rounds, {time.perf_counter() - began:.0f} s", flush=True)
    finally:
        pool.shutdown(cancel_futures=True)  # a fault ends it at once
    for name in sorted(totals):
        print(f"{name}: {dict(totals[name])}, {seconds[name]:.0f} s")
    plies = sum(totals[name].total() for name in totals if name.startswith("plies of "))
    mutants = sum(totals[name]["right"] + totals[name]["refused"] for name in names if name in totals)
    print(f"{plies:,} plies and {mutants:,} mutants in {time.perf_counter() - began:.0f} s, no fault")


if __name__ == "__main__":
    main()
