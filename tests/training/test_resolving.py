"""An agent that solves the deal before the last one anew at each decision."""

from __future__ import annotations

import numpy as np
import pytest

from krypenv import Game, Rules, agents
from krypenv.agents.champion import Champion
from krypenv.training.research.exact.late import solve_late
from krypenv.training.research.exact.looking import look
from krypenv.training.research.solved.resolving import Equilibrium

HIDDEN = Rules.preset("mini-hidden")


def decision(game: Game) -> tuple[np.ndarray, np.ndarray]:
    """The observation of the seat to act, and its mask, as one row each."""
    return game.observation(history=True)[None], game.action_mask()[None]


@pytest.mark.parametrize("seed", range(6))
def test_with_all_hands_in_the_ranges_the_first_play_of_the_deal_is_one_of_an_equilibrium(seed: int) -> None:
    game = Game(HIDDEN, seed=seed)
    moves = {each.move: each.margin for each in look(solve_late(game), game).moves}
    if len(moves) == 1:
        pytest.skip(f"game {seed} of mini-hidden begins without a choice")
    agent = Equilibrium(HIDDEN, seed, hands=500, samples=60)
    played = game.copy()
    played.act(int(agent.act(*decision(game))[0]))
    while played.pending is not None:
        played.act(int(agent.act(*decision(played))[0]))
    assert moves[str(played.last_move)] > max(moves.values()) - 0.3


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
    with pytest.raises(ValueError, match="hands, samples and iterations are 1 or more, not 0, 4 and 200"):
        agents.make(agents.typed(f"{name}(hands=0)"), HIDDEN)
    for rules in (Rules.preset("krypkasino", players=4), Rules.preset("kasino-finland", players=2)):
        with pytest.raises(ValueError, match="is solved in games like Krypkasino for two with at most 8 cards"):
            agents.make(agents.typed(name), rules)
