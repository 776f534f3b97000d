"""Small games solved exactly: known values and sizes, OpenSpiel's best responses, and a walk through all games."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy
from open_spiel.python.algorithms.exploitability import exploitability

from krypenv import Rules, agents
from krypenv.envs.chance import CoursePlan
from krypenv.envs.course import CHANCE, TERMINAL, Course
from krypenv.envs.openspiel import load
from krypenv.training import solving
from krypenv.training.solving.growing import estimate_first_deal

GAP = 1e-4


# ---------------------------------------------------------------------- equilibria


@pytest.mark.parametrize(
    ("text", "histories", "infosets", "value"),
    [
        ("mini-sweep", 2_860, (972, 780), -3.4889),
        ("mini-sweep goal=high", 2_860, (972, 780), 0.0667),
        ("mini-choice", 14_336, (2_858, 3_736), 1.0),
        ("mini-choice sweep_points=3", 14_336, (2_858, 3_736), 0.4762),
        ("mini-copies", 7_326, (1_904, 2_448), -0.6286),
        ("mini-last", 89_304, (23_136, 30_788), 0.8573),
        ("mini-kasino", 32_240, (13_282, 5_432), 2.72),
        ("mini-mulle", 3_415, (1_429, 629), 4.6875),
    ],
)
def test_small_games_have_the_values_and_sizes_that_are_known(
    text: str, histories: int, infosets: tuple[int, int], value: float
) -> None:
    """Most values were found by linear programming over OpenSpiel's trees, too, and sizes by walks through games."""
    rules = Rules.parse(text)
    size = solving.size_of(solving.grow(rules, keeps_all=True))
    assert (size.histories, size.infosets) == (histories, infosets)
    found = solving.solve(rules, GAP)
    assert found.value == pytest.approx(value, abs=GAP)
    assert -1e-9 <= found.exploitability <= GAP


# ---------------------------------------------------------------------- best responses


class FirstAction:
    """The first legal action, wherever it is asked."""

    name = "first"

    def probabilities(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        return np.eye(masks.shape[1])[masks.argmax(axis=1)]


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["mini-sweep", "mini-mulle"])
def test_exploitability_is_that_of_openspiel(name: str) -> None:
    """In points a game, for uniform play and for a policy that is far from it."""
    rules = Rules.preset(name)
    tree = pyspiel.convert_to_cached_tree(load(rules, sorted_deals=True))
    lowest = policy.tabular_policy_from_callable(tree, lambda state: {min(state.legal_actions()): 1.0})
    for agent, same in ((FirstAction(), lowest), ("random", policy.UniformRandomPolicy(tree))):
        found = solving.measure(agent, rules).exploitability  # type: ignore[arg-type]
        assert found == pytest.approx(exploitability(tree, same))


def test_an_agent_that_remembers_makes_its_earlier_decisions_first() -> None:
    rules = Rules.parse("mini-sweep ranks=(1,5,9) first_deal=((3,0),)")  # no card takes a sum: each play is an action
    players = FirstAction(), *(agents.typed(f"support.solving:Alternating(remembers={each})") for each in (False, True))
    lowest, told, remembered = (solving.measure(player, rules).best for player in players)  # type: ignore[arg-type]
    assert remembered == told != lowest


# ---------------------------------------------------------------------- two policies

Policy = Callable[[Course], list[tuple[int, float]]]  # the actions at a decision, with their probabilities


def first(course: Course) -> list[tuple[int, float]]:
    """The first legal action, as `FirstAction` plays it."""
    return [(min(course.legal_actions()), 1.0)]


def even(course: Course) -> list[tuple[int, float]]:
    """All legal actions alike."""
    legal = course.legal_actions()
    return [(action, 1 / len(legal)) for action in legal]


def mean(course: Course, policies: tuple[Policy, Policy], power: int = 1) -> float:
    """The mean of a power of seat 0's margin between two policies, over all that can come."""
    if course.turn == TERMINAL:
        return course.returns()[0] ** power
    outcomes = course.chance_outcomes() if course.turn == CHANCE else policies[course.turn](course)
    return sum(chance * mean(course.after(action), policies, power) for action, chance in outcomes)


@pytest.mark.parametrize("name", ["mini-sweep", "mini-mulle"])
def test_values_losses_and_spreads_are_those_of_a_walk_through_all_games(name: str) -> None:
    rules = Rules.preset(name)
    start, trees = Course(CoursePlan(rules, sorted_deals=True)), solving.grow_for_agents(rules)
    one, other = (solving.measure(agent, rules, trees=trees) for agent in (FirstAction(), "random"))  # type: ignore[arg-type]
    values = {pair: mean(start, pair) for pair in product((first, even), repeat=2)}
    assert (one.value, other.value) == pytest.approx((values[first, first], values[even, even]))
    lost = (values[first, even] - values[even, first]) / 2
    assert abs(lost) > 0.05
    assert solving.lost_to_equilibrium(one, other) == pytest.approx(lost)
    square = mean(start, (even, even), 2)
    assert solving.spread_of(other) == pytest.approx(np.sqrt(square - values[even, even] ** 2))


def test_nobody_loses_more_to_an_equilibrium_than_to_a_best_response() -> None:
    rules = Rules.preset("mini-last")
    trees = solving.grow_for_agents(rules)
    perfect, measured = solving.solve_trees(trees, GAP, threads=1), solving.measure("tactician", rules, 2, trees=trees)
    assert solving.lost_to_equilibrium(perfect, perfect) == 0
    assert 0 < solving.lost_to_equilibrium(perfect, measured) <= measured.exploitability + GAP
    assert sum(measured.gains) / 2 == pytest.approx(measured.exploitability)


# ---------------------------------------------------------------------- what is too large


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        ("krypkasino players=3", "for two players, and these rules have 3"),
        ("mini-low later_deal=((2,1),)", "later deals put cards on the table"),
        ("mini-low games=2", "one game, and these rules have games=2"),
        ("mini-low", r"its first deal alone has about [\d.]+e\+14 histories, which would take [\d,]+ GiB"),
        ("krypkasino", "the deck has 52 kinds of cards"),
        ("mulle-glimne", "games with builds are not solved yet"),
    ],
)
def test_rules_that_cannot_be_solved_are_refused(rules: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        solving.solve(Rules.parse(rules))


def test_how_large_a_first_deal_is_can_be_told_before() -> None:
    rules = Rules.preset("mini-last")
    assert estimate_first_deal(rules) == pytest.approx(solving.grow(rules).forests[0].counts["histories"][0], rel=0.1)
