"""`krypenv table`: a game at the table in the browser."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import typer
from pydantic import model_validator

from krypenv.inputs.files import PRIVATE, write_whole
from krypenv.inputs.words import one_line, printable
from krypenv.runtime import stopping
from krypenv.training.cli.outputs import check_files, is_same, read_text
from krypenv.training.cli.saved_games import Taken, alone, latest, own_name, take
from krypenv.training.settings.base import AgentName, File, option, output
from krypenv.training.settings.groups import AGENTS, GAME_RECORDS, AtTable

if TYPE_CHECKING:
    from krypenv.game.game import Game
    from krypenv.rules import Rules
    from krypenv.ui.browser.hosted import Hosted
    from krypenv.ui.study.studies import Analyst

_STEM = "table"  # of the names of files


class TableSettings(AtTable):
    """The settings of `krypenv table`."""

    command: ClassVar[str] = "table"

    against: tuple[AgentName, ...] = option(
        (),
        "another player; repeatable, from the first person's left on [default: champion at every other seat]",
        AGENTS,
        metavar="AGENT",
    )
    save: File | None = output(
        None, "file to save the game to [default: the file of --load, or table.krk or table-2.krk and so on]", "FILE"
    )
    people: int = option(1, "how many people play; each gets a link; 0 to watch", AGENTS, ge=0, le=6)
    seat: tuple[int, ...] = option((), "a person's seat; repeatable [default: from 0 on]", AGENTS)
    learn: bool = output(False, "open the page that teaches the game: twelve positions, and a first deal")
    study: str | None = option(
        None, "step through the record of a game that is over, or study a position", GAME_RECORDS, metavar="FILE"
    )
    host: str = output("127.0.0.1", "address to serve at; 0.0.0.0 lets others in, by their links")
    origin: tuple[str, ...] = output((), "address at which a proxy shows the table; repeatable", "URL")
    port: int | None = output(
        None, "port to serve at; 0 for any free one [default: 8765, or the next free one]", ge=0, le=65535
    )
    open: bool = output(True, "open the page in the browser")

    @model_validator(mode="after")
    def _fits(self) -> TableSettings:
        if self.load and self.is_new:
            raise ValueError("the record of --load has the rules, the deal and the seats; leave out their options")
        if self.study and (self.load or self.is_new or self.save or self.against):
            raise ValueError("the record of --study has the rules, the deal and the players; leave out their options")
        if self.seat and self.people not in (1, len(self.seat)):
            raise ValueError(f"--people {self.people} needs as many --seat, not {len(self.seat)}")
        return self

    def seated(self, rules: Rules, seats: Sequence[int] = ()) -> list[str]:
        """Assign players to seats; raise ValueError for seats or agents that don't fit the rules."""
        from krypenv.ui.browser.seats import players_at

        seats = seats or self.seat or range(self.people)
        return players_at(rules.players, seats, self.against or ("champion",) * (len(seats) < rules.players))

    @property
    def is_new(self) -> bool:
        """Whether an option is given that needs a new game."""
        return self.has_rules or self.seed is not None or bool(self.seat) or self.people != 1


def table_command(settings: TableSettings) -> None:
    """Play against agents, or with other people, at a table in the browser, or watch agents there.

    The game is saved after each move, to a file of its own. Without options for the game, the table goes on with the
    latest one of this folder that has not ended.
    """
    from krypenv.ui.browser.app import app_of
    from krypenv.ui.browser.pages import Pages
    from krypenv.ui.browser.serving import Serving, address_of, bound, is_loopback, link, open_soon, origin_of
    from krypenv.ui.browser.thinking import Thinker
    from krypenv.ui.study.learners import Lessons
    from krypenv.ui.study.studies import Studies

    is_local = is_loopback(settings.host) and not settings.origin
    if settings.study:
        return _study(settings, settings.study, is_local)
    origins = list(map(origin_of, settings.origin))
    players = [] if settings.load else settings.seated(settings.game_rules())
    thinkers = partial(Thinker, secrets.randbits(64) if settings.seed is None else settings.seed)
    with bound(settings.host, settings.port) as listening, contextlib.ExitStack() as held:
        files = _Files(settings, players, held, is_local)
        serving, page = Serving(), "learn.html" if settings.learn else ""

        def announce(hosted: Hosted) -> None:
            keys = pages.keys = files.keys
            needs_key = not is_local or len(hosted.people) > 1
            typer.echo(files.said)
            if needs_key:
                for seat in hosted.people:
                    typer.echo(f"the link of {hosted.name(seat)}: {link(address, keys.seats[seat])}")
            typer.echo(f"to watch: {link(address, keys.watch)}")
            if settings.open and needs_key:
                key = keys.seats[hosted.people[0]] if hosted.people else keys.watch
                open_soon(link(address, key, page))

        address = settings.origin[0] if settings.origin else address_of(listening, settings.host)
        typer.echo(f"The table is at {address} until you press Ctrl-C." if is_local else "Ctrl-C ends the table.")
        thinker = thinkers()
        pages = Pages(files.begin, files.keys, thinker, begun=announce, stop=serving.stop, report=_report)
        try:
            studies = Studies(files.keys, thinkers, _analyst(settings), pages, report=_report)
            lessons = Lessons(pages, thinker)
            sockets = {"/study": studies.serve, "/learn": lessons.serve}
            app = app_of(pages, is_local, sockets, origins, _report)
            needs_no_key = is_local and settings.people <= 1
            serving.run(app, listening, link(address, "", page) if needs_no_key and settings.open else "")
        except KeyboardInterrupt:
            if pages.is_loading:
                stopping.end_at_once()  # without waiting for the compiler
            typer.echo(files.end())


def _study(settings: TableSettings, source: str, is_local: bool) -> None:
    """Serve the page to study the game or the position of a file, without a table."""
    from krypenv.ui.browser.app import app_of
    from krypenv.ui.browser.keys import Keys
    from krypenv.ui.browser.serving import Serving, address_of, bound, link, origin_of
    from krypenv.ui.browser.thinking import Thinker
    from krypenv.ui.narrator.texts import language_of
    from krypenv.ui.study.steps import StillPlayed, read_study
    from krypenv.ui.study.studies import Studies

    try:
        game = read_study(read_text(source))
    except StillPlayed:
        raise ValueError(f"the game of {source} is not over, so its hands stay closed; play it to its end") from None
    thinkers, keys = partial(Thinker, settings.seed or 0), Keys.new(is_local)
    with bound(settings.host, settings.port) as listening:
        address = settings.origin[0] if settings.origin else address_of(listening, settings.host)
        own = link(address, "" if is_local else keys.watch, "study.html")
        typer.echo(f"The game is at {own} until you press Ctrl-C.")
        language = settings.language or language_of()
        studies = Studies(keys, thinkers, _analyst(settings), load=game.copy, language=language, report=_report)
        app = app_of(None, is_local, {"/study": studies.serve}, list(map(origin_of, settings.origin)), _report)
        with contextlib.suppress(KeyboardInterrupt):
            Serving().run(app, listening, own if settings.open else "")


def _report(error_text: str) -> None:
    """Print an error at the table in the terminal."""
    typer.echo(error_text, err=True)


def _analyst(settings: TableSettings) -> Analyst:
    """Make the analyst of studies: the agent of --hint, if it can value moves."""
    from krypenv.training.evaluation.analysis.streamed import examine_move, measure_luck
    from krypenv.ui.study.studies import Analyst

    return Analyst(settings.hint, examine_move, measure_luck)


def _keys_of(path: Path) -> Path:
    """Name the file of a game's keys, beside the game's own file."""
    return path.with_name(f".{path.name}-links.json")


class _Files:
    """The file of the current game, with a file of its keys beside it; a new game at the table gets new files.

    Attributes:
        keys: the keys of the links, which stay the same for new games at the table.
        path: the file of the current game; None before it has one.
        said: the message about the file.
    """

    def __init__(self, settings: TableSettings, players: list[str], held: contextlib.ExitStack, is_local: bool) -> None:
        from krypenv.ui.browser.keys import Keys

        self._settings, self._players, self._held, self._is_local = settings, players, held, is_local
        self.keys = Keys.new(is_local)
        self._kept_keys: Path | None = None  # the file of the keys
        self.path: Path | None = None
        self._unsaved = b""  # the record that could not be saved the last time
        self.said = self._elsewhere = ""

    def begin(self) -> Hosted:
        """Choose the game to play: that of --load, the latest unfinished one, or a new one."""
        from krypenv.ui.browser.hosted import Hosted
        from krypenv.ui.browser.keys import Keys
        from krypenv.ui.narrator.texts import language_of
        from krypenv.ui.table import dealt, next_of

        settings, players, unfinished = self._settings, self._players, None
        if settings.load:
            unfinished = self._loaded(settings.load)
        elif not (settings.is_new or settings.against or settings.save):
            unfinished = self._unfinished()
        if unfinished:
            game, players = unfinished
            if game.is_over:
                game = next_of(game)
            self.said = f"It goes on with the game of {printable(str(self.path))}."
        else:
            game = dealt(settings.game_rules(), settings.seed)
        hosted = Hosted(game, players, settings.hint, self.keep, settings.language or language_of())
        if self.path:
            self.keys = Keys.kept(_keys_of(self.path), self._is_local)
        elif settings.save:
            take(settings.save, self._held)
            self.path = settings.save
        self._write(hosted.record())
        self.said = self.said or f"{self._elsewhere}The game is saved in {printable(str(self.path))} as it goes."
        return hosted

    def keep(self, record: bytes, is_new: bool) -> None:
        """Save the game; a new game gets its own file, now or when it can next be saved."""
        self.path, self._unsaved = None if is_new else self.path, record
        self._write(record)
        self._unsaved = b""

    def _write(self, record: bytes) -> None:
        if self.path:
            write_whole(self.path, record, PRIVATE)
        else:
            with self._held.pop_all():  # the file of the game before
                self.path = own_name(record, self._held, _STEM)
        path = _keys_of(self.path)
        if path != self._kept_keys:
            self.keys.keep(path)
            if self._kept_keys:
                self._kept_keys.unlink(missing_ok=True)
            self._kept_keys = path

    def end(self) -> str:
        """Save a record that could not be saved before, and name the game's file; raise ValueError if that fails."""
        from krypenv.ui.saving import reason_of

        if self._unsaved:
            try:
                self.keep(self._unsaved, is_new=False)
            except OSError as error:
                raise ValueError(f"the game is not saved: {reason_of(error)}") from None
        return f"\nThe game is saved in {self.path}; krypenv table goes on with it." if self.path else ""

    def _loaded(self, name: str) -> tuple[Game, list[str]]:
        """Read the game of a record and its players; --against replaces the agents of the record."""
        from krypenv.game.game import Game
        from krypenv.ui.browser.hosted import players_of
        from krypenv.ui.browser.seats import people_of

        settings, game = self._settings, Game.replay(read_text(name))
        if game.session_over:
            raise ValueError(f"the game of {name} is over; krypenv show prints it")
        players = players_of(game)
        if players is None or settings.against:
            players = settings.seated(game.rules, people_of(players or []))
        if name != "-" and (not settings.save or is_same(settings.save, name)):
            check_files(name)
            self._held.enter_context(alone(Path(name)))
            self.path = Path(name)
        return game, players

    def _unfinished(self) -> tuple[Game, list[str]] | None:
        """Find and lock the latest unfinished game of a table in this folder that nobody plays; None if none."""
        from krypenv.game.game import Game
        from krypenv.ui.browser.hosted import players_of

        for path in latest():
            if not path.name.startswith(_STEM):
                continue
            try:
                game = Game.replay(read_text(str(path)))
                players = players_of(game)
                if players and not game.session_over:
                    self._held.enter_context(alone(path))
                    self.path = path
                    return game, players
            except Taken:
                self._elsewhere = f"The game of {printable(str(path))} is played at another table. "
            except (OSError, ValueError) as error:
                self._elsewhere = f"{printable(str(path))} can't be gone on with: {one_line(str(error))}. "
        return None
