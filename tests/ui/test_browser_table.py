"""What is asked for at a table, and by whom: one list of requests that are refused, and what the others do."""

from __future__ import annotations

import pytest
from support.decisions import CHOICE
from support.tables import Kept, hosted

from krypenv import Game
from krypenv.advice.estimates import Estimate
from krypenv.advice.values import MoveValue, Values
from krypenv.game.moves import Move
from krypenv.ui.browser.hosted import Hosted
from krypenv.ui.browser.requests import REQUESTS, Request
from krypenv.ui.narrator.texts import CATALOGUES, say
from krypenv.ui.seats import PERSON

ALONE, TWO, AGENTS = (PERSON, "greedy"), (PERSON, PERSON), ("greedy", "random")
OF_THE_GAME = [do for do in REQUESTS if do not in ("pace", "pause", "step")]


def play_on(table, moves=100):
    """Make the first legal moves, up to the end at most."""
    while moves and not table.game.is_over:
        table.push(str(table.game.legal_moves()[0]))
        moves -= 1


def ask(table, by, do, edit=None, **more):
    """What a table answers to a seat."""
    return table.do(by, Request(do, table.edit if edit is None else edit, **more))


@pytest.mark.parametrize(
    ("players", "moves", "seat", "asked", "reason"),
    [
        *((TWO, 0, None, {"do": do, "seat": 1}, "only_watching") for do in OF_THE_GAME),
        *((AGENTS, 0, None, {"do": do, "seat": 1}, "only_watching") for do in ("play", "undo", "hint", "stand_in")),
        (AGENTS, 0, None, {"do": "end"}, "only_watching"),
        (ALONE, 0, 1, {"do": "again"}, "only_watching"),
        *((TWO, 0, 0, {"do": do, "edit": 0}, "stale") for do in OF_THE_GAME if do != "stand_in"),
        *((ALONE, 1, 0, {"do": do, "edit": 99}, "stale") for do in ("undo", "hint", "again")),
        (TWO, 1, 0, {"do": "play", "move": "8S"}, "It is not your turn: player B is to play."),
        (ALONE, 1, 0, {"do": "play", "move": "8S"}, "It is not your turn: Greedy is to play."),
        (TWO, 0, 0, {"do": "play", "move": "KC"}, "K♣ is not in your hand."),
        (TWO, 0, 0, {"do": "play", "move": "king"}, "'king' is no move"),
        (TWO, 99, 0, {"do": "play", "move": "8S"}, "why.over"),
        (TWO, 2, 0, {"do": "undo"}, "no_undo"),
        (ALONE, 0, 0, {"do": "undo"}, "undo.none"),
        (ALONE, 2, 0, {"do": "next"}, "no_next"),
        (ALONE, 99, 0, {"do": "next"}, "no_next"),
        (TWO, 2, 0, {"do": "again"}, "not_over"),
        (TWO, 1, 0, {"do": "hint"}, "no_hint"),
        (ALONE, 0, 0, {"do": "stand_in", "seat": 1}, "no_stand_in"),
        (ALONE, 0, 0, {"do": "end"}, "no_end"),
        (TWO, 99, 0, {"do": "end"}, "no_end"),
    ],
)
def test_what_a_seat_may_not_ask_for_is_refused_and_changes_nothing(players, moves, seat, asked, reason):
    table = hosted(players=players)
    play_on(table, moves)
    before = table.record(), table.edit, table.view(0), {*table.stand_ins}, {*table.enders}
    said = ask(table, seat, **asked)
    assert said.startswith(say("en", reason) if reason in CATALOGUES["en"] else reason)
    assert (table.record(), table.edit, table.view(0), {*table.stand_ins}, {*table.enders}) == before


def test_hints_are_given_to_whose_turn_it_is_unless_they_are_forbidden():
    table = hosted(players=TWO)
    assert ask(table, 0, "hint") == ""
    table.game.tags["Hints"] = "no"
    assert not type(table)(table.game, TWO, "greedy", Kept()).hints
    table.hints = False
    assert ask(table, 0, "hint") == say("en", "hints_forbidden")


def test_undo_takes_back_the_last_move_and_the_answers_to_it():
    table = hosted("mini-low players=3", (PERSON, "greedy", "greedy"))
    views = []
    for _ in range(2):
        views.append(table.view(0))
        play_on(table, 3)
    for view in views[::-1]:
        assert ask(table, 0, "undo") == ""
        assert table.view(0) == view


def test_games_follow_each_other_in_a_session_and_the_same_cards_begin_anew_in_a_file_of_their_own():
    kept = Kept()
    table = hosted("mini-low games=2", keep=kept)
    play_on(table)
    assert ask(table, 0, "next") == ""
    assert table.view(0)["session"] == {"number": 2, "of": 2}
    second = table.game.deck
    play_on(table, 2)
    assert ask(table, 0, "again") == ""
    assert (table.number, table.game.deck, len(table.game.moves)) == (3, second, 0)
    assert [Game.replay(records[-1]).game_number for records in kept.games] == [2, 2]
    assert Game.replay(kept.games[1][-1]).moves == []
    assert list(table.finished) == [1]


def test_games_of_the_same_cards_are_compared_with_the_first_of_them():
    table = hosted()
    play_on(table)
    assert table.compared(1, 0) == ""
    ask(table, 0, "again")
    while not table.game.is_over:
        table.push(str(table.game.legal_moves()[-1]))
    first, second = (game.scores() for game in table.finished.values())
    better = (first[0] - first[1]) - (second[0] - second[1])  # points are bad
    key = "better" if better > 0 else "worse" if better < 0 else "level"
    points = say("en", "points.count", abs(better), points=abs(better))
    assert better != 0
    assert table.compared(2, 0) == say("en", f"again.{key}", number=1, points=points)
    assert table.compared(2, None) == ""
    ask(table, 0, "again")
    play_on(table)
    assert table.compared(3, 0) == say("en", "again.level", number=1)


def test_a_game_ends_when_all_people_who_are_not_stood_in_for_agree():
    kept = Kept()
    table = hosted("mini-low players=3", (PERSON,) * 3, kept)
    play_on(table, 1)
    for enders in ({0}, set(), {0}):  # who offers may withdraw
        assert ask(table, 0, "end") == ""
        assert table.enders == enders
    assert ask(table, 1, "end") == ""
    assert ask(table, 1, "play", move=str(table.game.legal_moves()[0])) == ""
    assert table.enders == {0}, "who plays on withdraws"
    assert ask(table, 1, "end") == ""
    assert (table.enders, table.is_over) == ({0, 1}, False)
    assert ask(table, 0, "stand_in", seat=2) == ""
    view = table.view(0)
    assert (view["over"], view["session_over"], view["turn"]) == (True, True, None)
    assert view["result"].startswith("The game was ended by agreement. ")
    assert view["sheet"]["scores"] == [player["score"] for player in view["players"]]
    assert table.thinker is None
    assert ask(table, 0, "again") == ""
    assert (table.is_over, table.enders) == (False, set())
    assert ["[End" in records[-1] for records in kept.games] == [True, False]


def test_a_hint_tells_the_preferred_move_first_and_that_it_has_not_the_highest_margin():
    table = Hosted(Game.from_position(CHOICE), ALONE, "champion", Kept())
    margins = (("8Sx3H5D8C", (2.5, 2.0, 3.0), 0.0), ("7C", (1.5, 1.0, 2.0), 0.3))
    moves = (MoveValue(move, Estimate(*margin), Estimate(0, 0, 0), 0, sets_up, 0) for move, margin, sets_up in margins)
    told = table.hint(0, Values(tuple(moves), 1, 20, False))
    assert told["said"] == (
        "Best: 7♣ creeps. It costs nothing, and in three games of ten the next player must then sweep, which "
        "takes 5 points off you."
    )
    assert told["remark"] == say("en", "hint.prefers", agent="Champion")
    rows = [(row["move"], row["margin"], row["sweeps"], row["text"]) for row in told["rows"]]
    assert rows == [("7C", 1.5, 0.3, "7♣ creeps"), ("8Sx3H5D8C", 2.5, 0.0, "8♠ takes 8♣ 5♦+3♥")]
    assert table.hint(0, Move("7C"))["said"] == "Champion advises: 7♣ creeps. It costs nothing."
