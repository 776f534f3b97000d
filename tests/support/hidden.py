"""Games that one seat can't tell from each other, and pages that note what they are sent."""

from __future__ import annotations

import asyncio
import json
import random
from typing import NamedTuple

from krypenv import Game
from krypenv.ui.browser.hosted import Hosted
from krypenv.ui.browser.pages import Pages
from krypenv.ui.browser.sockets import Page
from krypenv.ui.browser.thinking import AgentFailed, _agent
from support.tables import KEYS, Here, Kept


def some_moves(game):
    """The legal moves, or one of many where they can't be listed."""
    try:
        return game.legal_moves(300)
    except ValueError:
        twin, before = game.copy(), len(game.moves)
        while len(twin.moves) == before:
            twin.act(twin.legal_actions()[-1])
        return [twin.last_move]


def replayed(game, deck, seat):
    """A game of another deck after the same moves, if a seat can't tell it from this one; else None."""
    other, again = Game(game.rules, deck=deck), game.rewound()
    for move in [*game.moves, None]:
        hands = [] if seat is None else [each.hand(seat) for each in (other, again)]
        if hands[:1] != hands[1:] or (other.table, other.set_aside) != (again.table, again.set_aside):
            return None
        if move is None:
            return other
        try:
            other.push(move)
        except ValueError:
            return None
        again.push(move)
    return None


def twin_of(game, seat, chance, tries=200, before=()):
    """A game with other hidden cards that a seat can't tell from this one; None if none was found.

    Nor can it tell them from each other as they were before, where moves were taken back.
    """
    for _ in range(tries):
        deck = list(game.deck)
        for _ in range(chance.randint(1, 4)):
            one, two = (chance.randrange(len(deck)) for _ in range(2))
            deck[one], deck[two] = deck[two], deck[one]
        twin = replayed(game, deck, seat) if deck != game.deck else None
        if twin and all(replayed(each, deck, seat) for each in before):
            return twin
    return None


class Noting(Page):
    """A page that is sent each of its news at once, and notes it as it would be written; or one that notes nothing."""

    def __init__(self, seat, table, notes):
        super().__init__(None, seat)
        self._of, self._notes, self.heard = table, notes, []

    def tell(self, **more):
        if self._notes:
            self.heard.append(json.dumps({**self._of._message(self), **more}))


class Scripted(Here):
    """Agents whose decisions are given or else drawn; "" stands for one that fails, and then it tells its hand."""

    def __init__(self, given, chance):
        super().__init__()
        self._given, self._chance, self.made = list(given), chance, []

    async def decide(self, spec, seat, game):
        drawn = "" if self._chance.random() < 0.15 else str(self._chance.choice(some_moves(game)))
        self.made.append(self._given.pop(0) if self._given else drawn)
        if not self.made[-1]:
            raise AgentFailed(f"raised IllegalMove: {game.complaint('it is illegal')}")
        return self.made[-1]


class Event(NamedTuple):
    """What a page asked for, and how things stood when all that followed was done."""

    seat: int
    asked: dict
    is_private: bool  # nobody else hears of it
    heard: dict  # the number of messages so far, by seat
    decided: int  # the decisions of agents so far
    game: Game


class Whole:
    """A table at which each person has a page, and one page watches.

    Attributes:
        events: what pages asked for.
        pages: by seat, None for the one that watches.
        agents: who decides; `agents.made` are their decisions.
        reports: what the host was told.
    """

    def __init__(self, game, players, noting=None, decisions=(), seed=0):
        _agent.cache_clear()  # agents that give hints begin anew
        self._chance = random.Random(seed)
        self.agents, self.reports, self.events = Scripted(decisions, self._chance), [], []
        self.hosted = Hosted(game, players, "search(worlds=4)", Kept())
        self._table = Pages(lambda _: self.hosted, KEYS, self.agents, 0.0, report=self.reports.append)
        self._table.hosted, self._table._is_ready = self.hosted, True
        noting = (*self.hosted.people, None) if noting is None else noting
        self.pages = {seat: Noting(seat, self._table, seat in noting) for seat in (*self.hosted.people, None)}
        self._table._pages += self.pages.values()

    async def begin(self):
        self._table.tell_all()
        self._table._wake()
        await self._rest()

    async def ask(self, seat, **asked):
        """Have a page ask for something, and wait until all is done that follows."""
        before = self.hosted.edit
        self._table._answer(self.pages[seat], json.dumps({"edit": before, **asked}))
        is_private = before == self.hosted.edit and asked["do"] != "go"
        await self._rest()
        heard = {each: len(page.heard) for each, page in self.pages.items()}
        decided, game = len(self.agents.made), self.hosted.game.copy()
        self.events.append(Event(seat, asked, is_private, heard, decided, game))

    async def _rest(self):
        while tasks := [task for task in self._table._tasks if not task.done()]:
            await asyncio.gather(*tasks)

    async def play(self):
        """Play to the end, with moves that are refused, hints, and agents that fail, on the way."""
        await self.begin()
        chance, people = self._chance, self.hosted.people
        while not (game := self.hosted.game).is_over:
            if game.turn not in people:  # its agent has failed
                await self.ask(people[0], do="go")
            elif chance.random() < 0.2:
                await self.ask(game.turn, do="hint")
            elif chance.random() < 0.3:
                away = [card for card in game.deck if card not in game.hand(game.turn)]
                await self.ask(game.turn, do="play", move=chance.choice(away))
            elif chance.random() < 0.1 and len(people) == 1 and len(game.moves) > 3:
                await self.ask(game.turn, do="undo")
            else:
                await self.ask(game.turn, do="play", move=str(chance.choice(some_moves(game))))

    async def follow(self, events, seat):
        """Do once more what was done, but for what only others heard of."""
        await self.begin()
        for event in events:
            if event.seat == seat or not event.is_private:
                await self.ask(event.seat, **event.asked)
