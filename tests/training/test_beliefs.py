"""A search with open hands in solved games: what it loses to an equilibrium by its beliefs, and by open hands."""

from __future__ import annotations

import numpy as np
import pytest

from krypenv import Rules
from krypenv.training.research.exact.beliefs import (
    deal_values,
    leaf_values,
    lost_to_equilibrium,
    node_values,
    reach,
    replaced,
)
from krypenv.training.research.exact.solving import Solved, solve

GAP = 1e-4


@pytest.fixture(scope="module")
def solved() -> Solved:
    """`mini-last`, in which hands are hidden."""
    return solve(Rules.preset("mini-last"), gap=GAP, threads=1)


def test_the_values_of_a_policy_are_those_of_the_solver(solved: Solved) -> None:
    first, later = solved.trees.forests
    to_come = deal_values(later, solved.solutions[1].policy, leaf_values(later, np.zeros(0)))
    assert to_come == pytest.approx(solved.solutions[1].values)
    found = deal_values(first, solved.solutions[0].policy, leaf_values(first, to_come))
    assert found == pytest.approx(solved.solutions[0].values)


def test_nothing_is_lost_with_exact_beliefs_and_the_equilibrium_s_own_values(solved: Solved) -> None:
    """One move better by these is all that a player can gain, and in an equilibrium there is none."""
    forest, solution = solved.trees.forests[0], solved.solutions[0]
    leaves = leaf_values(forest, solved.solutions[1].values)
    values = node_values(forest, leaves, solution.policy)
    for seat, sign in ((0, 1), (1, -1)):
        weights = reach(forest, solution.policy, seat, True)
        policy = replaced(forest, solution.policy, seat, values, weights)
        assert (policy != solution.policy).any()
        gained = sign * solved.trees.chances @ (deal_values(forest, policy, leaves) - solution.values)
        assert abs(gained) < 20 * GAP
        uniform = replaced(forest, solution.policy, seat, values, reach(forest, solution.policy, seat, False))
        assert sign * solved.trees.chances @ (deal_values(forest, uniform, leaves) - solution.values) < gained + GAP


def test_with_open_hands_the_last_decision_takes_the_best_end(solved: Solved) -> None:
    forest = solved.trees.forests[0]
    leaves = leaf_values(forest, solved.solutions[1].values)
    values = node_values(forest, leaves)
    for node, infoset in enumerate(forest.infoset.tolist()):
        first = int(forest.edge[node])
        children = forest.children[first : first + int(forest.choice[infoset + 1] - forest.choice[infoset])]
        if (children < 0).all():
            ends = leaves[-1 - children]
            assert values[node] == (ends.max() if forest.seat[infoset] == 0 else ends.min())


def test_beliefs_are_nearly_all_that_search_loses(solved: Solved) -> None:
    uniform, exact = (lost_to_equilibrium(solved, beliefs) for beliefs in ("uniform", "exact"))
    assert uniform == pytest.approx(0.108, abs=0.002)
    assert exact == pytest.approx(0.005, abs=0.002)


@pytest.mark.parametrize("name", ["mini-choice", "mini-sweep"])
def test_where_hands_matter_little_nothing_is_lost(name: str) -> None:
    found = solve(Rules.preset(name), threads=1)
    assert lost_to_equilibrium(found, "uniform") == pytest.approx(0, abs=2 * GAP)
