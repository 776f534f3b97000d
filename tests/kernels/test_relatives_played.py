"""The relatives in the engine and in `Game` against the slow reference: whole games and sessions, at every ply."""

from __future__ import annotations

import numpy as np
import pytest
from support.games import full_deck, small_first
from support.reference_relatives import Relative
from support.relatives import LARGE, MIXTURES, RELATIVES, SESSIONS, choose, compare_game, play_beside

from krypenv import Engine, Game, Move, Rules
from krypenv.cards import card_name

STYLES = ("random", "take", "choose")


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    ("text", "games"),
    [
        *((text, 1) for text in (*RELATIVES, *MIXTURES)),
        *(pytest.param(t, 3, marks=pytest.mark.slow) for t in RELATIVES),
    ],
)
def test_k2_games_are_those_of_the_reference(text: str, style: str, games: int) -> None:
    rules = (RELATIVES | MIXTURES)[text]
    rng = np.random.default_rng([len(text), len(style), games])
    for game in range(games):
        small = game % 2 == len(text) % 2
        deck = small_first(rules, rng) if small else rng.permutation(full_deck(rules)).tolist()
        play_beside(rules, game, style, deck)


@pytest.mark.parametrize("text", SESSIONS)
def test_k6_sessions_are_those_of_the_reference(text: str) -> None:
    rules = SESSIONS[text]
    end = play_beside(rules, 0, STYLES[len(text) % 3])
    assert rules.games == 0 or end["games"] <= rules.games


@pytest.mark.parametrize("text", [*RELATIVES, *MIXTURES])
def test_k2_whole_moves_are_those_of_the_reference(text: str) -> None:
    rules, rng = (RELATIVES | MIXTURES)[text], np.random.default_rng(len(text))
    deck = small_first(rules, rng)
    game, reference = Game(rules, deck=map(card_name, deck)), Relative(rules, deck)
    while not reference.over:
        if reference.pending is None and rng.random() < 0.3 and len(reference.table) < LARGE:
            action = choose(reference, rng, "choose")
            reference.act(action)
            game.act(action)
            continue
        moves = reference.legal_moves()
        assert [(move.card, move.takes, move.sweep) for move in game.legal_moves()] == [
            (card_name(card), tuple(map(card_name, takes)), sweep) for card, takes, sweep in sorted(moves)
        ]
        made = moves[int(rng.integers(len(moves)))]
        if len(reference.table) > LARGE:
            made = max(moves, key=lambda move: len(move[1]))
        before = game.position()
        for _ in range(2):
            game.push(Move(card_name(made[0]), tuple(map(card_name, made[1])), made[2]))
            if rng.random() < 0.5:
                break
            game.pop()
            assert game.position() == before
        else:
            game.push(str(Move(card_name(made[0]), tuple(map(card_name, made[1])))))
        reference.push(made)
        compare_game(game, reference)
    assert Game.replay(game.record()).record() == game.record()


def test_k6_play_on_ends_when_one_is_alone_at_the_top() -> None:
    engine = Engine(Rules.parse("kasino-sweden players=2 games=0 threshold=5 tie_break=play_on"), 64, seed=1)
    went_on = 0
    for _ in range(1500):
        engine.step(engine.sample_actions())
        ended = np.sort(engine.final_scores[engine.finished])
        assert (ended[:, -1] >= 5).all()
        assert (ended[:, -1] > ended[:, -2]).all()
        totals = engine.state.totals[:, :2]
        over = totals.max(1) >= 5
        assert (totals[over, 0] == totals[over, 1]).all()
        went_on += int(over.sum())
    assert went_on > 0


def test_s4_sessions_to_sixteen_and_other_thresholds() -> None:
    assert Rules.preset("kasino-sweden").tie_break == "spades"
    for threshold in (11, 16, 21, 50):
        rules = Rules.preset("kasino-sweden", games=0, threshold=threshold)
        engine = Engine(rules, 64, seed=threshold)
        ended = np.zeros(64, bool)
        for _ in range(200 * threshold):
            engine.step(engine.sample_actions())
            ended |= engine.finished
            assert (engine.final_scores[engine.finished].max(1) >= threshold).all()
            assert (engine.state.totals[:, :2].max(1) < threshold).all()
            if ended.all():
                break
        assert ended.all()
