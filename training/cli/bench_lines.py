"""The lines of the benchmark: what each measures. As a program, this file measures them with the krypenv of a folder.

A line is a generator that works without end, and yields how many steps it has made since it last did. Another version
of krypenv runs this file too, so a line imports what it needs when it begins.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import sys
import time
import typing
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

Line = Iterator[int]

GAMES = 4096  # of a batch of the engine
RELATIVES = ("kasino-sweden", "overspader", "kasino-finland", "laistokasino", "mulle", "mulle-glimne")  # presets
AGENTS = {"greedy": 1024, "tactician": 1024, "search": 8, "rollout": 8, "ismcts": 8, "learned": 64, "champion": 2}
BATCHES = 8  # of positions, from the first cards of a game to the last, that an agent decides in turn


def _training() -> Line:
    """Train as `krypenv train` does: a rollout and an update."""
    from stable_baselines3.common.logger import Logger

    from krypenv.training import train

    settings = typing.get_type_hints(train)["settings"]
    model = sys.modules[train.__module__].TrainingRun(settings(), Path()).model  # versions have it in several places
    model.set_logger(Logger(None, []))
    while True:
        before = model.num_timesteps
        model.collect_rollouts()
        model.train()
        yield int(model.num_timesteps - before)


def _engine(preset: str = "krypkasino", **options: Any) -> Line:
    """Step the engine with random actions, which a second call samples."""
    from krypenv import Engine, Rules

    engine = Engine(Rules.preset(preset, players=2), GAMES, **options)
    while True:
        engine.step(engine.sample_actions())
        yield GAMES


def _kernel() -> Line:
    """Play random actions in a single kernel."""
    from krypenv import Engine, Rules

    engine = Engine(Rules.preset("krypkasino"), GAMES)
    while True:
        engine.play_games(100)
        yield 100 * GAMES


def _pettingzoo(is_ours: bool) -> Line:
    """Play Krypkasino or connect_four as PettingZoo's documentation shows, with masked random actions."""
    env: Any
    if is_ours:
        from krypenv import krypkasino_v0

        env = krypkasino_v0.env(players=2)
    else:
        from pettingzoo.classic import connect_four_v3

        env = connect_four_v3.env()
    for agent in env.possible_agents:
        env.action_space(agent).seed(0)
    for seed in itertools.count():
        env.reset(seed=seed)
        steps = 0
        for agent in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            is_over = terminated or truncated
            env.step(None if is_over else env.action_space(agent).sample(observation["action_mask"]))
            steps += not is_over
        yield steps


def _decisions(name: str, rows: int) -> Line:
    """Have an agent decide the same batches of positions of two players; a network computes on one thread."""
    from krypenv import Engine, Rules, agents

    if name == "learned":
        name = f"learned(model={str(Path(agents.__file__).parent / 'models' / 'two')!r})"
    rules, batches = Rules.preset("krypkasino"), []
    agent = agents.make(name, rules, seed=0)
    engine = Engine(rules, rows, seed=1, history=getattr(agent, "needs_history", False))
    for _ in range(BATCHES):
        for _ in range(5):
            engine.step(engine.sample_actions())
        batches.append((engine.observation.copy(), engine.action_mask.copy()))
    while True:
        for batch in batches:
            agent.act(*batch)
        yield rows * BATCHES


def _hearts(observed: bool) -> Line:
    """Play games of OpenSpiel's hearts. Only players' decisions count as steps, not the chance nodes that deal."""
    import pyspiel

    game, rng = pyspiel.load_game("hearts"), random.Random(0)
    while True:
        state, steps = game.new_initial_state(), 0
        while actions := state.legal_actions():
            if not state.is_chance_node():
                steps += 1
                if observed:
                    state.information_state_tensor()
            state.apply_action(rng.choice(actions))
        yield steps


LINES: dict[str, Callable[[], Line]] = {
    "self-play, learning included": _training,
    "engine": _engine,
    "engine, features block": partial(_engine, features=True),
    **{f"engine, {preset}": partial(_engine, preset) for preset in RELATIVES},
    "engine, several threads": partial(_engine, threads=2),
    "whole games in a kernel": _kernel,
    "AEC env()": partial(_pettingzoo, True),
    **{f"{name}, decisions": partial(_decisions, name, rows) for name, rows in AGENTS.items()},
    "OpenSpiel hearts, moves": partial(_hearts, False),
    "OpenSpiel hearts, observed": partial(_hearts, True),
    "PettingZoo connect_four": partial(_pettingzoo, False),
}
PEERS = {  # lines of other libraries, with the line of ours that is measured in turn with each
    "OpenSpiel hearts, moves": "engine",
    "OpenSpiel hearts, observed": "engine",
    "PettingZoo connect_four": "AEC env()",
}


def serve(folder: str) -> None:
    """Measure a line of a folder's krypenv for each request: a line with the seconds of CPU time, and a name.

    The answer, a line of JSON, has the steps, the seconds of CPU time (of all threads together) and those of the
    clock, or `error`, why there is no such line. A line begins at its first request.
    """
    sys.path[0] = folder
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # keeps the prints of libraries out of the answers
    running: dict[str, Line] = {}
    for request in sys.stdin:
        seconds, _, name = request.strip().partition(" ")
        clock, cpu = time.perf_counter(), time.process_time()
        try:
            line = running[name] = running.get(name) or LINES[name]()
            steps = next(line)
            while time.process_time() - cpu < float(seconds):
                steps += next(line)
            answer: dict[str, Any] = {
                "steps": steps,
                "cpu": time.process_time() - cpu,
                "clock": time.perf_counter() - clock,
            }
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    serve(sys.argv[1])
