"""The agents around a learner, by rules: whom it imitates, whom it plays against, who measures it; and its points."""

from __future__ import annotations

from typing import NamedTuple

from krypenv.agents.base import knows_krypkasino
from krypenv.rules import Rules


class Ladder(NamedTuple):
    """Agents by their strings, from the weakest to the strongest where there are several."""

    teacher: str  # who values actions, for demonstrations
    opponents: tuple[str, ...]
    against: tuple[str, ...]  # in the evaluations
    hard_opponents: tuple[str, ...]  # in long runs
    hard_against: tuple[str, ...]
    gamma: float  # discount of rewards for each decision of a seat; majorities are paid at the end
    temperature: float  # points: of the teacher's play and of what is learned from it
    metagame_deals: int  # of each snapshot against each other one
    spread: float  # points: by margins that far apart snapshots are drawn unlike each other


TEACHER = "search(worlds=16, plies=2)"
KRYPKASINO = Ladder(
    TEACHER,
    ("tactician(shed=True)",),
    ("greedy", "tactician", "tactician(shed=True)"),
    ("tactician(shed=True)", "search(worlds=8, plies=2)"),
    ("tactician", "tactician(shed=True)", "search"),
    gamma=0.95,
    temperature=1.5,
    metagame_deals=200,
    spread=5.0,
)
OTHERS = Ladder(
    TEACHER,
    ("tactician",),
    ("greedy", "tactician"),
    ("tactician",),
    ("tactician", "search"),
    gamma=1.0,
    temperature=0.3,
    metagame_deals=40,
    spread=1.0,
)
# Where cards are built, a mulle is worth up to 16 points, and a promise shows only after three plays.
BUILDING = OTHERS._replace(teacher="search(worlds=16)", temperature=0.6, spread=3.0)


def ladder_of(rules: Rules) -> Ladder:
    """Return the ladder for some rules: that of games like Krypkasino, of games with builds, or of all others."""
    if rules.building:
        return BUILDING
    return KRYPKASINO if knows_krypkasino(rules) else OTHERS
