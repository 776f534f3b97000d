"""Memory between perfect players: what is it worth to know the cards of earlier deals, with each goal?

The games are matched as those of `matched`, which says how. Where all later hands have one card and captures are
forced, there is next to nothing left to choose by memory; so games of ten cards with later hands of two are added.
"""

from __future__ import annotations

from typing import Any

from krypenv.rules import Rules
from krypenv.training.lab.intervals import LEVEL, P
from krypenv.training.lab.studying import Answer, Setup, Study, Task
from krypenv.training.research.solved import matched
from krypenv.training.research.solved.matched import BASE, COLUMNS, GOALS, SPREAD, Cell, Group, Size, Tests
from krypenv.training.solving.insight import spread_of, worth_of_memory
from krypenv.training.solving.solving import solve

MEMORY = "memory"
DIGITS = 4  # of points: to which games are solved, and of the table
SIZES = (matched.SIZES[0], Size(5, ((((2, 2),), ((2, 0),)),), (matched.MAXIMAL,)))


def measured(rules: Rules) -> dict[str, float]:
    """Return the worth of memory in a game and its spread, in points."""
    solved = solve(rules, threads=1)
    return {SPREAD: spread_of(solved), MEMORY: round(worth_of_memory(solved), DIGITS) + 0.0}  # no -0.0


def of_a_cell(seed: int, size: int, deck: int, cell: list[Any]) -> dict[str, dict[str, float]]:
    """Return what is measured in a deck's games by some rules, by goal."""
    return {goal: measured(matched.rules_of(SIZES[size], deck, seed, Cell(*cell), goal)) for goal in GOALS}


def tasks(setup: Setup) -> list[Task]:
    """Return a task for both games of each deck and cell in which best play takes cards."""
    return [
        Task(f"{size} {deck} {cell}", of_a_cell, {"seed": setup.seed, "size": at, "deck": deck, "cell": list(cell)})
        for at, size in enumerate(SIZES)
        for deck in matched.decks_of(size, setup)
        for cell in matched.cells_of(size)
        if cell.is_played
    ]


def answer(setup: Setup, results: dict[str, Any]) -> Answer:
    """Compare the goals over all decks, by group."""
    groups = matched.groups_of(setup, results, SIZES, [MEMORY])
    tests = matched.compared(groups)
    by_deck = {goal: {group.label: group.mean(MEMORY, goal).tolist() for group in groups} for goal in GOALS}  # in SD
    return Answer(
        _sentence(groups, tests),
        COLUMNS,
        matched.rows_of(tests, DIGITS),
        {"differences": tests, **by_deck},
        lambda axes: matched.draw(axes, groups, 0.3),
    )


def _sentence(groups: list[Group], tests: Tests) -> str:
    """Tell what memory is worth with each goal, and in which games that differs."""
    means = [(group, *(group.mean(MEMORY, goal).mean() for goal in GOALS)) for group in groups]
    each = "; ".join(f"{low:+.{DIGITS}f} and {high:+.{DIGITS}f} ({group.label})" for group, low, high in means)
    certain = [label for label, figure in tests.get(MEMORY, {}).items() if figure[P] < LEVEL]
    most = max(max(group.mean(MEMORY, goal).max() for goal in GOALS) for group in groups)
    return (
        "Memory of earlier deals is worth, low and high in standard deviations of a game between perfect players: "
        f"{each}; at most {most:+.{DIGITS}f} in the games of any deck. The goals are told apart in: "
        f"{'; '.join(certain) or 'none'}."
    )


STUDY = Study(
    "recall",
    "What is memory worth to perfect players?",
    tasks,
    answer,
    deals=30,
    players=(2,),
    sets={"base": BASE},
    agent="tactician",
)
