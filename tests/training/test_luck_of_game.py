"""The luck of one game: it and play make the margin, it follows from the cards, and it is told in plain words."""

import json
import random
import re

import numpy as np
import pytest

from krypenv import Game, Rules
from krypenv.kernels.compiled import lead_sign
from krypenv.training.evaluation.luck.control import control_of
from krypenv.training.evaluation.luck.game_luck import GameLuck, luck_of_game
from krypenv.ui.narrator.luck import tell_luck

LAST = "rules: krypkasino; table: 4H; hand 0: 2C 3C; hand 1: 6D 9D; captured 1: rest"
RULES = [
    "krypkasino players=2", "krypkasino players=3", "krypkasino players=4 teams=2", "mini-high", "mini-mulle",
    "kasino-sweden players=2", "krypkasino players=2 games=2",
]  # fmt: skip


def played(rules, seed=3, moves=None, **more):
    """A game of random players, of so many moves or to its end."""
    game, choices = Game(Rules.parse(rules), **({"seed": seed} | more)), random.Random(seed)
    while not game.is_over and (moves is None or len(game.moves) < moves):
        game.act(choices.choice(game.legal_actions()))
    return game


# ---------------------------------------------------------------------- figures


@pytest.mark.parametrize("text", RULES)
def test_luck_and_play_are_the_margin(text):
    game = played(text)
    luck, rules = luck_of_game(game), game.rules
    sides = rules.num_teams
    assert luck.deals == tuple(range(1, len(rules.deal_sizes()) + 1))
    assert luck.luck.shape == luck.margins.shape == (len(luck.deals), sides)
    assert luck.luck + luck.play == pytest.approx(luck.margins, abs=1e-9)
    assert luck.luck.any(axis=1).any()
    own = np.array([sum(game.scores()[side::sides]) for side in range(sides)])
    final = lead_sign(rules) * ((own.sum() - own) / (sides - 1) - own)
    assert luck.margins.sum(axis=0) == pytest.approx(final)
    assert luck.margins.sum(axis=1) == pytest.approx(0, abs=1e-9)
    assert luck.luck.sum(axis=1) == pytest.approx(0, abs=0.01)  # each figure is rounded


@pytest.mark.parametrize("text", ["krypkasino players=2", "mini-low"])
def test_the_same_game_has_the_same_luck_with_a_seed_and_without(text):
    game = played(text)
    luck = luck_of_game(game)
    without = Game(game.rules, deck=game.deck, dealer=game.dealer)
    for action in game.actions:
        without.act(action)
    for twin in (game, Game.replay(game.record()), without, Game.replay(without.record())):
        assert luck_of_game(twin).to_json() == luck.to_json()
    assert str(control_of(game.rules).shares["tactician"]) in luck.control


@pytest.mark.parametrize("text", ["krypkasino players=2", "mini-low"])
def test_whoever_gets_the_same_cards_has_the_same_luck(text):
    deck = Game(Rules.parse(text), seed=8).deck
    luck = [luck_of_game(played(text, seed=5, deck=deck, dealer=dealer)).luck[0] for dealer in (1, 0)]
    assert luck[0][0] != 0
    assert luck[0].tolist() == luck[1][::-1].tolist()


# ---------------------------------------------------------------------- parts of games


def test_a_game_from_a_position_has_the_luck_of_the_deals_that_follow():
    game = played("krypkasino players=2")
    later = Game.from_position(played("krypkasino players=2", moves=43).position())
    for move in game.moves[43:]:
        later.push(move)
    whole, part = luck_of_game(game), luck_of_game(later)
    assert part.deals == whole.deals[5:]
    assert part.luck.tolist() == whole.luck[5:].tolist()
    assert part.margins.tolist() == whole.margins[5:].tolist()
    assert whole.is_whole
    assert part.is_over
    assert not part.is_whole
    assert part.tell(0).startswith("From deal 6 on, you ")


def test_a_deal_that_is_being_played_does_not_count():
    for moves, deals in ((11, 0), (12, 1), (19, 1), (20, 2)):
        game = played("krypkasino players=2", moves=moves)
        luck = luck_of_game(game)
        assert luck.deals == tuple(range(1, deals + 1))
        assert luck.luck.shape == (deals, 2)
    assert luck.tell(1, "Seat 1", "it").startswith("After deal 2, seat 1 ")
    game = Game.from_position(LAST)
    game.push("2C")
    assert luck_of_game(game).deals == ()
    with pytest.raises(ValueError, match="no deal was dealt and finished"):
        luck_of_game(game).tell(0)


def test_a_part_of_a_game_from_a_position_is_told():
    luck = GameLuck((3, 4), np.array([[4.0, -4], [1, -1]]), np.array([[2.0, -2], [1, -1]]), False, "")
    assert luck.tell(1) == "From deal 3 to deal 4, you trailed by 5: 3 of them were the cards."
    assert json.loads(json.dumps(luck.to_json()))["deals"][0] == {"deal": 3, "margins": [4, -4], "luck": [2, -2]}


# ---------------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("margin", "luck", "more", "told"),
    [
        (-12, -15, {}, "lost by 12; the cards cost them 15."),
        (12, 5.4, {}, "won by 12: 5 of them were the cards."),
        (0, 5, {}, "tied on points, though the cards gave them 5."),
        (-12, -0.4, {}, "lost by 12; the cards were even."),
        (-12, -0.9, {}, "lost by 12: 1 of them was the cards."),
        (2, 24, {}, "won by 2; the cards gave them 24."),
        (-1, -1, {}, "lost by 1: all of it was the cards."),
        (-1, 5, {"sides": 4}, "ended 1 point behind the others on average, though the cards gave them 5."),
        (7, 5, {"is_over": False}, "led by 7: 5 of them were the cards."),
    ],
)  # fmt: skip
def test_what_is_told_of_a_margin(margin, luck, more, told):
    assert tell_luck(margin, luck, "All", "them", **more) == f"All {told}"
    of_you = re.sub("(gave|cost) them", r"\1 you", told)
    assert tell_luck(margin, luck, **more) == f"You {of_you}"
