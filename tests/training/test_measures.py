"""How far margins spread between two policies, against all histories of a game; and studies of solved games."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from support.scripts import load

from krypenv import Rules
from krypenv.training.lab import Setup
from krypenv.training.solving import Solved, solve, spread_of
from krypenv.training.solving.deal_tree import HANDS

SMALL = ("mini-sweep", "mini-last")


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


class TestMisereSmall:
    study = load("misere_small")

    def test_the_rules_of_a_cell_differ_in_the_goal_alone(self) -> None:
        for size in self.study.SIZES:
            for cell in self.study.cells_of(size):
                low, high = (self.study.rules_of(size, 0, 3, cell, goal) for goal in self.study.GOALS)
                assert dataclasses.replace(low, goal="high") == high
                assert low.deck_size == 2 * size.ranks

    def test_leads_are_compared_by_what_is_forced(self, monkeypatch: pytest.MonkeyPatch) -> None:
        deals = ((((1, 0),), ((1, 0),)),)
        sizes = (self.study.Size(3, deals, ("maximal", "optional")),)
        monkeypatch.setitem(self.study.tasks.__globals__, "SIZES", sizes)
        setup = Setup(Rules.preset(self.study.BASE), "tactician", 3)
        results = {task.key: task.function(**task.arguments) for task in self.study.tasks(setup)}
        found = self.study.answer(setup, results).figures["differences"][self.study.LEAD]
        assert list(found) == [
            f"6 cards, {kind}"
            for kind in ("must capture, forced sweeps", "optional captures, forced sweeps", "must capture, free sweeps")
        ]
        for each in found.values():
            low, high = each["means"]
            assert low - high == pytest.approx(each["mean"])


@pytest.mark.parametrize("cards", [4, 5, 8])
def test_late_positions_lie_in_the_deal_before_the_last_one(cards: int) -> None:
    rules = Rules.preset("krypkasino", players=2)
    game = load("late").late_game(rules, "greedy", 0, 1, cards)
    assert (game.deal_number, game.pending) == (len(rules.deal_sizes()) - 1, None)
    assert len(game.hand(0)) + len(game.hand(1)) == cards
