"""An agent that solves the deal before the last one, for bounded ranges of hands."""

from __future__ import annotations

import numpy as np
import pytest

from krypenv import Game, Rules, agents
from krypenv.agents.champion import make_champion
from krypenv.training.solving import (
    Equilibrium,
    grow_for_agents,
    lost_to_equilibrium,
    measure,
    measure_late,
    solve_late,
)

HIDDEN = Rules.preset("mini-hidden")
TWO = Rules.preset("krypkasino", players=2)


def decision(game: Game) -> tuple[np.ndarray, np.ndarray]:
    """The observation of the seat to act, and its mask, as one row each."""
    return game.observation(history=True)[None], game.action_mask()[None]


def test_other_decisions_are_those_of_champion() -> None:
    game, agent = Game(TWO, seed=3), Equilibrium(TWO, 5)
    assert agent.act(*decision(game)) == make_champion(TWO, 5).act(*decision(game))


def at_late_deal(rules: Rules, seed: int) -> tuple[Game, np.random.Generator]:
    """A game played at random up to the deal before the last one."""
    game, random = Game(rules, seed=seed), np.random.default_rng(seed)
    while game.deal_number < len(rules.deal_sizes()) - 1:
        game.act(int(random.choice(game.legal_actions())))
    return game, random


@pytest.mark.parametrize("hands", [1, 4])
def test_whole_late_deals_are_played_with_few_hands(hands: int) -> None:
    """Some of the other seat's hands agree with all that is known, so every decision is one of the solved game."""
    for seed in range(3):
        game, random = at_late_deal(TWO, seed)
        number, asked = game.deal_number, 0
        agent = Equilibrium(TWO, seed, hands=hands, samples=1, iterations=3)
        while game.deal_number == number:
            action = int(agent.act(*decision(game))[0])
            assert action in game.legal_actions()
            asked += game.turn == seed % 2
            game.act(action if game.turn == seed % 2 else int(random.choice(game.legal_actions())))
        assert asked >= 4


@pytest.mark.parametrize("preset", ["mini-low", "mini-double", "mini-copies"])
def test_a_position_is_played_on_whose_plays_are_not_known(preset: str) -> None:
    rules = Rules.preset(preset, players=2)
    for seed in range(3):
        game, random = at_late_deal(rules, seed)
        agent, number = Equilibrium(rules, seed, hands=2, samples=1, iterations=3), game.deal_number
        while game.deal_number == number:
            for seen in (game.observation(), Game.from_position(game.position()).observation(history=True)):
                assert agent.act(seen[None], game.action_mask()[None])[0] in game.legal_actions()
            game.act(int(random.choice(game.legal_actions())))


def test_choices_depend_on_the_seed_alone() -> None:
    game = Game(HIDDEN, seed=1)
    first, again = (Equilibrium(HIDDEN, 7, hands=8).act(*decision(game)) for _ in range(2))
    assert first == again


def test_what_it_cannot_do_is_one_sentence() -> None:
    name = "krypenv.training.solving:Equilibrium"
    with pytest.raises(ValueError, match="hands and iterations are 1 or more, and samples 0 or more, not 0, 200 and 4"):
        agents.make(agents.typed(f"{name}(hands=0)"), HIDDEN)
    for rules, sentence in (
        ("krypkasino players=4", "late deals are solved in games like Krypkasino for two, not in"),
        ("kasino-finland players=2", "late deals are solved in games like Krypkasino for two, not in"),
        ("krypkasino players=2 later_deal=((11,0),)", "late deals are solved with at most 8 cards in both hands"),
    ):
        with pytest.raises(ValueError, match=sentence):
            agents.make(agents.typed(name), Rules.parse(rules))


def test_in_a_position_it_loses_nothing_if_it_sees_the_plays_and_counts_all_hands() -> None:
    game = at_late_deal(HIDDEN, 0)[0]
    perfect = solve_late(game, threads=1)

    def lost_by(hands: int, sees_plays: bool) -> float:
        player = Equilibrium(HIDDEN, hands=hands, samples=0)
        measured = measure_late(player, perfect.trees, threads=1, sees_plays=sees_plays)
        lost = lost_to_equilibrium(perfect, measured, 1)
        assert -1e-4 <= lost <= measured.exploitability + 1e-4
        return lost

    assert lost_by(500, True) < 0.02 < lost_by(1, False)


@pytest.mark.parametrize("preset", ["mini-sweep", "mini-copies"])
def test_it_plays_whole_small_games_perfectly(preset: str) -> None:
    rules = Rules.preset(preset)
    trees = grow_for_agents(rules)
    exact = measure(Equilibrium(rules, hands=500, samples=0), rules, 1, 1, trees).exploitability
    assert 0 <= exact < 0.002
    assert (measure("search", rules, 2, 1, trees).exploitability > 0.05) == (preset == "mini-copies")
