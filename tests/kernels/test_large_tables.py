"""Which cards of a large table an optional capture may take next, against integer programs that share no code."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from support.reference import STOP, TAKE, Reference
from support.reference_captures import list_groups

from krypenv import Game, Rules
from krypenv.cards import card_name, parse_card
from krypenv.families.bounds import FIRST_LONER, capture_values
from krypenv.kernels.captures import borrow_scratch, find_sweep_values
from krypenv.kernels.compiled import compile_rules, pack_ranks
from krypenv.runtime.jit import kernel


def groups_of(table: Counter[int], values: list[tuple[int, ...]], target: int) -> list[Counter[int]]:
    """Return all groups of ranks 1..13 that a table, counts of ranks, can give a sum."""
    stacks = tuple((values[rank - 1], table[rank]) for rank in range(1, 14))
    return [
        Counter({rank: count for rank, count in enumerate(group, 1) if count}) for group in list_groups(stacks, target)
    ]


def has_union(groups: list[Counter[int]], least: Counter[int], most: Counter[int]) -> bool:
    """Return whether some groups together have at least, and at most, so many cards of each rank."""
    groups = [group for group in groups if group <= most]
    if not groups or not least:
        return not least
    kept = sorted(most)
    matrix = np.array([[group[rank] for group in groups] for rank in kept])
    low, high = ([counts[rank] for rank in kept] for counts in (least, most))
    given = {"integrality": np.ones(len(groups)), "bounds": Bounds(0, 26)}
    for presolve in (True, False):  # now and then the first one fails, or calls solved what is none
        solution = milp(
            np.zeros(len(groups)),
            **given,
            constraints=[LinearConstraint(matrix, low, high)],
            options={"presolve": presolve},
        )
        if solution.status == 2:  # infeasible
            return False
        if solution.status == 0 and ((low <= (sums := matrix @ solution.x.round())) & (sums <= high)).all():
            return True
    raise AssertionError(solution.message)


def ranks(kinds: list[int]) -> Counter[int]:
    return Counter(kind % 13 + 1 for kind in kinds)


def expected_actions(
    table: list[int], taken: list[int], values: list[tuple[int, ...]], targets: tuple[int, ...]
) -> list[int]:
    """Return what may be done after some cards of a table, all ascending, were taken by a card of these hand values."""
    listed = [groups_of(ranks(table), values, target) for target in targets]
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


@pytest.mark.few(3)
@pytest.mark.parametrize("size", [15, 24, 40])
@pytest.mark.parametrize("name", ["kasino-sweden", "kasino-finland", "mulle"])
def test_k2_masks_on_large_tables(name: str, size: int) -> None:
    """Random plays, most of them far into a capture; at each stage all of the mask is checked."""
    rules = Rules.preset(name, first_deal=((2, size),), later_deal=((1, 0),), short_last_deal=True)
    rng = np.random.default_rng([size, len(name)])
    values = [(rank, 14) if rank == 1 and name != "kasino-finland" else (rank,) for rank in range(1, 14)]  # S1, F1
    stages = 0
    game = Game(rules, deck=[card_name(kind) for kind in crowded(rules, rng, size)])
    reference = Reference(rules, list(map(parse_card, game.deck)))
    game.act(int(rng.choice(np.flatnonzero(game.action_mask()))))
    table = np.repeat(np.arange(52), game.state["table"]).tolist()
    targets = reference.hand_values(int(game.state["pending"]))
    while game.pending:
        taken = np.repeat(np.arange(52), game.state["taken"]).tolist()
        legal = np.flatnonzero(game.action_mask()).tolist()
        assert legal == expected_actions(table, taken, values, targets)
        takes = [action for action in legal if action != STOP]
        low = takes[: 1 + len(takes) // 3]  # so that a capture grows long
        game.act(int(rng.choice(low)) if low else STOP)
        stages += 1
    assert stages > 4


@kernel
def _sweeps(compiled, table, total, scratch):
    return find_sweep_values(compiled[0], table, total, scratch[0])


ODD = Rules.parse(  # a five on the table is 12 and needs an eight, which is 1: there are too few of those
    "mulle players=3 ranks=(1,2,4,5,6,7,8,9,10,11,12,13) forced_sweep=True lillan_hand_value=3 "
    "hand_values=(1,(3,13),3,4,5,6,7,8,3,10,(2,5),10,13) table_values=(13,5,10,12,12,10,1,7,3,7,(4,8),2,(2,9))"
)
EVEN = Rules.parse(  # a seven on the table is 4 or 6
    "mulle players=4 forced_sweep=True pictures_in_sums=False table_values=(1,2,3,4,5,5,(4,6),8,9,10,11,12,13) "
    "hand_values=(15,15,15,15,15,15,15,15,15,15,15,15,15) lillan_hand_value=2 storan_hand_value=12"
)
HEAVY = Rules.parse(  # a ten on the table is 12 or 15, and in a group of 12 it is 12
    "mulle players=3 hand_values=(1,2,1,4,5,6,7,8,9,10,11,12,13) table_values=(5,5,1,6,9,4,2,6,12,(12,15),4,3,8) "
    "forced_sweep=True"
)
CROWDS = {
    "too few ones": (ODD, Counter({1: 2, 2: 5, 4: 7, 5: 4, 6: 3, 7: 7, 8: 4, 9: 6, 10: 4, 11: 6, 12: 5, 13: 8})),
    "an even sum": (EVEN, Counter({1: 6, 2: 5, 3: 5, 4: 5, 5: 4, 6: 3, 7: 5, 8: 6, 9: 6, 10: 7})),
    "a sum by the lower values": (HEAVY, Counter(dict(enumerate((8, 7, 6, 6, 7, 7, 7, 6, 7, 6, 7, 8, 6), 1)))),
}


@pytest.mark.parametrize("crowd", CROWDS)
def test_r10_who_could_sweep_a_large_table_is_found_soon(crowd: str) -> None:
    """Where no capture takes everything, a search from the highest rank down would take minutes or hours to see it."""
    rules, table = CROWDS[crowd]
    values = capture_values(rules)[1]
    sweeps = _sweeps(compile_rules(rules), pack_ranks(list(table.elements())), 0, borrow_scratch())
    for value in {value for choice in capture_values(rules)[0] for value in choice if value < FIRST_LONER}:
        assert sweeps >> value & 1 == has_union(groups_of(table, values, value), table, table)
