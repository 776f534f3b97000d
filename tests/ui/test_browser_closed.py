"""What is studied beside a table: nothing of a game that is being played, and nothing of the host's files and seeds."""

from __future__ import annotations

import re

import pytest
from support.studies import ANALYST, LAST, played, studying, visit
from support.tables import KEYS, Kept, hosted, page, serving

from krypenv import Game, Rules
from krypenv.agents.own import Typed
from krypenv.ui.browser.hosted import Hosted
from krypenv.ui.seats import PERSON
from krypenv.ui.study.steps import LARGEST, record_for_pages

CLOSED = "This game is not over, so its hands stay closed. Play it to its end first."
SAME = "These cards are being played at this table. They stay closed until that game is over."
READ = "The file can't be read: "


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ("", f"{READ}line 1: there is no entry 'rules'"),
        ("torn [Rules", f"{READ}line 1: 'torn [Rules' is no entry; an entry is 'key: value'"),
        ("[torn", f"{READ}line 1: "),
        ('[Rules "mini-low"] [Seed "1"]\n1. KC *', f"{READ}line 2: "),
        ("x" * (LARGEST + 1), f"{READ}a record has at most 65,536 characters, not 65,537."),
        ('\ufeff[Rules "mini-low"] [Seed "1"] *', CLOSED),
    ],
    ids=range(6),
)
def test_what_is_no_record_of_a_game_that_is_over_gets_one_sentence(record, reason, visitor):
    said = visitor.refused(record)
    assert said.startswith(reason)
    assert re.fullmatch(r".+\.", said)
    assert visitor.open(f"\ufeff{LAST}")["line"]


def test_a_game_cut_short_at_every_move_stays_closed():
    game = played()
    with studying() as client, visit(client) as one:
        while game.moves:
            game.pop()
            assert one.refused(game.record()) == CLOSED


@pytest.mark.parametrize(
    "game", [Game(Rules.preset("mini-low"), seed=3), Game.from_position(LAST)], ids=["new", "last"]
)
def test_the_game_at_the_table_is_opened_when_it_is_over_and_not_before(game):
    table = Hosted(game.copy(), (PERSON, "greedy"), "greedy", Kept())
    seen = table.game.position()
    with serving(lambda: table, studied=ANALYST) as client, page(client) as one, visit(client) as two:
        while not one.my_turn()["view"]["over"]:
            assert two.refused() == two.refused(table.record().decode()) == CLOSED
            assert two.refused(seen) == two.refused(table.game.position()) == SAME
            one.play()
        record = table.record().decode()
        assert Game.replay(two.open()["record"]).moves == Game.replay(record).moves
        assert two.open(seen)["line"]
        one.ask("again")
        one.until(lambda told: told["game"] == 2)
        assert two.refused() == CLOSED
        assert two.refused(record) == SAME
        assert two.open(played(seed=8).record())


def test_a_position_that_was_seen_at_the_table_stays_closed_whatever_hands_are_guessed():
    with serving(hosted, studied=ANALYST) as client, page(client) as one, visit(client) as two:
        one.my_turn()
        game = Game(Rules.preset("mini-low"), seed=3)
        assert two.refused(game.position()) == SAME
        size, hidden = len(game.hand(1)), [*game.hand(1), *game.deck[-game.stock_size :]]
        hidden = hidden[1:] + hidden[:1]
        guess = re.sub("(?m)^hand 1:.*$", f"hand 1: {' '.join(hidden[:size])}", game.position())
        guess = re.sub("(?m)^stock:.*$", f"stock: {' '.join(hidden[size:])}", guess)
        assert Game.from_position(guess).hand(1) != game.hand(1)
        assert two.refused(guess) == SAME, "an answer that differs would tell whether the guess is right"
        twin, moves = Game.from_position(guess), []
        while not twin.is_over:
            moves.append(str(twin.legal_moves()[0]))
            twin.push(moves[-1])
        assert two.refused(guess, moves) == SAME
        assert two.open(LAST)["line"]


def test_a_game_that_was_ended_by_agreement_is_studied_and_what_is_tried_in_it_goes_on():
    table = hosted(players=(PERSON, PERSON))
    table.push(str(table.game.legal_moves()[0]))
    with serving(lambda: table, studied=ANALYST) as client, visit(client, KEYS.seats[0]) as study:
        assert study.refused().startswith("This game is not over")
        for seat in (0, 1):
            with page(client, KEYS.seats[seat]) as one:
                one.ask("end")
                one.until(lambda told, seat=seat: seat in told["enders"])
        for seat, key in ((None, KEYS.watch), (0, KEYS.seats[0]), (1, KEYS.seats[1])):
            with visit(client, key) as other:
                told = other.open()
                assert told["seat"] == seat
                assert [name == "You" for name in told["names"]] == [seat == 0, seat == 1]
        told = study.open()
        assert (told["over"], told["line"], len(told["steps"])) == (True, False, 2)
        assert told["result"].startswith("The game was ended by agreement. ")
        study.send(do="move", at=0, move=str(Game.replay(told["record"]).moves[0]))
        assert not study.read("study")["over"]


def test_no_record_that_a_page_gets_tells_the_seed_from_which_the_next_deals_follow():
    rules = "mini-low games=2"
    with serving(lambda: hosted(rules), studied=ANALYST) as client, page(client) as one, visit(client) as two:
        while not one.my_turn()["view"]["over"]:
            one.play()
        records = [two.open()["record"]]
        two.send(do="challenge")
        records.append(two.read("challenge")["record"])
    for record in records:
        assert Game.replay(record).seed is None
        assert Game.replay(record).deck == Game(Rules.parse(rules), seed=3).deck


def test_no_record_that_a_page_gets_tells_of_the_host_s_files():
    for player, shown in (
        ("process(command='python my_bot.py --key=1')", "my bot"),
        ("models/best", "best"),
        ("guided(model='models/best')", "guided"),
        ("search(worlds=5)", "search(worlds=5)"),
    ):
        game = played(players=(PERSON, Typed(player)))
        tags = Game.replay(record_for_pages(game)).tags
        assert (tags["Seat0"], tags["Seat1"]) == (PERSON, shown)
