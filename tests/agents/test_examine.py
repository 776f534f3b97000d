"""Agents that sample worlds show what their moves are worth: world by world, and what leans them to their choice."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support.games import shuffle_hidden
from support.places import ROOT

from krypenv import Game, Rules, agents
from krypenv.advice.values import values_of
from krypenv.agents.moves.record import as_move

TWO = ROOT / "agents" / "models" / "two"
NAMES = ["rollout(worlds=20)", f"guided(model={str(TWO)!r}, worlds=20)", "champion(worlds=20)", "search(worlds=20)"]


def some_games(rules, count):
    """Positions with several legal moves, and things hidden."""
    for seed in range(count):
        game, chooser = Game(rules, seed=seed), random.Random(seed)
        for _ in range(3 * seed):
            game.push(chooser.choice(game.legal_moves()))
        if len(game.legal_moves()) > 1 and game.stock_size:
            yield game


@pytest.mark.parametrize("name", NAMES)
def test_margins_and_leanings_make_up_the_values_of_actions(name):
    compared = 0
    for game in some_games(Rules.preset(), 12):
        examiner, valuer = (agents.make(name, game.rules, 7) for _ in range(2))
        listed, margins, leanings, _ = examiner.examine(game.observation(), game.action_mask())
        moves = [as_move(row, 0) for row in listed]
        assert sorted(move.card + str(move.takes) for move in moves) == sorted(
            move.card + str(move.takes) for move in game.legal_moves()
        )
        assert np.isfinite(margins).all()
        assert len(margins) == 20
        assert (leanings <= 0).all()
        values = valuer.action_values(game.observation()[None], game.action_mask()[None])[0]
        for at, row in enumerate(listed):
            is_alone = (listed["card"] == row["card"]).sum() == 1
            if is_alone and np.isfinite(values[row["card"]]) and np.isfinite(values).sum() > 1:  # else worlds are saved
                assert values[row["card"]] == pytest.approx(margins[:, at].mean() + leanings[at])
                compared += 1
    assert compared > 4


@pytest.mark.parametrize("text", ["krypkasino players=3", "kasino-sweden players=2", "mulle-glimne players=2"])
def test_the_champion_s_moves_are_ordered_by_margin_and_one_is_preferred(text):
    for game in some_games(Rules.parse(text), 3):
        found = values_of(game, agents.make("champion(worlds=10)", game.rules, 1), 50, 3)
        means = [value.margin.mean for value in found.values]
        assert means == sorted(means, reverse=True)
        assert {value.move for value in found.values} <= {str(move) for move in game.legal_moves()}
        assert 0 <= found.preferred < len(means)
        assert all(0 <= value.sets_up <= 1 and value.behind.mean >= 0 for value in found.values)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_hidden_changes_no_value(name):
    for game in some_games(Rules.preset(), 4):
        twin = game.copy()
        shuffle_hidden(game.rules, twin.state, game.turn, np.random.default_rng(1))
        assert twin.hand(1 - game.turn) != game.hand(1 - game.turn)
        first, second = (values_of(each, agents.make(name, game.rules, 1), 30, 2) for each in (game, twin))
        assert first == second
