"""How far margins spread between two policies, against all histories of a game."""

from __future__ import annotations

import numpy as np
import pytest

from krypenv import Rules
from krypenv.training.solving import Solved, solve, spread_of
from krypenv.training.solving.deal_tree import HANDS

SMALL = ("mini-sweep", "mini-choice", "mini-copies", "mini-last")


@pytest.fixture(scope="module", params=SMALL)
def solved(request: pytest.FixtureRequest) -> Solved:
    return solve(Rules.preset(request.param), threads=1)


def ends_of(solved: Solved) -> dict[float, float]:
    """Return how likely each margin of a game is, by following every history."""
    margins: dict[float, float] = {}

    def follow(number: int, node: int, chance: float, margin: float) -> None:
        forest, policy = solved.trees.forests[number], solved.solutions[number].policy
        if node < 0:
            margin += forest.gain[-1 - node]
            follower = forest.follower[-1 - node]
            if follower < 0:
                margins[margin] = margins.get(margin, 0.0) + chance
            else:
                begin(number + 1, follower, chance, margin)
            return
        infoset, first = int(forest.infoset[node]), int(forest.edge[node])
        chances = policy[forest.choice[infoset] : forest.choice[infoset + 1]].tolist()
        for child, probability in zip(forest.children[first : first + len(chances)].tolist(), chances, strict=True):
            if probability:
                follow(number, child, chance * probability, margin)

    def begin(number: int, deal: int, chance: float, margin: float) -> None:
        forest = solved.trees.forests[number]
        hands = range(forest.starts[deal, HANDS], forest.starts[deal + 1, HANDS])
        for hand in hands:
            follow(number, int(forest.first[hand]), chance * float(forest.chance[hand]), margin)

    for deal, chance in enumerate(solved.trees.chances.tolist()):
        begin(0, deal, chance, 0.0)
    return margins


def test_the_spread_is_that_of_all_histories(solved: Solved) -> None:
    margins = ends_of(solved)
    values, chances = np.array(list(margins)), np.array(list(margins.values()))
    assert chances.sum() == pytest.approx(1)
    mean = chances @ values
    assert mean == pytest.approx(solved.value)
    assert spread_of(solved) == pytest.approx(np.sqrt(chances @ (values - mean) ** 2))
