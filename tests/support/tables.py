"""Tables in the browser without a browser: their server, and pages that speak to it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import time
from concurrent.futures import Future

from starlette.testclient import TestClient

from krypenv import Game, Rules
from krypenv.ui.browser.app import app_of
from krypenv.ui.browser.hosted import Hosted
from krypenv.ui.browser.keys import Keys
from krypenv.ui.browser.pages import Pages
from krypenv.ui.browser.start import dealt_as
from krypenv.ui.browser.thinking import AgentFailed, Thinker
from krypenv.ui.study.learners import Lessons
from krypenv.ui.study.studies import Studies

WAIT = 120  # seconds for a message, in which code may be compiled
ADDRESS = "http://127.0.0.1:8765"
WEB = "ws://127.0.0.1:8765/"
KEYS = Keys(
    tuple(f"key-of-seat-{seat}-" * 2 for seat in range(6)),
    "key-of-who-watches-it",
    "key-of-the-host-of-it",
    is_open=True,
)


class Here(Thinker):
    """Agents that think in this process, at once."""

    async def work(self, function, *arguments):
        return function(*arguments)


class Waiting(Here):
    """Agents that decide and advise when they may; their move is the last of those that are legal."""

    def __init__(self):
        super().__init__()
        self.may_go, self.asked, self.thinking, self.most = False, [], 0, 0  # the last is how many thought at once

    async def decide(self, spec, seat, game):
        await self._wait(game)
        return str(game.legal_moves()[-1])

    async def advise(self, spec, game):
        await self._wait(game)
        return await super().advise(spec, game)

    def go(self):
        """Let them decide and advise, and wait until they have."""
        self.may_go = True
        while self.thinking:
            time.sleep(0.01)

    async def _wait(self, game):
        self.asked.append(game)
        self.thinking += 1
        self.most = max(self.most, self.thinking)
        while not self.may_go:
            await asyncio.sleep(0.01)
        self.thinking -= 1


class Failing(Here):
    """Agents of which the first decision fails."""

    has_failed = False

    async def decide(self, spec, seat, game):
        if self.has_failed:
            return await super().decide(spec, seat, game)
        self.has_failed = True
        raise AgentFailed("raised ValueError: 8S is illegal; seat 1 may KH or 2D")


class Kept:
    """What was saved: a list of records for each game."""

    def __init__(self):
        self.games = [[]]

    def __call__(self, record, is_new):
        if is_new:
            self.games.append([])
        self.games[-1].append(record.decode())


def hosted(rules="mini-low", players=("person", "greedy"), keep=None, seed=3, language="en", adviser="greedy"):
    """A game at a table."""
    return Hosted(Game(Rules.parse(rules), seed=seed), players, adviser, keep or Kept(), language)


def table_app(load, keys=KEYS, thinker=None, is_local=True, studied=None, pause=0.0, **more):
    """A table's server; games are studied there if there is somebody who values moves."""
    thinker = thinker or Here()
    pages = Pages(opens(load), keys, thinker, pause=pause, **more)
    return app_of(pages, is_local, sockets_of(pages, keys, thinker, studied))


def serving(*given, **more):
    """A client of a table's server, `table_app`."""
    return TestClient(table_app(*given, **more), ADDRESS)


def opens(load):
    """What begins the game that is loaded, and after it the games that a page chooses."""
    tables = []

    def begin(choice):
        if choice is None:
            tables.append(load())
            return tables[0]
        game, players, helper = dealt_as(choice, {})
        keep = tables[0]._keep if tables[0] else Kept()
        hosted = Hosted(game, players, helper or "greedy", keep, choice.language)
        keep(hosted.record(), True)
        return hosted

    return begin


def within(seconds, call):
    """Return what a call gives; raise TimeoutError if it takes longer."""
    done = Future()

    def run():
        try:
            done.set_result(call())
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return done.result(seconds)


def sockets_of(pages, keys, thinker, studied=None):
    """What serves the pages beside a table: lessons, and studies if somebody values moves."""
    sockets = {"/learn": Lessons(pages, thinker).serve}
    if studied:
        sockets["/study"] = Studies(keys, type(thinker), studied, pages, report=pages.report).serve
    return sockets


class Page:
    """A page without a browser."""

    def __init__(self, socket):
        self.socket, self.told = socket, {}

    def read(self, until=lambda told: True):
        """Read new messages until one is as it should be, and return it."""
        while True:
            self.told = within(WAIT, self.socket.receive_json)
            if self.told["type"] != "wait" and until(self.told):
                return self.told

    def until(self, wanted):
        """Return the state of the table once it is as it should be, now or later."""
        return self.told if wanted(self.told) else self.read(wanted)

    def ask(self, do, **more):
        """Ask for something, of the state that the page shows."""
        self.send(**{"do": do, "edit": self.told["edit"], **more})

    def begin(self, rules, *players, **more):
        """Choose the next game, and wait until it has begun."""
        before = self.told.get("game")
        self.send(do="begin", rules=rules, players=players, **more)
        return self.read(lambda told: told["type"] == "table" and told["game"] != before)

    def says(self):
        """Read what is said next."""
        return self.read(lambda told: "say" in told)["say"]

    def send(self, **message):
        self.socket.send_text(json.dumps(message))

    def play(self, choose=lambda moves: moves[0]["move"]):
        """Play a move, once it is this seat's turn, and read what comes of it."""
        self.my_turn()
        made = self.told["moves"]
        self.ask("play", move=choose(self.told["view"]["moves"]))
        return self.until(lambda told: told["moves"] > made)

    def my_turn(self):
        """Read until it is this seat's turn, or the game is over."""
        while not (self.told.get("view") and (self.told["view"]["over"] or self.is_mine)):
            self.read()
        return self.told

    @property
    def is_mine(self):
        return self.told["view"]["turn"] == self.told["view"]["seat"]


@contextlib.contextmanager
def page(client, key="", origin=ADDRESS, path="socket"):
    """A page of a table, or of who learns or studies, which has got its first message."""
    with client.websocket_connect(f"{WEB}{path}", headers={"origin": origin}) as socket:
        one = Page(socket)
        one.send(do="sit", key=key)
        one.read()
        yield one
