"""Positions that are studied: lines of play from them, their values, and what stays closed beside a table."""

from __future__ import annotations

import re

from support.studies import ANALYST, LAST, played, studying, visit
from support.tables import Kept, hosted, page, serving

from krypenv import Game, Rules
from krypenv.ui.browser.hosted import Hosted
from krypenv.ui.seats import PERSON
from krypenv.ui.study.steps import any_move, at_step


def test_what_is_opened_may_begin_with_a_byte_order_mark(visitor):
    assert visitor.open(f"\ufeff{LAST}")["line"]
    for mark in ("", "\ufeff"):
        assert visitor.refused(f"{mark}{Game(Rules.preset('mini-low'), seed=1).record()}").startswith(
            "This game is not"
        )


def test_a_position_is_studied_and_played_on_to_its_end(visitor):
    study = visitor.open(LAST)
    assert (study["line"], study["over"], study["challenge"], study["seat"]) == (True, False, False, None)
    game = Game.from_position(LAST)
    while not game.is_over:
        decision = visitor.read("decision")
        while decision["at"] != len(game.moves):
            decision = visitor.read("decision")
        assert {each["move"] for each in decision["moves"]} <= {str(move) for move in game.legal_moves()}
        assert not any(each["played"] for each in decision["moves"])
        move = decision["moves"][0]["move"]
        visitor.send(do="move", at=len(game.moves), move=move)
        game.push(move)
        study = visitor.read("study")
        assert (study["at"], study["moves"]) == (len(game.moves), [str(each) for each in game.moves])
        assert study["steps"][-1]["hands"] == [game.hand(seat) for seat in (0, 1)]
    assert study["over"]
    assert study["result"]
    visitor.send(do="move", at=0, move=str(game.rewound().legal_moves()[-1]))
    study = visitor.read("study")
    assert len(study["steps"]) == 2
    again = visitor.open_line(study["record"], study["moves"])
    assert again["steps"] == study["steps"]


def test_a_move_of_a_line_that_was_not_the_best_is_marked_as_analyze_marks_it(visitor):
    study = visitor.open(LAST)
    first = visitor.read("decision")
    worst = max(first["moves"], key=lambda each: each["behind"])
    visitor.send(do="move", at=0, move=worst["move"])
    visitor.read("study")
    is_told_twice = any_move(Game.from_position(study["record"])) != worst["move"]  # the mark comes later
    told = [visitor.read("decision") for _ in range(2 + is_told_twice)]
    marked = [each for each in told if each["at"] == 0]
    analysis = ANALYST.examine(Game.from_position(study["record"]), worst["move"], ANALYST.agent)
    assert [each["regret"] for each in marked] == [analysis["played"]["behind"]["mean"]] * len(marked)
    assert marked[-1]["mark"] == analysis["mark"]


def test_a_position_amid_a_deal_says_which_and_not_who_leads(visitor):
    assert visitor.open(LAST)["steps"][0]["told"] == "Deal 4 of 4. This is the last deal. Seat 0 leads."
    assert visitor.open(LAST.replace("2S 3C", "3C"))["steps"][0]["told"] == "Deal 4 of 4."


def test_a_line_leaves_a_game_that_is_over_and_comes_back_to_it():
    game = played("mini-double")
    at = next(at for at in range(2, len(game.moves)) if len(at_step(game, at).legal_moves()) > 1)
    other = next(move for move in at_step(game, at).legal_moves() if move != game.moves[at])
    with studying(game.copy) as client, visit(client) as one:
        study = one.open()
        assert not study["line"]
        one.send(do="move", at=at, move=str(other))
        line = one.read("study")
        assert (line["line"], line["left"], line["at"], line["names"]) == (True, at, at + 1, study["names"])
        assert line["steps"][:at] == study["steps"][:at]
        assert {one.read("decision")["at"] for _ in range(at + 2)} == set(range(at + 2))
        one.send(do="return")
        assert one.read("study")["steps"] == study["steps"]
        assert one.open_line(line["record"], line["moves"])["steps"] == line["steps"]


def test_moves_of_a_line_must_be_legal(visitor):
    visitor.open(LAST)
    for move in ("KS", "2Sx6H", "?"):
        visitor.send(do="move", at=0, move=move)
        assert visitor.read("say")["say"].endswith(".")


# ---------------------------------------------------------------------- beside a table


def test_a_position_that_was_seen_at_the_table_stays_closed_whatever_hands_are_guessed():
    same = "These cards are being played at this table. They stay closed until that game is over."
    with serving(hosted, studied=ANALYST) as client, page(client) as one, visit(client) as two:
        one.my_turn()
        game = Game(Rules.preset("mini-low"), seed=3)
        assert two.refused(game.position()) == same
        size, hidden = len(game.hand(1)), [*game.hand(1), *game.deck[-game.stock_size :]]
        hidden = hidden[1:] + hidden[:1]
        guess = re.sub("(?m)^hand 1:.*$", f"hand 1: {' '.join(hidden[:size])}", game.position())
        guess = re.sub("(?m)^stock:.*$", f"stock: {' '.join(hidden[size:])}", guess)
        assert Game.from_position(guess).hand(1) != game.hand(1)
        assert two.refused(guess) == same, "an answer that differs would tell whether the guess is right"
        twin = Game.from_position(guess)
        moves = []
        while not twin.is_over:
            moves.append(str(twin.legal_moves()[0]))
            twin.push(moves[-1])
        two.send(do="open", record=guess, moves=moves)
        assert two.read("say")["say"] == same
        assert two.open(LAST)["line"]


def test_all_that_was_seen_at_the_table_stays_closed_until_its_game_is_over():
    game, closed = Game.from_position(LAST), "These cards are being played at this table."
    load = lambda: Hosted(game.copy(), (PERSON, "greedy"), "greedy", Kept())  # noqa: E731
    with serving(load, studied=ANALYST) as client, page(client) as one, visit(client) as two:
        one.play(lambda moves: moves[0]["move"])
        one.my_turn()
        assert two.refused(LAST).startswith(closed)
        game.push(game.legal_moves()[0])
        assert two.refused(game.position()).startswith(closed)
        while not one.my_turn()["view"]["over"]:
            one.play()
        assert two.open(LAST)["line"]
