"""Baselines: how soon do our solver, OpenSpiel's algorithms and PPO come close to an equilibrium?

Each runs alone on one thread. The clock is processor time: it begins with the rules, so that building the game tree
counts, and stops while exploitability is measured. A step before it starts imports and compiles.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, TypeVar

import numpy as np
from matplotlib.axes import Axes

from krypenv.agents import Agent
from krypenv.rules import Rules
from krypenv.training.lab.studying import Answer, Setup, Study, Task
from krypenv.training.learn.selfplay.settings import Ppo
from krypenv.training.research.solved import openspiel, small
from krypenv.training.solving.solving import solve

GAMES = ("mini-mulle", "mini-copies")
RUNS = 2  # of each learner
ITERATIONS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)  # of CFR+ at which it is measured, ours too
DESCENTS = (1, 2, 5, 10, 20, 40)  # iterations of MMD likewise
FRAMES = (8_192, 16_384, 32_768, 65_536, 131_072, 262_144, 524_288, 1_048_576)  # decisions of PPO likewise
STEPS = (1, 2, 4, 7, 10)  # of NFSP likewise; in each it plays a tenth of the deals
MMD_SETTINGS = (  # settings of MMD: alpha, step size, and whether both fall
    (0.001, 3.0, False), (0.001, 10.0, False), (0.01, 10.0, True), (0.01, 30.0, True),
)  # fmt: skip
RATES = (1e-3, 3e-3)  # of NFSP
ANTICIPATORY = (0.1, 0.5)  # of NFSP
TRIED_STEPS = 2  # of each setting of NFSP, before the best one runs
PPO_SETTINGS = (  # settings of PPO: learning rate, entropy coefficient, decisions in each game between updates
    (1e-3, 0.01, 32), (3e-3, 0.01, 32), (3e-3, 0.01, 8), (3e-3, 0.05, 8), (3e-3, 0.2, 8), (1e-3, 0.05, 8),
)  # fmt: skip
MINIBATCHES = 8  # of PPO in a pass over an update
TRIED_FRAMES = 262_144  # decisions of each setting of PPO, before the best one runs
OURS, CFR, MMD, NFSP, PPO = "ours", "CFR+", "MMD", "NFSP", "PPO"
TUNED = (MMD, NFSP, PPO)
TARGETS = (0.1, 0.01)  # points of exploitability that a table tells the time to
AGREE = 1e-6  # points by which two measures of exploitability may differ

Curve = list[list[float]]  # at each mark: seconds, exploitability
Player = TypeVar("Player")
Setting = TypeVar("Setting")


def race(begin: Callable[[], Iterator[Player]], marks: Sequence[int], measure: Callable[[Player], float]) -> Curve:
    """Return the seconds and the exploitability after some steps of an algorithm; `begin` starts it."""
    found, started = [], time.process_time()
    players = begin()
    spent = time.process_time() - started
    for step in range(1, marks[-1] + 1):
        started = time.process_time()
        player = next(players)
        spent += time.process_time() - started
        if step in marks:
            found.append([spent, measure(player)])
    return found


def measures_of(preset: str) -> dict[str, float]:
    """Return the exploitability of uniform play as we measure it; raises ValueError if OpenSpiel's differs."""
    ours = small.exploitability("random", preset)
    theirs = openspiel.exploitability_of(openspiel.load_small(Rules.preset(preset)), openspiel.uniform)
    if abs(ours - theirs) > AGREE:
        raise ValueError(f"the exploitability of uniform play in {preset} is {ours} here and {theirs} in OpenSpiel")
    return {"uniform": ours, "value": solve(Rules.preset(preset), threads=1).value}


def run_ours(preset: str) -> Curve:
    """Return the curve of our solver, which begins anew for each mark."""
    rules, found = Rules.preset(preset), []
    solve(rules, most=1, threads=1)  # compiles
    for iterations in ITERATIONS:
        started = time.process_time()
        solved = solve(rules, 0.0, iterations, threads=1)
        found.append([time.process_time() - started, max(solved.exploitability, 0.0)])
    return found


def run_openspiel(
    preset: str, algorithm: Callable[[Any], Iterator[openspiel.Policy]], marks: Sequence[int], rehearses: bool = True
) -> Curve:
    """Return the curve of an algorithm of OpenSpiel, which is measured in a tree of its own."""
    rules = Rules.preset(preset)
    yardstick = openspiel.load_small(rules)
    if rehearses:
        next(algorithm(yardstick))
    return race(
        lambda: algorithm(openspiel.load_small(rules)),
        marks,
        lambda policy: openspiel.exploitability_of(yardstick, policy),
    )


def run_cfr(preset: str) -> Curve:
    """Return the curve of OpenSpiel's CFR+."""
    return run_openspiel(preset, openspiel.cfr_plus, ITERATIONS)


def run_mmd(preset: str) -> dict[str, Any]:
    """Return what each setting of MMD comes to, and the curve of the one that comes closest."""

    def run(alpha: float, stepsize: float, anneals: bool) -> Curve:
        return run_openspiel(preset, lambda game: openspiel.mmd(game, alpha, stepsize, anneals), DESCENTS)

    curves = {
        f"alpha {alpha:g}, step size {stepsize:g}{', both falling' if anneals else ''}": run(alpha, stepsize, anneals)
        for alpha, stepsize, anneals in MMD_SETTINGS
    }
    tried = {name: curve[-1][1] for name, curve in curves.items()}
    best = min(tried, key=lambda name: tried[name])
    return {"tried": tried, "best": best, "runs": [curves[best]]}


def tune(
    settings: dict[str, Setting],
    run: Callable[[Setting, Sequence[int], int], Curve],
    short: Sequence[int],
    full: Sequence[int],
) -> dict[str, Any]:
    """Return what each setting reaches in a short run, and the curves of the best one in full runs.

    Args:
        settings: by name.
        run: returns the curve of a setting at some marks; the number of the run decides its seed.
        short: the marks of a short run.
        full: the marks of a full run.
    """
    tried = {name: run(setting, short, 0)[-1][1] for name, setting in settings.items()}
    best = min(tried, key=lambda name: tried[name])
    return {"tried": tried, "best": best, "runs": [run(settings[best], full, number) for number in range(RUNS)]}


def run_nfsp(preset: str, seed: int, episodes: int) -> dict[str, Any]:
    """Return what each setting of NFSP reaches in a short run, and the curves of the best one."""

    def run(setting: tuple[float, float], marks: Sequence[int], number: int) -> Curve:
        openspiel.seed_generators(seed + number)
        return run_openspiel(preset, lambda game: openspiel.nfsp(game, seed + number, *setting, episodes), marks, False)

    settings = {
        f"rate {rate:g}, anticipatory parameter {anticipatory:g}": (rate, anticipatory)
        for rate, anticipatory in product(RATES, ANTICIPATORY)
    }
    next(openspiel.nfsp(openspiel.load_small(Rules.preset(preset)), seed, episodes=1))  # imports
    return tune(settings, run, (TRIED_STEPS,), STEPS)


def run_ppo(preset: str, seed: int) -> dict[str, Any]:
    """Return what each setting of PPO, which sees the history, reaches in a short run, and the curves of the best one.

    The learning rate falls until the end of a run, short or full.
    """
    rules = Rules.preset(preset)

    def players(ppo: Ppo, frames: Sequence[int], number: int) -> Iterator[Agent]:
        return (player for _, player in small.ppo_players(rules, True, seed + number, frames, ppo))

    def run(ppo: Ppo, frames: Sequence[int], number: int) -> Curve:
        marks = range(1, len(frames) + 1)
        return race(lambda: players(ppo, frames, number), marks, lambda player: small.exploitability(player, preset))

    settings = {
        f"rate {rate:g}, entropy {entropy:g}, {small.GAMES * steps:,} decisions an update": Ppo(
            learning_rate=rate, ent_coef=entropy, steps=steps, batch=small.GAMES * steps // MINIBATCHES
        )
        for rate, entropy, steps in PPO_SETTINGS
    }
    next(players(Ppo(), FRAMES[:1], 0))  # imports and compiles
    return tune(settings, run, (TRIED_FRAMES,), FRAMES)


def tasks(setup: Setup) -> list[Task]:
    """Return a task for each algorithm in each game, and one that compares the measures."""
    found = []
    for preset in GAMES:
        for name, function in (("measures", measures_of), (OURS, run_ours), (CFR, run_cfr), (MMD, run_mmd)):
            found.append(Task(f"{preset} {name}", function, {"preset": preset}))
        arguments = {"preset": preset, "seed": setup.seed, "episodes": max(setup.deals // STEPS[-1], 1)}
        found.append(Task(f"{preset} {NFSP}", run_nfsp, arguments))
        found.append(Task(f"{preset} {PPO}", run_ppo, {"preset": preset, "seed": setup.seed}))
    return found


def curves_of(preset: str, results: dict[str, Any]) -> dict[str, list[Curve]]:
    """Return the curves of each algorithm in a game, a run each."""
    return {
        **{name: [results[f"{preset} {name}"]] for name in (OURS, CFR)},
        **{name: results[f"{preset} {name}"]["runs"] for name in TUNED},
    }


def time_to(target: float, runs: list[Curve]) -> float | None:
    """Return the seconds after which all runs have measured a target, None if one has not."""
    found = [next((seconds for seconds, points in run if points <= target), None) for run in runs]
    return None if None in found else max(each for each in found if each is not None)


def answer(setup: Setup, results: dict[str, Any]) -> Answer:
    """Tell how long each algorithm takes to come close to an equilibrium, and where it ends."""
    games = {preset: curves_of(preset, results) for preset in GAMES}
    settings = {
        preset: {name: {key: results[f"{preset} {name}"][key] for key in ("best", "tried")} for name in TUNED}
        for preset in GAMES
    }
    rows = []
    for preset, curves in games.items():
        for name, runs in curves.items():
            times = [time_to(target, runs) for target in TARGETS]
            rows.append(
                (
                    preset, name, *("-" if each is None else seconds_text(each) for each in times),
                    " and ".join(points_text(run[-1][1]) for run in runs),
                    seconds_text(max(run[-1][0] for run in runs)),
                )
            )  # fmt: skip
    figures = {
        "curves": games, "settings": settings,
        "measures": {preset: results[f"{preset} measures"] for preset in GAMES},
    }  # fmt: skip
    columns = (
        "game",
        "algorithm",
        *(f"seconds to {target}" for target in TARGETS),
        "exploitability at the end",
        "seconds",
    )
    return Answer(_sentence(games), columns, rows, figures, lambda axes: draw(axes, games))


def seconds_text(seconds: float) -> str:
    """Return seconds with two digits."""
    return np.format_float_positional(seconds, 2, fractional=False, trim="-")


def points_text(points: float) -> str:
    """Return an exploitability; what is below a hundred-thousandth is as good as none."""
    return np.format_float_positional(points, 2, fractional=False, min_digits=2) if points >= 1e-5 else "below 0.00001"


def _sentence(games: dict[str, dict[str, list[Curve]]]) -> str:
    """Tell the time of each algorithm to a hundredth of a point, or what it reaches instead."""
    told = []
    for preset, curves in games.items():
        parts = []
        for name, runs in curves.items():
            seconds = time_to(TARGETS[-1], runs)
            ends = " and ".join(points_text(run[-1][1]) for run in runs)
            longest = seconds_text(max(run[-1][0] for run in runs))
            parts.append(
                f"{name} {seconds_text(seconds)} s" if seconds is not None else f"{name} ends at {ends} ({longest} s)"
            )
        told.append(f"In {preset}: {', '.join(parts)}.")
    return f"Processor time to an exploitability of {TARGETS[-1]} points a game. {' '.join(told)}"


def draw(axes: Axes, games: dict[str, dict[str, list[Curve]]]) -> None:
    """Draw exploitability by seconds, a panel for each game."""
    figure = axes.figure
    grid = figure.add_gridspec(1, len(games))
    axes.set_subplotspec(grid[0])
    panels = [axes, *(figure.add_subplot(grid[at], sharey=axes) for at in range(1, len(games)))]
    for panel, (preset, curves) in zip(panels, games.items(), strict=True):
        for at, (name, runs) in enumerate(curves.items()):
            for number, run in enumerate(runs):
                panel.plot(*zip(*run, strict=True), "o-", ms=3, color=f"C{at}", label=None if number else name)
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_ylim(bottom=1e-5)
        panel.set_title(preset, fontsize=10)
        panel.set_xlabel("seconds of processor time")
        panel.grid(alpha=0.3)
    axes.set_ylabel("exploitability, points a game")
    axes.legend(fontsize=8)


def check(agent: Agent) -> None:
    """Raise ValueError if OpenSpiel is not installed."""
    del agent
    try:
        for name in ("pyspiel", "open_spiel.python.pytorch.nfsp"):
            openspiel.module_of(name)
    except ImportError as error:
        raise ValueError(f"the study baselines needs OpenSpiel: {error}") from None


STUDY = Study(
    "baselines",
    "How soon do solvers and learners come close to an equilibrium?",
    tasks,
    answer,
    deals=10_000,
    players=(2,),
    sets={name: name for name in GAMES},
    agent="tactician",
    needs=check,
)
