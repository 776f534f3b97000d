"""The editor of positions without a browser: changes of the text and of the board, and what is told of them."""

from __future__ import annotations

import random
import re

import pytest
from support.studies import ANALYST, played, studying, visit
from support.tables import Here, Kept, hosted, page, serving

from krypenv import Game, Rules
from krypenv.notation import NotationError
from krypenv.ui.browser.hosted import Hosted
from krypenv.ui.browser.seats import PERSON
from krypenv.ui.study.boards import (
    counts_of,
    dealt,
    empty,
    put,
    read_board,
    with_deal,
    with_players,
    with_preset,
    with_rest,
    with_turn,
)
from krypenv.ui.study.entries import with_entry
from krypenv.ui.study.steps import any_move
from krypenv.ui.study.visits import LARGEST

LAST = """rules: mini-low players=2  # a small game
hand 0: 2S 3C; hand 1: 4C 5D
table: 6H
captured 1: rest
"""


# ---------------------------------------------------------------------- the text


def test_an_entry_is_changed_where_it_stands_and_all_else_stays():
    text = "# mine\nrules: mini-low  # small\nHand  0 : 2S; hand 1: 3C # two\n\ntable: 6H"
    assert with_entry(text, "hand 0", "4C") == text.replace("Hand  0 : 2S", "hand 0: 4C")
    assert with_entry(text, "hand 1", None) == text.replace("; hand 1: 3C ", "")
    assert with_entry(text, "table", None) == text.removesuffix("\ntable: 6H")
    assert with_entry(text, "dealer", "1") == text.replace("small\n", "small\ndealer: 1\n")
    assert with_entry(text, "stock", "-") == f"{text}\nstock: -"
    assert with_entry(text, "table", "6H") == text


@pytest.mark.parametrize("rules", Rules.presets())
def test_a_position_is_set_up_card_by_card_from_an_empty_board(rules):
    game = Game(Rules.preset(rules), seed=1)
    for _ in range(3):
        game.push(game.legal_moves()[-1])
    wanted, text = game.position(), empty(game.rules)
    there = read_board(wanted)
    for zone, names in there.zones.items():
        for name in names:
            text = put(text, read_board(text), name, zone, "")
    board = read_board(text)
    assert board.zones == there.zones
    assert not any(board.left)
    others = [key for key in there.entries.entries if key not in there.zones]
    for key in others:
        text = with_entry(text, key, there.entries.value(key) or "-")
    assert Game.from_position(text).position() == wanted


def test_a_card_comes_from_the_pack_or_another_place_and_goes_back():
    board = read_board(LAST)
    text = put(LAST, board, "KC", "table")
    assert text == LAST, "the pack has no king"
    text = put(LAST, board, "6c", "table")
    assert read_board(text).zones["table"] == ["6H", "6C"]
    text = put(text, read_board(text), "2S", "table")
    assert read_board(text).zones["hand 0"] == ["3C"]
    text = put(text, read_board(text), "2S", "table")
    assert read_board(text).zones["table"] == ["6H", "6C"]
    text = put(LAST, board, "2S", "hand 1", "hand 0")
    assert read_board(text).zones["hand 1"] == ["4C", "5D", "2S"]
    assert put(LAST, board, "2S", "hand 0", "hand 1") == LAST, "it is not there"
    text, counts = empty(Rules.preset("krypkasino")), []  # with two copies of each card
    for _ in range(5):
        text = put(text, read_board(text), "8S", "hand 0")
        counts.append(len(read_board(text).zones["hand 0"]))
    assert counts == [1, 2, 1, 2, 1]


def test_all_other_cards_are_in_one_place():
    text = with_rest(LAST, read_board(LAST), "stock")
    assert read_board(text).rest == "stock"
    assert "captured 1: -" in text
    assert not read_board(with_rest(text, read_board(text), "stock")).rest


def test_the_stock_of_a_deal_has_its_size_and_cards_that_are_nowhere_else():
    board = read_board(LAST)
    for deal in range(1, 5):
        text = with_deal(LAST, board, deal, random.Random(deal))
        found = read_board(text)
        assert len(found.zones["stock"]) == board.deals[deal - 1]
        assert min(found.left) >= 0
    text = with_deal(LAST, board, 1, random.Random(0))
    stock = read_board(text).zones["stock"]
    later = read_board(with_deal(text, read_board(text), 2, random.Random(0))).zones["stock"]
    assert later == stock[len(stock) - len(later) :], "the first ones are dealt"


@pytest.mark.parametrize("players", [2, 3, 4])
def test_who_is_to_play_is_chosen_by_the_dealer(players):
    game = Game(Rules.preset("mini-low", players=players), seed=2)
    for _ in range(players + 1):
        game.push(game.legal_moves()[0])
        text = game.position()
        same = with_turn(text, read_board(text), game.turn)
        assert Game.from_position(same).position() == text
    fresh = dealt(game.rules)
    for seat in range(players):
        assert Game.from_position(with_turn(fresh, read_board(fresh), seat)).turn == seat


def test_other_rules_keep_what_they_have():
    text = "rules: krypkasino players=3\nturn: 1\nsweeps: 1 0 2\nhand 0: 8S 8S\nhand 2: KD\ntable: 9H\ndealer: 2"
    two = with_players(text, read_board(text), 2)
    board = read_board(two)
    assert str(board.rules) == "krypkasino players=2"
    assert (board.zones["hand 0"], board.zones["table"]) == (["8S", "8S"], ["9H"])
    assert "hand 2" not in two
    assert board.entries.numbers("sweeps", 2) == [1, 0]
    assert board.entries.numbers("dealer", 1) == [1]
    low = read_board(with_preset(two, board, "kasino-sweden"))
    assert low.zones["hand 0"] == ["8S"], "its pack has one"
    for preset in Rules.presets():
        assert read_board(with_preset(text, read_board(text), preset)).rules.name == preset
        assert all(rules.players == players for players, rules in counts_of(preset).items())


# ---------------------------------------------------------------------- on the wire


def changed(one, **message):
    """Send a change, and return the draft and what was found of it."""
    one.send(**message)
    draft, found = one.read("draft"), one.read("checked")
    assert found["number"] == draft["number"]
    return draft, found


def test_a_page_without_a_game_begins_with_an_empty_board(visitor):
    assert visitor.read("hello")["empty"]
    draft, found = changed(visitor, do="edit")
    assert draft["board"]["left"] == 104
    assert draft["text"] == empty(Rules.preset("krypkasino"))
    assert "104 cards are missing" in found["error"]


def test_what_is_pasted_may_be_a_record_that_is_over_and_begin_with_a_byte_order_mark(visitor):
    assert changed(visitor, do="edit", text=f"\ufeff{LAST}")[1]["error"] == ""
    for mark in ("", "\ufeff"):
        visitor.send(do="edit", text=f"{mark}{Game(Rules.preset('mini-low'), seed=1).record()}")
        assert visitor.read("say")["say"].startswith("This game is not over, so its hands stay closed.")
    visitor.send(do="edit", text=played().record())
    assert visitor.read("study")["over"]


def test_what_is_typed_is_read_and_told_by_the_parser(visitor):
    draft, found = changed(visitor, do="edit", text=LAST)
    assert (found["error"], found["turn"], found["dealer"], found["last"]) == ("", 0, 1, 1)
    assert found["told"] == "This is a position: Seat 0 is to play, deal 4 of 4."
    places = {place["key"]: place for place in draft["board"]["places"]}
    assert places["hand 0"]["cards"] == ["2S", "3C"]
    assert places["captured 1"]["rest"]
    assert draft["board"]["left"] == 24 - 5
    for wrong in (LAST.replace("6H", "6H 6H"), LAST.replace("2S 3C", "-"), LAST.replace("mini-low", "mini-sweep")):
        _, found = changed(visitor, do="edit", text=wrong)
        with pytest.raises(NotationError) as raised:
            Game.from_position(wrong)
        assert found["error"] == str(raised.value)
    assert changed(visitor, do="edit", text=LAST.replace("6H", "6H 6H"))[1]["fault"] == "table"


def test_a_text_that_can_not_be_read_leaves_the_board_and_is_not_changed_by_clicks(visitor):
    board = changed(visitor, do="edit", text=LAST)[0]["board"]
    for torn in ("", "rules", "rules: chess", "rules: mini-low\nhand 0: 8X", "rules: mini-low;rules: x"):
        draft, found = changed(visitor, do="type", text=torn)
        assert draft["board"] == board
        assert draft["error"] == found["error"] != ""
        visitor.send(do="put", card="8S", to="table")
        assert visitor.read("say")["say"] == "The text can't be read as it stands: mend it first, or take back."
    assert changed(visitor, do="back")[0]["text"] == LAST


def test_changes_are_taken_back_one_by_one_and_typing_as_a_whole(visitor):
    changed(visitor, do="edit")
    texts = [changed(visitor, do="edit", text=LAST)[0]["text"]]
    for typed in ("rules", "rules: m", f"{LAST}sweeps: 0 1"):
        draft, _ = changed(visitor, do="type", text=typed)
    texts += [draft["text"]]
    texts += [changed(visitor, do="put", card="6C", to="table")[0]["text"]]
    texts += [changed(visitor, do="rest", to="stock")[0]["text"]]
    changed(visitor, do="clear")
    for text in texts[::-1]:
        draft, _ = changed(visitor, do="back")
        assert draft["text"] == text
        assert draft["undo"]
    draft, _ = changed(visitor, do="back")
    assert draft["text"] == empty(Rules.preset("krypkasino"))
    assert not draft["undo"]


def test_every_control_changes_its_entry(visitor):
    changed(visitor, do="edit", text=LAST)
    assert "sweeps: 0 3" in changed(visitor, do="number", key="sweeps", seat=1, number=3)[0]["text"]
    assert changed(visitor, do="set", key="turn", value="1")[1]["turn"] == 1
    assert "last-capturer: 1" in changed(visitor, do="set", key="last-capturer", value="1")[0]["text"]
    assert "last-capturer" not in changed(visitor, do="set", key="last-capturer", value="")[0]["text"]
    assert changed(visitor, do="set", key="deal", value="2")[0]["board"]["deal"] == 2
    draft, found = changed(visitor, do="shuffle")
    assert found["error"] == ""
    assert Game.from_position(draft["text"]).deal_number == 1
    draft, _ = changed(visitor, do="set", key="players", value="4")
    assert (draft["board"]["rules"], len(draft["board"]["names"])) == ("mini-low players=4", 4)
    draft, _ = changed(visitor, do="set", key="preset", value="mulle-glimne")
    assert draft["board"]["builds"][-1] == 16
    draft, _ = changed(visitor, do="set", key="build 9", value="-")
    assert "build 9" in [place["key"] for place in draft["board"]["places"]]
    changed(visitor, do="put", card="5D", to="build 9")
    draft, _ = changed(visitor, do="set", key="owner 9", value="0")
    assert next(place for place in draft["board"]["places"] if place["key"] == "build 9")["owner"] == 0
    draft, _ = changed(visitor, do="set", key="rules", value="mini-low players=2 threshold=9")
    assert draft["board"]["rules"] == "mini-low players=2 threshold=9"


REFUSED = [
    ({"do": "put", "card": "9X", "to": "table"}, "'9X' is no card"),
    ({"do": "put", "card": "8S", "to": "pocket"}, "in these rules a position has no 'pocket'"),
    ({"do": "rest", "to": "dealer"}, "in these rules a position has no 'dealer'"),
    ({"do": "set", "key": "colour", "value": "1"}, "'colour' is no entry that can be set here"),
    ({"do": "set", "key": "game", "value": "1; hand 0: 8S"}, "an entry has no '#' and no ';'"),
    ({"do": "set", "key": "players", "value": "9"}, "mini-low is for 2, 3, 4, 5 players, not for 9"),
    ({"do": "set", "key": "turn", "value": "two"}, "turn is a number, not 'two'"),
    ({"do": "set", "key": "deal", "value": "0"}, "a game by these rules has 4 deals"),
    ({"do": "set", "key": "deal", "value": "5"}, "a game by these rules has 4 deals"),
    ({"do": "set", "key": "preset", "value": "chess"}, "the presets are krypkasino"),
    ({"do": "set", "key": "rules", "value": "mini-low players=99"}, "players"),
    ({"do": "number", "key": "stock", "seat": 0, "number": 1}, "'stock' has no number of seat 0"),
    ({"do": "number", "key": "sweeps", "seat": 4, "number": 1}, "'sweeps' has no number of seat 4"),
    ({"do": "edit", "text": "x" * (LARGEST + 1)}, "a position has at most 65,536 characters, not 65,537"),
    ({"do": "put", "card": "8S"}, "The message was not understood: to is missing"),
    ({"do": "number", "key": "sweeps", "seat": -1, "number": 1}, "The message was not understood: seat"),
]


def test_what_can_not_be_done_gets_one_sentence_and_changes_nothing(visitor):
    text = changed(visitor, do="edit", text=LAST)[0]["text"]
    for message, reason in REFUSED:
        visitor.send(**message)
        said = visitor.read("say")["say"]
        assert reason in said
        assert re.fullmatch(r".+\.", said)
    assert changed(visitor, do="rest", to="captured 1")[0]["text"] == text.replace("rest", "-")


def test_the_position_of_any_step_of_a_record_is_edited():
    game = played("mini-double")
    with studying(game.copy) as client, visit(client) as one:
        one.open()
        twin = game.rewound()
        for at, move in enumerate(game.moves):
            draft, found = changed(one, do="edit", at=at)
            assert draft["text"] == twin.position()
            assert found["error"] == ""
            twin.push(move)
        draft, found = changed(one, do="edit", at=len(game.moves))
        assert found["told"] == "This is a position: the end of a game."


# ---------------------------------------------------------------------- lines


def test_a_position_is_studied_and_played_on_to_its_end(visitor):
    study = visitor.open(LAST)
    assert (study["line"], study["over"], study["challenge"], study["seat"]) == (True, False, False, None)
    game = Game.from_position(LAST)
    assert [each["move"] for each in study["legal"]] == [str(move) for move in game.legal_moves()]
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


def test_moves_are_played_on_lines_only_and_must_be_legal():
    game = played()
    with studying(game.copy) as client, visit(client) as one:
        one.open()
        one.send(do="move", at=0, move=str(game.moves[0]))
        assert one.read("say")["say"].startswith("Moves can be played from a position only")
        one.open(LAST)
        for move in ("KS", "2Sx6H", "?"):
            one.send(do="move", at=0, move=move)
            assert one.read("say")["say"].endswith(".")


# ---------------------------------------------------------------------- beside a table


def test_a_position_that_was_seen_at_the_table_stays_closed_whatever_hands_are_guessed():
    same = "These cards are being played at this table. They stay closed until that game is over."
    with serving(hosted, studied=ANALYST) as client, page(client) as one, visit(client) as two:
        one.my_turn()
        game = Game(Rules.preset("mini-low"), seed=3)
        assert two.refused(game.position()) == same
        board = read_board(game.position())
        hidden = [*board.zones["hand 1"], *board.zones["stock"]]
        hidden = hidden[1:] + hidden[:1]
        size = len(board.zones["hand 1"])
        guess = with_entry(game.position(), "hand 1", " ".join(hidden[:size]))
        guess = with_entry(guess, "stock", " ".join(hidden[size:]))
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
        two.send(do="edit")
        text = two.read("draft")["text"]
        assert text == empty(game.rules), "nothing of the game but its rules"


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


def test_a_studied_record_whose_cards_are_played_again_is_not_edited():
    with serving(hosted, studied=ANALYST, thinker=Here()) as client, page(client) as one, visit(client) as two:
        while not one.my_turn()["view"]["over"]:
            one.play()
        two.open()
        one.ask("again")
        one.until(lambda told: told["game"] == 2)
        two.send(do="edit", at=1)
        assert two.read("say")["say"].startswith("These cards are being played at this table.")
