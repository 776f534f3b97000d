"""What does the goal change between perfect players?

Random small decks are played by all rules that differ in the goal, in who pays for a sweep, in whether sweeps and
captures are forced, and in the packs. Each game is solved, and the first seat's lead is compared: for each deck its
mean over the rules that force the same, in standard deviations (SD) of that very game. The stored answer has more
measures, of the command that this script replaces.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from krypenv import Rules
from krypenv.cards import NUM_RANKS, SPADES
from krypenv.training import lab
from krypenv.training.solving import solve, spread_of

BASE = "mini-hidden"
GOALS = ("low", "high")
LEAD = "first seat's lead"


class Size(NamedTuple):
    """Games of one size."""

    ranks: int  # in one pack with two suits, or in two packs with spades alone
    deals: tuple[Any, ...]  # first and later deals, one drawn for each deck
    captures: tuple[str, ...]
    decks: int | None = None  # at most


SIZES = (
    Size(4, ((((2, 2),), ((1, 0),)), (((2, 0),), ((2, 0),)), (((1, 2),), ((1, 0),))), ("maximal", "optional")),
    Size(5, ((((2, 2),), ((2, 0),)), (((2, 2),), ((1, 0),))), ("maximal",), decks=12),
    Size(6, ((((2, 2),), ((1, 0),)),), ("maximal",), decks=1),
)


class Cell(NamedTuple):
    """Rules that both goals are played by."""

    sweep_payer: str
    forced_sweep: bool
    capture: str
    packs: int

    @property
    def kind(self) -> str:
        """What is forced."""
        sweeps = "forced sweeps" if self.forced_sweep else "free sweeps"
        return f"{'must capture' if self.capture == 'maximal' else 'optional captures'}, {sweeps}"


def cells_of(size: Size) -> list[Cell]:
    """Return the rules that games of a size are played by; where nothing is forced, best play for few takes nothing."""
    cells = (Cell(*each) for each in product(("seat_before", "nobody"), (True, False), size.captures, (1, 2)))
    return [cell for cell in cells if cell.capture == "maximal" or cell.forced_sweep]


def rules_of(size: Size, deck: int, seed: int, cell: Cell, goal: str) -> Rules:
    """Return the rules of a game: random ranks, deals and second suit, which depend on the seed and the deck alone."""
    random = np.random.default_rng([seed, size.ranks, deck])
    ranks = sorted(random.choice(NUM_RANKS, size.ranks, replace=False).tolist())
    suit, (first, later) = int(random.integers(SPADES)), size.deals[random.integers(len(size.deals))]
    return Rules.preset(
        BASE, ranks=tuple(rank + 1 for rank in ranks), suits=(suit, SPADES) if cell.packs == 1 else (SPADES,),
        first_deal=first, later_deal=later, goal=goal, **cell._asdict(),
    )  # fmt: skip


def leads(seed: int, size: int, deck: int, cell: list[Any]) -> dict[str, float]:
    """Return the first seat's lead in a deck's games by some rules, in SD, by goal."""
    solved = {goal: solve(rules_of(SIZES[size], deck, seed, Cell(*cell), goal), threads=1) for goal in GOALS}
    return {goal: each.value / spread_of(each) for goal, each in solved.items()}


def games(setup: lab.Setup) -> Iterator[tuple[int, int, Cell]]:
    """Yield the games: the index of a size, a deck and a cell."""
    for at, size in enumerate(SIZES):
        for deck in range(min(setup.deals, size.decks or setup.deals)):
            for cell in cells_of(size):
                yield at, deck, cell


def tasks(setup: lab.Setup) -> list[lab.Task]:
    """Return a task for both games of each deck and cell."""
    return [
        lab.Task(f"{at} {deck} {cell}", leads, {"seed": setup.seed, "size": at, "deck": deck, "cell": list(cell)})
        for at, deck, cell in games(setup)
    ]


def answer(setup: lab.Setup, results: dict[str, Any]) -> lab.Answer:
    """Compare the goals over all decks, by what is forced; tested all together."""
    by_deck: dict[str, Any] = {}  # by group and goal, the games of each deck
    for at, deck, cell in games(setup):
        group = by_deck.setdefault(f"{2 * SIZES[at].ranks} cards, {cell.kind}", {goal: {} for goal in GOALS})
        for goal, lead in results[f"{at} {deck} {cell}"].items():
            group[goal].setdefault(deck, []).append(lead)
    means = {
        name: {goal: np.array([np.mean(each) for each in group[goal].values()]) for goal in GOALS}
        for name, group in by_deck.items()
    }
    effects = lab.effects_of({name: each["low"] - each["high"] for name, each in means.items()})
    figures = {
        name: {
            "means": [float(means[name][goal].mean()) for goal in GOALS],
            **(effect if np.isfinite(effect["low"]) else {}),  # a single deck has no interval
        }
        for name, effect in effects.items()
    }
    return lab.Answer({"differences": {LEAD: figures}}, draw=lambda axes: draw(axes, means))


def draw(axes: Axes, means: dict[str, Any]) -> None:
    """Draw the first seat's lead with each goal."""
    shown = {name: each for name, each in means.items() if len(each["low"]) > 1}
    for goal, colour in zip(GOALS, ("C0", "C3"), strict=True) if shown else ():
        mean, low, high = np.array([lab.interval(each[goal]) for each in shown.values()]).T
        xerr = (mean - low, high - mean)
        axes.errorbar(mean, list(shown), xerr=xerr, fmt="o", capsize=3, color=colour, label=f"goal {goal}")
        axes.legend()
    axes.axvline(0, color="black", linewidth=0.8)
    axes.invert_yaxis()
    axes.set_xlabel(f"{LEAD}, SD of a game between two perfect players")


QUESTION = "What does the goal change between perfect players?"
STUDY = lab.Study("misere_small", QUESTION, tasks, answer, deals=30, sets=(BASE,), agent="tactician")

if __name__ == "__main__":
    lab.main(STUDY)
