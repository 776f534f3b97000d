"""Pages that study games, without a browser; moves are valued in this process."""

from __future__ import annotations

import contextlib
import random

from starlette.testclient import TestClient

from krypenv import Game, Rules
from krypenv.training.cli.table import examine_move, measure_luck
from krypenv.ui.browser.app import app_of
from krypenv.ui.study.studies import Analyst, Studies
from support.tables import ADDRESS, KEYS, WAIT, Here, Page, within

ANALYST = Analyst("search(worlds=4)", examine_move, measure_luck)
STUDY = "ws://127.0.0.1:8765/study"
LAST = """rules: mini-low players=2  # the last deal of a small game
hand 0: 2S 3C; hand 1: 4C 5D
table: 6H
captured 1: rest
"""


def played(rules="mini-low", players=("person", "greedy"), seed=3):
    """A game of random moves that is over, with its players in the record."""
    game, chance = Game(Rules.parse(rules), seed=seed), random.Random(seed)
    while not game.is_over:
        game.push(chance.choice(game.legal_moves()))
    game.tags |= {f"Seat{seat}": player for seat, player in enumerate(players)}
    return game


class Visit(Page):
    """A page that studies games."""

    def read(self, kind):
        """Read messages until one of a kind, and return it."""
        while True:
            told = within(WAIT, self.socket.receive_json)
            if told["type"] == kind:
                return told
            assert told["type"] not in ("say", "failed", "closed"), told["say"]

    def ask_for(self, record=None, moves=()):
        """Ask for a record, with moves that follow perhaps, or for the game that the page finds."""
        more = {"moves": moves} if moves else {}
        self.send(do="open", **more, **({} if record is None else {"record": record}))

    def open(self, record=None, moves=()):
        """Open it, and return it."""
        self.ask_for(record, moves)
        return self.read("study")

    def refused(self, record=None, moves=()):
        """Try to open it, and return why it stays closed."""
        self.ask_for(record, moves)
        return self.read("say")["say"]


@contextlib.contextmanager
def visit(client, key="", origin=ADDRESS):
    """A page that has its seat."""
    with client.websocket_connect(STUDY, headers={"origin": origin}) as socket:
        one = Visit(socket)
        one.send(do="sit", key=key)
        yield one


def study_app(load=None, keys=KEYS, language="en"):
    """A server without a table."""
    studies = Studies(keys, Here, ANALYST, load=load, language=language)
    return app_of(None, True, {"/study": studies.serve})


def studying(*given, **more):
    """A client of a server without a table, `study_app`."""
    return TestClient(study_app(*given, **more), ADDRESS)
