"""The agents around a learner, by rules: whom it imitates, whom it plays against, and who measures it."""

from __future__ import annotations

from typing import NamedTuple

from krypenv.agents.base import knows_krypkasino
from krypenv.rules import Rules


class Ladder(NamedTuple):
    """Agents by their strings, from the weakest to the strongest where there are several."""

    teacher: str  # who values actions, for demonstrations
    teaches: bool  # whether training begins with its demonstrations
    opponents: tuple[str, ...]
    against: tuple[str, ...]  # in the evaluations
    hard_opponents: tuple[str, ...]  # in long runs
    hard_against: tuple[str, ...]


TEACHER = "search(worlds=16, plies=2)"
KRYPKASINO = Ladder(
    TEACHER,
    True,
    ("tactician(shed=True)",),
    ("greedy", "tactician", "tactician(shed=True)"),
    ("tactician(shed=True)", "search(worlds=8, plies=2)"),
    ("tactician", "tactician(shed=True)", "search"),
)
FURTHER = Ladder(TEACHER, False, ("greedy",), ("random", "greedy"), ("greedy",), ("random", "greedy"))


def ladder_of(rules: Rules) -> Ladder:
    """Return the ladder for some rules: that of games like Krypkasino, or that of all others."""
    return KRYPKASINO if knows_krypkasino(rules) else FURTHER
