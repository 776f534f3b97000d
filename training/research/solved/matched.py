"""Matched small games, solved: what changes with the goal alone, for perfect players?

Random small decks are played by all rules that differ in the goal, in who pays for a sweep, in whether sweeps and
captures are forced, and in the packs. Each game is solved, so no figure depends on a program but those of the rungs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from krypenv.cards import NUM_RANKS, SPADES
from krypenv.rules import Rules
from krypenv.training.evaluation.matches.margins import FloatArray, interval, margin_cells
from krypenv.training.lab.intervals import LEVEL, P, effects_of
from krypenv.training.lab.studying import Answer, Setup, Study, Task
from krypenv.training.solving.insight import lowest_card, spread_of, worth_of_mixing, worth_of_sight
from krypenv.training.solving.solving import grow_for_agents, measure, solve

BASE = "mini-hidden"
GOALS = ("low", "high")
RUNGS = {"random": 1, "greedy": 8, "tactician": 8, "search(worlds=10)": 4}  # and the seeds that make up a policy
FIRST, HAND, CARD, MIXING = "first seat's lead", "sight of the hand", "sight of a card", "mixing"
MEASURES = (FIRST, HAND, CARD, MIXING, *(f"exploitability of {rung}" for rung in RUNGS))
SPREAD = "standard deviation"  # of a game between two perfect players: the unit of all measures
COLUMNS = ("what, in SD", "games", "low", "high", "low - high", "95% interval", "p, Holm")
Tests = Mapping[str, Mapping[str, Mapping[str, Any]]]  # differences of the goals by measure and group, with both means


class Size(NamedTuple):
    """Games of one size."""

    ranks: int  # in one pack with two suits, or in two packs with spades alone
    deals: tuple[tuple[Any, Any], ...]  # first and later deals, one drawn for each deck
    captures: tuple[str, ...]
    decks: int | None = None  # at most
    asks: bool = True  # whether agents and sight are measured too

    def __str__(self) -> str:
        return f"{2 * self.ranks} cards"


MAXIMAL, OPTIONAL = "maximal", "optional"
SIZES = (
    Size(
        4,
        ((((2, 2),), ((1, 0),)), (((2, 0),), ((2, 0),)), (((1, 2),), ((1, 0),))),
        (MAXIMAL, OPTIONAL),
    ),
    Size(5, ((((2, 2),), ((2, 0),)), (((2, 2),), ((1, 0),))), (MAXIMAL,), decks=12),
    Size(6, ((((2, 2),), ((1, 0),)),), (MAXIMAL,), decks=1, asks=False),
)


class Cell(NamedTuple):
    """Rules that both goals are played by."""

    sweep_payer: str
    forced_sweep: bool
    capture: str
    packs: int

    @property
    def is_played(self) -> bool:
        """Whether best play for few points takes cards at all."""
        return self.capture == MAXIMAL or self.forced_sweep

    @property
    def kind(self) -> str:
        """What is forced; measures are averaged over who pays for a sweep and over the packs."""
        sweeps = "forced sweeps" if self.forced_sweep else "free sweeps"
        return f"{'must capture' if self.capture == MAXIMAL else 'optional captures'}, {sweeps}"

    def __str__(self) -> str:
        payer = "the seat before pays" if self.sweep_payer == "seat_before" else "nobody pays"
        return f"{self.kind}, {payer}, {'one pack' if self.packs == 1 else 'two packs'}"


def cells_of(size: Size) -> Iterator[Cell]:
    """Yield the rules that games of a size are played by."""
    return (Cell(*each) for each in product(("seat_before", "nobody"), (True, False), size.captures, (1, 2)))


def rules_of(size: Size, deck: int, seed: int, cell: Cell, goal: str) -> Rules:
    """Return the rules of a game: random ranks, deals and second suit, which depend on the seed and the deck alone."""
    random = np.random.default_rng([seed, size.ranks, deck])
    ranks = tuple(sorted(random.choice(NUM_RANKS, size.ranks, replace=False).tolist()))
    suit, deals = int(random.integers(SPADES)), size.deals[random.integers(len(size.deals))]
    return Rules.preset(
        BASE, ranks=tuple(rank + 1 for rank in ranks), suits=(suit, SPADES) if cell.packs == 1 else (SPADES,),
        first_deal=deals[0], later_deal=deals[1], goal=goal, **cell._asdict(),
    )  # fmt: skip


def measured(rules: str, asks: bool) -> dict[str, float]:
    """Return the measures of a game, in points."""
    game = Rules.parse(rules)
    solved = solve(game, threads=1)
    found = {SPREAD: spread_of(solved), FIRST: solved.value, MIXING: worth_of_mixing(solved)}
    if asks:
        found |= {HAND: worth_of_sight(solved), CARD: worth_of_sight(solved, lowest_card)}
        trees = grow_for_agents(game)
        for rung, seeds in RUNGS.items():
            found[f"exploitability of {rung}"] = measure(rung, game, seeds, 1, trees).exploitability
    return found


def of_a_cell(seed: int, size: int, deck: int, cell: list[Any]) -> dict[str, dict[str, float]]:
    """Return the measures of a deck's games by some rules, by goal."""
    here = SIZES[size]
    rules = Cell(*cell)
    asks = here.asks and rules.is_played
    return {goal: measured(str(rules_of(here, deck, seed, rules, goal)), asks) for goal in GOALS}


def decks_of(size: Size, setup: Setup) -> range:
    """Return the decks of a size."""
    return range(min(setup.deals, size.decks or setup.deals))


def tasks(setup: Setup) -> list[Task]:
    """Return a task for both games of each deck and cell."""
    return [
        Task(f"{size} {deck} {cell}", of_a_cell, {"seed": setup.seed, "size": at, "deck": deck, "cell": list(cell)})
        for at, size in enumerate(SIZES)
        for deck in decks_of(size, setup)
        for cell in cells_of(size)
    ]


class Group(NamedTuple):
    """Games that are averaged: for each deck, the mean over the cells in SD, by measure and goal."""

    label: str
    values: dict[str, dict[str, FloatArray]]  # (decks,); nan where a deck has none

    def difference(self, name: str) -> FloatArray:
        """Return low less high of a measure, (decks,)."""
        found = self.values[name]["low"] - self.values[name]["high"]
        return found[np.isfinite(found)]

    def mean(self, name: str, goal: str) -> FloatArray:
        """Return a measure with a goal for the decks that have it."""
        found = self.values[name][goal]
        return found[np.isfinite(found)]


def grouped(label: str, decks: list[list[dict[str, Any]]], measures: Sequence[str]) -> Group:
    """Average measures over the games of each deck, each in the standard deviation of its own game."""
    values = {}
    for name in measures:
        by_goal = {}
        for goal in GOALS:
            per_deck = []
            for games in decks:
                per_deck.append(np.mean([each[goal].get(name, np.nan) / each[goal][SPREAD] for each in games]))
            by_goal[goal] = np.array(per_deck)
        values[name] = by_goal
    return Group(label, values)


def groups_of(setup: Setup, results: dict[str, Any], sizes: Sequence[Size], measures: Sequence[str]) -> list[Group]:
    """Return the groups: of each size, by what is forced."""
    found = []
    for size in sizes:
        cells = [cell for cell in cells_of(size) if cell.is_played]
        for kind in dict.fromkeys(cell.kind for cell in cells):
            decks = [
                [results[f"{size} {deck} {cell}"] for cell in cells if cell.kind == kind]
                for deck in decks_of(size, setup)
            ]
            found.append(grouped(f"{size}, {kind}", decks, measures))
    return found


def compared(groups: list[Group]) -> Tests:
    """Return how the goals differ by measure and group, tested by Holm all together."""
    differences = {
        (name, group.label): group.difference(name)
        for group in groups
        for name in group.values
        if len(group.difference(name)) > 1
    }
    by_label = {group.label: group for group in groups}
    found: dict[str, dict[str, Any]] = {}
    for (name, label), figure in effects_of(differences).items():
        means = [float(by_label[label].mean(name, goal).mean()) for goal in GOALS]
        found.setdefault(name, {})[label] = {"means": means, **figure}
    return found


def rows_of(tests: Tests, digits: int = 3) -> list[tuple[str, ...]]:
    """Return the rows of a table that compares the goals."""
    return [
        (
            name,
            label,
            *(f"{mean:+.{digits}f}" for mean in each["means"]),
            *margin_cells(each["mean"], each["low"], each["high"], digits),
            f"{each[P]:.2g}",
        )
        for name, groups in tests.items()
        for label, each in groups.items()
    ]


def answer(setup: Setup, results: dict[str, Any]) -> Answer:
    """Compare the goals over all decks, by group and measure."""
    groups = groups_of(setup, results, SIZES, MEASURES)
    tests = compared(groups)
    return Answer(
        _sentence(tests),
        COLUMNS,
        rows_of(tests),
        {"differences": tests, "cells": by_cell(setup, results)},
        lambda axes: draw(axes, groups),
    )


def by_cell(setup: Setup, results: dict[str, Any]) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """Return the mean of each measure in points over the decks, by size, cell and goal."""

    def mean(size: Size, cell: Cell, goal: str) -> dict[str, float]:
        games = [results[f"{size} {deck} {cell}"][goal] for deck in decks_of(size, setup)]
        return {name: float(np.mean([game[name] for game in games])) for name in games[0]}

    return {
        str(size): {str(cell): {goal: mean(size, cell, goal) for goal in GOALS} for cell in cells_of(size)}
        for size in SIZES
    }


def _sentence(tests: Tests) -> str:
    """Tell which measures differ with the goal, and which are not told apart in any games."""
    told, alike = [], []
    for name in MEASURES:
        certain = [
            f"{' and '.join(f'{mean:+.3f}' for mean in each['means'])} ({label})"
            for label, each in tests.get(name, {}).items()
            if each[P] < LEVEL
        ]
        if certain:
            told.append(f"{name}: {'; '.join(certain)}")
        else:
            alike.append(name)
    found = ". ".join(told) or "none"
    return (
        "Differences between the goals that can be told apart, low and high in standard deviations of a game between "
        f"perfect players: {found}. Not told apart in any games: {', '.join(alike) or 'none'}."
    )


def draw(axes: Axes, groups: list[Group], apart: float = 0.0) -> None:
    """Draw each measure by group: a point with its interval for each goal; `apart` is between them, in rows."""
    labels: list[str] = []
    told: set[str] = set()
    for name in groups[0].values:
        for group in groups:
            if not len(group.difference(name)):
                continue
            place = len(labels)
            labels.append(group.label if name in told else f"{name}: {group.label}")
            told.add(name)
            means = [interval(group.mean(name, goal)) for goal in GOALS]
            rows = [place - apart / 2, place + apart / 2]
            axes.plot([each[0] for each in means], rows, color="#999999", lw=1, zorder=1)
            for (mean, low, high), row, goal, colour in zip(means, rows, GOALS, ("C0", "C3"), strict=True):
                spread = [[mean - low], [high - mean]] if np.isfinite(high - low) else None
                axes.errorbar([mean], [row], xerr=spread, fmt="o", ms=5, capsize=3, color=colour,
                              label=f"goal {goal}" if place == 0 else None)  # fmt: skip
    axes.figure.set_size_inches(9, 1.5 + 0.2 * len(labels))  # type: ignore[union-attr]  # a figure of its own
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(labels)), labels, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("SD of a game between two perfect players")
    axes.legend(loc="best")


STUDY = Study(
    "matched",
    "What does the goal change between perfect players?",
    tasks,
    answer,
    deals=30,
    players=(2,),
    sets={"base": BASE},
    agent="tactician",
)
