"""Games that are over, and positions: the moves' values as they come, luck, and the challenge."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.websockets import WebSocket, WebSocketDisconnect

from krypenv.inputs import schema
from krypenv.inputs.words import one_line
from krypenv.ui.browser.guests import Place, Refused, Room
from krypenv.ui.browser.keys import Keys
from krypenv.ui.browser.pages import Pages
from krypenv.ui.browser.requests import LARGEST, a_message, parse_message
from krypenv.ui.browser.sockets import NOT_READ, Gone, received, welcome
from krypenv.ui.browser.thinking import AgentFailed, Thinker
from krypenv.ui.narrator.texts import CATALOGUES, called, say
from krypenv.ui.seats import names_of, people_of, players_in

if TYPE_CHECKING:
    from krypenv.game.game import Game  # it loads the engine, for which no page is to wait
    from krypenv.ui.narrator.narrator import Narrator

LONGEST_NAME = 40  # characters of what a record calls a player
MOST_VISITS = 8  # pages that study at once, each with a process of 200 MB
MOST_KEPT = 8  # games whose analyses are kept
MOST_LISTED = 20  # games of a table that are listed
LONGEST = 2 * LARGEST + 20_000  # characters of a message: a game in JSON, where a line break takes two, and its moves
MOST_MOVES = 1000  # of a line
_A_PLACE = schema.whole(0, 100_000)
VISITS = {  # what a page may ask for
    "open": a_message(
        {}, {"record": str, "moves": schema.a_list(schema.Line, 0, MOST_MOVES), "game": schema.whole(1, 100_000)}
    ),
    "look": a_message({"at": _A_PLACE}),
    "move": a_message({"at": _A_PLACE, "move": schema.Line}),
    **dict.fromkeys(("return", "challenge"), a_message({})),
}


def parse_visit(text: str) -> dict[str, Any]:
    """Return what a message asks for; raises ValueError, with a sentence, for anything else."""
    return parse_message(text, VISITS, LONGEST)


class Analyst(NamedTuple):
    """Who values moves and measures luck: functions that other processes find by their names."""

    agent: str  # who values moves, and who plays the challenge, as a person typed it
    examine: Callable[[Game, str, str], dict[str, Any]]  # of a game, a move and an agent: `RecordedMove.to_json`
    luck: Callable[[Game, int, str, str, str], dict[str, Any]]  # of a game and a side in words: `GameLuck.to_json`

    @property
    def name(self) -> str:
        """What the agent is called."""
        return called(self.agent)


class _Subject(NamedTuple):
    """What a page studies."""

    game: Game
    players: list[str]  # who sat where; empty if nobody knows
    seat: int | None  # for whom it is told
    words: Narrator
    found: dict[int, dict[str, Any]]  # the analyses of moves so far, by how many were made before each
    opened: Game  # the game or the position that was opened
    is_line: bool = False  # whether other moves are played than those of a game that is over

    @property
    def is_of_a_game(self) -> bool:
        """Whether a game that is over was opened, and not a position."""
        from krypenv.ui.view import is_over

        return is_over(self.opened)


class Studies:
    """All pages on which games are studied.

    A game that is still being played is opened to nobody: neither the table's own, nor a record that is not over, nor
    one of the cards that are being played at the table, nor a position that everybody at the table has seen there.

    Args:
        keys: which key leads to which seat, where there is no table.
        thinker: makes where moves are valued: each page has a process of its own, which ends with it.
        analyst: who values them.
        pages: the table, whose game may be studied once it is over; None if there is none.
        load: reads the record or the position that a page opens at first; None for the table's game.
        language: of the texts where there is no table.
        report: called with what goes wrong, for the host alone.

    Attributes:
        thinker, analyst, pages, report: as given.
        language: of the texts.
    """

    def __init__(
        self,
        keys: Keys,
        thinker: Callable[[], Thinker],
        analyst: Analyst,
        pages: Pages | None = None,
        load: Callable[[], Game] | None = None,
        language: str = "en",
        report: Callable[[str], object] = id,
    ) -> None:
        self._keys, self.pages, self._load, self.language = keys, pages, load, language
        self.thinker, self.analyst, self.report = thinker, analyst, report
        self._room = Room(MOST_VISITS)
        self._found: dict[str, dict[int, dict[str, Any]]] = {}  # analyses, by record

    async def serve(self, socket: WebSocket) -> None:
        """Serve a page until it is closed."""
        await welcome(socket, self._room, partial(self._enter, socket))

    async def _enter(self, socket: WebSocket, key: str, place: Place) -> None:
        seat = None
        if self.pages:
            _, seat = await self.pages.seat_of(key)
            place.sit(seat)
            self.language = self.pages.language
        elif not self._keys.opens(key):
            raise Refused(self.say("study_no_key"))
        with contextlib.closing(_Visit(socket, self, seat)) as visit:
            await visit.listen()

    def say(self, key: str, **parts: Any) -> str:
        """Return a text of the page."""
        return say(self.language, key, **parts)

    def subject(self, record: str | None, seat: int | None, number: int | None = None) -> _Subject:
        """Return what a page may study: a record, a position, or a game of this table, by default the last one.

        Raises Refused for anything else.
        """
        from krypenv.ui.study.steps import StillPlayed, person_of, read_study

        hosted = self.pages.hosted if self.pages else None
        try:
            if record is not None:
                game = read_study(record)
            elif self._load:
                game = self._load()
            elif hosted and (number or hosted.number) in hosted.finished:
                game = hosted.finished[number or hosted.number].copy()
            else:
                raise Refused(self.say("study_not_over" if hosted else "study_none"))
        except StillPlayed:
            raise Refused(self.say("study_not_over")) from None
        except ValueError as error:
            raise Refused(self.say("study_not_read", reason=one_line(str(error)))) from None
        is_own = record is None and not self._load
        players = hosted.players if hosted and is_own else players_in(game)
        if not is_own or seat not in people_of(players):
            seat = person_of(players)
        return self.back(_Subject(game, players, seat, self._words(game, players, seat), {}, game))

    def games(self, seat: int | None) -> list[tuple[Game, Narrator, dict[str, Any]]]:
        """List the games of this table that are over, each with what a page is told of it."""
        hosted, found = self.pages.hosted if self.pages else None, []
        if hosted:
            for number, game in list(hosted.finished.items())[-MOST_LISTED:]:
                words = self._words(game, hosted.players, seat)
                told = {"number": number, "told": words.result(game), "compared": hosted.compared(number, seat)}
                found.append((game, words, told))
        return found

    def _words(self, game: Game, players: list[str], seat: int | None) -> Narrator:
        from krypenv.ui.narrator.narrator import Narrator

        names = names_of(players, CATALOGUES[self.language]["player"]) if players else ()
        names = [one_line(name, LONGEST_NAME) for name in names]
        return Narrator(game.rules, names, seat, self.language)

    def check_closed(self, game: Game) -> None:
        """Raise Refused for a game that is being played at the table, or for a position that was seen there.

        A position is known by what everybody has seen, for an answer must not tell whose hand was guessed right.
        """
        hosted = self.pages.hosted if self.pages else None
        if not hosted or hosted.is_over:
            return
        from krypenv.ui.study.steps import seen_in

        own = hosted.game.copy()
        if seen_in(own) & seen_in(game) if game.origin else own.deck == game.deck:
            raise Refused(self.say("study_same_cards"))

    def played_on(self, subject: _Subject, at: int, moves: Sequence[str]) -> _Subject:
        """Return a line in which some moves follow after others; raises Refused for illegal ones."""
        from krypenv.ui.study.steps import at_step, shared_moves

        game = at_step(subject.game, at)
        try:
            for move in moves:
                game.push(move)
        except ValueError as error:
            raise Refused(f"{one_line(str(error))}.") from None
        self.check_closed(game)
        same = shared_moves(game, subject.game)
        found = {each: its for each, its in subject.found.items() if each <= same}
        return subject._replace(game=game, found=found, is_line=True)

    def back(self, subject: _Subject) -> _Subject:
        """Return what was opened, after a line that left it; raises Refused if it must stay closed."""
        opened, is_of_a_game = subject.opened, subject.is_of_a_game
        self.check_closed(opened)
        found = self._kept(opened.record()) if is_of_a_game else {}
        return subject._replace(game=opened, found=found, is_line=not is_of_a_game)

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
        self._thinker = studies.thinker()
        self._subject: _Subject | None = None
        self._at = 0  # the decision that the page shows, which is valued first
        self._working: asyncio.Task[None] | None = None
        self._challenge: asyncio.Task[None] | None = None

    async def listen(self) -> None:
        """Answer what the page asks for, until it is closed."""
        texts, language = CATALOGUES[self._all.language], self._all.language
        await self._tell(type="hello", texts=texts, language=language, table=self._all.pages is not None)
        while True:
            text = await received(self._socket)
            try:
                await self._do(**parse_visit(text))
            except ValueError as error:
                await self._tell(type="say", say=NOT_READ.format(error))
            except Refused as reason:
                await self._tell(type="say", say=str(reason))

    def stop(self) -> None:
        """Stop what is being worked out for the game that is studied."""
        for task in (self._working, self._challenge):
            if task:
                task.cancel()

    def close(self) -> None:
        """Stop all, and end the process."""
        self.stop()
        self._thinker.close()

    async def _tell(self, **message: Any) -> None:
        try:
            await self._socket.send_json(message)
        except (RuntimeError, OSError, WebSocketDisconnect):
            raise Gone from None

    async def _do(self, do: str, **its: Any) -> None:
        if do == "open":
            await self._open(its.get("record"), its.get("moves", ()), its.get("game"))
        elif do == "return":
            if self._subject:
                await self._show(await asyncio.to_thread(self._all.back, self._subject))
        elif do == "move":
            if self._subject:
                await self._show(await asyncio.to_thread(self._all.played_on, self._subject, its["at"], [its["move"]]))
        elif do == "look":
            self._at = its["at"]
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
                self._all.report(f"{name}: {one_line(str(error))}")
                await self._tell(type="failed", say=self._all.say("agent_failed", who=name))

    async def _open(self, record: str | None, moves: Sequence[str], number: int | None) -> None:
        subject = await asyncio.to_thread(self._all.subject, record, self._seat, number)
        if moves:
            subject = await asyncio.to_thread(self._all.played_on, subject, 0, moves)
        await self._show(subject)

    async def _show(self, subject: _Subject) -> None:
        from krypenv.ui.study.steps import can_challenge, record_for_pages, shared_moves, study_of

        game, words, opened = subject.game, subject.words, subject.opened
        study = await asyncio.to_thread(study_of, game, words, subject.is_line)
        self.stop()
        self._subject, self._at = subject, len(game.moves) if subject.is_line else 0
        is_of_a_game = subject.is_of_a_game
        told: dict[str, Any] = {"record": record_for_pages(opened) if is_of_a_game else opened.rewound().position()}
        told["challenge"] = not subject.is_line and can_challenge(subject.seat, subject.players)
        told["left"] = shared_moves(game, opened) if subject.is_line and is_of_a_game else None
        if subject.is_line:
            told["moves"] = [str(move) for move in game.moves]
        await self._tell(type="study", by=self._all.analyst.name, at=self._at, **told, **study)
        self._working = self._start(self._value_moves(subject))

    async def _value_moves(self, subject: _Subject) -> None:
        """Value all moves, the one that the page shows first, and measure luck at last; tell each as it comes."""
        from krypenv.ui.study.steps import any_move, decision_of

        analyst, work = self._all.analyst, self._thinker.work
        before, moves = await asyncio.to_thread(_positions, subject.game, subject.is_line)
        left = list(range(len(before)))
        while left:
            at = next((each for each in left if each >= self._at), left[0])
            left.remove(at)
            played, found = moves[at], subject.found.get(at)
            if not found or (played and played not in [value["move"] for value in found["moves"]]):
                move = played or any_move(before[at])
                subject.found[at] = await work(analyst.examine, before[at], move, analyst.agent)
            await self._tell(type="decision", **decision_of(before[at], subject.words, subject.found[at], played))
        for at, played in enumerate(moves):  # a move that was chosen by its value has no mark yet
            if played and subject.found[at]["played"]["move"] != played:
                subject.found[at] = await work(analyst.examine, before[at], played, analyst.agent)
                await self._tell(type="decision", **decision_of(before[at], subject.words, subject.found[at], played))
        if subject.is_line:
            return
        luck = await self._luck(subject.game, subject.words)
        await self._tell(type="luck", side=subject.words.own_side or 0, told=luck)
        games = await asyncio.to_thread(self._all.games, self._seat)
        for game, words, told in games:
            told["told"] = await self._luck(game, words) or told["told"]
        await self._tell(type="games", games=[told for _, _, told in games])

    async def _luck(self, game: Game, words: Narrator) -> str:
        """Return how the side for whom a game is told came off, the first one if nobody plays, and its luck."""
        from krypenv.ui.study.steps import told_side

        name, whom = told_side(words, words.seat or 0)
        luck = self._all.analyst.luck
        return str((await self._thinker.work(luck, game, words.seat or 0, name, whom, words.language))["told"])

    async def _play_again(self, subject: _Subject) -> None:
        from krypenv.ui.study.steps import can_challenge, compared, play_again, record_for_pages

        if subject.seat is None or not can_challenge(subject.seat, subject.players):
            return await self._tell(type="say", say=self._all.say("challenge_no_agents"))
        analyst, decide = self._all.analyst, self._thinker.decide
        of = len(subject.game.moves)

        async def tell(made: int) -> None:
            await self._tell(type="playing", made=made, of=of)

        other = await play_again(subject.game, subject.seat, subject.players, analyst.agent, decide, tell)
        found = await asyncio.to_thread(compared, subject.game, other, subject.seat, subject.words)
        await self._tell(type="challenge", by=analyst.name, record=record_for_pages(other), **found)


def _positions(game: Game, is_line: bool) -> tuple[list[Game], list[str | None]]:
    """Return the game before each of its moves, and the moves; a line that goes on also as it is, without a move."""
    twin, found = game.rewound(), []
    moves: list[str | None] = [str(move) for move in game.moves]
    for move in game.moves:
        found.append(twin.copy())
        twin.push(move)
    return (found, moves) if game.is_over or not is_line else ([*found, twin], [*moves, None])
