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
    monkeypatch.setattr(guided, "GUIDE", "search(worlds=2)")
    with serving(hosted) as client, learning(client) as one:
        one.send(do="lesson", lesson=99)
        one.read(lambda told: told["lesson"]["number"] == 12)
        hand = guided.guided_game().hand(0)
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
