"""Search where cards are built: its moves beside all legal ones, and what it remembers of positions with builds."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from support.builds import positions
from support.relatives import BUILDING, GLIMNE
from support.solving import Solver

from krypenv import Engine, Game, Move, Rules, agents
from krypenv.agents.search.search import first_action
from krypenv.agents.search.solver import MAX_N, PARANOID
from krypenv.cards import BUILD, NO_CARD, TAKE_BUILD
from krypenv.game.history import bits
from krypenv.runtime.jit import handle, kernel
from krypenv.state import allocate
from krypenv.training.evaluation.analysis import analyze_position

RULES = {**BUILDING, **GLIMNE, "low": Rules.parse("mulle-glimne players=2 goal=low")}


def listed(solver: Solver, game: Game) -> list[Move]:
    """The moves that search lists, without their sweeps."""
    count = len(solver.moves(game))
    own = {value for value, *_ in game.builds}
    moves = []
    for row in solver.search_scratch["moves"][0, :count]:
        takes = sorted([*bits(int(row["once"])), *bits(int(row["twice"]))])
        build, taken = int(row["build"]), int(row["taken"])
        builds = tuple(sorted(({taken} | {build} & own) - {0}))
        moves.append(Move.of_kinds(int(row["card"]), takes, 0, build, builds))
    return moves


def plain(move: Move) -> Move:
    """A move without its sweeps."""
    return move._replace(sweep=0)


@pytest.mark.parametrize("text", RULES)
def test_b2_b5_moves_are_legal_and_lead_where_the_game_goes(text: str) -> None:
    """Each move listed is legal and leads to the same state as its actions; each way to play a card is listed.

    What is left out differs from what is listed only in the suits that it takes, or it leaves a build of its value.
    """
    solver, seen = Solver(RULES[text]), Counter[str]()
    for seed in range(3):
        for game in positions(RULES[text], seed):
            if game.pending is not None:
                continue
            legal = {plain(move) for move in game.legal_moves()}
            moves = listed(solver, game)
            assert len(set(moves)) == len(moves)
            assert set(moves) <= legal
            high = game.rules.goal == "high"
            values = {value for value, *_ in game.builds}
            ways = {way(move) for move in moves}
            for move in legal:
                leaves = move.takes and not move.builds and move.build is None and hand_value(game, move.card) in values
                assert way(move) in ways or (high and leaves)
            for place, move in enumerate(moves):
                solver.check_made(game, place, move)
                seen["lays"] += move.build is not None
                seen["raises"] += move.build is not None and any(value != move.build for value in move.builds)
                seen["captures a build"] += move.build is None and bool(move.builds)
                seen["captures both"] += move.build is None and bool(move.builds) and bool(move.takes)
    assert len(seen) == 4
    assert min(seen.values()) > 1


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


@kernel
def _act(compiled: np.ndarray, state: np.ndarray, masks: np.ndarray, at: int, work: np.ndarray) -> int:
    return first_action(compiled[0], state[0], work[0].moves[at], masks[0])


@pytest.mark.parametrize("text", [next(iter(BUILDING)), *GLIMNE])
def test_b2_a_move_is_made_by_its_staged_actions_and_goes_on_in_the_middle(text: str) -> None:
    solver, later = Solver(RULES[text]), Solver(RULES[text])
    state, staged = handle(allocate(1)), Counter[str]()
    for game in positions(RULES[text], 5):
        if game.pending is not None:
            continue
        for at, move in enumerate(listed(solver, game)):
            twin, stages = game.copy(), []
            while len(twin.moves) == len(game.moves):
                state[0] = twin.state
                action = int(_act(solver.compiled, state, twin.action_mask()[None], at, solver.search_scratch))
                if twin.state["pending"] != NO_CARD:
                    stages.append(twin.copy())
                    staged["build"] += BUILD <= action < TAKE_BUILD
                    staged["take a build"] += action >= TAKE_BUILD
                twin.act(action)
            assert plain(twin.moves[-1]) == move
            for stage in stages:
                assert move in listed(later, stage)
    assert min(staged["build"], staged["take a build"]) > 10


@pytest.mark.parametrize("text", [next(iter(BUILDING)), "kasino-finland players=2 building=True"])
def test_what_is_remembered_of_a_position_with_builds_holds_wherever_it_is_met_again(text: str) -> None:
    """Alpha-beta remembers positions, max^n none: with two sides they come to the same."""
    solver, count, built = Solver(RULES[text], "sweep"), 0, 0
    for seed in range(12):
        for game in positions(RULES[text], seed):
            if game.pending is None and 3 < sum(len(game.hand(seat)) for seat in range(2)) < 6 and len(game.table) < 6:
                assert solver.values(game, PARANOID) == pytest.approx(solver.values(game, MAX_N), abs=1e-9)
                count += 1
                built += bool(game.builds)
    assert count > 20
    assert built > 5


@pytest.mark.parametrize("text", [*GLIMNE, "kasino-finland players=3 building=True games=0 threshold=16"])
@pytest.mark.parametrize("spec", ["greedy", "tactician", "search(worlds=4)", "rollout(worlds=2)", "ismcts(worlds=8)"])
def test_b2_every_agent_plays_whole_games_with_builds(text: str, spec: str) -> None:
    engine = Engine(RULES[text], 12, seed=2)
    agent, built = agents.make(spec, RULES[text], 3), 0
    for _ in range(120):
        actions = agent.act(engine.observation, engine.action_mask)
        assert engine.action_mask[np.arange(12), actions].all()
        built += int((actions >= BUILD).sum())
        engine.step(actions)
    assert built > 0


def test_b2_an_analysis_lists_builds() -> None:
    game = Game(RULES["mulle-glimne players=2"], seed=3)
    while not any(move.build for move in game.legal_moves()):
        game.act(game.legal_actions()[0])
    moves = {value.move for value in analyze_position(game, worlds=4).moves}
    assert any("=" in move for move in moves)
    assert moves <= {str(move) for move in game.legal_moves()}
