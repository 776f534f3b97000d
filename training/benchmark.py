"""The benchmark: how many steps a second, of the engine, of the environment, and of their peers in the same run."""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np

import krypenv
from krypenv import krypkasino_v0
from krypenv.engine import Engine
from krypenv.rules import Rules
from krypenv.training import bounds

ROUNDS = 3  # each figure is their median
Rates = tuple[float, float]  # steps per CPU second, steps per second on the clock

ENGINE = "engine"
FEATURES = "engine, features block"
THREADS = "engine, several threads"
WHOLE_GAMES = "whole games in a kernel"
AEC = "AEC env()"
LEARNER = "self-play, learning included"
HEARTS = "OpenSpiel hearts, moves"
HEARTS_SEEN = "OpenSpiel hearts, observed"
CONNECT_FOUR = "PettingZoo connect_four"
ON_THE_CLOCK = ", on the clock"
RATIOS = (
    ("several threads / one" + ON_THE_CLOCK, THREADS, ENGINE),
    ("engine / hearts, moves", ENGINE, HEARTS),
    ("engine / hearts, observed", ENGINE, HEARTS_SEEN),
    ("AEC env() / connect_four", AEC, CONNECT_FOUR),
)
_FIRST_STEP = """
import time; began = time.perf_counter()
from krypenv import Engine, Rules
engine = Engine(Rules.preset("krypkasino"), 1)
engine.step(engine.sample_actions())
print(time.perf_counter() - began)
"""
_IMPORT = "import time; began = time.perf_counter(); import krypenv; print(time.perf_counter() - began)"


@dataclass(frozen=True)
class Line:
    """One figure of the benchmark, a median: two rates of steps, or a time, or a ratio of two rates."""

    what: str
    per_cpu_second: float | None = None  # steps a second of CPU time, all threads together
    per_second: float | None = None  # steps a second on the clock
    seconds: float | None = None
    ratio: float | None = None
    batch: int | None = None  # games at once
    threads: int | None = None


def benchmark(
    games: int = 4096,
    seconds: float = 1.0,
    threads: int = 2,
    peers: bool = False,
    progress: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Measure all lines and return them with the machine, as plain JSON values.

    The rates are measured in three rounds, each over all lines, so that a ratio compares what ran side by side.

    Args:
        games: B of the batch engine.
        seconds: how long each rate is measured in a round.
        threads: how many threads the line on several threads has.
        peers: measure OpenSpiel's hearts and PettingZoo's connect_four too, where they are installed.
        progress: called with what is about to be measured.

    Raises ValueError for numbers that can't be measured with.
    """
    bounds.check("games", games, bounds.GAMES)
    bounds.check("seconds", seconds, bounds.SECONDS)
    bounds.check("threads", threads, bounds.THREADS)
    return _measure(games, seconds, threads, peers, progress)


def _measure(
    games: int, seconds: float, threads: int, peers: bool, progress: Callable[[str], None] | None
) -> dict[str, Any]:
    tell = progress or (lambda _: None)
    drivers = _drivers(games, threads) + (_peers() if peers else [])
    share = None
    if importlib.util.find_spec("sb3_contrib"):
        learner, share = _learner()
        drivers.insert(0, learner)
    rounds: dict[str, list[Rates]] = {driver.what: [] for driver in drivers}
    for number in range(1, ROUNDS + 1):
        for driver in drivers:
            tell(f"round {number}: {driver.what}")
            rounds[driver.what].append(_rates(driver.block, seconds))
    lines = [_rate_line(driver, rounds[driver.what]) for driver in drivers]
    lines += [
        _ratio_line(what, rounds[one], rounds[other]) for what, one, other in RATIOS if {one, other} <= set(rounds)
    ]
    if share:
        lines.append(Line("self-play, share of games and opponents", ratio=share()))
    tell("new processes")
    lines += _process_lines()
    return {"machine": machine(), "rounds": ROUNDS, "lines": [dataclasses.asdict(line) for line in lines]}


def machine() -> dict[str, Any]:
    """Return what the figures depend on: processor, cores, how busy they were in the last minute, versions."""
    info = Path("/proc/cpuinfo")
    models = [line for line in info.read_text().splitlines() if line.startswith("model name")] if info.exists() else []
    return {
        "cpu": models[0].partition(":")[2].strip() if models else platform.processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "krypenv": krypenv.__version__,
    }


# ---------------------------------------------------------------------- rates of steps


class _Driver(NamedTuple):
    """What a rate is measured of: a block of work that returns its number of steps."""

    what: str
    block: Callable[[], int]
    batch: int = 1
    threads: int = 1


def _drivers(games: int, threads: int) -> list[_Driver]:
    return [
        _Driver(ENGINE, _engine(games), games),
        _Driver(FEATURES, _engine(games, features=True), games),
        _Driver(THREADS, _engine(games, threads=threads), games, threads),
        _Driver(WHOLE_GAMES, _whole_games(games), games),
        _Driver(AEC, _aec(krypkasino_v0.env(players=2))),
    ]


def _learner() -> tuple[_Driver, Callable[[], float]]:
    """Return self-play as `krypenv train` has it, a rollout and an update a block, and the share of games in it."""
    from stable_baselines3.common.callbacks import CallbackList
    from stable_baselines3.common.logger import Logger

    from krypenv.training.selfplay import Run
    from krypenv.training.settings import Settings

    settings = Settings()
    model = Run(settings, Path(), resumed=False).model
    model.set_logger(Logger(None, []))
    _, callback = model._setup_learn(sys.maxsize, CallbackList([]))
    spent = 0.0

    def block() -> int:
        nonlocal spent
        began = time.perf_counter()
        model.collect_rollouts(model.games_env, callback, model.rollout_buffer, model.n_steps)
        model.train()
        spent += time.perf_counter() - began
        return model.rows * model.n_steps

    return _Driver(LEARNER, block, model.rows, settings.threads), lambda: model.environment_seconds / spent


def _peers() -> list[_Driver]:
    """Return the peers that are installed."""
    found = []
    if importlib.util.find_spec("pyspiel"):
        found += [_Driver(HEARTS, _hearts(False)), _Driver(HEARTS_SEEN, _hearts(True))]
    if importlib.util.find_spec("pygame"):
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        from pettingzoo.classic.connect_four import connect_four

        found.append(_Driver(CONNECT_FOUR, _aec(connect_four.env())))
    return found


def _rates(block: Callable[[], int], seconds: float) -> Rates:
    """Run a block again and again, once before the clock starts; return its steps per CPU second and per second."""
    block()
    steps, began, began_cpu = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - began < seconds:
        steps += block()
    return steps / (time.process_time() - began_cpu), steps / (time.perf_counter() - began)


def _rate_line(driver: _Driver, rounds: list[Rates]) -> Line:
    per_cpu_second, per_second = (statistics.median(rates) for rates in zip(*rounds, strict=True))
    return Line(driver.what, per_cpu_second, per_second, batch=driver.batch, threads=driver.threads)


def _ratio_line(what: str, rounds: list[Rates], base: list[Rates]) -> Line:
    """Return the ratio of two rates; on the clock where `what` says so, else of CPU time."""
    clock = int(what.endswith(ON_THE_CLOCK))
    return Line(
        what, ratio=statistics.median(one[clock] / other[clock] for one, other in zip(rounds, base, strict=True))
    )


def _engine(games: int, features: bool = False, threads: int = 1) -> Callable[[], int]:
    """Steps of the engine from Python with random actions, which the engine draws in a second call."""
    engine = Engine(Rules.preset("krypkasino"), games, features=features, threads=threads)

    def block() -> int:
        engine.step(engine.sample_actions())
        return games

    return block


def _whole_games(games: int, steps: int = 100) -> Callable[[], int]:
    engine = Engine(Rules.preset("krypkasino"), games)

    def block() -> int:
        engine.play_games(steps)
        return games * steps

    return block


def _aec(env: Any) -> Callable[[], int]:
    """One game of a PettingZoo environment, driven as its documentation shows, with masked random actions."""
    seeds = iter(range(1 << 60))
    for agent in env.possible_agents:
        env.action_space(agent).seed(0)

    def block() -> int:
        env.reset(seed=next(seeds))
        steps = 0
        for agent in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
            else:
                env.step(env.action_space(agent).sample(observation["action_mask"]))
                steps += 1
        return steps

    return block


def _hearts(observe: bool) -> Callable[[], int]:
    """One game of OpenSpiel's hearts; only players' decisions count as steps, the chance nodes that deal do not."""
    import pyspiel

    game, rng = pyspiel.load_game("hearts"), random.Random(0)

    def block() -> int:
        state = game.new_initial_state()
        steps = 0
        while not state.is_terminal():
            if not state.is_chance_node():
                steps += 1
                if observe:
                    state.information_state_tensor()
            state.apply_action(rng.choice(state.legal_actions()))
        return steps

    return block


# ---------------------------------------------------------------------- new processes


def _process_lines() -> list[Line]:
    """Time in new processes the import, and the first step with and without compiled code in the cache."""
    with tempfile.TemporaryDirectory() as cache:
        return [
            Line("first step, not cached", seconds=_timed(_FIRST_STEP, cache)),
            Line("first step, cached", seconds=statistics.median(_timed(_FIRST_STEP, cache) for _ in range(ROUNDS))),
            Line("import krypenv", seconds=statistics.median(_timed(_IMPORT, cache) for _ in range(ROUNDS))),
        ]


def _timed(code: str, cache: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"NUMBA_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


# ---------------------------------------------------------------------- tables

COLUMNS = ("what", "steps/CPU s", "steps/s", "value", "batch", "threads")


def table_row(line: Line) -> tuple[str, ...]:
    """Return a line as texts under `COLUMNS`."""
    value = (
        f"{line.seconds:.2f} s" if line.seconds is not None else f"{line.ratio:.2f} x" if line.ratio is not None else ""
    )
    rates = [f"{rate:,.0f}" if rate is not None else "" for rate in (line.per_cpu_second, line.per_second)]
    return (line.what, *rates, value, *(str(number or "") for number in (line.batch, line.threads)))
