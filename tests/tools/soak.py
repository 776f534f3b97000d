"""The long run of all fuzzers and of random play with every invariant: `make soak`. Prints what each came to.

A fault ends it with the seed that makes it again.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import math
import multiprocessing
import random
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from typing import Any

PLAYED = "random rules, played"
ROUND = 250  # mutants of one seed
SECONDS = 4.0  # of processor time after which slow rules are left, and others are played instead
# Mutants that a fuzzer gets for one of the others: text costs little, what trains, rates or runs a command much.
SHARES = {
    "text.": 4.0, "games.observations": 0.5, "arena_games": 0.2, "command_lines": 0.2, "checkpoint_tensors": 0.2,
    "checkpoint_progress": 0.2, "model_weights": 0.2, "game_states": 0.2, "games.rules": 0.2, "environments": 0.2,
    "openspiel.": 0.2, "threads.engines": 0.2, "beside_reference": 0.1, "play.": 0.1, "programs.": 0.1, "kills.": 0.02,
}  # fmt: skip
HANGS = 600.0  # seconds
Result = tuple[str, float, Counter[str]]  # a name, the seconds of processor time, and a tally
Task = tuple[Callable[..., Result], tuple[Any, ...]]


@contextlib.contextmanager
def watchdog() -> Iterator[None]:
    """End the whole process, with a traceback of what hangs, unless the block is over in time (in a kernel too)."""
    faulthandler.dump_traceback_later(HANGS, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def run(name: str, seed: int, mutants: int) -> Result:
    """Run a fuzzer with one seed."""
    from fuzz import every_fuzzer

    began = time.process_time()
    try:
        with watchdog():
            tally = every_fuzzer()[name](seed, mutants)
    except BaseException as error:
        raise RuntimeError(f"{name} with seed {seed} and {mutants} mutants: {error}") from error
    return name, time.process_time() - began, tally


def play(seed: int, plies: int) -> Result:
    """Play random rules, drawn from a seed, for so many plies with every invariant, or until they took too long."""
    from support.checked_play import CheckedPlay
    from support.random_rules import draw_rules

    began = time.process_time()
    rules = draw_rules(random.Random(seed))
    played = CheckedPlay(rules, seed)
    try:
        with watchdog():
            while played.plies < plies and time.process_time() - began < SECONDS:
                played.go_on()
    except BaseException as error:
        raise RuntimeError(f"random rules of seed {seed}, {rules}, ply {played.plies}: {error}") from error
    _, games, sessions = played.counts.tolist()
    tally = Counter(rules=1, plies=played.plies, games=games, sessions=sessions, left=max(0, plies - played.plies))
    return PLAYED, time.process_time() - began, tally


class Soak:
    """What is left to do, and what was done."""

    def __init__(self, names: list[str], mutants: int, plies: int, sets: int, first: int) -> None:
        shares = {name: next((share for part, share in SHARES.items() if part in name), 1.0) for name in names}
        rounds = {name: math.ceil(mutants * shares[name] / sum(shares.values()) / ROUND) for name in names}
        most = max(rounds.values(), default=0)
        self.rounds = [(name, first + turn, ROUND) for turn in range(most) for name in names if turn < rounds[name]]
        self.num_rounds = len(self.rounds)
        self.rounds.reverse()
        self.plies, self.left = plies, plies  # those of rule sets that were not begun yet
        self.each = math.ceil(plies / sets)
        self.seed = first
        self.seconds: Counter[str] = Counter()
        self.totals: dict[str, Counter[str]] = {}

    def next_task(self) -> Task | None:
        """Return what to do next, so that mutants and plies come to their end together; None if there is nothing."""
        if self.left > 0 and self.left * self.num_rounds >= self.plies * len(self.rounds):
            self.left -= self.each
            self.seed += 1
            return play, (self.seed - 1, self.each)
        return (run, self.rounds.pop()) if self.rounds else None

    def add(self, name: str, took: float, tally: Counter[str]) -> None:
        """Add what a task came to; the plies that slow rules have left are played by others."""
        self.seconds[name] += took
        self.totals[name] = self.totals.get(name, Counter()) + tally
        self.left += tally["left"]

    def tell(self) -> str:
        """Return what was done so far."""
        done = sum((self.totals[name] for name in self.totals if name != PLAYED), Counter())
        played = self.totals.get(PLAYED, Counter())
        return f"{played['plies']:,} plies of {played['rules']:,} rules, {done['right'] + done['refused']:,} mutants"


def main() -> None:
    """Run all fuzzers in turn until there were so many mutants, and play so many plies."""
    from fuzz import every_fuzzer

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=1_000_000)
    parser.add_argument("--plies", type=int, default=1_000_000_000)
    parser.add_argument("--rules", type=int, default=4_000, help="random rule sets to play so many plies, at least")
    parser.add_argument("--seed", type=int, help="the first seed, as printed; without it, one that nobody has tried")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="fuzzers whose name holds this")
    given = parser.parse_args()
    first = secrets.randbelow(1 << 31) * 1_000_000 if given.seed is None else given.seed
    again = f"--seed {first} --mutants {given.mutants} --plies {given.plies} --rules {given.rules}"
    print(f"python -m tools.soak {again}", flush=True)
    soak = Soak([name for name in every_fuzzer() if given.only in name], given.mutants, given.plies, given.rules, first)
    began = told = time.perf_counter()
    pool = ProcessPoolExecutor(given.workers, multiprocessing.get_context("spawn"))
    waiting: set[Any] = set()
    try:
        while True:
            while len(waiting) < 2 * given.workers and (task := soak.next_task()):
                waiting.add(pool.submit(task[0], *task[1]))
            if not waiting:
                break
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                soak.add(*future.result())
            if time.perf_counter() - told > 60:
                told = time.perf_counter()
                print(f"{soak.tell()}, {told - began:.0f} s", flush=True)
    finally:
        pool.shutdown(cancel_futures=True)  # a fault ends it at once
    for name in sorted(soak.totals):
        print(f"{name}: {dict(soak.totals[name])}, {soak.seconds[name]:.0f} s of processor time")
    print(f"{soak.tell()} in {time.perf_counter() - began:.0f} s, no fault")


if __name__ == "__main__":
    main()
