"""Small games: how far are agents from perfect play, where it is known exactly?"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from krypenv.agents import Agent
from krypenv.rules import Rules
from krypenv.training.lab.studying import Answer, Setup, Study, Task
from krypenv.training.learn.selfplay.settings import Ppo
from krypenv.training.solving.beliefs import CAUSES, lost_by
from krypenv.training.solving.growing import SOLVED, Trees
from krypenv.training.solving.solving import (
    Solved,
    grow_for_agents,
    lost_to_equilibrium,
    measure,
    solve,
    solve_trees,
)

BEST, LOST = "exploitability", "lost to an equilibrium"
HIDDEN = "mini-hidden"  # the game in which learners are trained
TOO_LARGE = ("mini-count",)  # to ask agents everywhere
WORLDS = (1, 3, 10, 30, 100, 300)
SEARCHES = tuple(f"search(worlds={worlds})" for worlds in WORLDS)
ASKED = {  # agents, and the seeds whose answers make up their probabilities
    "random": 1, "greedy": 32, "tactician": 32, **dict.fromkeys(SEARCHES, 8), "rollout": 4, "ismcts": 4,
}  # fmt: skip
BOUNDED = ("random", "greedy", "tactician", "search(worlds=30)")
FRAMES = (0, 50_000, 100_000, 200_000, 400_000, 800_000)  # decisions of PPO at which it is measured
LEARNERS = 2  # runs of PPO, with and without the history
GAMES = 256  # of PPO at once
DEMONSTRATIONS = 10_000  # games that the clone imitates
EXPLOITED = 100_000  # decisions that an exploiter is trained for


@lru_cache(1)
def trees_of(preset: str) -> Trees:
    """Return the trees in which agents are asked; the last ones are kept."""
    return grow_for_agents(Rules.preset(preset))


@lru_cache(1)
def equilibrium_of(preset: str) -> Solved:
    """Return an equilibrium in the trees in which agents are asked; the last one is kept."""
    return solve_trees(trees_of(preset), threads=1)


def exploitability(agent: str | Agent, preset: str, seeds: int = 1) -> float:
    """Return what best responses win against an agent, in points a game."""
    return measure(agent, Rules.preset(preset), seeds, 1, trees_of(preset)).exploitability


def figures_of(agent: str | Agent, preset: str, seeds: int = 1) -> dict[str, float]:
    """Return the exploitability of an agent and what it loses to an equilibrium, in points a game."""
    measured = measure(agent, Rules.preset(preset), seeds, 1, trees_of(preset))
    return {BEST: measured.exploitability, LOST: lost_to_equilibrium(equilibrium_of(preset), measured, 1)}


def value_of(preset: str) -> dict[str, float]:
    """Return the value of a game for the first seat, and how far its equilibrium can be exploited."""
    solved = solve(Rules.preset(preset), threads=1)
    return {"value": solved.value, "exploitability": max(solved.exploitability, 0.0)}


def lost_by_causes(preset: str) -> dict[str, float]:
    """Return what a search with all worlds loses to an equilibrium, by its causes, in points a game."""
    return {name: max(lost_by(equilibrium_of(preset), way, 1), 0.0) for name, way in CAUSES.items()}


def ppo_players(rules: Rules, history: bool, seed: int, frames: Sequence[int], ppo: Ppo) -> Iterator[tuple[int, Agent]]:
    """Train PPO by self-play; yield its decisions so far and its policy each time that it has made so many.

    Args:
        rules: the rules of all games.
        history: whether the network sees the plays of the deal.
        seed: of the random weights, the deals and the play.
        frames: decisions at which it yields; the learning rate falls until the last of them.
        ppo: how it learns.
    """
    from krypenv.training.lab.self_play import SelfPlay
    from krypenv.training.learn.learner.torch_network import NetworkPolicy

    decisions = GAMES * ppo.steps  # of an update
    training = SelfPlay(rules, seed, frames[-1] / decisions, GAMES, history, ppo)
    for mark in frames:
        training.play_to(math.ceil(mark / decisions))
        yield training.model.num_timesteps, NetworkPolicy(training.network, rules, "ppo")


def train_ppo(history: bool, seed: int) -> list[tuple[int, dict[str, float]]]:
    """Train PPO by self-play; return its decisions so far and its figures, along the training."""
    players = ppo_players(Rules.preset(HIDDEN), history, seed, FRAMES, Ppo())
    return [(decisions, figures_of(player, HIDDEN)) for decisions, player in players]


def train_clone(seed: int) -> dict[str, Any]:
    """Imitate a search as `krypenv imitate` does; return the teacher, and the figures of both."""
    import torch
    from rich.console import Console

    from krypenv.training.learn.imitation.imitate import ImitationSettings, imitate, make_policy
    from krypenv.training.learn.learner.torch_network import NetworkPolicy

    torch.set_num_threads(1)
    settings = ImitationSettings.of(rules=HIDDEN, games=DEMONSTRATIONS, seed=seed, workers=1)
    policy = make_policy(settings)
    with tempfile.TemporaryDirectory() as folder:
        imitate(settings, policy, Path(folder), Console(quiet=True))
    player = NetworkPolicy(policy.network, settings.game_rules(), "clone")
    teacher = settings.demonstrating.teacher
    return {
        "teacher": teacher,
        "figures": figures_of(player, HIDDEN),
        "figures of the teacher": figures_of(teacher, HIDDEN, ASKED[SEARCHES[0]]),
    }


def train_champion(seed: int) -> dict[str, dict[str, float]]:
    """Train a model as `krypenv train` does by default; return the figures of its network, and of its search."""
    from rich.console import Console

    from krypenv.training.learn.selfplay.selfplay import TrainingRun
    from krypenv.training.learn.selfplay.settings import Settings

    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.of(rules=HIDDEN, seed=seed, out=folder, threads=1, workers=1, curve_every=1e9, device="cpu")
        run = TrainingRun(settings, Path(folder))
        run.play(Console(quiet=True))
        run.write_model("")
        model = str(Path(folder) / "model")
        guided = f"guided(model={model!r}, worlds=30)"
        return {"network": figures_of(model, HIDDEN), "with search": figures_of(guided, HIDDEN)}


def bound(agent: str, deals: int, seed: int) -> dict[str, Any]:
    """Return the lower bound that `krypenv exploit` finds for an agent."""
    import torch
    from rich.console import Console

    from krypenv.training.exploiting import ExploitSettings, exploit

    torch.set_num_threads(1)
    settings = ExploitSettings.of(
        agent=agent, rules=HIDDEN, seeds=1, frames=EXPLOITED, deals=deals, seed=seed, luck="off"
    )
    found = exploit(settings, Console(quiet=True))
    best = found.exploiters[found.best]
    return {"margin": found.margin, "low": found.low, "high": found.high, "by": f"{best.kind} {best.name}"}


def tasks(setup: Setup) -> list[Task]:
    """Return all that is solved, asked, trained and bounded."""
    found = [Task(f"value {preset}", value_of, {"preset": preset}) for preset in setup_games()]
    for preset in setup_games():
        if preset not in TOO_LARGE:
            for agent, seeds in ASKED.items():
                arguments = {"agent": agent, "preset": preset, "seeds": seeds}
                found.append(Task(f"{preset} {agent}", figures_of, arguments))
            found.append(Task(f"causes {preset}", lost_by_causes, {"preset": preset}))
    for history in (False, True):
        for run in range(LEARNERS):
            arguments = {"history": history, "seed": setup.seed + run}
            found.append(Task(f"ppo {history} {run}", train_ppo, arguments))
    found.append(Task("clone", train_clone, {"seed": setup.seed}))
    found.append(Task("champion", train_champion, {"seed": setup.seed}))
    for agent in BOUNDED:
        arguments = {"agent": agent, "deals": setup.deals, "seed": setup.seed}
        found.append(Task(f"bound {agent}", bound, arguments))
    return found


def setup_games() -> tuple[str, ...]:
    """Return the games, the one in which learners are trained last, so that its trees are still there."""
    return (*(name for name in SOLVED if name != HIDDEN), HIDDEN)


def split(found: Any) -> dict[str, Any]:
    """Return nested figures of agents as two, of exploitability and of what is lost to an equilibrium."""

    def of(measure: str, part: Any) -> Any:
        if isinstance(part, list):
            return [of(measure, each) for each in part]
        return part[measure] if measure in part else {name: of(measure, each) for name, each in part.items()}

    return {measure: of(measure, found) for measure in (BEST, LOST)}


def answer(setup: Setup, results: dict[str, Any]) -> Answer:
    """Tell how far each agent is from perfect play, what more search and training bring, and what bounds find."""
    games = [preset for preset in setup_games() if preset not in TOO_LARGE]
    asked = split({preset: {agent: results[f"{preset} {agent}"] for agent in ASKED} for preset in games})
    ppo = split({
        name: [[results[f"ppo {history} {run}"][at][1] for run in range(LEARNERS)] for at in range(len(FRAMES))]
        for name, history in (("PPO", False), ("PPO with history", True))
    })  # fmt: skip
    clone, champion = results["clone"], results["champion"]
    trained = split({
        f"{clone['teacher']}, the teacher": clone["figures of the teacher"],
        "its clone": clone["figures"],
        "krypenv train, the network": champion["network"],
        "krypenv train, with search": champion["with search"],
    })  # fmt: skip
    bounds = {agent: results[f"bound {agent}"] for agent in BOUNDED}
    figures = {
        "values": {preset: results[f"value {preset}"] for preset in SOLVED}, BEST: asked[BEST], "ppo": ppo[BEST],
        "trained": trained[BEST], LOST: {"agents": asked[LOST], "ppo": ppo[LOST], "trained": trained[LOST]},
        "bounds": bounds, "causes": {preset: results[f"causes {preset}"] for preset in games}, "frames": FRAMES,
    }  # fmt: skip
    bars = {measure: bars_of(asked[measure], ppo[measure], trained[measure]) for measure in (BEST, LOST)}
    shares = shares_of(figures)
    rows = []
    for name, figure in bars[BEST].items():
        found = (f"{bounds[name]['margin']:+.2f}", f"{shares[name]:.0%}") if name in shares else ("", "")
        rows.append((name, f"{figure:.2f}", f"{bars[LOST][name]:.2f}", str(ASKED.get(name, "")), *found))
    columns = ("agent", BEST, LOST, "seeds", "lower bound", "found")
    return Answer(_sentence(figures), columns, rows, figures, lambda axes: draw(axes, bars, bounds))


def bars_of(asked: dict[str, Any], ppo: dict[str, Any], trained: dict[str, float]) -> dict[str, float]:
    """Return the bars of the figure, in points a game: the agents in the game of the learners, and all learners."""
    bars = dict(asked[HIDDEN])
    for name, runs in ppo.items():
        bars |= {f"{name}, {frames:,}": sum(each) / LEARNERS for frames, each in zip(FRAMES[1:], runs[1:], strict=True)}
    return bars | trained


def shares_of(figures: dict[str, Any]) -> dict[str, float]:
    """Return which share of the exploitability of agents the lower bounds find."""
    here = figures[BEST][HIDDEN]
    bounds = {agent: max(bound["margin"], 0.0) for agent, bound in figures["bounds"].items()}
    return {agent: found / here[agent] for agent, found in bounds.items() if here[agent] > 0}


def _sentence(figures: dict[str, Any]) -> str:
    here, lost, causes = figures[BEST][HIDDEN], figures[LOST]["agents"][HIDDEN], figures["causes"][HIDDEN]
    last = {name: sum(runs[-1]) / LEARNERS for name, runs in figures["ppo"].items()}
    fused = [each[SEARCHES[-1]] for each in figures[BEST].values()]
    network, with_search = list(figures["trained"].values())[-2:]
    shares = shares_of(figures).values()
    return (
        f"In {HIDDEN} the exploitability of tactician is {here['tactician']:.2f} points a game, that of search "
        f"{here[SEARCHES[0]]:.2f} with 1 world, {here['search(worlds=30)']:.2f} with 30 and "
        f"{here[SEARCHES[-1]]:.2f} with 300. With 300 it is above a hundredth of a point in "
        f"{sum(each > 0.01 for each in fused)} of {len(fused)} games. "
        f"search(worlds=30) loses {lost['search(worlds=30)']:.2f} of its {here['search(worlds=30)']:.2f} to an "
        f"equilibrium. A search with open hands and all worlds loses {causes['leaf of search']:.2f} to it by the leaf "
        f"value of search, {causes['uniform/open']:.2f} by that of the equilibrium, and {causes['exact/open']:.2f} "
        f"with exact beliefs as well. "
        f"PPO reaches an exploitability of {last['PPO']:.2f} in {FRAMES[-1]:,} decisions, and of "
        f"{last['PPO with history']:.2f} if it sees the plays of the deal; krypenv train reaches {network:.2f}, and "
        f"{with_search:.2f} with search. The lower bounds of krypenv exploit are {min(shares, default=0):.0%} to "
        f"{max(shares, default=0):.0%} of the true figures."
    )


def draw(axes: Axes, bars: dict[str, dict[str, float]], bounds: dict[str, Any]) -> None:
    """Draw exploitability in the game of the learners, what is lost to an equilibrium of it, and the lower bounds."""
    names = list(bars[BEST])[::-1]
    places = range(len(names))
    axes.barh(places, [bars[BEST][name] for name in names], color=[_colour(name) for name in names])
    lost = [max(bars[LOST][name], 0.0) for name in names]
    axes.barh(places, lost, height=0.35, color="black", alpha=0.35, label=LOST)
    for place, name in enumerate(names):
        at = (bars[BEST][name], place)
        axes.annotate(f"{bars[BEST][name]:.2f}", at, (3, 0), textcoords="offset points", va="center", fontsize=8)
    found = [max(bound["margin"], 0.0) for bound in bounds.values()]
    label = "lower bound that krypenv exploit finds"
    axes.plot(found, [names.index(agent) for agent in bounds], "D", color="black", ms=5, label=label)
    axes.set_yticks(places, names)
    axes.margins(x=0.1)
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.set_xlabel(f"exploitability in {HIDDEN}, points a game; an equilibrium has 0")
    axes.legend(loc="lower right")


def _colour(name: str) -> str:
    """Return the colour of a kind of agent."""
    kinds = {"search": "C0", "ismcts": "C0", "rollout": "C0", "PPO with": "C2", "PPO": "C1", "krypenv": "C3"}
    return next((colour for kind, colour in kinds.items() if name.startswith(kind)), "C7")


STUDY = Study(
    "small",
    "How far from perfect play are agents in games that are solved?",
    tasks,
    answer,
    deals=1000,
    players=(2,),
    sets={name: name for name in setup_games()[::-1]},
    agent="tactician",
)
