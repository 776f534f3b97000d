"""One game: undo, copies, what is illegal, what seats see."""

import copy
import pickle
import random

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from support.games import RULES, lay, play_out
from support.relatives import ALL_RELATIVES

from krypenv import Game, IllegalMove, Move, Rules
from krypenv.cards import parse_card
from krypenv.observation import SIZE


@settings(max_examples=80, deadline=None)
@given(st.sampled_from([*RULES.values(), *ALL_RELATIVES.values()]), st.integers(0, 2**32), st.integers(0, 60))
def test_undo(rules, seed, steps):
    game, choices = Game(rules, seed=seed), random.Random(seed)
    before = [game.position()]
    moves, actions = [0], [0]
    for _ in range(steps):
        if game.is_over:
            break
        if choices.random() < 0.5 and len(game.table) < 10:
            game.push(choices.choice(game.legal_moves()))
        else:
            game.act(choices.choice(game.legal_actions()))
        before.append(game.position())
        moves.append(len(game.moves))
        actions.append(len(game.actions))
        if choices.random() < 0.2:
            game.pop()
            for history in (before, moves, actions):
                history.pop()
            assert game.position() == before[-1]
    twin = game.copy()
    while len(before) > 1:
        for history in (before, moves, actions):
            history.pop()
        game.pop()
        assert (game.position(), len(game.moves), len(game.actions)) == (before[-1], moves[-1], actions[-1])
    with pytest.raises(IndexError, match="nothing to undo"):
        game.pop()
    assert twin.rewound().position() == game.position()
    for action in twin.actions:
        game.act(action)
    assert game.position() == twin.position()
    assert game.moves == twin.moves
    assert game.last_move == (game.moves[-1] if game.moves else None)


@pytest.mark.parametrize(
    "duplicate", [Game.copy, copy.copy, copy.deepcopy, lambda game: pickle.loads(pickle.dumps(game))]
)
@pytest.mark.parametrize("steps", [0, 1, 61, 400])
def test_copies_are_whole_and_independent(duplicate, steps):
    game, choices = Game(Rules.preset("krypkasino", players=3, games=2), seed=7), random.Random(steps)
    game.tags["Event"], game.comments[0] = "Friday", "go"
    while len(game.actions) < steps and not game.is_over:
        if choices.random() < 0.5:
            game.push(choices.choice(game.legal_moves()))
        else:
            game.act(choices.choice(game.legal_actions()))
    before, record = game.position(), game.record()
    twin = duplicate(game)
    assert (twin, twin.record()) == (game, record)
    assert (twin.observation(features=True) == game.observation(features=True)).all()
    twin.tags["Event"], twin.comments[1] = "Sunday", "on"
    play_out(twin)
    assert twin != game or game.is_over
    assert (game.position(), game.record()) == (before, record)
    assert twin.next_game().position() == play_out(game.copy()).next_game().position()
    while twin.actions != game.actions:
        twin.pop()
    while game.actions:
        game.pop()
        twin.pop()
        assert (twin.position(), twin.actions) == (game.position(), game.actions)


def test_illegal_moves_leave_the_game_untouched():
    game = lay("4C 4D 8C TC", "QC 2C", "2D 3S")
    before = game.position()
    for move in ("QC", "QCx4C", "QCx4C4D8C", "3S", "2Cx4C", "2C#", Move("QC", ("4C", "8C"), 1)):
        with pytest.raises(IllegalMove, match="is illegal; seat 0 may 2C, QCx4C8C, QCx8C4D"):
            game.push(move)
    for action in (-1, 0, 40, 52, 104, 105):
        with pytest.raises(IllegalMove, match="is illegal; seat 0 may play 2C, play QC"):
            game.act(action)
    assert game.position() == before
    assert game.actions == []
    play_out(game)
    with pytest.raises(IllegalMove, match="the game is over"):
        game.act(0)
    with pytest.raises(IllegalMove, match="the game is over"):
        game.push("2C")
    assert game.legal_moves() == game.legal_actions() == []


def test_pushed_move_may_complete_a_begun_play():
    game = lay("4C 4D 8C TC", "QC 2C", "2D 3S")
    game.act(parse_card("QC"))
    with pytest.raises(IllegalMove, match="2C is illegal; seat 0 may QCx4C8C, QCx8C4D"):
        game.push("2C")
    game.push("qc x 8c 4d")
    assert game.moves == [Move("QC", ("8C", "4D"))]
    game.pop()
    assert game.pending == "QC"
    game.pop()
    assert game.pending is None


def test_what_seats_see():
    game = Game(Rules.preset("krypkasino", players=3), seed=1)
    assert game.turn == 0
    assert game.action_mask(1).sum() == game.action_mask(2).sum() == 0
    assert np.flatnonzero(game.action_mask(0)).tolist() == game.legal_actions()
    assert game.observation(0) is not game.observation(0)
    assert game.observation().dtype == game.action_mask().dtype == np.int8
    assert game.observation(1).shape == (SIZE,)
    assert game.observation(0, features=True)[SIZE:].any()
    assert not game.observation(1, features=True)[SIZE:].any()
    calls = game.hand, game.captured, game.points, game.sweeps, game.observation, game.action_mask
    for call in (*calls, game.pile_counts, game.counted_sweeps, game.mulles):
        for seat in (3, True, "0", 1.0, 10**30, []):
            with pytest.raises(ValueError, match=r"there is no seat .*; the seats are 0 to 2"):
                call(seat)
    play_out(game)
    assert game.turn == -1
    assert not any(game.action_mask(seat).any() for seat in range(3))
    assert game.observation(2).shape == (SIZE,)


def test_seeds():
    rules = Rules.preset("mini-low")
    fresh = Game(rules)
    assert Game(rules, seed=fresh.seed).deck == fresh.deck
    assert Game(rules, deck=fresh.deck).seed is None
    assert Game(rules, seed=np.int64(3)).deck == Game(rules, seed=3).deck
    for seed in (-1, 2**64):
        with pytest.raises(ValueError, match=r"a seed is a whole number from 0 to 2\*\*64 - 1"):
            Game(rules, seed=seed)
    assert Game(rules, seed=2**64 - 1).deck


def test_announcements():
    game = lay("2H 4H", "KC KD", "QC QD")
    assert game.announcement == "sweep for a 6"
    assert game.sweep_ranks() == [6]
    game.push("KC")
    assert game.announcement == ""
    game = lay("2H", "-", "2C", "captured 0: rest; stock: 3C 4C 5D 6C 7C 8C 9C TC")
    game.push("2Cx2H#")
    assert game.announcement == "last cards"
    assert "last cards" in str(game)
