"""The server of pages of who learns: lessons by right and wrong moves, the guided deal, and a table of its own each."""

from __future__ import annotations

import contextlib

import pytest
from support.tables import ADDRESS, WEB, Page, hosted, page, serving

from krypenv.ui.study import guided
from krypenv.ui.study.lessons import lessons_in


@contextlib.contextmanager
def learning(client, key=""):
    """A page of somebody who learns, which has got its first lesson."""
    with client.websocket_connect(f"{WEB}learn", headers={"origin": ADDRESS}) as socket:
        one = Page(socket)
        one.send(do="sit", key=key)
        one.read()
        yield one


@pytest.fixture
def one():
    """The page of somebody who learns beside a table."""
    with serving(hosted) as client, learning(client) as one:
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
            for move in (lesson.accept[0], *lesson.then):
                game.push(move)
            assert one.told["moves"] == len(game.moves)
            assert [player["score"] for player in one.told["view"]["players"]] == game.scores()
            assert go(one, number)["solved"] is False, "it may be played once more"


def test_an_illegal_move_is_answered_by_why(one):
    go(one, 7)
    one.ask("play", move="9D")
    assert one.read()["say"] == "You must sweep: play 8♣."
    one.ask("play", move="KC")
    assert "not in your hand" in one.read()["say"]
    assert one.told["lesson"]["solved"] is False


def test_a_lesson_is_no_table(one):
    for what in ("hint", "again", "next"):
        one.ask(what)
        assert one.says() == "That is not part of a lesson."
    one.ask("pace", pace="fast")
    assert one.read()["pace"] == "fast"


def test_the_guided_deal_has_a_sentence_before_each_decision(monkeypatch):
    monkeypatch.setattr(guided, "GUIDE", "search(worlds=2)")
    with serving(hosted) as client, learning(client) as one:
        one.send(do="lesson", lesson=99)
        one.read(lambda told: told["lesson"]["number"] == 12)
        assert sorted(one.told["view"]["hand"]) == sorted(guided.guided_game().hand(0))
        decisions = 0
        while one.told["view"]["deal"]["number"] == 1:
            one.my_turn()
            if one.told["view"]["deal"]["number"] > 1:
                break
            told = one.until(lambda told: "thinking" not in told["lesson"]["said"])
            decisions += 1
            assert "Best: " in told["lesson"]["said"] or "There is one move" in told["lesson"]["said"]
            one.play()
        assert decisions == len(guided.guided_game().hand(0))
        told = one.my_turn()["lesson"]
        assert told["solved"]
        assert told["task"].startswith("That was your first deal.")
        assert told["said"] == ""
        one.play()
        one.my_turn()


def test_each_page_has_a_table_of_its_own_and_the_table_is_left_alone():
    with serving(hosted) as client, page(client) as at_table, learning(client) as one, learning(client) as two:
        before = at_table.my_turn()["view"]
        go(one, 3)
        assert answer(one, "AHx5C9D")["solved"]
        assert two.told["lesson"]["number"] == 0
        assert go(two, 3)["solved"] is False
        assert at_table.told["view"] == before
    with serving(hosted) as client, page(client) as at_table:
        with learning(client) as one:
            go(one, 10)
        at_table.play()
        at_table.my_turn()
        assert at_table.told["moves"] == 2, "the agents think on when a learner has gone"
