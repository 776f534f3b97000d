"""Transfer: is a network for one goal worth anything for the other, and which of its layers carry it?"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from krypenv import agents
from krypenv.rules import Rules
from krypenv.training.evaluation.matches.deal_lists import deal_seeds
from krypenv.training.evaluation.matches.duplicate_deals import play_duplicates
from krypenv.training.evaluation.matches.margins import (
    FloatArray,
    Interval,
    format_margin,
    interval,
    margin_cells,
)
from krypenv.training.lab.chunks import stream
from krypenv.training.lab.intervals import LEVEL, P, effects_of, figures_of, format_p
from krypenv.training.lab.studying import Answer, Setup, Study, Task

if TYPE_CHECKING:
    from krypenv.training.lab.self_play import SelfPlay, Weights

GAMES, STEPS = 256, 32  # played at once, and decisions in each that an update learns from
UPDATES = (0, 1, 2, 4, 8, 16, 32)  # after which a network is measured
SHARE = 0.9  # of what training from scratch gains, to which decisions are counted

OBSERVATION, ACTIONS = ("network.read.",), ("network.kinds.", "network.card.")
TRUNK = (*OBSERVATION, *ACTIONS, "network.context.", "network.hidden.")
POLICY, VALUES = ("network.score.",), ("network.judge.", "network.value.", "critic.")
LAST_LAYERS = (*POLICY, "network.value.", "critic.2.")  # of the policy head, the value head and the critic


class Arm(NamedTuple):
    """What a training keeps of the network for the other goal; all other weights are random."""

    layers: tuple[str, ...]  # by the beginning of their names
    negates: bool = False  # whether the output layers change their sign

    def of(self, weights: Weights) -> Weights:
        """Return what is kept of some weights."""
        kept = {name: weight for name, weight in weights.items() if name.startswith(self.layers)}
        negated = LAST_LAYERS if self.negates else ()
        return {name: -weight if name.startswith(negated) else weight for name, weight in kept.items()}


SCRATCH = "from scratch"
ARMS = {
    "all weights": Arm((*TRUNK, *POLICY, *VALUES)),
    "all weights, outputs negated": Arm((*TRUNK, *POLICY, *VALUES), negates=True),
    "all but the values": Arm((*TRUNK, *POLICY)),
    "all but both heads": Arm(TRUNK),
    "layer of the observation": Arm(OBSERVATION),
    "layers of the actions": Arm(ACTIONS),
}
FEW = ("all weights", "all weights, outputs negated", "all but both heads")  # of the game beside the main one


class Pair(NamedTuple):
    """A game with both goals."""

    low: str
    high: str
    arms: tuple[str, ...]
    runs: int  # trainings of each kind, by their seeds


PAIRS = (
    Pair("Krypkasino, low", "Krypkasino, high", tuple(ARMS), runs=4),
    Pair("Finland, must capture, low", "Finland, must capture, high", FEW, runs=3),
)
SETS = {
    "Krypkasino, low": "krypkasino",
    "Krypkasino, high": "krypkasino goal=high",
    "Finland, must capture, low": "kasino-finland capture=maximal goal=low",
    "Finland, must capture, high": "kasino-finland capture=maximal",
}
AGENT = "tactician"  # whom the networks meet


# ---------------------------------------------------------------------- trainings


def learner(rules: str, seed: int, run: int) -> SelfPlay:
    """Return a learner with random weights, which differ with the goal."""
    from krypenv.training.lab.self_play import SelfPlay

    game = Rules.parse(rules)
    return SelfPlay(game, stream(seed, run, int(game.goal == "high")), UPDATES[-1], GAMES)


def measure(learner: SelfPlay, deals: int, seed: int) -> float:
    """Return the margin of a network alone over the tactician, in duplicate deals."""
    from krypenv.training.learn.learner.torch_network import NetworkAgent

    players = (
        NetworkAgent(learner.network, learner.rules, "learner", solver=False),
        agents.make_known(AGENT, learner.rules),
    )
    return float(play_duplicates(players, learner.rules, deal_seeds(seed, deals)).margins.mean())


def curve_of(learner: SelfPlay, deals: int, seed: int) -> dict[str, Any]:
    """Train to the end; return the margin after each of `UPDATES`, and the decisions of a game."""
    margins = []
    for update in UPDATES:
        learner.play_to(update)
        margins.append(measure(learner, deals, seed))
    games = learner.model.games_played + GAMES / 2  # of those under way a half
    return {"margins": margins, "decisions of a game": learner.model.num_timesteps / games}


@lru_cache(2)
def trained(rules: str, deals: int, seed: int, run: int) -> tuple[dict[str, Any], Weights]:
    """Train from scratch; return the curve and the weights. The last two are kept: those of both goals."""
    found = learner(rules, seed, run)
    curve = curve_of(found, deals, stream(seed, run, 2))
    return curve, found.weights()


def from_scratch(rules: str, deals: int, seed: int, run: int) -> dict[str, Any]:
    """Return the curve of a training from scratch."""
    return trained(rules, deals, seed, run)[0]


def tuned(rules: str, other: str, arm: str, deals: int, seed: int, run: int) -> dict[str, Any]:
    """Return the curve of a training that starts from a network for the other goal, on the same deals as from scratch.

    Also its fresh weights are those of the training from scratch.
    """
    found = learner(rules, seed, run)
    found.start_from(ARMS[arm].of(trained(other, deals, seed, run)[1]))
    return curve_of(found, deals, stream(seed, run, 2))


def tasks(setup: Setup) -> list[Task]:
    """Return all trainings: of each pair and run first those from scratch, whose networks the others start from."""
    made = []
    for low, high, arms, runs in PAIRS:
        for run in range(runs):
            shared = {"deals": setup.deals, "seed": setup.seed, "run": run}
            for label in (low, high):
                made.append(Task(f"{label}: {SCRATCH} {run}", from_scratch, {"rules": SETS[label], **shared}))
            for label, other in ((low, high), (high, low)):
                for arm in arms:
                    arguments = {"rules": SETS[label], "other": SETS[other], "arm": arm, **shared}
                    made.append(Task(f"{label}: {arm} {run}", tuned, arguments))
    return made


# ---------------------------------------------------------------------- answer


class Curves(NamedTuple):
    """The trainings for one goal."""

    margins: dict[str, FloatArray]  # (runs, points) by what is kept, from scratch first
    game: float  # decisions of a game

    @property
    def levels(self) -> FloatArray:
        """The margins that count as learned by run, (runs,): `SHARE` of the way from scratch's start to its end."""
        scratch = self.margins[SCRATCH]
        found: FloatArray = scratch[:, 0] + SHARE * (scratch[:, -1] - scratch[:, 0])
        return found

    def needed(self, arm: str) -> FloatArray:
        """Return the decisions to that margin by run, (runs,); the whole training if it is never reached."""
        return np.array([crossing(*each) for each in zip(self.margins[arm], self.levels, strict=True)])

    def reached(self, arm: str) -> int:
        """Return how many runs reach it."""
        return int((self.margins[arm].max(axis=1) >= self.levels).sum())

    def saved(self, arm: str) -> FloatArray:
        """Return the decisions that are saved by run, (runs,)."""
        return self.needed(SCRATCH) - self.needed(arm)

    def gained(self, arm: str) -> FloatArray:
        """Return by how much the mean margin after the start is better than from scratch, (runs,)."""
        found: FloatArray = (self.margins[arm] - self.margins[SCRATCH])[:, 1:].mean(axis=1)
        return found


def crossing(margins: FloatArray, level: float) -> float:
    """Return the decisions after which a curve first reaches a margin, by linear interpolation; its end if never."""
    decisions = decided()
    reaching = np.flatnonzero(margins >= level)
    if not len(reaching):
        return float(decisions[-1])
    at = int(reaching[0])
    if at == 0:
        return float(decisions[0])
    part = (level - margins[at - 1]) / (margins[at] - margins[at - 1])
    return float(decisions[at - 1] + part * (decisions[at] - decisions[at - 1]))


def decided() -> FloatArray:
    """Return the decisions at which networks are measured, (points,)."""
    return np.array(UPDATES, float) * GAMES * STEPS


def curves_of(results: Mapping[str, Any]) -> dict[str, Curves]:
    """Return the trainings by the goal that they are for."""
    found = {}
    for low, high, arms, runs in PAIRS:
        for label in (low, high):
            all_of = {arm: [results[f"{label}: {arm} {run}"] for run in range(runs)] for arm in (SCRATCH, *arms)}
            margins = {arm: np.array([each["margins"] for each in those]) for arm, those in all_of.items()}
            game = float(np.mean([each["decisions of a game"] for each in all_of[SCRATCH]]))
            found[label] = Curves(margins, game)
    return found


def answer(setup: Setup, results: dict[str, Any]) -> Answer:
    """Tell what is saved by what is kept; the mean margins along the training are tested, by Holm all together."""
    curves = curves_of(results)
    gained = effects_of(
        {(label, arm): each.gained(arm) for label, each in curves.items() for arm in each.margins if arm != SCRATCH}
    )
    rows = [
        row_of(label, arm, each, gained.get((label, arm))) for label, each in curves.items() for arm in each.margins
    ]
    figures = {
        label: figures_of_curves(each, {arm: effect for (of, arm), effect in gained.items() if of == label})
        for label, each in curves.items()
    }
    columns = (
        "what", "margin at the start", f"after {decided()[1]:,.0f} decisions", "at the end",
        "mean margin, more than from scratch", f"decisions to {SHARE:.0%}", "decisions saved", "games saved",
    )  # fmt: skip
    return Answer(_sentence(curves, figures), columns, rows, figures, partial(draw, curves=curves))


def row_of(label: str, arm: str, curves: Curves, gained: Mapping[str, float] | None) -> tuple[str, ...]:
    """Return the row of a kind of training: its margins, and what it saves."""
    margins = [f"{each:+.1f}" for each in curves.margins[arm].mean(axis=0)[[0, 1, -1]]]
    needed = f"{curves.needed(arm).mean():,.0f}"
    if curves.reached(arm) < (runs := len(curves.levels)):
        needed += f"\nreached by {curves.reached(arm)} of {runs}"
    head = (f"{label}: {arm}", *margins)
    if gained is None:
        return (*head, "", needed, "", "")
    more = "\n".join((*margin_cells(gained["mean"], gained["low"], gained["high"], 1), format_p(gained[P])))
    saved = curves.saved(arm)
    return (*head, more, needed, _many(interval(saved)), _many(interval(saved / curves.game)))


def _many(found: Interval) -> str:
    """Return a number of decisions or games and its interval as a cell."""
    mean, low, high = found
    return f"{mean:+,.0f}\n{low:+,.0f} to {high:+,.0f}"


def figures_of_curves(curves: Curves, gained: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """Return the curves for a goal and what is saved, as plain JSON values."""
    return {
        "decisions": decided().tolist(),
        "decisions of a game": curves.game,
        "levels": curves.levels.tolist(),
        "margins": {arm: each.tolist() for arm, each in curves.margins.items()},
        "needed": {arm: curves.needed(arm).tolist() for arm in curves.margins},
        "saved": figures_of({arm: interval(curves.saved(arm)) for arm in gained}),
        "gained": dict(gained),
    }


def _sentence(curves: Mapping[str, Curves], figures: Mapping[str, Any]) -> str:
    """Tell what each kind of training saves, in thousands of decisions."""
    told = []
    for label, each in curves.items():
        needed = each.needed(SCRATCH).mean()
        saved = [
            f"{arm} {format_margin(*interval(each.saved(arm) / 1000), 0)}"
            + ("" if figures[label]["gained"][arm][P] < LEVEL else ", not told apart from scratch")
            for arm in each.margins
            if arm != SCRATCH
        ]
        games = f"{needed / each.game:,.0f} games"
        told.append(f"{label}: {needed / 1000:,.0f} from scratch ({games}); saved: {'; '.join(saved)}")
    return (
        f"Decisions to {SHARE:.0%} of what training from scratch gains, and what is saved by starting from a network "
        f"for the other goal, in thousands (all trainings end after {decided()[-1] / 1000:,.0f}). {'. '.join(told)}."
    )


COLOURS = dict(zip((SCRATCH, *ARMS), ("black", "C3", "C0", "C1", "C2", "C4", "C5"), strict=True))


def draw(axes: Axes, curves: Mapping[str, Curves]) -> None:
    """Draw the margins along the training: a panel for each goal, a line for what is kept, a shade for the runs."""
    figure = axes.get_figure()
    assert isinstance(figure, Figure)
    axes.remove()
    figure.set_size_inches(9, 3.6 * len(PAIRS) + 0.8)
    grid = figure.subplots(len(PAIRS), 2, sharex=True, squeeze=False)
    for panel, (label, each) in zip(grid.flat, curves.items(), strict=True):
        for arm, margins in each.margins.items():
            style = "--" if arm == SCRATCH else "-"
            panel.plot(decided(), margins.mean(axis=0), style, marker="o", ms=3, color=COLOURS[arm], label=arm)
            panel.fill_between(
                decided(), margins.min(axis=0), margins.max(axis=0), color=COLOURS[arm], alpha=0.12, lw=0
            )
        panel.axhline(each.levels.mean(), color="grey", lw=0.8, ls=":")
        panel.set_xscale("symlog", base=2, linthresh=decided()[1])
        panel.set_xticks(decided(), [f"{each / 1000:,.0f}" for each in decided()])
        panel.set_title(f"learns: {label}", fontsize=10)
        panel.grid(alpha=0.3)
    for panel in grid[-1]:
        panel.set_xlabel("decisions of training, in thousands", fontsize=9)
    figure.supylabel(f"margin over {AGENT}, points a game", fontsize=10)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=3, fontsize=9, title="kept of the other goal's network"
    )


STUDY = Study(
    "transfer",
    "What is a network for one goal worth for the other?",
    tasks,
    answer,
    deals=500,
    players=(2,),
    sets=SETS,
    agent=AGENT,
)
