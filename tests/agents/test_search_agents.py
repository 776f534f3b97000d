"""Agents that search: worlds as often as they are likely, each solved exactly; threads and clocks change nothing."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from math import comb
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2_contingency, chisquare
from support.games import RULES, lay
from support.positions import decide, hands_of, walk, with_choices
from support.solving import Depth, after_moves

from krypenv import Engine, Game, Rules, agents, determinize
from krypenv.agents.moves.record import as_move
from krypenv.agents.search import sampler
from krypenv.cards import action_name, card_name
from krypenv.observation import LAYOUT

MAIN = RULES["krypkasino players=2"]


def test_worlds_are_uniform_where_hardly_any_deal_agrees() -> None:
    """One hand may hold fives and sixes, the other sixes: one deal in some thousands, most of them found by swaps."""
    rules = RULES["krypkasino players=3"]
    engine = Engine(rules, 64, seed=6)
    while not (rows := np.flatnonzero((engine.observation[:, LAYOUT["hand_size"]][:, :3] == 2).all(axis=1))).size:
        engine.step(engine.sample_actions())
    seen = engine.observation[rows[0]].copy()
    bars = seen[LAYOUT["cannot_hold"]].reshape(5, 13)
    bars[0], bars[1] = np.isin(range(13), [4, 5], invert=True), np.arange(13) != 5
    hands = hands_of(rules, determinize(seen[None].repeat(8000, axis=0), 1, rules))
    fives, sixes = (rules.deck_counts - seen[LAYOUT["seen"]]).reshape(4, 13).sum(axis=0)[4:6].tolist()
    ranks = hands.reshape(-1, 2, 4, 13).sum(axis=2)
    assert (ranks[:, 0, 4:6].sum(axis=1) == 2).all()
    assert (ranks[:, 1, 5] == 2).all()
    ways = np.array([comb(sixes, held) * comb(fives, 2 - held) * comb(sixes - held, 2) for held in range(3)])
    found, is_possible = np.bincount(ranks[:, 0, 5], minlength=3), ways > 0
    assert not found[~is_possible].any()
    assert chisquare(found[is_possible], (ways / ways.sum() * 8000)[is_possible]).pvalue > 1e-4


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", ["search", "rollout", "ismcts"])
def test_an_observation_that_no_deal_agrees_with_is_refused(name: str, threads: int) -> None:
    engine = Engine(RULES["krypkasino players=2"], 2, seed=6)
    seen = engine.observation.copy()
    seen[:, LAYOUT["cannot_hold"].start : LAYOUT["cannot_hold"].start + 13] = 1
    with pytest.raises(ValueError, match="no deal of the unseen cards gives each seat cards that it can hold"):
        agents.make(f"{name}(threads={threads})", engine.rules).act(seen, engine.action_mask)


# ---------------------------------------------------------------------- solved one by one


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("mini-double players=4 teams=2 first_deal=((2,8),) later_deal=((2,0),)", "method='max_n'"),
        ("mini-low players=3 first_deal=((2,6),) later_deal=((2,0),)", "method='paranoid'"),
    ],
)
def test_search_solves_each_world_that_agrees_as_often_as_any_other(text: str, options: str) -> None:
    """In last deals, among partners or against all others: margins are those of exhaustive play of sampled worlds."""
    rules, compared = Rules.parse(text), 0
    for seed in range(16):
        game = next(game for game in walk(rules, seed, range(6)) if not game.stock_size)
        if len(game.legal_moves()) < 2 or game.pending:
            continue
        side, seen = game.turn % rules.num_teams, game.observation()
        depth, solved, likely = Depth(game.deal_number, lone=side), dict[bytes, Any](), Counter[Any]()
        worlds = determinize(seen[None].repeat(300, axis=0), 1, rules)
        for hands, world in zip(map(np.ndarray.tobytes, hands_of(rules, worlds)), worlds, strict=True):
            if hands not in solved:
                outcomes = after_moves(Game.at_row(rules, world), depth).items()
                values = {str(move): {each[side] for each in found} for move, found in outcomes}
                solved[hands] = tuple(sorted((move, value) for move, [value] in values.items()))
            likely[solved[hands]] += 1
        moves, margins, *_ = agents.make(f"search(worlds=300, {options})", rules, 1).examine(seen, game.action_mask())
        names = [str(as_move(row, 0)) for row in moves]
        found = Counter(tuple(sorted(zip(names, each, strict=True))) for each in margins.tolist())
        assert found.keys() <= likely.keys()
        assert chi2_contingency([[counts[each] for each in likely] for counts in (found, likely)]).pvalue > 1e-4
        compared += len(likely) > 1
    assert compared > 1


# ---------------------------------------------------------------------- threads and time


@pytest.mark.few(3)
@pytest.mark.parametrize("name", ["search", "rollout", "ismcts"])
@pytest.mark.parametrize("threads", [0, 1, 3])
def test_threads_change_nothing_and_a_time_limit_cuts_worlds_off(
    name: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock that stands still leaves all worlds, in several goes; one that runs leaves those of the first go."""
    engine = with_choices(MAIN, 17)

    def actions(options: str, clock: Callable[[], float] = lambda: 0.0) -> np.ndarray:
        monkeypatch.setattr(sampler, "time", SimpleNamespace(perf_counter=clock))
        agent = agents.make(f"{name}({options})", MAIN, 3)
        assert "threads" not in agent.name
        return decide(agent, engine)

    all_worlds, few_worlds = actions("worlds=23"), actions(f"worlds={sampler.BATCH}")
    assert (all_worlds != few_worlds).any()
    np.testing.assert_array_equal(actions(f"worlds=23, threads={threads}"), all_worlds)
    limited = f"worlds=23, ms=5.0, threads={threads}"
    np.testing.assert_array_equal(actions(limited), all_worlds)
    np.testing.assert_array_equal(actions(limited, itertools.count().__next__), few_worlds)


# ---------------------------------------------------------------------- what they are worth


def test_where_nothing_is_hidden_ismcts_plays_the_best_move() -> None:
    """Upper confidence bounds converge to the minimax value (Kocsis and Szepesvari 2006)."""
    rules, tried = RULES["mini-high players=2"], 0
    agent = agents.make("ismcts(worlds=3000)", rules)
    for seed in range(16):
        game = next(game for game in walk(rules, seed, range(5)) if not game.stock_size).copy()
        while not game.is_over:
            side, action = game.turn, int(agent.act(game.observation()[None], game.action_mask()[None])[0])
            values = {move: outcome[side] for move, [outcome] in after_moves(game, Depth(game.deal_number)).items()}
            if len(set(values.values())) > 1 and game.pending is None:
                card = card_name(action)
                assert max(values.values()) == max(value for move, value in values.items() if move.card == card)
                tried += 1
            game.act(action)
    assert tried > 8


@pytest.mark.parametrize("spec", ["search(worlds=12)", "rollout(worlds=6)", "ismcts(worlds=30)"])
def test_a_sweep_that_the_other_hand_must_make_is_set_up(spec: str) -> None:
    """In the last deal: with the three on the two, the five has to sweep (R9, R10)."""
    game = lay("2C", "3D JH", "5C QH")
    action = int(agents.make(spec, MAIN).act(game.observation()[None], game.action_mask()[None])[0])
    assert action_name(action) == "play 3D"
