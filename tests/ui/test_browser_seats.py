"""Who decides at a table: stand-ins, agreed ends, tables where only agents play, their pace, and piles."""

from __future__ import annotations

import asyncio
import time

import pytest
from support.studies import ANALYST, visit
from support.tables import KEYS, Here, Kept, Waiting, hosted, page, serving

from krypenv import Game, Rules
from krypenv.ui.browser import pace as pace_room
from krypenv.ui.browser.pace import Pace
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.seats import PERSON, players_in
from krypenv.ui.view import view

TWO = (PERSON, PERSON)


class Counting(Here):
    """Agents that note who has decided for which seat."""

    def __init__(self):
        super().__init__()
        self.decided = []

    async def decide(self, spec, seat, game):
        self.decided.append((spec, seat))
        return await super().decide(spec, seat, game)


# ---------------------------------------------------------------------- stand-ins


def test_an_agent_plays_for_a_person_who_is_gone_until_the_person_comes_back():
    thinker = Counting()
    with serving(lambda: hosted(players=TWO), thinker=thinker) as client, page(client, KEYS.seats[0]) as one:
        with page(client, KEYS.seats[1]):
            one.until(lambda told: told["here"] == [0, 1])
            one.ask("stand_in", seat=1)
            assert one.says() == "This person is here."
        one.until(lambda told: told["here"] == [0])
        one.play()
        assert one.told["view"]["turn"] == 1
        assert one.told["thinking"] is None
        one.ask("stand_in", seat=1)
        one.until(lambda told: told["moves"] == 2)
        assert one.told["stand_ins"] == [1]
        assert thinker.decided == [("greedy", 1)]
        one.play()
        one.until(lambda told: told["moves"] == 4)
        with page(client, KEYS.seats[1]) as two:
            two.until(lambda told: told["stand_ins"] == [])
            one.until(lambda told: told["stand_ins"] == [])
            one.play()
            two.until(lambda told: told["moves"] == 5)
            assert two.told["thinking"] is None
            two.play()
            assert two.told["moves"] == 6
    assert thinker.decided == [("greedy", 1)] * 2


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


def test_stand_ins_are_asked_for_by_people_for_people():
    load = lambda: hosted("mini-low players=3", (PERSON, PERSON, "greedy"))  # noqa: E731
    with serving(load) as client, page(client, KEYS.seats[0]) as one, page(client, KEYS.watch) as third:
        one.ask("stand_in", seat=2)
        assert one.says() == "Only for a person who is gone can an agent play."
        third.ask("stand_in", seat=1)
        assert third.says() == "You only watch at this table."
        third.ask("pace", pace="fast")
        assert third.says() == "You only watch at this table."
        one.ask("pause", on=True)
        assert one.says() == "Agents wait for nobody while people play; choose another pace."


# ---------------------------------------------------------------------- an agreed end


def test_a_game_ends_when_all_people_at_the_table_agree_and_is_saved_and_studied():
    kept = Kept()
    load = lambda: hosted("mini-low players=3", (PERSON, PERSON, PERSON), kept)  # noqa: E731
    with (
        serving(load, studied=ANALYST) as client,
        page(client, KEYS.seats[0]) as one,
        page(client, KEYS.watch) as third,
    ):
        with page(client, KEYS.seats[1]) as two:
            one.play()
            two.until(lambda told: told["moves"] == 1)
            third.ask("end")
            assert third.says() == "You only watch at this table."
            one.ask("end")
            two.until(lambda told: told["enders"] == [0])
            two.play()
            one.until(lambda told: told["moves"] == 2)
            for enders in ([], [0]):
                one.ask("end")
                one.until(lambda told, enders=enders: told["enders"] == enders)
            two.until(lambda told: told["enders"] == [0])
            two.ask("end")
            two.until(lambda told: told["enders"] == [0, 1])
        with visit(client, KEYS.seats[0]) as study:
            assert study.refused().startswith("This game is not over")
        one.ask("stand_in", seat=2)  # an agent agrees with the others
        view = one.until(lambda told: told["view"]["over"])["view"]
        assert view["session_over"]
        assert view["result"].startswith("The game was ended by agreement. ")
        assert view["sheet"]["scores"] == [player["score"] for player in view["players"]]
        one.ask("end")
        assert one.says() == "Only people who play together can agree to end a game."
        with visit(client, KEYS.seats[0]) as study:
            told = study.open()
            assert (told["over"], told["line"], len(told["steps"]), told["result"]) == (True, False, 3, view["result"])
            assert {study.read("decision")["at"] for _ in range(2)} == {0, 1}
            study.read("games")
            study.send(do="move", at=1, move=str(Game.replay(told["record"]).moves[1]))
            assert not study.read("study")["over"], "what is tried goes on"
        one.ask("again")
        assert not one.until(lambda told: told["game"] == 2)["view"]["over"]
    assert "[End" in kept.games[0][-1]
    assert "[End" not in kept.games[1][-1]


# ---------------------------------------------------------------------- tables where only agents play


def test_agents_play_to_the_end_in_steps_and_on_and_who_watches_deals_anew():
    kept = Kept()
    load = lambda: hosted("mini-low", ("greedy", "random"), kept)  # noqa: E731
    thinker = Counting()
    with serving(load, thinker=thinker) as client:
        assert not thinker.decided, "agents wait for somebody to watch"
        with page(client) as one:
            assert one.told["view"]["seat"] is None
            assert one.told["view"]["hand"] == []
            one.ask("pause", on=True)
            one.until(lambda told: told["paused"])
            one.begin("mini-low", "greedy", "random")
            for count in range(1, 4):
                one.ask("step")
                one.until(lambda told, count=count: told["game"] == 2 and told["moves"] == count)
            time.sleep(0.1)
            one.ask("pace", pace="fast")
            assert one.until(lambda told: told["pace"] == "fast")["moves"] == 3, "one step, one move"
            one.ask("undo")
            assert one.says() == "You only watch at this table."
            one.ask("pause", on=False)
            one.until(lambda told: told["view"]["over"])
    game = Game.replay(kept.games[-1][-1])
    assert game.is_over
    assert players_in(game) == ["greedy", "random"]


class Clock:
    """Time that passes for who sleeps."""

    Event = asyncio.Event

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now

    async def sleep(self, seconds):
        self.now += max(0.0, seconds)

    async def lasts(self, work):
        """How long some work takes."""
        begun = self.now
        await work
        return round(self.now - begun, 6)


@pytest.fixture
def clock(monkeypatch):
    """The clock of a table's pace."""
    clock = Clock()
    monkeypatch.setattr(pace_room, "asyncio", clock)
    monkeypatch.setattr(pace_room, "time", clock)
    return clock


@pytest.mark.anyio
async def test_the_pace_is_a_pause_between_moves_and_a_forced_move_comes_no_sooner_than_a_choice(clock):
    pace = Pace(0.2)
    for name, pause in (("slow", 0.5), ("normal", 0.2), ("fast", 0.05)):
        pace.set(name)
        assert await clock.lasts(pace.rest()) == pause
    lasted = [await clock.lasts(pace.awaited(1, clock.sleep(seconds))) for seconds in (0.4, 0.3, 0.0, 0.0)]
    assert lasted == [0.4, 0.3, 0.3, 0.3]
    assert await clock.lasts(pace.awaited(0, clock.sleep(0.0))) == 0.05, "each seat has its own"


@pytest.mark.parametrize("rules", ["mini-double", "mini-mulle"])
def test_a_pile_lies_face_down_but_for_the_cards_that_swept_and_is_open_at_the_end(rules):
    game = Game(Rules.parse(rules), seed=4)
    words, swept = Narrator(game.rules, seat=0), [[] for _ in range(game.rules.players)]
    while not game.is_over:
        for seat, player in enumerate(view(game, words)["players"]):
            assert (player["taken"], player["swept"]) == (None, swept[seat])
            assert player["pile"] == len(game.captured(seat))
        move, seat = game.legal_moves()[-1], game.turn
        game.push(move)
        swept[seat] += [move.card] * bool(move.sweep)
    assert any(swept)
    for seat, player in enumerate(view(game, words)["players"]):
        assert (player["taken"], player["swept"]) == (game.captured(seat), swept[seat])
