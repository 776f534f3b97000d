"""The server of a table: games of one or two people, undo, hints, failing agents, what is saved, and its texts."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys

import pytest
from support.decisions import CHOICE
from support.tables import KEYS, Here, Kept, hosted, page, serving

from krypenv import Game, Move, Rules
from krypenv.agents import typed
from krypenv.ui.browser.app import STATIC
from krypenv.ui.browser.hosted import Hosted, players_of
from krypenv.ui.browser.seats import PERSON
from krypenv.ui.browser.texts import CATALOGUES
from krypenv.ui.browser.thinking import AgentFailed, Thinker
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.narrator.words import LANGUAGES
from krypenv.ui.table import Table
from krypenv.ui.view import view

STUDY = STATIC.parents[1] / "study"
TWO = (PERSON, PERSON)


# ---------------------------------------------------------------------- games


@pytest.mark.parametrize("rules", ["mini-low", "mini-mulle", "mini-kasino", "mini-double players=4 teams=2"])
def test_a_whole_game_is_played_and_saved_move_by_move(rules):
    kept, players = Kept(), (PERSON, *["random"] * (Rules.parse(rules).players - 1))
    with serving(lambda: hosted(rules, players, kept)) as client, page(client) as one:
        while not one.my_turn()["view"]["over"]:
            one.play()
        told = one.told["view"]
    game = Game.replay(kept.games[0][-1])
    assert game.is_over
    assert players_of(game) == list(players)
    assert len(kept.games[0]) == len(game.moves)
    assert told == json.loads(json.dumps(view(game, Narrator(game.rules, names(players), 0))))


def names(players):
    """What seats are called."""
    plain = list(players)
    return [f"player {at + 1}" if who == PERSON else who if plain.count(who) == 1 else f"{who} {at + 1}"
            for at, who in enumerate(plain)]  # fmt: skip


def test_each_of_two_people_gets_the_view_of_their_seat():
    with (
        serving(lambda: hosted(players=TWO)) as client,
        page(client, KEYS.seats[0]) as one,
        page(client, KEYS.seats[1]) as two,
        page(client, KEYS.watch) as third,
    ):
        game = Game(Rules.parse("mini-low"), seed=3)
        while not one.told["view"]["over"]:
            for each, seat in ((one, 0), (two, 1), (third, None)):
                each.until(lambda told: told["moves"] == len(game.moves))
                seen = Narrator(game.rules, ["player 1", "player 2"], seat)
                assert each.told["view"] == json.loads(json.dumps(view(game, seen)))
            if not game.is_over:
                mover = (one, two)[game.turn]
                move = mover.told["view"]["moves"][0]["move"]
                mover.ask("play", move=move)
                game.push(move)
        assert game.is_over


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
        assert (
            one.read(lambda told: "say" in told)["say"]
            == "There is nothing to take back: you have made no move in this game."
        )
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
        assert one.read(lambda told: "say" in told)["say"] == "There is no next game now."
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
        one.ask("new")
        assert one.until(lambda told: told["game"] == 4)["view"]["session"]["number"] == 1
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
        assert (hint["by"], hint["head"]) == ("Greedy", "Greedy advises:")
        (row,) = hint["rows"]  # greedy values no moves
        assert row["move"] in [each["move"] for each in one.told["view"]["moves"]]
        assert row["margin"] is None
        two.ask("hint")
        assert two.read(lambda told: "say" in told)["say"] == "Hints are for your own turn."


def test_a_hint_has_the_best_three_moves_as_the_terminal_has_them():
    game = Game.from_position(CHOICE)  # nothing is hidden, so the search is exact
    with serving(lambda: Hosted(game, (PERSON, "greedy"), "search", Kept())) as client, page(client) as one:
        told = one.my_turn()
        one.ask("hint")
        hint = one.read(lambda told: "hint" in told)["hint"]
    check_shape(hint, "Hint")
    values = Table(Game.from_position(CHOICE), 0, ["greedy"]).values("search")
    assert len(hint["rows"]) == 3
    for row, value in zip(hint["rows"], values.values, strict=False):
        assert (row["move"], row["margin"], row["half"]) == (value.move, value.margin.mean, value.margin.half)
        assert row["sweeps"] == value.sets_up
        assert row["text"] == Narrator(game.rules, seat=0).choice(game, Move.parse(row["move"]))[0]
    assert {row["move"] for row in hint["rows"]} <= {each["move"] for each in told["view"]["moves"]}


@pytest.mark.anyio
async def test_an_agent_that_can_not_advise_says_why():
    thinker, game = Thinker(), Game(Rules.preset("mini-low"), seed=1)
    try:
        with pytest.raises(AgentFailed, match="raised ValueError: unknown agent 'nobody'"):
            await thinker.advise(typed("nobody"), 0, game)
        await thinker.prepare_advice("search(worlds=2)", 0, game.rules)
        advice = await thinker.advise("search(worlds=2)", 0, game)
        assert {each.move for each in advice.moves} <= set(map(str, game.legal_moves()))
    finally:
        thinker.close()


# ---------------------------------------------------------------------- when something goes wrong


class Failing(Here):
    """Agents of which the first decision in a game fails."""

    fails = True

    async def decide(self, spec, seat, game):
        if self.fails:
            self.fails = False
            raise AgentFailed("raised ValueError: 8S is illegal; seat 1 may KH or 2D")
        return await super().decide(spec, seat, game)


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


class Pondering(Here):
    """Agents that think until they may go on."""

    may_go = False

    async def decide(self, spec, seat, game):
        while not self.may_go:
            await asyncio.sleep(0.01)
        return await super().decide(spec, seat, game)


def test_pages_are_answered_while_an_agent_thinks_and_what_it_thought_of_in_vain_is_dropped():
    thinker = Pondering()
    with serving(hosted, thinker=thinker) as client, page(client) as one:
        first = one.my_turn()
        one.play()
        assert one.told["thinking"] == 1
        with page(client, KEYS.watch) as third:
            assert third.told["moves"] == 1
        one.ask("play", move=first["view"]["moves"][0]["move"])
        assert one.read(lambda told: "say" in told)["say"] == "It is not your turn: greedy is to play."
        one.ask("undo")
        one.until(lambda told: told["moves"] == 0)
        other = first["view"]["moves"][-1]["move"]
        one.ask("play", move=other)
        one.until(lambda told: told["moves"] == 1)
        thinker.may_go = True
        one.my_turn()
        assert one.told["moves"] == 2
        assert one.told["view"]["log"][1]["seat"] == 0
        assert one.told["view"]["log"][2]["seat"] == 1


class Late(Here):
    """Agents that answer when they are allowed to, each for the position that it was asked for."""

    def __init__(self):
        super().__init__()
        self.asked, self.may_go = [], False

    async def decide(self, spec, seat, game):
        self.asked.append(game)
        while not self.may_go:
            await asyncio.sleep(0.01)
        return str(game.legal_moves()[-1])


def test_the_answer_for_a_position_that_was_taken_back_is_dropped_and_the_agent_asked_anew():
    thinker, kept = Late(), Kept()
    with serving(lambda: hosted(keep=kept, seed=2), thinker=thinker) as client, page(client) as one:
        first, *_, last = one.my_turn()["view"]["moves"]
        for move in (first, last):
            one.ask("play", move=move["move"])
            one.until(lambda told: told["moves"] == 1)
            if move is first:
                one.ask("undo")
                one.until(lambda told: told["moves"] == 0)
        thinker.may_go = True
        one.my_turn()
    old, new = thinker.asked
    assert [str(game.moves[-1]) for game in (old, new)] == [first["move"], last["move"]]
    assert Game.replay(kept.games[-1][-1]).moves == [*new.moves, new.legal_moves()[-1]]


def test_a_request_of_a_page_that_missed_what_was_taken_back_changes_nothing():
    with serving(hosted) as client, page(client) as one:
        one.play()
        before = one.my_turn()
        one.ask("undo")
        one.until(lambda told: told["moves"] == 0)
        one.play()
        one.my_turn()
        one.send(do="undo", edit=before["edit"])
        assert "moved on" in one.read(lambda told: "say" in told)["say"]
        assert one.told["moves"] == 2


def test_a_game_that_can_not_be_saved_goes_on():
    def keep(record, is_new):
        raise OSError(28, "No space left on device", "table.krk")

    with serving(lambda: hosted(keep=keep)) as client, page(client) as one:
        told = one.play()
        assert told["fault"] == "The game can't be saved: No space left on device."
        one.my_turn()
        assert one.told["moves"] == 2


@pytest.mark.parametrize(
    ("players", "reason"),
    [((PERSON, "greddy"), "did you mean 'greedy'"), ((PERSON, "oracle-hand"), "sees what is hidden")],
)
def test_an_agent_that_can_not_sit_ends_the_table(players, reason):
    reasons = []
    with serving(lambda: hosted(players=players), stop=reasons.append) as client, page(client) as one:
        told = one.until(lambda told: told["ended"])
        assert told["ended"] == "The table can't begin. Why is said where it was started."
    assert [reason in each for each in reasons] == [True]


def test_an_unknown_language_ends_the_table():
    reasons = []
    with serving(lambda: hosted(language="tlh"), stop=reasons.append) as client, page(client) as one:
        assert one.told == {"type": "closed", "say": "The table can't begin. Why is said where it was started."}
    assert reasons == ["the languages are en, sv, not 'tlh'"]


@pytest.mark.anyio
async def test_agents_think_in_a_process_of_their_own():
    thinker, game = Thinker(), Game(Rules.preset("mini-low"), seed=1)
    try:
        await thinker.prepare(game.rules, {"random": 0, "greedy": 1})
        assert await thinker.decide("greedy", 0, game) in map(str, game.legal_moves())
        with pytest.raises(ValueError, match="unknown agent 'nobody'"):
            await thinker.prepare(game.rules, {typed("nobody"): 0})
        for process in thinker._pool._processes.values():
            process.kill()
        with pytest.raises(AgentFailed, match="was ended from outside"):
            await thinker.decide("greedy", 0, game)
        assert await thinker.decide("greedy", 0, game) in map(str, game.legal_moves())
    finally:
        thinker.close()


# ---------------------------------------------------------------------- texts


def test_every_text_is_in_every_language_and_is_used():
    files = [*STATIC.glob("*.js"), *STATIC.parent.glob("*.py"), *STUDY.glob("*.py")]
    code = "".join(path.read_text(encoding="utf-8") for path in files if path.stem not in ("english", "swedish"))
    assert set(CATALOGUES) == set(LANGUAGES)
    for texts in CATALOGUES.values():
        assert list(texts) == list(CATALOGUES["en"])
        for key, text in texts.items():
            assert sorted(re.findall(r"{\w+}", text)) == sorted(re.findall(r"{\w+}", CATALOGUES["en"][key]))
            assert f'"{key}"' in code or key.startswith(("suit.", "rank.")), key


@pytest.mark.parametrize("rules", ["krypkasino players=4 teams=2 games=2", "mini-mulle", "mini-low"])
def test_messages_have_the_shapes_that_the_page_is_checked_with(rules):
    """What is told from the first move to the last has just the keys of `shapes.js`, by which tsc checks the page."""
    parsed = Rules.parse(rules)
    with serving(lambda: hosted(rules, [PERSON, *["greedy"] * (parsed.players - 1)])) as client, page(client) as one:
        for _ in range(8 if rules.startswith("krypkasino") else 1000):
            told = one.my_turn()
            check_shape(told, "Told")
            view = told["view"]
            check_shape(view, "View")
            for each in view["players"]:
                check_shape(each, "Player")
            for each in view["moves"] or []:
                check_shape(each, "Move")
            if view["last"]:
                check_shape(view["last"], "Last")
            if view["over"]:
                check_shape(view["sheet"], "Sheet")
                break
            one.play()


def check_shape(given, name):
    """Assert that an object has the properties of a shape; those in brackets may be missing."""
    text = (STATIC / "shapes.js").read_text(encoding="utf-8")
    shape = next(each for each in text.split("/**") if re.search(rf"@typedef {{object}} {name}\b", each))
    properties = re.findall(r"@property \{.*\} (\[?\w+\]?)", shape)
    needed = {each for each in properties if each[0] != "["}
    assert needed <= set(given) <= {each.strip("[]") for each in properties}


def test_the_server_loads_no_engine_before_it_serves():
    code = "import sys, krypenv.training.cli.people.table as t, krypenv.ui.browser.app, krypenv.ui.browser.serving\n"
    code += "t.TableSettings.of().players(t.rules_of(t.TableSettings.of())); print(*sys.modules)"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    assert "uvicorn" in loaded
    assert not {"numba", "scipy", "krypenv.agents", "krypenv.kernels.play", "krypenv.one_game"} & loaded


@pytest.fixture
def anyio_backend():
    return "asyncio"
