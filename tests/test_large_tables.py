"""Which cards of a large table an optional capture may take next, against integer programs that share no code."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from reference_relatives import LILLAN, STOP, STORAN, TAKE
from scipy.optimize import Bounds, LinearConstraint, milp

from krypenv import Game, Rules
from krypenv.cards import card_name

SWEDISH = [(1, 14), *((rank,) for rank in range(2, 14))]
FINNISH = [(rank,) for rank in range(1, 14)]


def list_groups(table: Counter[int], values: list[tuple[int, ...]], target: int) -> list[Counter[int]]:
    """Return all groups of ranks 1..13 that a table, counts of ranks, can give a sum."""
    found: set[tuple[int, ...]] = set()

    def grow(rank: int, left: int, counts: tuple[int, ...]) -> None:
        if left == 0:
            found.add(counts + (0,) * (13 - len(counts)))
        elif rank <= 13:
            ways = {(0, 0)}
            for _ in range(table[rank]):
                ways |= {(count + 1, total + value) for count, total in ways for value in values[rank - 1]}
            for count, total in ways:
                if count <= table[rank] and total <= left:
                    grow(rank + 1, left - total, (*counts, count))

    grow(1, target, ())
    return [Counter({rank: count for rank, count in enumerate(counts, 1) if count}) for counts in found]


def has_union(groups: list[Counter[int]], least: Counter[int], most: Counter[int]) -> bool:
    """Return whether some groups together have at least, and at most, so many cards of each rank."""
    groups = [group for group in groups if group <= most]
    if not groups or not least:
        return not least
    kept = sorted(most)
    matrix = np.array([[group[rank] for group in groups] for rank in kept])
    low, high = ([counts[rank] for rank in kept] for counts in (least, most))
    given = {"integrality": np.ones(len(groups)), "bounds": Bounds(0, 26)}
    for presolve in (True, False):  # now and then the first one fails
        solution = milp(
            np.zeros(len(groups)),
            **given,
            constraints=[LinearConstraint(matrix, low, high)],
            options={"presolve": presolve},
        )
        if solution.status in (0, 2):  # solved, or infeasible
            return bool(solution.status == 0)
    raise AssertionError(solution.message)


def ranks(kinds: list[int]) -> Counter[int]:
    return Counter(kind % 13 + 1 for kind in kinds)


def expected_actions(
    table: list[int], taken: list[int], values: list[tuple[int, ...]], targets: tuple[int, ...]
) -> list[int]:
    """Return what may be done after some cards of a table, all ascending, were taken by a card of these hand values."""
    listed = [list_groups(ranks(table), values, target) for target in targets]
    left = list((Counter(table) - Counter(taken)).elements())
    actions = []
    for kind in sorted({kind for kind in left if not taken or kind >= taken[-1]}):
        now = [*taken, kind]
        later = list((Counter(other for other in left if other >= kind) - Counter([kind])).elements())
        if any(has_union(groups, ranks(now), ranks(now + later)) for groups in listed):
            actions.append(TAKE + kind)
    if not taken or any(has_union(groups, ranks(taken), ranks(taken)) for groups in listed):
        actions.append(STOP)
    return actions


def crowded(rules: Rules, rng: np.random.Generator, size: int) -> list[int]:
    """Return a deck: four cards that take much, a table of this size, rich in aces, twos and threes, and the rest."""
    deck = np.repeat(np.arange(52), rules.deck_counts)
    rng.shuffle(deck)
    order = np.argsort(np.array([kind % 13 + rng.uniform(0, 9) * (kind % 13 > 2) for kind in deck]), kind="stable")
    table = deck[order][:size].tolist()
    rest = list((Counter(deck.tolist()) - Counter(table)).elements())
    rng.shuffle(rest)
    rest.sort(key=lambda kind: kind % 13 not in (0, 8, 9, 10, 11, 12))
    return [*rest[:4], *table, *rest[4:]]


def hand_values(name: str, card: int) -> tuple[int, ...]:
    """Return the hand values of a kind (S1, F1)."""
    if name != "kasino-finland":
        return SWEDISH[card % 13]
    return ({LILLAN: 15, STORAN: 16, 0: 14, 13: 14, 26: 14, 39: 14}.get(card, card % 13 + 1),)


@pytest.mark.parametrize("plays", [1, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("size", [15, 20, 28, 40])
@pytest.mark.parametrize("name", ["kasino-sweden", "kasino-finland", "mulle"])
def test_k2_masks_on_large_tables(name: str, size: int, plays: int) -> None:
    """Random plays, most of them far into a capture; at each stage all of the mask is checked."""
    rules = Rules.preset(name, first_deal=((2, size),), later_deal=((1, 0),), short_last_deal=True)
    rng = np.random.default_rng([size, len(name), plays])
    values = FINNISH if name == "kasino-finland" else SWEDISH
    stages = 0
    for _ in range(plays):
        game = Game(rules, deck=[card_name(kind) for kind in crowded(rules, rng, size)])
        game.act(int(rng.choice(np.flatnonzero(game.action_mask()))))
        table = np.repeat(np.arange(52), game.state["table"]).tolist()
        while game.pending:
            taken = np.repeat(np.arange(52), game.state["taken"]).tolist()
            legal = np.flatnonzero(game.action_mask()).tolist()
            assert legal == expected_actions(table, taken, values, hand_values(name, int(game.state["pending"])))
            takes = [action for action in legal if action != STOP]
            low = takes[: 1 + len(takes) // 3]  # so that a capture grows long
            game.act(int(rng.choice(low)) if low else STOP)
            stages += 1
    assert stages > 2 * plays
