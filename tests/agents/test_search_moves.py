"""The moves that search looks at: legal, leading where the game goes, carried out by staged actions, none missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from support import builds
from support.games import RULES
from support.optional_moves import shares
from support.relatives import BUILDING, GLIMNE, MIXTURES, RELATIVES, lay
from support.solving import Solver, plain, twins

from krypenv import Game, Move, Rules
from krypenv.agents.search.solver import MAX_N, PARANOID
from krypenv.cards import BUILD, NO_CARD, TAKE_BUILD

SMALL = 8  # cards on a table whose captures the tests list
MAIN = {**RULES, "krypkasino players=2 first_deal=((6,12),)": None}
BUILDS = [*BUILDING, *GLIMNE, "mulle-glimne players=2 goal=low"]


def games_of(text: str, seeds: int, styles: tuple[str, ...] = ("random",)) -> Iterator[Game]:
    """Games at each decision of random play, with a table that is not large; where cards are built, at each play."""
    rules = Rules.parse(text)
    for seed in range(seeds):
        if rules.building:
            yield from (game for game in builds.positions(rules, seed) if game.pending is None)
        else:
            style = "" if text in MAIN else styles[seed % len(styles)]
            for game, reference in twins(rules, seed, style):
                if not style or len(reference.table) <= SMALL:
                    yield game


# ---------------------------------------------------------------------- what is listed


def way(move: Move) -> tuple[object, ...]:
    """A move without the suits that it takes."""
    return move.card, tuple(sorted(card[0] for card in move.takes)), move.build, move.builds


def hand_value(game: Game, card: str) -> int:
    """The value of a card in the hand, lillan and storan included."""
    rules = game.rules
    special = {"2S": rules.lillan_hand_value, "TD": rules.storan_hand_value}.get(card)
    value = special or rules.hand_values["A23456789TJQK".index(card[0])]
    assert isinstance(value, int)
    return value


def check_left_out(game: Game, listed: set[Move], legal: set[Move]) -> None:
    """Assert that what is left out differs in suits from what is listed, or leaves a build of its value (B5)."""
    values = {value for value, *_ in game.builds}
    ways = {way(move) for move in listed}
    for move in legal:
        leaves = move.takes and not move.builds and move.build is None and hand_value(game, move.card) in values
        assert way(move) in ways or (game.rules.goal == "high" and leaves)


@pytest.mark.parametrize("text", [*MAIN, *RELATIVES, *MIXTURES, *BUILDS])
def test_b2_b5_moves_are_legal_and_lead_where_the_game_goes(text: str) -> None:
    rules = Rules.parse(text)
    solver, seen = Solver(rules), Counter[str]()
    styles = ("random", "choose", "take") if text in RELATIVES else ("choose",)
    for game in games_of(text, 4 if text in MAIN else 3 if rules.building else len(styles), styles):
        legal, moves = {plain(move): move for move in game.legal_moves()}, solver.moves(game)
        assert len(set(moves)) == len(moves)
        assert set(moves) <= set(legal)
        assert {move.card for move in moves} == {move.card for move in legal}
        if rules.capture == "maximal":
            assert set(moves) == set(legal)
        if rules.building:
            check_left_out(game, set(moves), set(legal))
        for place, move in enumerate(moves):
            solver.check_made(game, place, legal[move])
            seen["lays"] += move.build is not None
            seen["raises"] += move.build is not None and any(value != move.build for value in move.builds)
            seen["captures a build"] += move.build is None and bool(move.builds)
            seen["captures both"] += move.build is None and bool(move.builds) and bool(move.takes)
        seen["choices"] += len(moves) > 1
        seen["pending"] += game.pending is not None
    assert seen["choices"] > 10
    assert seen["pending"] > 0 or rules.building or rules.deck_size < 50 or text not in MAIN
    assert not rules.building or min(seen[name] for name in ("lays", "raises", "captures a build", "captures both")) > 1


@pytest.mark.parametrize("text", [*RELATIVES, next(iter(BUILDING)), *GLIMNE])
def test_b2_a_move_is_made_by_its_staged_actions_and_goes_on_in_the_middle(text: str) -> None:
    """Each move listed, taken up anywhere on its way, is carried out by the actions that lead to it."""
    rules = Rules.parse(text)
    solver, later, staged = Solver(rules), Solver(rules), Counter[str]()
    for game in games_of(text, 1, ("choose",)):
        for at, move in enumerate(solver.moves(game)):
            twin, is_made = game.copy(), False
            while not is_made:
                action = solver.action(twin, at)
                if twin.state["pending"] != NO_CARD:
                    assert not rules.building or move in later.moves(twin)
                    staged["all"] += 1
                    staged["build"] += BUILD <= action < TAKE_BUILD
                    staged["take a build"] += action >= TAKE_BUILD
                twin.act(action)
                is_made = twin.pending is None
            assert plain(twin.moves[-1]) == move
    assert staged["all"] > (20 if rules.capture == "optional" else 3)  # else few plays leave a choice
    assert not rules.building or min(staged["build"], staged["take a build"]) > 10


# ---------------------------------------------------------------------- what is remembered

MEETING = {  # rules -> number of games, cards in all hands together
    "krypkasino players=2": (2, range(6, 9)),
    "krypkasino players=4 teams=2": (4, range(6, 9)),
    "mini-double players=2 first_deal=((3,8),) later_deal=((3,4),)": (20, range(6, 9)),
    "mini-double players=2 suits=(1,) first_deal=((3,4),) later_deal=((3,0),)": (40, range(6, 9)),
    **{f"{name} players=2": (6, range(4, 6)) for name in ("kasino-sweden", "overspader", "kasino-finland", "mulle")},
    next(iter(BUILDING)): (12, range(4, 6)),
    "kasino-finland players=2 building=True": (12, range(4, 6)),
}


@pytest.mark.parametrize(("text", "games", "held"), [(text, *how) for text, how in MEETING.items()], ids=MEETING)
def test_what_is_remembered_of_a_position_holds_wherever_it_is_met_again(text: str, games: int, held: range) -> None:
    """Alpha-beta remembers positions, max^n cuts nothing off and remembers none: two sides come to the same."""
    rules = Rules.parse(text)
    is_main = "krypkasino" in text or "mini" in text
    solver, count, built = Solver(rules, "margin" if is_main else "sweep"), 0, 0
    for seed in range(games):
        found = builds.positions(rules, seed) if rules.building else (
            game for game, _ in twins(rules, seed, "" if is_main else "take"))  # fmt: skip
        for game in found:
            cards = sum(len(game.hand(seat)) for seat in range(rules.players))
            if cards in held and (is_main or (game.pending is None and len(game.table) < 6)):
                assert solver.values(game, PARANOID) == pytest.approx(solver.values(game, MAX_N), abs=1e-9)
                count += 1
                built += bool(game.builds)
    assert count > (30 if is_main else 20)
    assert built > 5 or not rules.building


# ---------------------------------------------------------------------- what is left out


@pytest.mark.parametrize("goal", ["high", "low"])
def test_of_many_captures_the_best_and_a_sweep_are_kept(goal: str) -> None:
    """An ace takes any union of groups of fourteen, or any aces: the best by points are kept, nothing, and a sweep."""
    table = "AC AD 2S 3C 5D 9H TD 4S"
    game = lay(f"kasino-sweden players=2 goal={goal}", table, "AS", "KD")
    solver = Solver(game.rules)
    every = [move.takes for move in solver.moves(game)]
    assert not solver.workspaces["listing"]["is_cut"][0]
    assert len(every) > 10
    solver.workspaces["listing"]["keep"] = 3
    kept = [move.takes for move in solver.moves(game)]
    assert solver.workspaces["listing"]["is_cut"][0]
    assert len(kept) == 4
    assert set(kept) <= set(every)
    assert () in kept

    def gain(takes: tuple[str, ...]) -> float:
        """Points, and a share of the majorities."""
        points = sum({"TD": 2, "2S": 1}.get(name, name[0] == "A") for name in takes)
        card, spade = shares(game)
        worth = points + spade * sum(name[1] == "S" for name in takes) + card * len(takes)
        return worth if goal == "high" else -worth

    is_sweep = {takes for takes in every if len(takes) == 8}
    left_out = [takes for takes in every if takes and takes not in kept]
    chosen = [takes for takes in kept if takes and takes not in is_sweep]
    assert is_sweep <= set(kept)
    assert min(map(gain, chosen)) >= max(map(gain, left_out)) - 0.002  # costs are in thousandths
