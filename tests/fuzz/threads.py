"""Fuzzers of what several threads call at once: agents answer as one after another, engines refuse in a sentence."""

from __future__ import annotations

import functools
import random
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from support.fuzzing import Fuzzer, Tally, attempt, check_sentence

from krypenv import Engine, IllegalMove, Rules, agents
from krypenv.worlds.invariants import check_state

THREADS = 4
RULES = {text: Rules.parse(text) for text in ("krypkasino", "krypkasino players=3", "kasino-sweden", "mulle-glimne")}
QUICK = ("random", "greedy", "tactician")
SLOW = ("search(worlds=2)", "rollout(worlds=2)", "ismcts(worlds=4)", "champion(worlds=2)", "champion(worlds=0)")
Batch = tuple[np.ndarray, np.ndarray]


@functools.cache
def decisions_of(rules: Rules, games: int, seed: int) -> Batch:
    """Observations and masks of some games, each somewhere in the middle."""
    engine = Engine(rules, games, seed=seed)
    for _ in range(5 + 7 * seed % 60):
        engine.step(engine.sample_actions())
    return engine.observation.copy(), engine.action_mask.copy()


def many_at_once(calls: Sequence[Callable[[], Any]], times: int = 1) -> list[Any]:
    """Return what calls give, each made some times on a thread of its own, all at once; raises what one raises."""
    begin, found, errors = threading.Barrier(len(calls)), list[Any](), list[BaseException]()

    def work(call: Callable[[], Any]) -> None:
        begin.wait()
        try:
            for _ in range(times):
                found.append(call())
        except BaseException as error:
            errors.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(call,)) for call in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    if errors:
        raise errors[0]
    return found


def fuzz_agents(seed: int, mutants: int) -> Tally:
    """An agent that several threads ask gives, in some order, the answers that it gives one after another."""
    rng, tally = random.Random(seed), Tally()
    while tally["right"] + tally["refused"] < mutants:
        rules = rng.choice(list(RULES.values()))
        spec = rng.choice(QUICK if rng.random() < 0.8 else SLOW)
        if spec != "champion(worlds=0)" or rules.players == 2:
            ask_at_once(spec, rules, rng, tally)
    return tally


def ask_at_once(spec: str, rules: Rules, rng: random.Random, tally: Tally) -> None:
    """Ask an agent from several threads, then with an observation that is none, which leaves it to the next call."""
    number = rng.randrange(1 << 32)
    ours, alone = (agents.make(spec, rules, number) for _ in range(2))
    seen, masks = decisions_of(rules, rng.choice((1, 3, 16)), rng.randrange(12))
    torn = seen.copy()
    torn[0, rng.randrange(52)] = 100
    for _ in range(2):
        found = many_at_once([lambda: ours.act(seen, masks).tolist()] * THREADS)
        if ours.remembers:  # what it answers depends on which call came first
            assert all(masks[np.arange(len(masks)), answer].all() for answer in found), (str(rules), spec, number)
        else:
            assert sorted(found) == sorted(alone.act(seen, masks).tolist() for _ in found), (str(rules), spec, number)
        tally["right"] += len(found)
        attempt(lambda: many_at_once([lambda: ours.act(torn, masks)] * 2), tally, (spec, number))


def fuzz_engines(seed: int, mutants: int) -> Tally:
    """An engine that several threads step makes whole steps, or refuses; engines of several threads play as alone."""
    rng, tally = random.Random(seed), Tally()
    while tally["right"] + tally["refused"] < mutants:
        rules, number, steps = rng.choice(list(RULES.values())), rng.randrange(1 << 32), rng.randrange(1, 12)
        engines = [Engine(rules, rng.choice((1, 8, 300)), number, threads=rng.choice((1, 2))) for _ in range(THREADS)]
        many_at_once([functools.partial(play, engine) for engine in engines], steps)
        for engine in engines:
            alone = Engine(rules, engine.num_games, number)
            for _ in range(steps):
                play(alone)
            assert engine.state.tobytes() == alone.state.tobytes(), (str(rules), number, steps)
            tally["right"] += 1
        step_at_once(engines[0], steps)
        attempt(functools.partial(engines[0].step, np.full(engines[0].num_games, rules.num_actions)), tally, number)
    return tally


def step_at_once(engine: Engine, steps: int) -> None:
    """Play an engine from several threads: as many plies as it says, and never half a step."""
    before = engine.copy()
    for _ in range(sum(many_at_once([lambda: tried(lambda: engine.play_games(3))] * THREADS, steps))):
        before.play_games(3)
    assert engine.state.tobytes() == before.state.tobytes(), (str(engine.rules), steps)
    many_at_once([lambda: tried(lambda: play(engine))] * THREADS, steps)
    check_state(engine.rules, engine.state)


def play(engine: Engine) -> None:
    """Play a random action in every game."""
    engine.step(engine.sample_actions())


def tried(call: Callable[[], Any]) -> bool:
    """Call an engine; return whether it did as it was asked, and was not in the middle of another call."""
    try:
        call()
    except (RuntimeError, IllegalMove) as error:  # an action was sampled before the step of another thread
        check_sentence(error, call)
        return False
    return True


FUZZERS: dict[str, Fuzzer] = {"agents": fuzz_agents, "engines": fuzz_engines}
