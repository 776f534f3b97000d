"""The lessons: every position, move and number that their texts name is true by the engine."""

from __future__ import annotations

import asyncio
import itertools
import re

import pytest
from support.games import gained
from support.tables import Here

from krypenv import Game
from krypenv.cards import card_symbol
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.narrator.texts import LANGUAGES
from krypenv.ui.study.guided import GUIDE, guided_game, possible, told_advice
from krypenv.ui.study.lessons import FOLDER, lessons_in

NAMES = [path.stem for path in sorted(FOLDER.glob("*.json"))]
EACH = [
    pytest.param(lesson, id=f"{language}-{name}")
    for language in LANGUAGES
    for name, lesson in zip(NAMES, lessons_in(language), strict=True)
]
CARD = re.compile(r"(10|Kn|[2-9AJQKDE])([♣♦♥♠])")
SWEDISH = {"E": "A", "Kn": "J", "D": "Q"}


def cards_in(text):
    """The cards that a text names, as in English."""
    return [SWEDISH.get(rank, rank) + suit for rank, suit in CARD.findall(text)]


def plain(move):
    """A move as lessons write it."""
    return str(move).rstrip("#")


def test_there_are_twelve_lessons_and_the_same_in_every_language():
    assert len(NAMES) == 12
    english = lessons_in("en")
    for language in LANGUAGES:
        for lesson, same in zip(lessons_in(language), english, strict=True):
            assert lesson[:3] == same[:3]
            assert set(lesson.wrong) == set(same.wrong)
            for text, other in [(lesson.right, same.right), (lesson.task, same.task)]:
                assert sorted(cards_in(text)) == sorted(cards_in(other))


@pytest.mark.parametrize("lesson", EACH)
def test_every_legal_move_of_the_learner_is_answered_and_texts_name_cards_that_are_there(lesson):
    game = lesson.game()
    assert game.turn == 0
    legal = {plain(move) for move in game.legal_moves()}
    assert set(lesson.accept) <= legal
    assert set(lesson.wrong) == legal - set(lesson.accept)
    there = {card_symbol(card) for card in [*game.table, *game.hand(0), *game.hand(1)]}
    for text in [lesson.title, lesson.task, lesson.right, *lesson.wrong.values()]:
        assert set(cards_in(text)) <= there
    for move in [lesson.accept[0], *lesson.then]:
        game.push(move)


def points_in(text):
    """The numbers of points that a text names."""
    return {int(number) for number in re.findall(r"(\d+) (?:points?\b|poäng\b)", text)}


@pytest.mark.parametrize("lesson", EACH)
def test_the_points_that_texts_name_are_those_of_the_moves(lesson):
    game = lesson.game()
    moves = {plain(move): gained(game.copy(), move) for move in game.legal_moves()}
    all_points = {abs(points) for gains in moves.values() for points in gains}
    all_points |= {abs(points) for points in gained(game.copy(), lesson.accept[0], *lesson.then)}
    for move, text in lesson.wrong.items():
        assert points_in(text) <= {abs(points) for points in moves[move]} | worst_after(game, move)
    assert points_in(lesson.task) | points_in(lesson.right) <= all_points


def worst_after(game, move):
    """What the points of seat 0 may come to after a move, by any play to the end."""
    twin = game.copy()
    twin.push(move)
    if twin.is_over:
        return {abs(twin.scores()[0])}
    return set().union(*(worst_after(twin, each) for each in twin.legal_moves()))


LESSONS = {name.partition("-")[2]: lesson for name, lesson in zip(NAMES, lessons_in("en"), strict=True)}


@pytest.mark.parametrize(
    ("name", "move", "reply", "gains"),
    [
        ("setup", "2C", "6Dx2C4H#", [-5, 5]),
        ("double", "9Cx9H", "5Dx5D##", [-10, 10]),
        ("double", "5Cx5D", "9Dx9H#", [-5, 5]),
    ],
)
def test_the_sweep_that_is_set_up_or_left_must_be_made(name, move, reply, gains):
    """R11: a lone card that its identical copy takes counts as two sweeps; any other card of its rank makes one."""
    game = LESSONS[name].game()
    assert gained(game.copy(), move, reply) == gains
    game.push(move)
    assert list(map(str, game.legal_moves())) == [reply]


def test_nobody_can_sweep_the_safe_table_and_the_other_one_must_be_swept():
    """The last card of seat 0 sweeps what the other player may add to the table that the wrong move leaves."""
    found = {"TC": set(), "2C": set()}
    for move, kind in itertools.product(found, (rank + suit for rank in "A23456789TJQK" for suit in "CDHS")):
        game = Game.from_position(re.sub("hand 1: [^;]+;", f"hand 1: {kind} KH;", LESSONS["safe"].position))
        game.push(move)
        for reply in (each for each in game.legal_moves() if each.card == kind):
            twin = game.copy()
            twin.push(reply)
            found[move] |= {kind} if any(each.sweep for each in twin.legal_moves()) else set()
    assert found == {"TC": set(), "2C": {"3C", "3D", "3H", "3S"}}
    assert gained(LESSONS["safe"].game(), "2C", "3D", "TCx2C5H3D") == [5, -5]


def last_capturers(game):
    """Who may make the last capture, with the points of seat 0 then, over all play."""
    if game.is_over:
        return {(game.last_capturer, game.points(0))}
    found = set()
    for move in game.legal_moves():
        game.push(move)
        found |= last_capturers(game)
        game.pop()
    return found


def test_the_last_capture_is_decided_by_the_first_move():
    game = LESSONS["last"].game()
    game.push("9Dx9H")
    assert last_capturers(game) == {(1, 0)}
    game.pop()
    game.push("KC")
    assert last_capturers(game) == {(0, 3)}


def test_the_guide_says_what_is_possible_and_what_is_good_in_each_decision_of_the_first_deal():
    game, told = guided_game(), set()
    narrators = [Narrator(game.rules, ["you", "greedy"], 0, language) for language in LANGUAGES]
    while game.deal_number == 1:
        moves = {str(move): move for move in game.legal_moves()}
        advice = asyncio.run(Here().advise(GUIDE, game))
        move = advice.moves[0].move
        assert move in moves
        for words in narrators if game.turn == 0 else ():
            said = f"{possible(game, words)} {told_advice(game, words, advice)}"
            told.add(said)
            taking = {card_symbol(move.card) for move in moves.values() if move.takes}
            if any(move.sweep for move in moves.values()):
                assert taking <= set(cards_in(said))
            elif len(moves) > 1 and taking:
                assert set(cards_in(said.partition(". ")[0].partition("; ")[0])) == taking
        game.push(move)
    assert len(told) == 12  # six decisions in each language


def test_a_sweep_that_must_be_made_is_told_as_one():
    game = Game.from_position(LESSONS["forced"].position)
    words = Narrator(game.rules, seat=0)
    assert possible(game, words) == "You must sweep: play 8♣."
    advice = asyncio.run(Here().advise(GUIDE, game))
    assert told_advice(game, words, advice) == "There is one move: 8♣ takes 6♦+2♥: a sweep."
