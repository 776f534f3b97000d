"""An agent that solves the deal before the last one, for bounded ranges of hands."""

from __future__ import annotations

import numpy as np
import pytest

from krypenv import Game, Rules, agents
from krypenv.agents.champion import Champion
from krypenv.training.research.exact.late import solve_late
from krypenv.training.research.exact.looking import look
from krypenv.training.research.exact.solving import Solved
from krypenv.training.research.solved.resolving import Equilibrium

HIDDEN = Rules.preset("mini-hidden")


def decision(game: Game) -> tuple[np.ndarray, np.ndarray]:
    """The observation of the seat to act, and its mask, as one row each."""
    return game.observation(history=True)[None], game.action_mask()[None]


def lost(game: Game, perfect: Solved) -> float:
    """What the agent's choice of a card loses in the deal before the last one, by an equilibrium's margins."""
    margins: dict[int, float] = {}
    for each in look(perfect, game).moves:
        after = game.copy()
        after.push(each.move)
        card = after.actions[len(game.actions)]
        margins[card] = max(each.margin, margins.get(card, -np.inf))
    chances = Equilibrium(HIDDEN, hands=500, samples=0).probabilities(*decision(game))[0]
    return max(margins.values()) - sum(chances[card] * margin for card, margin in margins.items())


@pytest.mark.parametrize("seed", range(8))
def test_with_all_hands_in_the_ranges_plays_are_those_of_an_equilibrium(seed: int) -> None:
    game, random = Game(HIDDEN, seed=seed), np.random.default_rng(seed)
    perfect = solve_late(game)
    decisions = 0
    while game.deal_number == 1:
        if game.pending is None and len(game.legal_actions()) > 1:
            assert lost(game, perfect) < 0.1
            decisions += 1
        game.act(int(random.choice(game.legal_actions())))
    assert decisions > 0


def test_other_decisions_are_those_of_champion() -> None:
    rules = Rules.preset("krypkasino", players=2)
    game, agent = Game(rules, seed=3), Equilibrium(rules, 5)
    assert agent.act(*decision(game)) == Champion(rules, 5).act(*decision(game))


def test_a_game_is_played_to_its_end_by_legal_actions() -> None:
    game, agent = Game(HIDDEN, seed=2), Equilibrium(HIDDEN, hands=4, samples=1)
    while not game.is_over:
        game.act(int(agent.act(*decision(game))[0]))
    assert sum(game.points(seat) for seat in range(2)) == HIDDEN.total_points


def test_choices_depend_on_the_seed_alone() -> None:
    game = Game(HIDDEN, seed=1)
    first, again = (Equilibrium(HIDDEN, 7, hands=8).act(*decision(game)) for _ in range(2))
    assert first == again


def test_what_it_cannot_do_is_one_sentence() -> None:
    name = "krypenv.training.research.solved.resolving:Equilibrium"
    with pytest.raises(ValueError, match="hands and iterations are 1 or more, and samples 0 or more, not 0, 200 and 4"):
        agents.make(agents.typed(f"{name}(hands=0)"), HIDDEN)
    for rules in (Rules.preset("krypkasino", players=4), Rules.preset("kasino-finland", players=2)):
        with pytest.raises(ValueError, match="is solved in games like Krypkasino for two with at most 8 cards"):
            agents.make(agents.typed(name), rules)
