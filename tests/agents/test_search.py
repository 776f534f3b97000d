"""The moves and the solutions of the search agents, against the game and against play that tries everything."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from support.games import RULES
from support.reference import Reference, contains
from support.solving import Solver, as_kinds, futures, margin, minimax, played_on, twins

from krypenv import Game, Rules, agents
from krypenv.agents.search.solver import MAX_N, PARANOID

# ---------------------------------------------------------------------- moves


@pytest.mark.parametrize("text", [*RULES, "krypkasino players=2 first_deal=((6,12),)"])
def test_moves_and_what_they_lead_to_are_those_of_the_game(text: str) -> None:
    rules = Rules.parse(text)
    solver, pending = Solver(rules), 0
    for seed in range(5):
        for game, _ in twins(rules, seed):
            pending += game.pending is not None
            legal = {move.kinds()[:2]: move for move in game.legal_moves()}
            listed = solver.moves(game)
            assert sorted(listed) == sorted(legal)
            for place, move in enumerate(listed):
                solver.check_made(game, place, legal[move])
    assert pending > 0 or rules.deck_size < 50


# ---------------------------------------------------------------------- exactness


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


MEETING = {  # rules -> number of games
    "krypkasino players=2": 2,
    "krypkasino players=4 teams=2": 4,
    "mini-double players=2 first_deal=((3,8),) later_deal=((3,4),)": 20,
    "mini-double players=2 suits=(1,) first_deal=((3,4),) later_deal=((3,0),)": 40,
}


@pytest.mark.parametrize(("text", "games"), MEETING.items(), ids=MEETING)
def test_with_two_sides_alpha_beta_and_max_n_come_to_the_same(text: str, games: int) -> None:
    """All moves of a position, whose lines meet again: max^n cuts nothing off and remembers no position."""
    rules, count = Rules.parse(text), 0
    solver = Solver(rules)
    for seed in range(games):
        for game, reference in twins(rules, seed):
            if 5 < sum(map(len, reference.hands)) < 9:
                assert solver.values(game, PARANOID) == solver.values(game, MAX_N)
                count += 1
    assert count > 30


def test_a_used_work_space_changes_nothing() -> None:
    """The memory of positions and of tables, full of other worlds, gives what an empty one gives."""
    rules = RULES["krypkasino players=2"]
    used = Solver(rules, "sweep")
    for game, reference in itertools.islice(twins(rules, 3), 90):
        if reference.pending is None and sum(map(len, reference.hands)) <= 7:
            for side, method in itertools.product(range(2), (PARANOID, MAX_N)):
                assert used.value(game, side, method) == Solver(rules, "sweep").value(game, side, method)


LAST_DEALS = {  # rules -> most cards in both hands
    "mini-low players=2": 4,
    "mini-double players=2 first_deal=((2,2),(2,2))": 4,
    "mini-high players=2": 4,
    "krypkasino players=2": 6,
    "howto players=2": 6,
}


@pytest.mark.parametrize(("text", "cards"), LAST_DEALS.items(), ids=LAST_DEALS)
def test_the_last_deal_of_two_is_played_exactly(text: str, cards: int) -> None:
    """Who has counted knows the other hand: every move is worth what exhaustive play of the true game gives."""
    rules = Rules.parse(text)
    choices, staged = 0, 0
    for seed in range(40):
        search = agents.make("search(worlds=1)", rules, seed)
        for game, reference in twins(rules, seed):
            held = sum(map(len, reference.hands))
            if reference.stock or held > cards or len(reference.legal_actions()) < 2:
                continue
            expected = {
                move[:2]: margin(twin, reference.turn) if is_end else minimax(twin, reference.turn)
                for move, (twin, is_end) in zip(reference.legal_moves(), futures(reference), strict=True)
            }
            seen, mask = game.observation(), game.action_mask()
            moves, margins = search.examine(seen, mask)
            assert dict(zip(as_kinds(moves), margins[0], strict=True)) == expected
            action = int(search.act(seen[None], mask[None])[0])
            chosen = [move for move in expected if begins(move, reference, action)]
            assert max(expected.values()) == max(expected[move] for move in chosen)
            choices += len(set(expected.values())) > 1
            staged += reference.pending is not None
    print(text, choices, staged)
    assert choices > 20


def begins(move: tuple[int, tuple[int, ...]], reference: Reference, action: int) -> bool:
    """Whether a staged action may lead to a move."""
    if reference.pending is None:
        return move[0] == action
    return contains(move[1], [*reference.taken, action - 52])
