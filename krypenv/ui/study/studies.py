"""Games that are over, for pages that step through them: the moves' values as they come, luck, and the challenge."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.websockets import WebSocket, WebSocketDisconnect

from krypenv.inputs import schema
from krypenv.inputs.files import parse_json
from krypenv.inputs.words import one_line, short_name
from krypenv.ui.browser.keys import Keys
from krypenv.ui.browser.pages import Pages
from krypenv.ui.browser.seats import names_of, people_of
from krypenv.ui.browser.sockets import NOT_READ, Gone, Refused, received, welcome
from krypenv.ui.browser.texts import CATALOGUES, say
from krypenv.ui.browser.thinking import AgentFailed, Thinker

if TYPE_CHECKING:
    from krypenv.one_game import Game  # it loads the engine, for which no page is to wait
    from krypenv.ui.narrator.narrator import Narrator

LONGEST_NAME = 40  # characters of what a record calls a player
MOST_VISITS = 20  # pages that study at once
MOST_KEPT = 8  # games whose analyses are kept
_FULL = "Too many pages study games; close one."
_A_REQUEST = schema.a_record(
    {"do": schema.matching("open|look|challenge", "one of open, look, challenge")},
    {"record": schema.text, "at": schema.whole(0, 100_000)},
    more=False,
)


class Analyst(NamedTuple):
    """Who values moves and measures luck: functions that other processes find by their names."""

    agent: str  # who values moves, and who plays the challenge, as a person typed it
    examine: Callable[[Game, str, str], dict[str, Any]]  # of a game, a move and an agent: `RecordedMove.to_json`
    luck: Callable[[Game, int, str, str, str], dict[str, Any]]  # of a game and a side in words: `GameLuck.to_json`

    @property
    def name(self) -> str:
        """What the agent is called."""
        name = short_name(self.agent)
        return name[:1].upper() + name[1:]


class _Subject(NamedTuple):
    """What a page studies."""

    game: Game
    players: list[str]  # who sat where; empty if nobody knows
    seat: int | None  # for whom it is told
    words: Narrator
    found: dict[int, dict[str, Any]]  # the analyses of moves so far, by how many were made before each


class Studies:
    """All pages on which games are studied.

    A game that is still being played is opened to nobody: neither the table's own, nor a record that is not over, nor
    one of the cards that are being played at the table.

    Args:
        keys: which key leads to which seat, where there is no table.
        thinker: where moves are valued.
        analyst: who values them.
        pages: the table, whose game may be studied once it is over; None if there is none.
        load: reads the record that a page opens at first; None for the table's game.
        language: of the texts where there is no table.
    """

    def __init__(
        self,
        keys: Keys,
        thinker: Thinker,
        analyst: Analyst,
        pages: Pages | None = None,
        load: Callable[[], Game] | None = None,
        language: str = "en",
    ) -> None:
        self._keys, self._pages, self._load, self._language = keys, pages, load, language
        self.thinker, self.analyst = thinker, analyst
        self._visits = 0
        self._found: dict[str, dict[int, dict[str, Any]]] = {}  # analyses, by record

    async def serve(self, socket: WebSocket) -> None:
        """Serve a page until it is closed."""
        await welcome(socket, partial(self._enter, socket))

    async def _enter(self, socket: WebSocket, key: str) -> None:
        seat = None
        if self._pages:
            hosted, seat = await self._pages.seat_of(key)
            self._language = hosted.language
        elif not self._keys.opens(key):
            raise Refused(self.say("study_no_key"))
        if self._visits >= MOST_VISITS:
            raise Refused(_FULL)
        self._visits += 1
        visit = _Visit(socket, self, seat)
        try:
            await visit.listen()
        finally:
            self._visits -= 1
            visit.stop()

    def say(self, key: str, **parts: Any) -> str:
        """Return a text of the page."""
        return say(self._language, key, **parts)

    @property
    def greeting(self) -> dict[str, Any]:
        """What a page is told first."""
        return {
            "type": "hello",
            "texts": CATALOGUES[self._language],
            "language": self._language,
            "table": self._pages is not None,
        }

    def subject(self, record: str | None, seat: int | None) -> _Subject:
        """Return what a page may study: a record, or the game that it finds here; raises Refused for anything else."""
        from krypenv.ui.study.steps import StillPlayed, person_of, read_record, seats_in

        hosted = self._pages.hosted if self._pages else None
        try:
            if record is not None:
                game = read_record(record)
            elif self._load:
                game = self._load()
            elif hosted and hosted.game.is_over:
                game = hosted.game.copy()
            else:
                raise Refused(self.say("study_not_over" if hosted else "study_none"))
        except StillPlayed:
            raise Refused(self.say("study_not_over")) from None
        except ValueError as error:
            raise Refused(self.say("study_not_read", reason=one_line(str(error)))) from None
        if hosted and not hosted.game.is_over and hosted.game.deck == game.deck:
            raise Refused(self.say("study_same_cards"))
        is_own = record is None and not self._load
        players = hosted.players if hosted and is_own else seats_in(game)
        if not is_own or seat not in people_of(players):
            seat = person_of(players)
        return self._told_to(game, players, seat)

    def _told_to(self, game: Game, players: list[str], seat: int | None) -> _Subject:
        from krypenv.ui.narrator.narrator import Narrator

        names = names_of(players, CATALOGUES[self._language]["player"]) if players else ()
        names = [one_line(name, LONGEST_NAME) for name in names]
        words = Narrator(game.rules, names, seat, self._language)
        return _Subject(game, players, seat, words, self._kept(game.record()))

    def _kept(self, record: str) -> dict[int, dict[str, Any]]:
        found = self._found.pop(record, {})
        self._found[record] = found
        while len(self._found) > MOST_KEPT:
            del self._found[next(iter(self._found))]
        return found


class _Visit:
    """A page that studies a game: what it is told, and what is being worked out for it."""

    def __init__(self, socket: WebSocket, studies: Studies, seat: int | None) -> None:
        self._socket, self._all, self._seat = socket, studies, seat
        self._subject: _Subject | None = None
        self._at = 0  # the decision that the page shows, which is valued first
        self._working: asyncio.Task[None] | None = None
        self._challenge: asyncio.Task[None] | None = None

    async def listen(self) -> None:
        """Answer what the page asks for, until it is closed."""
        await self._tell(**self._all.greeting)
        while True:
            text = await received(self._socket)
            try:
                request = parse_visit(text)
                await self._do(**request)
            except ValueError as error:
                await self._tell(type="say", say=NOT_READ.format(error))
            except Refused as reason:
                await self._tell(type="say", say=str(reason))

    def stop(self) -> None:
        """Stop what is being worked out."""
        for task in (self._working, self._challenge):
            if task:
                task.cancel()

    async def _tell(self, **message: Any) -> None:
        try:
            await self._socket.send_json(message)
        except (RuntimeError, OSError, WebSocketDisconnect):
            raise Gone from None

    async def _do(self, do: str, record: str | None = None, at: int = 0) -> None:
        if do == "open":
            await self._open(record)
        elif do == "look":
            self._at = at
        elif self._subject and not (self._challenge and not self._challenge.done()):
            self._challenge = self._start(self._play_again(self._subject))

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        return asyncio.get_running_loop().create_task(self._safely(work))

    async def _safely(self, work: Coroutine[Any, Any, None]) -> None:
        """Do some work; tell the page if it fails, unless the page is gone."""
        with contextlib.suppress(Gone):
            try:
                await work
            except (AgentFailed, ValueError) as error:
                name = self._all.analyst.name
                reason = self._all.say("agent_failed", who=name, reason=one_line(str(error)))
                await self._tell(type="failed", say=reason)

    async def _open(self, record: str | None) -> None:
        from krypenv.ui.study.challenge import can_challenge
        from krypenv.ui.study.steps import study_of, without_seed

        subject = await asyncio.to_thread(self._all.subject, record, self._seat)
        self.stop()
        self._subject, self._at = subject, 0
        game, words = subject.game, subject.words
        study = await asyncio.to_thread(study_of, game, words)
        can = can_challenge(subject.seat, subject.players)
        saved = without_seed(game).record()
        await self._tell(type="study", by=self._all.analyst.name, record=saved, challenge=can, **study)
        self._working = self._start(self._value_moves(subject))

    async def _value_moves(self, subject: _Subject) -> None:
        """Value all moves, the one that the page shows first, and measure luck at last; tell each as it comes."""
        from krypenv.ui.study.steps import decision_of, told_side

        analyst, work = self._all.analyst, self._all.thinker.work
        before, moves = await asyncio.to_thread(_positions, subject.game)
        left = list(range(len(moves)))
        while left:
            at = next((each for each in left if each >= self._at), left[0])
            left.remove(at)
            if at not in subject.found:
                subject.found[at] = await work(analyst.examine, before[at], moves[at], analyst.agent)
            await self._tell(type="decision", **decision_of(before[at], subject.words, subject.found[at]))
        seat = subject.seat or 0
        name, whom = told_side(subject.words, seat)
        luck = await work(analyst.luck, subject.game, seat, name, whom, subject.words.language)
        await self._tell(type="luck", side=subject.words.rules.team_of(seat), **luck)

    async def _play_again(self, subject: _Subject) -> None:
        from krypenv.ui.study.challenge import can_challenge, compared, play_again

        if subject.seat is None or not can_challenge(subject.seat, subject.players):
            return await self._tell(type="say", say=self._all.say("challenge_no_agents"))
        analyst, decide = self._all.analyst, self._all.thinker.decide
        of = len(subject.game.moves)

        async def tell(made: int) -> None:
            await self._tell(type="playing", made=made, of=of)

        other = await play_again(subject.game, subject.seat, subject.players, analyst.agent, decide, tell)
        found = await asyncio.to_thread(compared, subject.game, other, subject.seat, subject.words)
        await self._tell(type="challenge", by=analyst.name, record=other.record(), **found)


def _positions(game: Game) -> tuple[list[Game], list[str]]:
    """Return the game before each of its moves, and the moves."""
    twin, found = game.rewound(), []
    for move in game.moves:
        found.append(twin.copy())
        twin.push(move)
    return found, [str(move) for move in game.moves]


def parse_visit(text: str) -> dict[str, Any]:
    """Return what a message asks for; raise ValueError, with a sentence, for anything else."""
    try:
        found = parse_json(text)
    except ValueError as error:
        raise ValueError(f"a message {error}") from None
    _A_REQUEST(found, "")
    assert isinstance(found, dict)
    return found
