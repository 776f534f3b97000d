"""A game in words: how replies name moves, what an episode shows and pays, and what it refuses."""

import random
import re

import numpy as np
import pytest

from krypenv import Game, Rules
from krypenv.envs.text_game import DEFAULT, Terms, TextGame, read_prompt, read_reply
from krypenv.rewards import returns_of
from krypenv.training import analyze
from krypenv.training.evaluation.luck.game_luck import luck_of_game

EIGHT = "rules: krypkasino; hand 0: 8S 9D; hand 1: 4C KD; table: 2H 6D; captured 1: rest"
CHOICE = "rules: krypkasino; hand 0: 9S KD; hand 1: 4C 2D; table: 5C 4D 3H 2S; captured 1: rest"


@pytest.mark.parametrize(
    "reply",
    [
        "8Sx2H6D", "8s", "8S x 6D 2H #", "8s 6d 2h", "8♠ takes 6♦+2♥", "I think.\nMOVE: 8S", "move = **8Sx6D2H#**.",
        "MOVE: 9D\nNo, better:\n`MOVE: 8S`", "MOVE: 8S\n\nThat sweeps.", "My move is 8S.", "so: **8S**",
    ],
)  # fmt: skip
def test_a_reply_names_a_move_as_people_write_it(reply):
    assert str(read_reply(Game.from_position(EIGHT), reply)) == "8Sx6D2H#"


@pytest.mark.parametrize(
    ("position", "reply", "reason"),
    [
        (EIGHT, "9D", "You must sweep: play 8S."),
        (EIGHT, "MOVE: 9C", "9C is not in your hand. You hold 9D 8S."),
        (EIGHT, "3", "'3' is no move; a move is 8S"),
        (EIGHT, "", "'' is no move; a move is 8S"),
        (EIGHT, "the eight", "'the eight' is no move; a move is 8S"),
        (CHOICE, "9S", "9S has several moves: name the cards that go with it"),
        (CHOICE, "9Sx5C", "9S must take all that it can: 5C+4D or 4D+3H+2S."),
    ],
)
def test_a_reply_without_a_legal_move_is_told_why(position, reply, reason):
    game = Game.from_position(position)
    with pytest.raises(ValueError, match=re.escape(reason)):
        read_reply(game, reply)
    assert game.position() == Game.from_position(position).position()


@pytest.mark.parametrize("rules", ["krypkasino players=4 teams=2", "kasino-sweden", "mini-mulle", "mini-low games=2"])
def test_an_episode_is_the_game_of_its_seed_and_pays_the_return_at_its_end(rules):
    """The same seed and replies give the same episode, and all moves of the learner come by their names."""
    played = []
    for _ in range(2):
        text, chance = TextGame(Terms(rules, seat=1, opponents=("even", "random")), seed=7), random.Random(1)
        rewards = []
        assert text.game.deck == Game(rules, seed=7).deck
        while not text.over:
            assert text.seat == text.game.turn == 1
            move = chance.choice(text.game.legal_moves())
            answer = text.answer(f"MOVE: {move}")
            assert (answer.move, answer.fault) == (str(move), "")
            rewards.append(answer.reward)
        assert not any(rewards[:-1])
        expected = returns_of(text.rules, text.game.totals, "centred")
        np.testing.assert_allclose([tally.paid for tally in text.tallies], expected)
        assert rewards[-1] == expected[1]
        played.append((text.game.record(), rewards))
    assert played[0] == played[1]


def test_legal_moves_are_left_out_if_they_are_not_listed():
    listed, plain = (TextGame(Terms("krypkasino", listed=is_listed), seed=7) for is_listed in (True, False))
    *lines, moves = listed.view.splitlines()
    assert (lines, moves[:12]) == (plain.view.splitlines(), "Your moves: ")
    assert listed.values["moves"]
    assert "moves" not in plain.values


@pytest.mark.few(2)
@pytest.mark.parametrize("reward", ["centred", "points", "win", "regret", "adjusted"])
def test_replies_without_a_legal_move_end_an_episode_below_any_legal_return(reward):
    terms = Terms("mini-low", opponents="random", reward=reward, tries=2, judge="search(worlds=2)")
    text, paid = TextGame(terms, 7), []
    assert text.answer("pass") == ("", text.answer("pass").fault, 0.0)
    assert text.over
    assert text.tallies[1].paid == 0
    for seed in range(20):
        other = TextGame(terms, seed)
        while not other.over:
            other.answer(str(other.game.legal_moves()[-1]))
        paid.append(other.tallies[0].paid)
    assert min(paid) > text.tallies[0].paid


def test_regret_pays_what_each_move_gives_away_and_adjusted_takes_luck_out():
    terms = Terms("mini-low", opponents="random", reward="regret", judge="search(worlds=10)")
    text, rewards = TextGame(terms, 7), []
    while not text.over:
        rewards.append(text.answer(str(text.game.legal_moves()[-1])).reward)
    plays = analyze(text.game, "search(worlds=10)", seat=0).plays
    np.testing.assert_allclose(rewards, [-play.regret for play in plays])
    text = TextGame(terms.changed(reward="adjusted"), 7)
    while not text.over:
        reward = text.answer(str(text.game.legal_moves()[-1])).reward
    luck = luck_of_game(text.game, 40).luck.sum(axis=0)
    assert np.isclose(reward, returns_of(text.rules, text.game.scores(), "centred")[0] - luck[0] / 2)


def test_one_learner_may_play_every_seat():
    text, seats = TextGame(Terms("mini-low players=3", seat="all"), seed=7), set()
    while not text.over:
        seats.add(text.seat)
        assert text.view.startswith(f"You are seat {text.seat}.")
        text.answer(str(text.game.legal_moves()[0]))
    assert seats == {0, 1, 2}
    assert np.isclose(sum(tally.paid for tally in text.tallies), 0)


def test_unseen_rules_differ_by_seed_and_are_told():
    drawn = [TextGame(Terms("random"), seed).rules for seed in range(5)]
    assert len({str(rules) for rules in drawn}) == 5
    assert drawn[2] == TextGame(Terms("random"), 2).rules
    assert all("Goal\n" in read_prompt(rules)[0] for rules in drawn)
    assert "\nMulle for two players" in read_prompt(Rules.preset("mulle"))[0]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"rules": "nope"}, "unknown preset 'nope'"),
        ({"seat": 2}, "seat is a whole number from 0 to 1, not 2"),
        ({"opponents": ()}, "opponents should have at least 1 item"),
        ({"opponents": 3}, "opponents should be a valid tuple, not 3"),
        ({"opponents": "oracle-deck"}, "oracle-deck sees what is hidden"),
        ({"opponents": "expert"}, "unknown agent 'expert'"),
        ({"tries": 0}, "tries should be greater than or equal to 1, not 0"),
        ({"reward": "score"}, "reward should be 'centred', 'points', 'win', 'adjusted' or 'regret', not 'score'"),
        ({"reward": "regret", "judge": "random"}, "random"),
        ({"judge": ["search"]}, "judge should be a valid string"),
        ({"colour": 1}, "colour is not known"),
        ({"listed": "perhaps"}, "listed should be a valid boolean"),
    ],
)
def test_wrong_terms_are_refused_in_a_sentence(changes, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        TextGame(DEFAULT.changed(**changes), seed=1)
