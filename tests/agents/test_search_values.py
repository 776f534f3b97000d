"""What positions are worth: alpha-beta and max^n beside play that tries everything, and last deals played exactly."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from support.games import RULES
from support.reference import Reference
from support.solving import Solver, as_kinds, futures, margin, minimax, played_on, twins, value_of, values_of

from krypenv import Game, Rules, agents
from krypenv.agents.search.solver import MAX_N, PARANOID

# ---------------------------------------------------------------------- alpha-beta and max^n


def equilibria(reference: Reference) -> set[tuple[float, ...]]:
    """The margins of all sides if each raises its own, for every way to break ties, by trying everything.

    Play may end as it does after some move if no other move is better for the mover however ties are broken below it.
    """
    sides = reference.rules.num_teams
    mover = reference.turn % sides
    below = [
        {tuple(margin(twin, side) for side in range(sides))} if is_end else equilibria(twin)
        for twin, is_end in futures(reference)
    ]
    worst = [min(margins[mover] for margins in found) for found in below]
    return {
        margins
        for at, found in enumerate(below)
        for margins in found
        if all(margins[mover] >= least for other, least in enumerate(worst) if other != at)
    }


def late_positions(rules: Rules, cards: int, count: int) -> Iterator[tuple[Game, Reference]]:
    """Positions of many games with some choice and so many cards in all hands together, at most."""
    for seed in range(count):
        found = [
            (game.copy(), reference.copy())
            for game, reference in twins(rules, seed)
            if 3 < sum(map(len, reference.hands)) <= cards and reference.pending is None
        ]
        yield found[seed * 5 % len(found)]


SOLVED = {  # rules -> most cards in hands
    "mini-low players=2": 6,
    "mini-double players=2": 6,
    "mini-double players=2 first_deal=((3,8),) later_deal=((3,4),)": 6,
    "mini-high players=2": 4,
    "krypkasino players=2 first_deal=six_table last_capture_points=1 set_aside=spades": 6,
    "howto players=2 forced_sweep=False": 5,
    "mini-double players=4 teams=2": 6,
    "krypkasino players=6 teams=2": 6,
    "mini-low players=3": 6,
    "howto players=3": 6,
    "krypkasino players=6 teams=3": 6,
}
solved_rules = pytest.mark.parametrize(("text", "cards"), SOLVED.items(), ids=SOLVED)


@solved_rules
def test_alpha_beta_equals_brute_force(text: str, cards: int) -> None:
    solver = Solver(Rules.parse(text))
    for game, reference in late_positions(Rules.parse(text), cards, 12):
        for side in range(reference.rules.num_teams):
            assert solver.value(game, side) == pytest.approx(minimax(reference, side), abs=1e-9)


@solved_rules
def test_a_line_that_is_cut_is_played_on_by_what_costs_least(text: str, cards: int) -> None:
    """The value lies between those of the ways to break the ties of that play, which mostly agree."""
    solver, unique = Solver(Rules.parse(text)), 0
    for game, reference in late_positions(Rules.parse(text), cards, 8):
        for side, plies in itertools.product(range(reference.rules.num_teams), (1, 2, 3)):
            low, high = (
                minimax(reference, side, plies, lambda twin, pick=pick, side=side: pick(played_on(twin, side)))
                for pick in (min, max)
            )
            assert low - 1e-9 <= solver.value(game, side, plies=plies) <= high + 1e-9
            unique += low == high
    assert unique > 10


@solved_rules
def test_max_n_equals_brute_force(text: str, cards: int) -> None:
    solver, sides = Solver(Rules.parse(text)), Rules.parse(text).num_teams
    for game, reference in late_positions(Rules.parse(text), cards, 8):
        values = [solver.value(game, side, MAX_N) for side in range(sides)]
        assert any(values == pytest.approx(margins, abs=1e-9) for margins in equilibria(reference))
        if sides == 2:
            assert values[0] == solver.value(game, 0)


def test_a_used_work_space_changes_nothing() -> None:
    """The memory of positions and of tables, full of other worlds, gives what an empty one gives."""
    rules = RULES["krypkasino players=2"]
    used = Solver(rules, "sweep")
    for game, reference in itertools.islice(twins(rules, 3), 90):
        if reference.pending is None and sum(map(len, reference.hands)) <= 7:
            for side, method in itertools.product(range(2), (PARANOID, MAX_N)):
                assert used.value(game, side, method) == Solver(rules, "sweep").value(game, side, method)


# ---------------------------------------------------------------------- last deals, in which two players know all

DEALS = "first_deal=((2,{}),) later_deal=((2,0),) short_last_deal=True"
OPTIONAL = [  # last deals with captures that are optional, or not all of which are listed
    f"{text} {DEALS.format(table)}"
    for table, text in (
        (4, "kasino-sweden players=2 ranks=(1,2,4,10)"),
        (4, "kasino-sweden players=2 ranks=(1,2,4,10) goal=low"),
        (4, "kasino-sweden players=2 ranks=(1,2,5,10,12) set_aside=spades"),
        (4, "overspader players=2 ranks=(1,2,3,10) spades_above=1"),
        (4, "overspader players=2 ranks=(1,2,3,10) spades_above=1 goal=low last_capture_points=0"),
        (4, "kasino-finland players=2 ranks=(1,2,4,10)"),
        (4, "kasino-finland players=2 ranks=(1,2,4,10) last_deal_sweeps=True sweep_limit=3"),
        (2, "kasino-finland players=2 ranks=(1,2,4,10) games=0 threshold=7 last_deal_sweeps=True"),
        (2, "kasino-finland players=2 ranks=(1,2,4,10) goal=low last_deal_sweeps=True"),
        (4, "mulle players=2 ranks=(1,2,10) suits=(2,3)"),
        (4, "mulle players=2 ranks=(1,2,10) suits=(2,3) goal=low"),
        (4, "mulle players=2 ranks=(2,4,10) suits=(1,3) double_sweep=identical mulle_points=0"),
        (4, "kasino-sweden players=2 ranks=(1,2,4,10) forced_sweep=True sweep_payer=seat_before"),
        (2, "kasino-sweden players=4 teams=2 ranks=(1,2,4,10)"),
    )
]
MAXIMAL = {  # rules -> most cards in both hands
    "mini-low players=2": 4,
    "mini-double players=2 first_deal=((2,2),(2,2))": 4,
    "mini-high players=2": 4,
    "krypkasino players=2": 6,
    "howto players=2": 6,
}


def last_deals(text: str) -> Iterator[tuple[Game, Reference]]:
    """Positions of the last deal with some choice, few cards in all hands, and a table that is not large."""
    styles = [""] if text in MAXIMAL else ["random", "choose"]
    for seed in range(40 if text in MAXIMAL else 8):
        for game, reference in twins(Rules.parse(text), seed, styles[seed % len(styles)]):
            table = 1 < len(reference.table) <= 7 or text in MAXIMAL
            if not reference.stock and table and sum(map(len, reference.hands)) <= MAXIMAL.get(text, 4):
                yield game, reference


@pytest.mark.parametrize("text", OPTIONAL)
def test_no_real_move_is_better_than_those_listed(text: str) -> None:
    """Alpha-beta over the moves listed comes to what all real moves come to, and so does each of its first moves.

    What is left out is no better than a move listed of the same card that takes the same ranks.
    """
    solver, left_out, varied = Solver(Rules.parse(text)), 0, 0
    for game, reference in last_deals(text):
        if len(reference.legal_moves()) < 2:
            continue
        side, real = reference.turn % reference.rules.num_teams, values_of(reference)
        assert solver.value(game, side) == pytest.approx(max(real.values()), abs=1e-9)
        best: dict[tuple[int, tuple[int, ...]], float] = {}
        listed = [move.kinds()[:2] for move in solver.moves(game)]
        for card, takes in listed:
            ranks = card, tuple(sorted(kind % 13 for kind in takes))
            best[ranks] = max(best.get(ranks, -np.inf), real[card, takes])
        for card, takes in real:
            assert real[card, takes] <= best[card, tuple(sorted(kind % 13 for kind in takes))] + 1e-9
        left_out += len(real) - len(listed)
        varied += len(set(real.values())) > 1
    assert varied > 5
    assert left_out > 0 or "suits" in text or "forced" in text


@pytest.mark.parametrize("text", [*MAXIMAL, *(text for text in OPTIONAL if Rules.parse(text).players == 2)])
def test_the_last_deal_of_two_is_played_exactly(text: str) -> None:
    """Who has counted knows the other hand: every move is worth what exhaustive play of the true game gives."""
    rules, solved, choices = Rules.parse(text), 0, 0
    search = agents.make("search(worlds=3)", rules, 1)
    for game, reference in last_deals(text):
        seen, mask = game.observation(), game.action_mask()
        if mask.sum() < 2:
            continue
        moves, margins, *_ = search.examine(seen, mask)
        assert len(margins) == 1
        real, found = values_of(reference), dict(zip(as_kinds(moves), margins[0], strict=True))
        assert found == pytest.approx({move: real[move] for move in found}, abs=1e-9)
        assert rules.capture == "optional" or len(found) == len(real)
        twin = reference.copy()
        twin.act(int(search.act(seen[None], mask[None])[0]))
        assert value_of(twin, reference.turn) == pytest.approx(max(real.values()), abs=1e-9)
        solved += 1
        choices += len(set(real.values())) > 1
    assert solved > 5
    assert choices > (20 if text in MAXIMAL else 0)
