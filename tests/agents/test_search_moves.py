"""The moves that searches look at: legal, none missing but those alike, and the best of very many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from support.games import RULES, lay
from support.relatives import BUILDING, GLIMNE, MIXTURES, RELATIVES, building_positions
from support.solving import way

from krypenv import Game, Move, Rules
from krypenv.agents.moves.listing import list_moves
from krypenv.agents.moves.prices import set_prices
from krypenv.agents.moves.record import as_move
from krypenv.agents.workspace import make_workspaces
from krypenv.kernels.compiled import compile_rules
from krypenv.runtime.jit import kernel

MAIN = {**RULES, "krypkasino players=2 first_deal=((6,12),)": None}
BUILDS = [*BUILDING, *GLIMNE, "mulle-glimne players=2 goal=low"]


@kernel
def _list(compiled: np.ndarray, states: np.ndarray, at: int, workspaces: np.ndarray) -> int:
    set_prices(compiled[0], states[at], workspaces[0].listing)
    return list_moves(compiled[0], states[at], 0, workspaces[0].listing)


class Lister:
    """The moves that are listed of a `Game`, with one memory for all positions."""

    def __init__(self, rules: Rules) -> None:
        self.compiled, self.workspaces = compile_rules(rules), make_workspaces()

    def moves(self, game: Game) -> list[Move]:
        count = _list(self.compiled, game.states, game.at, self.workspaces)
        builds = sum(1 << value for value, *_ in game.builds)
        return [as_move(row, builds) for row in self.workspaces["listing"]["moves"][0, :count]]


def games_of(text: str, seeds: int) -> Iterator[Game]:
    """Games at each decision of random play, with a table that is not large; where cards are built, at each play."""
    rules = Rules.parse(text)
    for seed in range(seeds):
        if rules.building:
            yield from (game for game in building_positions(rules, seed) if game.pending is None)
            continue
        game, rng = Game(rules, seed=seed), np.random.default_rng(seed)
        while not game.is_over:
            if rules.capture == "maximal" or len(game.table) <= 8:
                yield game
            actions = game.legal_actions()
            game.act(actions[0] if len(game.table) > 8 else int(rng.choice(actions)))


def leaves_a_build(game: Game, move: Move) -> bool:
    """Whether a card captures and leaves a build of its value on the table (B5)."""
    special = {"2S": game.rules.lillan_hand_value, "TD": game.rules.storan_hand_value}
    value = special.get(move.card) or game.rules.hand_values["A23456789TJQK".index(move.card[0])]
    is_capture = move.takes and not move.builds and move.build is None
    return bool(is_capture) and value in {each for each, *_ in game.builds}


@pytest.mark.few(10)
@pytest.mark.parametrize("text", [*MAIN, *RELATIVES, *MIXTURES, *BUILDS])
def test_b2_b5_moves_listed_are_legal_and_none_is_missing_but_those_that_are_alike(text: str) -> None:
    """Where captures are optional, those alike take the same ranks, and who may capture a build of its card does."""
    rules, seen = Rules.parse(text), Counter[str]()
    lister = Lister(rules)
    for game in games_of(text, 2):
        legal, listed = {move._replace(sweep=0) for move in game.legal_moves()}, lister.moves(game)
        assert len(set(listed)) == len(listed)
        assert set(listed) == legal if rules.capture == "maximal" else set(listed) <= legal
        ways, is_high = {way(move) for move in listed}, rules.goal == "high"
        if not lister.workspaces["listing"]["is_cut"][0]:
            left_out = [move for move in legal if way(move) not in ways]
            assert all(is_high and leaves_a_build(game, move) for move in left_out)
            assert {move.card for move in listed} == {move.card for move in legal}
        seen["choices"] += len(listed) > 1
        seen["left out"] += len(legal) - len(listed)
        for move in listed if rules.building else ():
            seen["lays"] += move.build is not None
            seen["raises"] += move.build is not None and any(value != move.build for value in move.builds)
            seen["captures a build"] += move.build is None and bool(move.builds)
    assert seen["choices"] > 3
    assert not rules.building or min(seen[name] for name in ("lays", "raises", "captures a build")) > 0


@pytest.mark.parametrize("goal", ["high", "low"])
def test_of_many_captures_the_best_and_a_sweep_are_kept(goal: str) -> None:
    """An ace takes any union of groups of fourteen, or any aces: the best by points are kept, nothing, and a sweep."""
    majorities = "most_cards_points=0 most_spades_points=0"
    game = lay("AC AD 2S 3C 5D 9H TD 4S", "AS", "KD", rules=f"kasino-sweden players=2 goal={goal} {majorities}")
    lister = Lister(game.rules)
    every = [move.takes for move in lister.moves(game)]
    assert not lister.workspaces["listing"]["is_cut"][0]
    assert len(every) > 10
    lister.workspaces["listing"]["keep"] = 3
    kept = [move.takes for move in lister.moves(game)]
    assert lister.workspaces["listing"]["is_cut"][0]
    assert len(kept) == 4
    assert () in kept
    assert {takes for takes in every if len(takes) == 8} <= set(kept) <= set(every)

    def gain(takes: tuple[str, ...]) -> float:
        points = sum({"TD": 2, "2S": 1}.get(name, name[0] == "A") for name in takes)
        return points if goal == "high" else -points

    chosen = [takes for takes in kept if 0 < len(takes) < 8]
    assert min(map(gain, chosen)) >= max(gain(takes) for takes in every if takes and takes not in kept)
