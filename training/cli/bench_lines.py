"""The lines of the benchmark: what each measures. As a program, this file measures them with the krypenv of a folder.

A line is a generator that works without end, and yields how many steps it has made since it last did. Another version
of krypenv runs this file too, so a line imports what it needs when it begins.
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

Line = Iterator[int]

GAMES = 4096  # of a batch
RELATIVES = ("kasino-sweden", "overspader", "kasino-finland", "laistokasino", "mulle", "mulle-glimne")  # presets
AGENTS = {"greedy": 1024, "tactician": 1024, "search": 8, "rollout": 8, "ismcts": 8, "learned": 64, "champion": 2}
BATCHES = 8  # of positions, from the first cards of a game to the last, that an agent decides in turn


def _training() -> Line:
    """Train as `krypenv train` does: a rollout and an update."""
    from stable_baselines3.common.logger import Logger

    from krypenv.training import TrainSettings, train

    model = sys.modules[train.__module__].TrainingRun(TrainSettings(), Path()).model
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


def _pettingzoo(module: str) -> Line:
    """Play an environment of PettingZoo as its documentation shows, with masked random actions."""
    env = importlib.import_module(module).env()
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


# ---------------------------------------------------------------------- other libraries, with random legal actions


def _hearts(is_observed: bool) -> Line:
    """Play OpenSpiel's hearts. The deal, made of chance nodes, is no step."""
    import pyspiel

    game, rng = pyspiel.load_game("hearts"), random.Random(0)
    while True:
        state, steps = game.new_initial_state(), 0
        while actions := state.legal_actions():
            is_step = not state.is_chance_node()
            if is_step and is_observed:
                state.information_state_tensor()
            state.apply_action(rng.choice(actions))
            steps += is_step
        yield steps


def _uno() -> Line:
    """Play RLCard's uno, whose states hold the observation and the legal actions."""
    import rlcard

    env, rng = rlcard.make("uno", {"seed": 0}), random.Random(0)
    while True:
        state, steps = env.reset()[0], 0
        while not env.is_over():
            state, steps = env.step(rng.choice(list(state["legal_actions"])))[0], steps + 1
        yield steps


def _hanabi() -> Line:
    """Play the Hanabi Learning Environment for two, through its `rl_env`."""
    from hanabi_learning_environment import rl_env

    env, rng = rl_env.make("Hanabi-Full", 2), random.Random(0)
    while True:
        seen, is_over, steps = env.reset(), False, 0
        while not is_over:
            player = seen["player_observations"][seen["current_player"]]
            seen, _, is_over, _ = env.step(rng.choice(player["legal_moves_as_int"]))
            steps += 1
        yield steps


def _mahjong() -> Line:
    """Step a batch of pgx's sparrow_mahjong in one compiled function, which restarts games as they end."""
    import jax
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make("sparrow_mahjong")
    step, key = jax.vmap(auto_reset(env.step, env.init)), jax.random.PRNGKey(0)

    @jax.jit
    def advance(states: Any, key: Any) -> Any:
        key, choice, chance = jax.random.split(key, 3)
        actions = jax.random.categorical(choice, jax.numpy.log(states.legal_action_mask))
        return step(states, actions, jax.random.split(chance, GAMES)), key

    states = jax.jit(jax.vmap(env.init))(jax.random.split(key, GAMES))
    while True:
        states, key = jax.block_until_ready(advance(states, key))
        yield GAMES


LINES: dict[str, Callable[[], Line]] = {
    "self-play, learning included": _training,
    "engine": _engine,
    "engine, features block": partial(_engine, features=True),
    **{f"engine, {preset}": partial(_engine, preset) for preset in RELATIVES},
    "engine, several threads": partial(_engine, threads=2),
    "AEC env()": partial(_pettingzoo, "krypenv.krypkasino_v0"),
    **{f"{name}, decisions": partial(_decisions, name, rows) for name, rows in AGENTS.items()},
}
PEERS: dict[str, tuple[str, Callable[[], Line]]] = {  # with the line of krypenv that each is measured beside
    "OpenSpiel hearts, moves": ("engine", partial(_hearts, False)),
    "OpenSpiel hearts, observed": ("engine", partial(_hearts, True)),
    "PettingZoo connect_four": ("AEC env()", partial(_pettingzoo, "pettingzoo.classic.connect_four_v3")),
    "RLCard uno": ("engine", _uno),
    "pgx sparrow_mahjong": ("engine", _mahjong),
    "Hanabi Learning Environment": ("engine", _hanabi),
}


def serve(folder: str) -> None:
    """Measure a line of a folder's krypenv for each request: a line with the seconds of CPU time, and a name.

    The answer, a line of JSON, has the steps, the seconds of CPU time (of all threads together) and those of the
    clock, or `error`, why there is no such line. A line begins at its first request.
    """
    sys.path[0] = folder
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # keeps the prints of libraries out of the answers
    starts = {**LINES, **{name: line for name, (_, line) in PEERS.items()}}
    running: dict[str, Line] = {}
    for request in sys.stdin:
        seconds, _, name = request.strip().partition(" ")
        clock, cpu, steps = time.perf_counter(), time.process_time(), 0
        answer: dict[str, Any]
        try:
            line = running[name] = running.get(name) or starts[name]()
            while not steps or time.process_time() - cpu < float(seconds):
                steps += next(line)
            answer = {"steps": steps, "cpu": time.process_time() - cpu, "clock": time.perf_counter() - clock}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    serve(sys.argv[1])
