"""What a solved game tells besides its value: spread, sight and mixing; and the study of matched small games."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from krypenv import Rules
from krypenv.training.lab.studying import FIGURE, Setup, run_study
from krypenv.training.research.solved import matched
from krypenv.training.solving.beliefs import leaf_values, node_values
from krypenv.training.solving.deal_tree import HANDS
from krypenv.training.solving.insight import (
    lowest_card,
    spread_of,
    whole_hand,
    with_sight,
    worth_of_mixing,
    worth_of_sight,
)
from krypenv.training.solving.solving import Solved, evaluate, solve, solve_trees, with_policies

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


def test_more_sight_is_worth_more(solved: Solved) -> None:
    card, hand = worth_of_sight(solved, lowest_card), worth_of_sight(solved)
    assert -1e-3 < card < hand + 1e-3
    if solved.trees.rules.name == "mini-choice":  # hands of one card
        assert card == pytest.approx(hand, abs=1e-3)
    assert hand > 0.01 or solved.trees.rules.name == "mini-copies"


def test_who_both_see_all_play_with_open_hands(solved: Solved) -> None:
    """The value is then that of minimax."""
    both = with_sight(with_sight(solved.trees, 0, whole_hand), 1, whole_hand)
    to_come = np.zeros(0)
    for forest in reversed(solved.trees.forests):
        leaves = leaf_values(forest, to_come)
        values = node_values(forest, leaves)[forest.first] * forest.chance
        to_come = np.add.reduceat(values, forest.starts[:-1, HANDS])
    assert solve_trees(both, threads=1).value == pytest.approx(solved.trees.chances @ to_come, abs=2e-3)


def test_who_sees_more_can_still_play_as_before(solved: Solved) -> None:
    """The policies of before, with sight, are worth the same."""
    for seat in range(2):
        told = with_sight(solved.trees, seat, whole_hand)
        policies = []
        for forest, before, solution in zip(told.forests, solved.trees.forests, solved.solutions, strict=True):
            policy = np.zeros(len(forest.actions))
            for node, infoset in enumerate(forest.infoset.tolist()):
                old = before.infoset[node]
                policy[forest.choice[infoset] : forest.choice[infoset + 1]] = solution.policy[
                    before.choice[old] : before.choice[old + 1]
                ]
            policies.append(policy)
        for found, solution in zip(evaluate(with_policies(told, policies)).solutions, solved.solutions, strict=True):
            assert found.values == pytest.approx(solution.values)


def test_mixing_is_worth_nothing_where_the_equilibrium_is_pure() -> None:
    assert worth_of_mixing(solve(Rules.preset("mini-sweep"), threads=1)) == pytest.approx(0, abs=1e-3)
    assert worth_of_mixing(solve(Rules.preset("mini-last"), threads=1)) > 0.05


def test_the_lowest_card_of_a_hand() -> None:
    hands = np.array([0b01, 0b10, 0b0100, 0b1001, 0b100000])  # two bits a kind
    assert lowest_card(hands).tolist() == [0, 0, 1, 0, 2]


class TestMatched:
    def test_the_rules_of_a_cell_differ_in_the_goal_alone(self) -> None:
        for size in matched.SIZES:
            for cell in matched.cells_of(size):
                low, high = (matched.rules_of(size, 0, 3, cell, goal) for goal in matched.GOALS)
                assert dataclasses.replace(low, goal="high") == high
                assert low.deck_size == 2 * size.ranks
                assert low.ranks == matched.rules_of(size, 0, 3, next(matched.cells_of(size)), "high").ranks

    def test_decks_differ(self) -> None:
        size, cell = matched.SIZES[1], next(matched.cells_of(matched.SIZES[1]))
        assert len({matched.rules_of(size, deck, 0, cell, "low") for deck in range(10)}) > 5

    def test_low_scores_need_forced_captures(self) -> None:
        """Where captures are optional and sweeps too, best play for few points takes nothing."""
        cell = matched.Cell("seat_before", False, matched.OPTIONAL, 2)
        found = matched.measured(str(matched.rules_of(matched.SIZES[0], 1, 0, cell, "low")), asks=False)
        assert found[matched.FIRST] == pytest.approx(0, abs=1e-3)
        assert not cell.is_played

    def test_the_study_in_small(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        deals = ((((1, 0),), ((1, 0),)),)
        sizes = (
            matched.Size(3, deals, (matched.MAXIMAL, matched.OPTIONAL)),
            matched.Size(4, deals, (matched.MAXIMAL,), decks=1, asks=False),
        )
        monkeypatch.setattr(matched, "SIZES", sizes)
        setup = Setup(Rules.preset(matched.BASE), "tactician", 3)
        found = run_study(matched.STUDY, setup, tmp_path / "out", "krypenv study matched")
        groups = [
            f"6 cards, {kind}"
            for kind in ("must capture, forced sweeps", "optional captures, forced sweeps", "must capture, free sweeps")
        ]
        assert [row[:2] for row in found.rows] == [(name, group) for name in matched.MEASURES for group in groups]
        assert set(found.figures["cells"]) == {"6 cards", "8 cards"}
        assert (tmp_path / "out" / FIGURE).read_bytes().startswith(b"\x89PNG")
        for low, high, difference in ((float(row[2]), float(row[3]), float(row[4])) for row in found.rows):
            assert low - high == pytest.approx(difference, abs=2e-3)
