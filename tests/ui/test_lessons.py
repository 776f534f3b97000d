"""The lessons: every legal move is answered, what is shown comes to its points, the guide speaks in each decision."""

from __future__ import annotations

import asyncio

import pytest
from support.games import gained
from support.places import TESTS
from support.tables import Here

from krypenv import Game
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.narrator.texts import LANGUAGES
from krypenv.ui.study.guided import GUIDE, guided_game, possible, told_advice
from krypenv.ui.study.lessons import FOLDER, lessons_in

NAMES = [path.stem.partition("-")[2] for path in sorted(FOLDER.glob("*.json"))]
LESSONS = dict(zip(NAMES, lessons_in("en"), strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_every_legal_move_of_the_learner_is_answered_in_every_language(name):
    lesson = LESSONS[name]
    for language in LANGUAGES:
        same = lessons_in(language)[NAMES.index(name)]
        assert same[:3] == lesson[:3]
        assert set(same.wrong) == set(lesson.wrong)
    game = lesson.game()
    assert game.turn == 0
    legal = {str(move).rstrip("#") for move in game.legal_moves()}
    assert set(lesson.accept) <= legal
    assert set(lesson.wrong) == legal - set(lesson.accept)
    for move in [lesson.accept[0], *lesson.then]:
        game.push(move)


@pytest.mark.parametrize(
    ("name", "moves", "gains"),
    [
        ("setup", ("2C", "6Dx2C4H#"), [-5, 5]),
        ("double", ("9Cx9H", "5Dx5D##"), [-10, 10]),
        ("double", ("5Cx5D", "9Dx9H#"), [-5, 5]),
        ("safe", ("2C", "3D", "TCx2C3D5H#"), [5, -5]),
    ],
)
def test_the_sweep_that_is_set_up_or_left_must_be_made(name, moves, gains):
    """R11: a lone card that its identical copy takes counts as two sweeps; any other card of its rank makes one."""
    game = LESSONS[name].game()
    assert gained(game, *moves) == gains
    game.pop()
    assert list(map(str, game.legal_moves())) == [moves[-1]]


def test_nobody_can_sweep_the_safe_table():
    game = LESSONS["safe"].game()
    game.push("TC")
    assert game.sweep_ranks() == []


def last_captures(game):
    """Who may make the last capture, with the points of seat 0 then, over all play."""
    if game.is_over:
        return {(game.last_capturer, game.points(0))}
    found = set()
    for move in game.legal_moves():
        game.push(move)
        found |= last_captures(game)
        game.pop()
    return found


@pytest.mark.parametrize(("move", "found"), [("9Dx9H", {(1, 0)}), ("KC", {(0, 3)})])
def test_the_last_capture_is_decided_by_the_first_move(move, found):
    game = LESSONS["last"].game()
    game.push(move)
    assert last_captures(game) == found


def test_the_guide_says_what_is_possible_and_what_is_good_in_each_decision_of_the_first_deal(file_regression):
    game, told = guided_game(), {language: [language] for language in LANGUAGES}
    while game.deal_number == 1:
        advice = asyncio.run(Here().advise(GUIDE, game))
        for language, said in told.items() if game.turn == 0 else ():
            words = Narrator(game.rules, ["you", "greedy"], 0, language)
            said.append(f"{possible(game, words)} {told_advice(game, words, advice)}".strip())
        game.push(advice.moves[0].move)
    said = "\n".join(["\n".join(each) for each in told.values()]) + "\n"
    file_regression.check(said, encoding="utf-8", fullpath=TESTS / "ui" / "sessions" / "guide.txt")


def test_a_sweep_that_must_be_made_is_told_as_one():
    game = Game.from_position(LESSONS["forced"].position)
    words = Narrator(game.rules, seat=0)
    assert possible(game, words) == "You must sweep: play 8♣."
    advice = asyncio.run(Here().advise(GUIDE, game))
    assert told_advice(game, words, advice) == "There is one move: 8♣ takes 6♦+2♥: a sweep."
