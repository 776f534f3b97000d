"""An agent that solves the deal before the last one, for bounded ranges of hands."""

from __future__ import annotations

import numpy as np
import pytest

from krypenv import Game, Rules, agents
from krypenv.agents.champion import Champion
from krypenv.training.lab.studying import Setup
from krypenv.training.research.solved import late_deals
from krypenv.training.research.solved.late_deals import (
    BEST,
    FEW,
    LOST,
    _resolved_sentence,
    of_a_resolved_position,
    of_a_small_game,
    resolved_in,
)
from krypenv.training.solving.late import solve_late
from krypenv.training.solving.late_agent import Equilibrium
from krypenv.training.solving.looking import look
from krypenv.training.solving.solving import Solved

HIDDEN = Rules.preset("mini-hidden")
TWO = Rules.preset("krypkasino", players=2)


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
    game, agent = Game(TWO, seed=3), Equilibrium(TWO, 5)
    assert agent.act(*decision(game)) == Champion(TWO, 5).act(*decision(game))


def test_a_game_is_played_to_its_end_by_legal_actions() -> None:
    game, agent = Game(HIDDEN, seed=2), Equilibrium(HIDDEN, hands=4, samples=1)
    while not game.is_over:
        game.act(int(agent.act(*decision(game))[0]))
    assert sum(game.points(seat) for seat in range(2)) == HIDDEN.total_points


def at_late_deal(rules: Rules, seed: int) -> tuple[Game, np.random.Generator]:
    """A game played at random up to the deal before the last one."""
    game, random = Game(rules, seed=seed), np.random.default_rng(seed)
    while game.deal_number < len(rules.deal_sizes()) - 1:
        game.act(int(random.choice(game.legal_actions())))
    return game, random


@pytest.mark.parametrize("hands", [1, 2, 4, 8])
def test_whole_late_deals_are_played_with_few_hands(hands: int) -> None:
    """Some of the other seat's hands agree with all that is known, so every decision is one of the solved game."""
    for seed in range(5):
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
    for seed in range(6):
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
    name = "krypenv.training.solving.late_agent:Equilibrium"
    with pytest.raises(ValueError, match="hands and iterations are 1 or more, and samples 0 or more, not 0, 200 and 4"):
        agents.make(agents.typed(f"{name}(hands=0)"), HIDDEN)
    for rules in (Rules.preset("krypkasino", players=4), Rules.preset("kasino-finland", players=2)):
        with pytest.raises(ValueError, match="is solved in games like Krypkasino for two with at most 8 cards"):
            agents.make(agents.typed(name), rules)


def resolved(monkeypatch: pytest.MonkeyPatch, number: int, sees: bool, hands: int) -> dict[str, float]:
    """What the study finds of the agent with so many hands in a position of mini-hidden, at the start of a deal."""
    monkeypatch.setattr(late_deals, "RESOLVED", {"hands": hands, "samples": 0})
    if sees:
        monkeypatch.setattr(late_deals, "hide_plays", lambda trees: trees)
    found = of_a_resolved_position("mini-hidden", "random", 0, number, FEW)
    game = Game.from_position(found["position"])
    assert (game.rules, game.deal_number, len(game.hand(0)) + len(game.hand(1))) == (HIDDEN, 1, FEW)
    assert found["cards"] == FEW
    measured: dict[str, float] = found["resolved"]
    assert set(measured) == {LOST, BEST}
    assert -1e-4 <= measured[LOST] <= measured[BEST] + 1e-4
    return measured


@pytest.mark.parametrize("number", range(3))
def test_in_a_position_it_loses_nothing_if_it_sees_the_plays_and_counts_all_hands(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    few, blind, all_seen = (
        resolved(monkeypatch, number, sees, hands) for sees, hands in ((False, 1), (False, 500), (True, 500))
    )
    assert all_seen[LOST] < 0.02 < 0.1 < blind[LOST] < few[LOST]
    assert all_seen[BEST] < 0.05


@pytest.mark.parametrize("preset", ["mini-sweep", "mini-copies"])
def test_it_plays_whole_small_games_perfectly(preset: str) -> None:
    found = of_a_small_game(preset)
    assert set(found) == {"resolved", "search"}
    assert 0 <= found["resolved"] < 0.002
    assert (found["search"] > 0.05) == (preset == "mini-copies")


def test_its_loss_is_compared_with_that_of_another_agent_in_the_same_positions() -> None:
    solved = [{"position": name, "lost": {LOST: {"champion": lost}}} for name, lost in (("a", 0.25), ("b", 0.75))]
    others = [{"position": "b", "cards": FEW, "resolved": {LOST: 0.25, BEST: 9.0}}, {"resolved": 0.01, "search": 0.5}]
    results = [*solved, *others, {"position": "a", "cards": FEW, "resolved": {LOST: 0.125, BEST: 9.0}}]
    found = resolved_in(results, solved, "champion")
    assert {name: mean for name, (mean, _, _) in found.items()} == {LOST: 0.1875, "more by champion": 0.3125}
    assert resolved_in(solved, solved, "champion") == {}


def test_the_sentence_tells_what_it_loses() -> None:
    setup = Setup(TWO, "champion", 60)
    intervals = {LOST: (0.1875, 0.125, 0.25), "more by champion": (0.3125, -0.5, 1.0)}
    told = _resolved_sentence(setup, intervals, {"resolved": 0.011, "search": 0.579})
    assert "for 32 hands of each seat, loses +0.19 (+0.12 to +0.25) to an equilibrium with 4 cards in both" in told
    assert "champion loses +0.31 (-0.50 to +1.00) more in the same positions" in told
    assert told.endswith("its exploitability in mini-hidden is 0.01, that of search 0.58.")
    assert _resolved_sentence(setup, {}, {"resolved": 0.0, "search": 0.0}) == ""
    assert _resolved_sentence(setup, intervals, None) == ""
