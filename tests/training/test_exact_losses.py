"""What agents lose to an equilibrium, and how far margins spread, against walks with the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from krypenv import Game, Rules, agents
from krypenv.cards import card_name
from krypenv.envs.chance import CoursePlan
from krypenv.training.solving import grow_for_agents, lost_to_equilibrium, measure, save, solve, solve_trees, spread_of

GAP = 1e-4
Policy = Callable[[Game], np.ndarray]  # from a game to the probability of each action


def decks(rules: Rules) -> Iterator[list[int]]:
    """All decks that differ in who gets what; they are equally likely."""
    cards = np.repeat(np.arange(52), rules.deck_counts).tolist()
    places = [
        [draw.place for draw in deal if draw.seat == seat]
        for deal in CoursePlan(rules, sorted_deals=True).deals
        for seat in dict.fromkeys(draw.seat for draw in deal)
    ]

    def fill(left: Sequence[int], groups: Sequence[list[int]], deck: list[int]) -> Iterator[list[int]]:
        if not groups:
            yield list(deck)
            return
        for taken in combinations(left, len(groups[0])):
            for place, at in zip(groups[0], taken, strict=True):
                deck[place] = cards[at]
            yield from fill([at for at in left if at not in taken], groups[1:], deck)

    return fill(range(len(cards)), places, [0] * len(cards))


def played(game: Game, policies: Sequence[Policy], power: int = 1) -> float:
    """The mean of a power of seat 0's margin between two policies, over all plays with a given deck."""
    if game.is_over:
        own, other = game.scores()
        return float(other - own if game.rules.goal == "low" else own - other) ** power
    chances, total = policies[game.turn](game), 0.0
    for action in np.flatnonzero(chances).tolist():
        after = game.copy()
        after.act(action)
        total += chances[action] * played(after, policies, power)
    return total


def mask_of(game: Game) -> np.ndarray:
    """The legal actions of a game."""
    mask = np.zeros(game.rules.num_actions, np.int8)
    mask[game.legal_actions()] = 1
    return mask


@pytest.mark.parametrize("name", ["mini-sweep", pytest.param("mini-kasino", marks=pytest.mark.slow)])
def test_what_random_play_loses_is_what_a_walk_with_the_engine_finds(name: str, tmp_path: Path) -> None:
    """Every deck and every play, by an equilibrium as it is saved, in both seats."""
    rules = Rules.preset(name)
    player = agents.make(str(save(tmp_path / "equilibrium", solve(rules, GAP, threads=1, sees=True))), rules)
    known: dict[bytes, np.ndarray] = {}

    def perfect(game: Game) -> np.ndarray:
        seen = game.observation(history=True)
        key = seen.tobytes()
        if key not in known:
            known[key] = player.probabilities(seen[None], mask_of(game)[None])[0]  # type: ignore[attr-defined]
        return known[key]

    def random(game: Game) -> np.ndarray:
        mask = mask_of(game)
        return mask / mask.sum()

    games = [Game(rules, deck=[card_name(card) for card in deck]) for deck in decks(rules)]
    leads = [np.mean([played(game, pair) for game in games]) for pair in ((random, perfect), (perfect, random))]
    trees = grow_for_agents(rules)
    equilibrium = measure(str(tmp_path / "equilibrium"), rules, trees=trees)
    found = lost_to_equilibrium(equilibrium, measure("random", rules, trees=trees))
    assert found == pytest.approx((leads[1] - leads[0]) / 2, abs=1e-9)
    assert found > 0.5
    mean, square = (np.mean([played(game, (perfect, perfect), power) for game in games]) for power in (1, 2))
    assert spread_of(equilibrium) == pytest.approx(np.sqrt(square - mean**2))


@pytest.mark.parametrize("name", ["mini-last", "mini-kasino"])
def test_nobody_loses_more_to_an_equilibrium_than_to_a_best_response(name: str) -> None:
    rules = Rules.preset(name)
    trees = grow_for_agents(rules)
    perfect = solve_trees(trees, GAP, threads=1)
    assert lost_to_equilibrium(perfect, perfect) == 0
    for agent in ("random", "greedy", "tactician", "search(worlds=10)"):
        measured = measure(agent, rules, 2, trees=trees)
        assert -GAP <= lost_to_equilibrium(perfect, measured) <= measured.exploitability + GAP
        assert sum(measured.gains) / 2 == pytest.approx(measured.exploitability)
