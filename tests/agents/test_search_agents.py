"""The agents that search: the same on threads and within a time limit, and strong where it can be told."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest
from support.games import RULES, lay
from support.positions import decide, with_choices
from support.solving import Depth, after_moves

from krypenv import Game, agents
from krypenv.agents.search import sampler
from krypenv.cards import action_name, card_name
from krypenv.training import duplicate_match

MAIN = RULES["krypkasino players=2"]
SAMPLERS = ["search(worlds=12)", "rollout(worlds=6)", "ismcts(worlds=30)"]
every_sampler = pytest.mark.parametrize("spec", SAMPLERS)


# ---------------------------------------------------------------------- threads and time


@pytest.mark.slow
@every_sampler
@pytest.mark.parametrize("text", ["krypkasino players=2", "krypkasino players=4 teams=2"])
def test_threads_change_nothing(spec: str, text: str) -> None:
    engine = with_choices(RULES[text], 13)
    alone = decide(agents.make(spec, engine.rules, 1), engine)
    for threads in (2, 3, 0):
        shared = agents.make(spec.replace(")", f", threads={threads})"), engine.rules, 1)
        np.testing.assert_array_equal(decide(shared, engine), alone)
        assert shared.name == spec


def set_clock(monkeypatch: pytest.MonkeyPatch, clock: Callable[[], float]) -> None:
    monkeypatch.setattr(sampler, "time", SimpleNamespace(perf_counter=clock))


@pytest.mark.parametrize("name", ["search", "rollout", "ismcts"])
@pytest.mark.parametrize("threads", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_time_limit_cuts_worlds_off_and_changes_nothing_else(
    name: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock that stands still leaves all worlds, in several goes; one that runs leaves those of the first go."""
    engine = with_choices(MAIN, 17)
    limited = f"{name}(worlds=23, ms=5.0, threads={threads})"
    all_worlds = decide(agents.make(f"{name}(worlds=23)", MAIN, 3), engine)
    few_worlds = decide(agents.make(f"{name}(worlds={sampler.BATCH})", MAIN, 3), engine)
    assert (all_worlds != few_worlds).any()
    set_clock(monkeypatch, lambda: 0.0)
    np.testing.assert_array_equal(decide(agents.make(limited, MAIN, 3), engine), all_worlds)
    set_clock(monkeypatch, itertools.count().__next__)
    np.testing.assert_array_equal(decide(agents.make(limited, MAIN, 3), engine), few_worlds)


# ---------------------------------------------------------------------- what they are worth


@pytest.mark.parametrize("spec", ["search(worlds=1)", "ismcts(worlds=3000)"])
def test_where_nothing_is_hidden_the_best_move_is_played(spec: str) -> None:
    """Upper confidence bounds converge to the minimax value (Kocsis and Szepesvari 2006)."""
    rules, tried = RULES["mini-high players=2"], 0
    agent = agents.make(spec, rules)
    for seed in range(16):
        game, rng = Game(rules, seed=seed), np.random.default_rng(seed)
        while game.stock_size or len(game.hand(game.turn)) > 2:
            game.act(int(rng.choice(game.legal_actions())))
        while not game.is_over:
            side, action = game.turn, int(agent.act(game.observation()[None], game.action_mask()[None])[0])
            values = {move: outcome[side] for move, [outcome] in after_moves(game, Depth(game.deal_number)).items()}
            if len(set(values.values())) > 1 and game.pending is None:
                card = card_name(action)
                assert max(values.values()) == max(value for move, value in values.items() if move.card == card)
                tried += 1
            game.act(action)
    assert tried > 8


@every_sampler
def test_a_sweep_that_the_other_hand_must_make_is_set_up(spec: str) -> None:
    """In the last deal: with the three on the two, the five has to sweep (R9, R10)."""
    game = lay("2C", "3D JH", "5C QH")
    action = int(agents.make(spec, MAIN).act(game.observation()[None], game.action_mask()[None])[0])
    assert action_name(action) == "play 3D"


def test_search_beats_greedy() -> None:
    result = duplicate_match("search(worlds=10)", "greedy", MAIN, deals=20, seed=1)
    assert result.low > 0
