"""Lessons: every legal move is answered, the guide speaks in each decision, and each page has a table of its own."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from support.games import gained
from support.places import TESTS
from support.tables import ADDRESS, WEB, Here, Page, hosted, page, serving

from krypenv import Game
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.narrator.texts import LANGUAGES
from krypenv.ui.study import exercises
from krypenv.ui.study.exercises import FOLDER, GUIDE, Exercise, lessons_in, possible, told_advice

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


def test_what_the_guide_says_in_each_decision_of_the_first_deal_is_as_stored(file_regression):
    game, told = Exercise(len(LESSONS), "en").game, {language: [language] for language in LANGUAGES}
    while game.deal_number == 1:
        advice = asyncio.run(Here().advise(GUIDE, game))
        for language, said in told.items() if game.turn == 0 else ():
            words = Narrator(game.rules, ["you", "greedy"], 0, language)
            said.append(f"{possible(game, words)} {told_advice(game, words, advice)}".strip())
        game.push(advice.advised[0].move)
    said = "\n".join(["\n".join(each) for each in told.values()]) + "\n"
    file_regression.check(said, encoding="utf-8", fullpath=TESTS / "ui" / "sessions" / "guide.txt")


def test_a_sweep_that_must_be_made_is_told_as_one():
    game = Game.from_position(LESSONS["forced"].position)
    words = Narrator(game.rules, seat=0)
    assert possible(game, words) == "You must sweep: play 8♣."
    advice = asyncio.run(Here().advise(GUIDE, game))
    assert told_advice(game, words, advice) == "There is one move: 8♣ takes 6♦+2♥: a sweep."


# ---------------------------------------------------------------------- the pages of who learns


@contextlib.contextmanager
def learning(client, key=""):
    """A page of somebody who learns, which has got its first lesson."""
    with client.websocket_connect(f"{WEB}learn", headers={"origin": ADDRESS}) as socket:
        one = Page(socket)
        one.send(do="sit", key=key)
        one.read()
        yield one


def go(one, lesson):
    """Go to a lesson, and return what it shows."""
    one.send(do="lesson", lesson=lesson)
    return one.read(lambda told: "lesson" in told and told["lesson"]["number"] == lesson)["lesson"]


def answer(one, move):
    """Play a move, and return what is said of it."""
    one.ask("play", move=move)
    return one.read()["lesson"]


@pytest.mark.parametrize("language", ["en", "sv"])
def test_every_lesson_is_solved_by_its_moves_and_answers_wrong_ones(language):
    with serving(lambda: hosted(language=language), language=language) as client, learning(client) as one:
        for number, lesson in enumerate(lessons_in(language)):
            shown = go(one, number)
            assert (shown["task"], shown["said"], shown["solved"]) == (lesson.task, "", False)
            assert shown["titles"][number] == lesson.title
            game = lesson.game()
            for move, text in lesson.wrong.items():
                said = answer(one, move)
                assert (said["said"], said["wrong"], said["solved"]) == (text, True, False)
                assert sorted(one.told["view"]["table"]) == sorted(game.table), "the move is taken back"
            said = answer(one, lesson.accept[0])
            assert (said["said"], said["wrong"], said["solved"]) == (lesson.right, False, True)
            assert one.told["view"]["turn"] is None, "nobody is waited for"
            for move in (lesson.accept[0], *lesson.then):
                game.push(move)
            assert one.told["moves"] == len(game.moves)
            assert [player["score"] for player in one.told["view"]["players"]] == game.scores()
            assert go(one, number)["solved"] is False, "it may be played once more"


def test_a_lesson_says_why_a_move_is_illegal_and_is_no_table():
    with serving(hosted) as client, learning(client) as one:
        go(one, 7)
        for move, why in (("9D", "You must sweep: play 8♣."), ("KC", "K♣ is not in your hand. You hold 8♣ 9♦.")):
            one.ask("play", move=move)
            assert one.read()["say"] == why
        assert one.told["lesson"]["solved"] is False
        for what in ("hint", "again", "next"):
            one.ask(what)
            assert one.says() == "That is not part of a lesson."
        one.ask("pace", pace="fast")
        assert one.read()["pace"] == "fast"


def test_the_guided_deal_has_a_sentence_before_each_decision(monkeypatch):
    monkeypatch.setattr(exercises, "GUIDE", "search(worlds=2)")
    with serving(hosted) as client, learning(client) as one:
        one.send(do="lesson", lesson=99)
        one.read(lambda told: told["lesson"]["number"] == 12)
        hand = Exercise(len(LESSONS), "en").game.hand(0)
        assert sorted(one.told["view"]["hand"]) == sorted(hand)
        for _ in hand:
            one.my_turn()
            told = one.until(lambda told: "thinking" not in told["lesson"]["said"])
            assert "Best: " in told["lesson"]["said"] or "There is one move" in told["lesson"]["said"]
            one.play()
        told = one.my_turn()
        assert told["view"]["deal"]["number"] == 2
        assert (told["lesson"]["solved"], told["lesson"]["said"]) == (True, "")
        assert told["lesson"]["task"].startswith("That was your first deal.")
        one.play()
        one.my_turn()


def test_each_page_has_a_table_of_its_own_and_the_table_is_left_alone():
    with serving(hosted) as client, page(client) as at_table:
        with learning(client) as one, learning(client) as two:
            before = at_table.my_turn()["view"]
            go(one, 3)
            assert answer(one, "AHx5C9D")["solved"]
            assert two.told["lesson"]["number"] == 0
            assert go(two, 3)["solved"] is False
            assert at_table.told["view"] == before
        at_table.play()
        at_table.my_turn()
        assert at_table.told["moves"] == 2, "the agents think on when learners have gone"
