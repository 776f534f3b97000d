"""One game: undo, copies, what is illegal, and what seats see and hear."""

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

SWEDEN = "kasino-sweden players=2"


def go_on(game, choices):
    """Make a move, whole or staged."""
    if choices.random() < 0.5 and len(game.table) < 10:
        game.push(choices.choice(game.legal_moves()))
    else:
        game.act(choices.choice(game.legal_actions()))


@settings(max_examples=40, deadline=None)
@given(st.sampled_from([*RULES.values(), *ALL_RELATIVES.values()]), st.integers(0, 2**32), st.integers(0, 60))
def test_what_is_undone_is_as_it_was(rules, seed, steps):
    game, choices = Game(rules, seed=seed), random.Random(seed)

    def now():
        return game.position(), game.moves.copy(), game.actions.copy(), game.last_move

    before = [now()]
    while len(before) <= steps and not game.is_over:
        go_on(game, choices)
        assert game.last_move == (game.moves[-1] if game.moves else None)
        before.append(now())
        if choices.random() < 0.2:
            game.pop()
            before.pop()
            assert now() == before[-1]
    twin = game.copy()
    while len(before) > 1:
        game.pop()
        before.pop()
        assert now() == before[-1]
    with pytest.raises(IndexError, match="nothing to undo"):
        game.pop()
    assert twin.rewound().position() == game.position()
    for action in twin.actions:
        game.act(action)
    assert (game.position(), game.moves) == (twin.position(), twin.moves)


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "duplicate", [Game.copy, copy.copy, copy.deepcopy, lambda game: pickle.loads(pickle.dumps(game))]
)
@pytest.mark.parametrize("steps", [0, 61, 400])
def test_copies_are_whole_and_independent(duplicate, steps):
    game, choices = Game(Rules.preset("krypkasino", players=3, games=2), seed=7), random.Random(steps)
    game.tags["Event"], game.comments[0] = "Friday", "go"
    while len(game.actions) < steps and not game.is_over:
        go_on(game, choices)
    before, record = game.position(), game.record()
    twin = duplicate(game)
    assert (twin, twin.record()) == (game, record)
    assert (twin.observation(features=True) == game.observation(features=True)).all()
    twin.tags["Event"], twin.comments[1] = "Sunday", "on"
    play_out(twin)
    assert twin != game or game.is_over
    assert (game.position(), game.record()) == (before, record)
    assert twin.next_game().position() == play_out(game.copy()).next_game().position()
    while game.actions:
        game.pop()
        while len(twin.actions) > len(game.actions):
            twin.pop()
        assert (twin.position(), twin.actions) == (game.position(), game.actions)


# ---------------------------------------------------------------------- what is illegal


def test_illegal_moves_leave_the_game_untouched():
    game = lay("4C 4D 8C TC", "QC 2C", "2D 3S")
    before = game.position()
    for move in ("QC", "QCx4C", "QCx4C4D8C", "3S", "2Cx4C", "2C#", Move("QC", ("4C", "8C"), 1)):
        with pytest.raises(IllegalMove, match="is illegal; seat 0 may 2C, QCx4C8C, QCx8C4D"):
            game.push(move)
    for action in (-1, 0, 40, 52, 104, 105):
        with pytest.raises(IllegalMove, match="is illegal; seat 0 may play 2C, play QC"):
            game.act(action)
    assert (game.position(), game.actions) == (before, [])
    play_out(game)
    for call, move in ((game.act, 0), (game.push, "2C")):
        with pytest.raises(IllegalMove, match="the game is over"):
            call(move)
    assert game.legal_moves() == game.legal_actions() == []


def test_a_pushed_move_may_complete_a_begun_play():
    game = lay("4C 4D 8C TC", "QC 2C", "2D 3S")
    game.act(parse_card("QC"))
    with pytest.raises(IllegalMove, match="2C is illegal; seat 0 may QCx4C8C, QCx8C4D"):
        game.push("2C")
    game.push("qc x 8c 4d")
    assert game.moves == [Move("QC", ("8C", "4D"))]
    game.pop()
    assert game.pending == "QC"


def test_k2_k4_no_move_is_found_by_listing_the_others_where_nobody_captures():
    """The whole deck of two packs comes to lie on the table."""
    game, crowded = Game(Rules.preset("mulle", players=3), seed=3), 0
    while not game.is_over:
        game.push(game.hand(game.turn)[-1])
        if len(game.table) in (40, 80):
            with pytest.raises(ValueError, match=r"^seat \d has more than 10,000 legal moves; legal_actions\(\)"):
                game.legal_moves()
            with pytest.raises(IllegalMove, match=r"illegal; seat \d has more than 100 legal moves; legal_actions"):
                game.push(game.table[0])
            crowded += 1
    assert crowded == 2
    assert (len(game.table), game.last_capturer, game.scores()) == (104, None, [0, 0, 0])
    assert Game.from_position(game.position()).position() == game.position()
    assert Game.replay(game.record()).position() == game.position()


# ---------------------------------------------------------------------- what seats see and hear


def test_every_seat_sees_the_game_and_the_one_to_act_what_it_may_do():
    game = Game(Rules.preset("krypkasino", players=3), seed=1)
    assert game.turn == 0
    assert game.action_mask(1).sum() == game.action_mask(2).sum() == 0
    assert np.flatnonzero(game.action_mask(0)).tolist() == game.legal_actions()
    assert game.observation(0) is not game.observation(0)
    assert game.observation().dtype == game.action_mask().dtype == np.int8
    assert game.observation(0, features=True)[SIZE:].any()
    assert not game.observation(1, features=True)[SIZE:].any()
    calls = game.hand, game.captured, game.points, game.sweeps, game.observation, game.action_mask, game.view
    for call in (*calls, game.pile_counts, game.counted_sweeps, game.mulles):
        for seat in (3, True, "0", 1.0, 10**30, []):
            with pytest.raises(ValueError, match=r"there is no seat .*; the seats are 0 to 2"):
                call(seat)
    play_out(game)
    assert game.turn == -1
    assert not any(game.action_mask(seat).any() for seat in range(3))
    assert game.observation(2).shape == (SIZE,)


def test_k3_sweeps_that_must_be_made_and_last_cards_are_announced():
    game = lay("2H 4H", "KC KD", "QC QD")
    assert (game.announcement, game.sweep_ranks()) == ("sweep for a 6", [6])
    game.push("KC")
    assert game.announcement == ""
    game = lay("2H", "-", "2C", more="captured 0: rest; stock: 3C 4C 5D 6C 7C 8C 9C TC")
    game.push("2Cx2H#")
    assert game.announcement == "last cards"
    assert "last cards" in str(game)
    game = lay("9C", "9D 2C", "5C 6C", rules=SWEDEN)
    assert (game.announcement, game.sweep_ranks()) == ("", [9])
    assert lay("9C", "9D 2C", "5C 6C", rules=f"{SWEDEN} forced_sweep=True").announcement == "sweep for a 9"
