"""The server of a table: games of one or two people, undo, hints, failing agents, what is saved, and its texts."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from support.decisions import CHOICE
from support.fuzzing import check_sentence
from support.tables import KEYS, Failing, Kept, Waiting, hosted, page, serving

from krypenv import Game, Move, Rules
from krypenv.agents import typed
from krypenv.ui.browser.app import STATIC
from krypenv.ui.browser.hosted import Hosted
from krypenv.ui.browser.thinking import AgentFailed, Thinker
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.seats import PERSON, players_in
from krypenv.ui.table import Table
from krypenv.ui.view import view

TWO = (PERSON, PERSON)


# ---------------------------------------------------------------------- games


@pytest.mark.parametrize("rules", ["mini-low", "mini-mulle", "mini-double players=4 teams=2 games=2"])
def test_a_whole_game_is_saved_move_by_move_and_messages_have_the_shapes_that_the_page_is_checked_with(rules):
    """What is told from the first move to the last has just the keys of `shapes.js`, by which tsc checks the page."""
    kept, players = Kept(), (PERSON, *["random"] * (Rules.parse(rules).players - 1))
    with serving(lambda: hosted(rules, players, kept)) as client, page(client) as one:
        check_shapes(one.my_turn())
        while not one.told["view"]["over"]:
            one.play()
            check_shapes(one.my_turn())
    game, told = Game.replay(kept.games[0][-1]), one.told["view"]
    assert game.is_over
    assert players_in(game) == list(players)
    assert len(kept.games[0]) == len(game.moves)
    names = ["player A", *(["Random"] if len(players) == 2 else [f"Random {letter}" for letter in "BCD"])]
    assert told == json.loads(json.dumps(view(game, Narrator(game.rules, names, 0))))


def check_shapes(told):
    """Assert that a message and all in it has the properties of its shape."""
    view = told["view"]
    check_shape(told, "Told")
    check_shape(view, "View")
    for name, several in (("Player", view["players"]), ("Move", view["moves"] or [])):
        for each in several:
            check_shape(each, name)
    for name, one in (("Last", view["last"]), ("Sheet", view["sheet"])):
        if one:
            check_shape(one, name)


def check_shape(given, name):
    """Assert that an object has the properties of a shape; those in brackets may be missing."""
    text = (STATIC / "shapes.js").read_text(encoding="utf-8")
    shape = next(each for each in text.split("/**") if re.search(rf"@typedef {{object}} {name}\b", each))
    properties = re.findall(r"@property \{.*\} (\[?\w+\]?)", shape)
    needed = {each for each in properties if each[0] != "["}
    assert needed <= set(given) <= {each.strip("[]") for each in properties}


def test_a_page_that_comes_back_has_its_seat_and_its_view():
    with serving(lambda: hosted(players=TWO)) as client, page(client, KEYS.seats[0]) as one:
        one.play()
        with page(client, KEYS.seats[1]) as two:
            first = two.told["view"]
            one.until(lambda told: told["here"] == [0, 1])
        one.until(lambda told: told["here"] == [0])
        with page(client, KEYS.seats[1]) as two:
            assert two.told["view"] == first
            assert two.told["texts"]["hand"] == "Your hand"


def test_undo_takes_back_the_last_move_and_the_answers_to_it():
    with serving(hosted) as client, page(client) as one:
        first = one.my_turn()
        one.ask("undo")
        assert one.says() == "There is nothing to take back: you have made no move in this game."
        one.play()
        one.my_turn()
        assert one.told["moves"] == 2
        one.ask("undo")
        assert one.until(lambda told: told["moves"] == 0)["view"] == first["view"]


def test_next_new_and_the_same_cards_again():
    kept = Kept()
    with serving(lambda: hosted("mini-low games=2", keep=kept)) as client, page(client) as one:
        first = one.my_turn()
        one.ask("next")
        assert one.says() == "There is no next game now."
        one.play()
        one.my_turn()
        one.ask("again")
        again = one.until(lambda told: told["game"] == 2)
        assert again["view"]["hand"] == first["view"]["hand"]
        while not one.my_turn()["view"]["over"]:
            one.play()
        one.ask("next")
        assert one.until(lambda told: told["game"] == 3)["view"]["session"] == {"number": 2, "of": 2}
        one.my_turn()
        assert one.begin("mini-low", PERSON, "greedy")["game"] == 4
        assert one.told["view"]["session"] == {"number": 1, "of": 1}
    assert len(kept.games) == 3, "the next game of a session stays in its file"
    assert all(Game.replay(records[-1]) for records in kept.games)


def test_hints_are_for_the_one_whose_turn_it_is():
    with (
        serving(lambda: hosted(players=TWO)) as client,
        page(client, KEYS.seats[0]) as one,
        page(client, KEYS.seats[1]) as two,
    ):
        one.ask("hint")
        hint = one.read(lambda told: "hint" in told)["hint"]
        assert hint["said"].startswith("Greedy advises: ")
        (row,) = hint["rows"]  # greedy values no moves
        assert row["move"] in [each["move"] for each in one.told["view"]["moves"]]
        assert row["margin"] is None
        two.ask("hint")
        assert two.says() == "Hints are for your own turn."


def test_a_hint_has_the_best_three_moves_as_the_terminal_has_them():
    game = Game.from_position(CHOICE)  # nothing is hidden, so the search is exact
    with serving(lambda: Hosted(game, (PERSON, "greedy"), "search", Kept())) as client, page(client) as one:
        told = one.my_turn()
        one.ask("hint")
        hint = one.read(lambda told: "hint" in told)["hint"]
    check_shape(hint, "Hint")
    values = Table(Game.from_position(CHOICE), 0, ["greedy"]).hint("search")
    assert len(hint["rows"]) == 3
    for row, value in zip(hint["rows"], values.values, strict=False):
        assert (row["move"], row["margin"], row["half"]) == (value.move, value.margin.mean, value.margin.half)
        assert row["sweeps"] == value.sets_up
        assert row["text"] == Narrator(game.rules, seat=0).choice(game, Move.parse(row["move"]))[0]
    assert {row["move"] for row in hint["rows"]} <= {each["move"] for each in told["view"]["moves"]}


@pytest.mark.anyio
async def test_agents_decide_and_advise_in_a_process_of_their_own():
    thinker, game = Thinker(), Game(Rules.preset("mini-low"), seed=1)
    legal = set(map(str, game.legal_moves()))
    try:
        await thinker.prepare(game.rules, {"random": 0, "greedy": 1})
        assert await thinker.decide("greedy", 0, game) in legal
        with pytest.raises(ValueError, match="unknown agent 'nobody'"):
            await thinker.prepare(game.rules, {typed("nobody"): 0})
        for process in thinker._pool._processes.values():
            process.kill()
        with pytest.raises(AgentFailed, match="was ended from outside"):
            await thinker.decide("greedy", 0, game)
        with pytest.raises(AgentFailed, match="raised ValueError: unknown agent 'nobody'"):
            await thinker.advise(typed("nobody"), game)
        await thinker.prepare_advice("search(worlds=2)", 0, game.rules)
        assert {each.move for each in (await thinker.advise("search(worlds=2)", game)).moves} <= legal
    finally:
        thinker.close()


# ---------------------------------------------------------------------- when something goes wrong


def test_an_agent_that_fails_is_told_in_a_sentence_and_may_try_again():
    kept, reported = Kept(), []
    with (
        serving(lambda: hosted(keep=kept), thinker=Failing(), report=reported.append) as client,
        page(client) as one,
    ):
        one.play()
        told = one.until(lambda told: told["stuck"])
        assert told["fault"] == "Greedy can't go on."
        assert reported == ["Greedy: raised ValueError: 8S is illegal; seat 1 may KH or 2D"]
        assert Game.replay(kept.games[-1][-1]).moves
        one.ask("go")
        one.until(lambda told: told["moves"] == 2)
        assert one.told["fault"] == ""


def test_pages_are_answered_while_an_agent_thinks_and_its_answer_for_what_was_taken_back_is_dropped():
    thinker, kept = Waiting(), Kept()
    with serving(lambda: hosted(keep=kept, seed=2), thinker=thinker) as client, page(client) as one:
        first, *_, last = one.my_turn()["view"]["moves"]
        one.ask("play", move=first["move"])
        assert one.until(lambda told: told["moves"] == 1)["thinking"] == 1
        with page(client, KEYS.watch) as third:
            assert third.told["moves"] == 1
        one.ask("play", move=first["move"])
        assert one.says() == "It is not your turn: Greedy is to play."
        one.ask("undo")
        one.until(lambda told: told["moves"] == 0)
        one.ask("play", move=last["move"])
        one.until(lambda told: told["moves"] == 1)
        thinker.may_go = True
        one.my_turn()
    old, new = thinker.asked
    assert [str(game.moves[-1]) for game in (old, new)] == [first["move"], last["move"]]
    assert Game.replay(kept.games[-1][-1]).moves == [*new.moves, new.legal_moves()[-1]]


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ({"players": (PERSON, "greddy")}, "did you mean 'greedy'"),
        ({"players": (PERSON, "oracle-hand")}, "sees what is hidden"),
        ({"language": "tlh"}, "the languages are en, sv, not 'tlh'"),
    ],
)
def test_what_can_not_be_played_with_ends_the_table(table, reason):
    reasons = []
    with serving(lambda: hosted(**table), stop=reasons.append) as client, page(client) as one:
        told = one.until(lambda told: told["type"] == "closed" or told["ended"])
        assert (told.get("say") or told["ended"]) == "The table can't begin. Why is said where it was started."
    assert [reason in each for each in reasons] == [True]


def test_the_rules_of_any_game_are_told_to_every_page_and_odd_ones_refused():
    with serving(hosted) as client:
        for of, language in (("mini-low", "en"), ("mini-low", "sv")):
            told = client.get("/rules", params={"of": of, "language": language}).json()
            words = Narrator(Rules.parse(of), language=language)
            assert told == {"title": words.table_title, "parts": [list(part) for part in words.in_full()]}
        for of in ("poker", "mini-low players=99", "x" * 999):
            answer = client.get("/rules", params={"of": of})
            assert answer.status_code == 400
            check_sentence(ValueError(answer.json()["say"]), of)


def test_the_server_loads_no_engine_before_it_serves():
    code = "import sys, krypenv.training.cli.table as t, krypenv.ui.browser.app, krypenv.ui.browser.serving\n"
    code += "it = t.TableSettings(); it.seated(it.game_rules()); print(*sys.modules)"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    assert "uvicorn" in loaded
    assert not {"numba", "scipy", "krypenv.agents", "krypenv.kernels.play", "krypenv.game.game"} & loaded
