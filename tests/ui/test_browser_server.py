"""The server of a table: whole games, pages that come and go, hints, stand-ins, pace, and agents that fail."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.fuzzing import check_sentence
from support.tables import KEYS, Failing, Kept, Waiting, hosted, page, serving

from krypenv import Game, Rules
from krypenv.agents import typed
from krypenv.ui.browser import pace as pace_room
from krypenv.ui.browser.pace import Pace
from krypenv.ui.browser.thinking import AgentFailed, Thinker
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.seats import PERSON, players_in
from krypenv.ui.table import hint_of
from krypenv.ui.view import view

TWO = (PERSON, PERSON)
SHAPES = Path(__file__).parents[1] / "javascript/shapes.d.ts"


# ---------------------------------------------------------------------- games


@pytest.mark.parametrize("rules", ["mini-low", "mini-mulle", "mini-double players=4 teams=2 games=2"])
def test_a_whole_game_is_saved_move_by_move_and_messages_have_the_shapes_that_the_page_is_checked_with(rules):
    """What is told from the first move to the last has just the keys of `shapes.d.ts`, by which tsc checks the page."""
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
    """Assert that an object has the properties of a shape; those with a question mark may be missing."""
    shape = re.search(rf"interface {name} {{(.*?)\n}}", SHAPES.read_text(encoding="utf-8"), re.DOTALL)[1]
    properties = re.findall(r"^  (\w+)(\??):", shape, re.MULTILINE)
    needed = {each for each, is_left_out in properties if not is_left_out}
    assert needed <= set(given) <= {each for each, _ in properties}


def test_agents_play_while_somebody_watches_in_steps_and_on():
    kept = Kept()
    load = lambda: hosted("mini-low", ("greedy", "random"), kept)  # noqa: E731
    with serving(load) as client, page(client) as one:
        assert (one.told["view"]["seat"], one.told["view"]["hand"], one.told["leads"]) == (None, [], True)
        one.ask("pause", on=True)
        one.until(lambda told: told["paused"])
        one.begin("mini-low", "greedy", "random")
        for count in range(1, 4):
            one.ask("step")
            one.until(lambda told, count=count: told["game"] == 2 and told["moves"] == count)
        one.ask("pace", pace="fast")
        assert one.until(lambda told: told["pace"] == "fast")["moves"] == 3, "one step, one move"
        one.ask("pause", on=False)
        one.until(lambda told: told["view"]["over"])
    game = Game.replay(kept.games[-1][-1])
    assert game.is_over
    assert players_in(game) == ["greedy", "random"]


# ---------------------------------------------------------------------- who comes and goes


def test_an_agent_plays_for_a_person_who_is_gone_until_the_person_comes_back():
    with serving(lambda: hosted(players=TWO)) as client, page(client, KEYS.seats[0]) as one:
        with page(client, KEYS.seats[1]) as two:
            first = two.told["view"]
            one.until(lambda told: told["here"] == [0, 1])
            one.ask("stand_in", seat=1)
            assert one.says() == "This person is here."
        one.until(lambda told: told["here"] == [0])
        with page(client, KEYS.seats[1]) as two:
            assert two.told["view"] == first
            assert two.told["texts"]["hand"] == "Your hand"
        one.until(lambda told: told["here"] == [0])
        one.play()
        assert (one.told["view"]["turn"], one.told["thinking"]) == (1, None)
        one.ask("stand_in", seat=1)
        one.until(lambda told: told["moves"] == 2)
        assert one.told["stand_ins"] == [1]
        with page(client, KEYS.seats[1]) as two:
            two.until(lambda told: told["stand_ins"] == [])
            one.until(lambda told: told["stand_ins"] == [])
            one.play()
            two.until(lambda told: told["moves"] == 3)
            assert two.told["thinking"] is None
            two.play()
            assert two.told["moves"] == 4


def test_a_person_who_comes_back_while_the_agent_thinks_plays_oneself():
    thinker, kept = Waiting(), Kept()
    load = lambda: hosted(players=TWO, keep=kept)  # noqa: E731
    with serving(load, thinker=thinker) as client, page(client, KEYS.seats[0]) as one:
        one.play()
        one.ask("stand_in", seat=1)
        one.until(lambda told: told["thinking"] == 1)
        with page(client, KEYS.seats[1]) as two:
            two.until(lambda told: told["thinking"] is None)
            first, *_, last = two.told["view"]["moves"]
            thinker.go()
            two.play()
    assert first != last
    assert str(Game.replay(kept.games[-1][-1]).moves[1]) == first["move"], "the agent would have played the last one"


def test_the_pace_is_for_people_and_a_pause_for_who_watches_agents():
    with serving(lambda: hosted(players=TWO)) as client, page(client, KEYS.seats[0]) as one:
        one.ask("pause", on=True)
        assert one.says() == "Agents wait for nobody while people play; choose another pace."
        with page(client, KEYS.watch) as third:
            third.ask("pace", pace="fast")
            assert third.says() == "You only watch at this table."


@pytest.mark.anyio
async def test_the_pace_is_a_pause_between_moves_and_a_forced_move_comes_no_sooner_than_a_choice(monkeypatch):
    clock = SimpleNamespace(now=0.0)

    async def sleep(seconds):
        clock.now += max(0.0, seconds)

    async def lasts(work):
        begun = clock.now
        await work
        return round(clock.now - begun, 6)

    monkeypatch.setattr(pace_room, "asyncio", SimpleNamespace(sleep=sleep, Event=asyncio.Event))
    monkeypatch.setattr(pace_room, "time", SimpleNamespace(monotonic=lambda: clock.now))
    pace = Pace(0.2)
    for name, pause in (("slow", 0.5), ("normal", 0.2), ("fast", 0.05)):
        pace.name = name
        assert await lasts(pace.rest()) == pause
    assert [await lasts(pace.awaited(1, sleep(seconds))) for seconds in (0.4, 0.3, 0.0, 0.0)] == [0.4, 0.3, 0.3, 0.3]
    assert await lasts(pace.awaited(0, sleep(0.0))) == 0.05, "each seat has its own"


# ---------------------------------------------------------------------- hints


def test_a_hint_has_the_best_three_moves_as_the_terminal_has_them():
    adviser = "search(worlds=4)"
    with serving(lambda: hosted("krypkasino", adviser=adviser)) as client, page(client) as one:
        told = one.my_turn()
        one.ask("hint")
        hint = one.read(lambda told: "hint" in told)["hint"]
    check_shape(hint, "Hint")
    values = hint_of(hosted("krypkasino").game, adviser).values[:3]
    assert len(values) == 3
    assert [(row["move"], row["margin"], row["half"], row["sweeps"]) for row in hint["rows"]] == [
        (each.move, each.margin.mean, each.margin.half, each.sets_up) for each in values
    ]
    assert {row["move"] for row in hint["rows"]} <= {each["move"] for each in told["view"]["moves"]}


def test_a_page_gets_one_hint_at_a_time():
    thinker = Waiting()
    with serving(hosted, thinker=thinker) as client, page(client) as one:
        one.my_turn()
        for _ in range(20):
            one.ask("hint")
        one.ask("play", move="king")
        one.read(lambda told: "say" in told)
        thinker.may_go = True
        hint = one.read(lambda told: "hint" in told)["hint"]
    assert hint["said"].startswith("Greedy advises: ")
    assert [row["margin"] for row in hint["rows"]] == [None], "greedy values no moves"
    assert thinker.most == 1


def test_a_hint_that_is_asked_for_right_before_a_move_is_not_of_the_next_hand():
    thinker = Waiting()
    with serving(lambda: hosted(players=TWO), thinker=thinker) as client, page(client, KEYS.seats[0]) as one:
        one.ask("hint")
        one.play()
        thinker.go()
        one.ask("undo")
        while "say" not in one.read():
            assert "hint" not in one.told
        assert "hint" not in one.told


# ---------------------------------------------------------------------- when something goes wrong


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
        await thinker.prepare(game.rules, {"search(worlds=2)": 0}, helps=True)
        assert {each.move for each in (await thinker.advise("search(worlds=2)", game)).values} <= legal
    finally:
        thinker.close()


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


# ---------------------------------------------------------------------- what else is served


def test_the_rules_of_any_game_are_told_to_every_page_and_odd_ones_refused():
    with serving(hosted) as client:
        for language in ("en", "sv"):
            told = client.get("/rules", params={"of": "mini-low", "language": language}).json()
            words = Narrator(Rules.parse("mini-low"), language=language)
            assert told == {"title": words.table_title, "parts": [list(part) for part in words.in_full()]}
        for of in ("poker", "mini-low players=99", "x" * 999):
            answer = client.get("/rules", params={"of": of})
            assert answer.status_code == 400
            check_sentence(ValueError(answer.json()["say"]), of)


def test_the_server_loads_no_engine_before_it_serves():
    code = "import sys, krypenv.training.cli.table as t, krypenv.ui.browser.app, krypenv.ui.browser.serving\n"
    code += "it = t.TableSettings(); it.seated(it.game_rules()); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "uvicorn" in loaded
    assert not {"numba", "scipy", "krypenv.agents", "krypenv.kernels.play", "krypenv.game.game"} & loaded
