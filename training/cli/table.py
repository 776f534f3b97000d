"""`krypenv table`: a game at the table in the browser."""

from __future__ import annotations

import contextlib
import itertools
import secrets
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import typer
from pydantic import model_validator

from krypenv.inputs.files import PRIVATE, write_whole
from krypenv.inputs.words import printable, shown
from krypenv.runtime import stopping
from krypenv.training.cli.outputs import read_text
from krypenv.training.cli.saved_games import latest, open_record, own_name, unfinished
from krypenv.training.settings.base import option, output
from krypenv.training.settings.groups import AGENTS, GAME_RECORDS, AtTable

if TYPE_CHECKING:
    from krypenv.game.game import Game
    from krypenv.rules import Rules
    from krypenv.ui.browser.hosted import Hosted
    from krypenv.ui.browser.start import Choice
    from krypenv.ui.study.studies import Analyst

_STEM = "table"  # of the names of files
_report = partial(typer.echo, err=True)  # prints an error at the table in the terminal
_MOST_OFFERED = 5  # games of the folder to go on with


class TableSettings(AtTable):
    """The settings of `krypenv table`."""

    command: ClassVar[str] = "table"

    people: int = option(1, "how many people play; each gets a link; 0 to watch", AGENTS, ge=0, le=6)
    seat: tuple[int, ...] = option((), "a person's seat; repeatable [default: from 0 on]", AGENTS)
    learn: bool = output(False, "open the page that teaches the game: twelve positions, and a first deal")
    study: str | None = option(None, "study a game that is over, or a position", GAME_RECORDS, metavar="FILE")
    host: str = output("127.0.0.1", "address to serve at; 0.0.0.0 lets others in, by their links")
    origin: tuple[str, ...] = output((), "address at which a proxy shows the table; repeatable", "URL")
    port: int | None = output(None, "port to serve at; 0 for any free one [default: 8765, or the next]", ge=0, le=65535)
    open: bool = output(True, "open the page in the browser")

    @model_validator(mode="after")
    def _fits(self) -> TableSettings:
        if self.load and self.is_new:
            raise ValueError("the record of --load has the rules, the deal and the seats; leave out their options")
        if self.study and (self.load or self.is_new or self.against):
            raise ValueError("the record of --study has the rules, the deal and the players; leave out their options")
        if self.seat and self.people not in (1, len(self.seat)):
            raise ValueError(f"--people {self.people} needs as many --seat, not {len(self.seat)}")
        return self

    def seated(self, rules: Rules, seats: Sequence[int] = ()) -> list[str]:
        """Assign players to seats; raise ValueError for seats or agents that don't fit the rules."""
        from krypenv.ui.seats import players_at

        seats = seats or self.seat or range(self.people)
        return players_at(rules.players, seats, self.against or ("champion",) * (len(seats) < rules.players))

    @property
    def is_new(self) -> bool:
        """Whether an option is given that needs a new game."""
        return self.has_deal or bool(self.seat) or self.people != 1

    @property
    def is_bare(self) -> bool:
        """Whether no option says what is played."""
        return not (self.load or self.is_new or self.against)


def table_command(settings: TableSettings) -> None:
    """Play against agents, or with other people, at a table in the browser, or watch agents there.

    Without options for the game, the page asks what is to be played, or goes on with a game of this folder. Each game
    is saved after each move, to a file of its own.
    """
    from krypenv.ui.browser.app import app_of
    from krypenv.ui.browser.keys import Keys
    from krypenv.ui.browser.pages import Pages
    from krypenv.ui.browser.serving import PORT, Serving, address_of, bound, is_loopback, link, origin_of
    from krypenv.ui.browser.thinking import Thinker
    from krypenv.ui.narrator.texts import language_of
    from krypenv.ui.study.learners import Lessons
    from krypenv.ui.study.studies import Studies

    is_local = is_loopback(settings.host) and not settings.origin
    origins, language = list(map(origin_of, settings.origin)), settings.language or language_of()
    studied = _read_studied(settings.study) if settings.study else None
    players = [] if settings.load or studied else settings.seated(settings.game_rules())
    seed = 0 if studied else secrets.randbits(64) if settings.seed is None else settings.seed
    thinkers, serving = partial(Thinker, seed), Serving()
    with bound(settings.host, settings.port) as listening, contextlib.ExitStack() as held:
        address = settings.origin[0] if settings.origin else address_of(listening, settings.host)

        def serve(pages: Pages | None, page: str, **sockets: Any) -> None:
            routes = {f"/{name}": room.serve for name, room in sockets.items()}
            serving.run(app_of(pages, is_local, routes, origins), listening, page if settings.open else "")

        if studied:
            keys = Keys.new(is_local)
            own = link(address, "" if is_local else keys.watch, "study.html")
            typer.echo(f"The game is at {own} until you press Ctrl-C.")
            with contextlib.suppress(KeyboardInterrupt):
                studies = Studies(keys, thinkers, _analyst(settings), None, studied.copy, language, _report)
                serve(None, own, study=studies)
            return

        def announce(hosted: Hosted) -> None:
            keys = pages.keys = files.keys
            typer.echo(files.said)
            if not is_local or len(hosted.people) > 1:
                for seat in hosted.people:
                    typer.echo(f"the link of {hosted.name(seat)}: {link(address, keys.seats[seat])}")
            typer.echo(f"to watch: {link(address, keys.watch)}")

        files = _Files(settings, players, held, is_local)
        is_alone = is_local and settings.people <= 1 and not settings.load
        own = link(address, "" if is_alone else files.keys.host, "learn.html" if settings.learn else "")
        typer.echo(f"The table is at {address if is_alone else own} until you press Ctrl-C.")
        if settings.port is None and listening.getsockname()[1] != PORT:
            typer.echo(f"Port {PORT} is busy: perhaps another table is at {address_of(listening, settings.host, PORT)}")
        thinker = thinkers()
        pages = Pages(
            files.open, files.keys, thinker, begun=announce, stop=serving.stop, report=_report, saved=files.saved,
            address=address, language=language, helper=settings.hint,
        )  # fmt: skip
        try:
            studies = Studies(files.keys, thinkers, _analyst(settings), pages, report=_report)
            serve(pages, own, study=studies, learn=Lessons(pages, thinker))
        except KeyboardInterrupt:
            if pages.is_loading:
                stopping.end_at_once()  # without waiting for the compiler
            typer.echo(files.end())


def _read_studied(source: str) -> Game:
    """Read the game or the position of a file to study; raise ValueError for a game that is not over."""
    from krypenv.ui.study.steps import StillPlayed, read_study

    try:
        return read_study(read_text(source))
    except StillPlayed:
        raise ValueError(f"the game of {source} is not over, so its hands stay closed; play it to its end") from None


def _analyst(settings: TableSettings) -> Analyst:
    """Make the analyst of studies: the agent of --hint, if it can value moves."""
    from krypenv.ui.study.studies import Analyst

    return Analyst(settings.hint, examine_move, measure_luck)


def examine_move(game: Game, move: str, agent: str) -> dict[str, Any]:
    """Analyse a move of a game; return the JSON values of `RecordedMove.to_json`.

    An agent that can't value moves is replaced by the default agent of analyses.
    """
    from krypenv.advice.values import gives_values
    from krypenv.agents import make_known
    from krypenv.game.moves import Move
    from krypenv.training.evaluation.analysis.analysis import Judge

    able = agent if gives_values(make_known(agent, game.rules)) else None
    return Judge.of(game.rules, able).record(game, Move.parse(move)).to_json()


def measure_luck(game: Game, seat: int, name: str, whom: str, language: str) -> dict[str, Any]:
    """Measure the luck in each deal of a game: `GameLuck.to_json`, with `told`, a sentence about a seat's side.

    The sentence is empty if no deal was both dealt and finished in the game.
    """
    from krypenv.training.evaluation.luck.game_luck import luck_of_game

    luck = luck_of_game(game)
    sentence = luck.tell(seat % luck.margins.shape[1], name, whom, language) if luck.deals else ""
    return luck.to_json() | {"told": sentence}


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
        self.said = ""
        self._seated: list[str] = []  # the players of the current game

    def open(self, choice: Choice | None = None) -> Hosted | None:
        """Begin the game of a choice, or of the command line; None if it has no options for a game."""
        from krypenv.ui.browser.hosted import Hosted
        from krypenv.ui.browser.keys import Keys
        from krypenv.ui.browser.start import dealt_as
        from krypenv.ui.narrator.texts import language_of
        from krypenv.ui.seats import people_of
        from krypenv.ui.table import dealt, next_of

        settings = self._settings
        if choice is None and settings.is_bare:
            return None
        if choice and choice.file and Path(choice.file) not in latest():
            raise ValueError(f"there is no game {shown(choice.file)} in the folder of the table")
        loaded, path, helper = choice.file if choice else settings.load, None, ""
        with contextlib.ExitStack() as held:
            if loaded:
                game, players, path = open_record(loaded, held)
                if not players or settings.against:
                    players = settings.seated(game.rules, people_of(players))
                game = next_of(game) if game.is_over else game
            elif choice:
                game, players, helper = dealt_as(choice, {agent: agent for agent in (*settings.against, settings.hint)})
            else:
                game, players = dealt(settings.game_rules(), settings.seed), self._players
            language = (choice.language if choice else settings.language) or language_of()
            hosted = Hosted(game, players, helper or settings.hint, self.keep, language)
            if path:
                write_whole(path, hosted.record(), PRIVATE)
                self.keys = Keys.kept(_keys_of(path), self._is_local)._replace(host=self.keys.host)
            else:
                path = own_name(hosted.record(), held, _STEM)
            self._held.close()  # the file of the game before
            self._held.enter_context(held.pop_all())
        self.path, self._seated = path, hosted.players
        self._keep_keys()
        file = printable(str(path))
        self.said = f"It goes on with the game of {file}." if loaded else f"The game is saved in {file} as it goes."
        return hosted

    def saved(self, language: str) -> list[dict[str, str]]:
        """List the latest games of this folder that have not ended, each with a line on it."""
        from krypenv.ui.browser.start import told_of

        others = (each for each in unfinished() if each[2] != self.path and str(each[2]).isprintable())
        return [
            {"file": str(path), "text": told_of(game, players, language)}
            for game, players, path in itertools.islice(others, _MOST_OFFERED)
        ]

    def keep(self, record: bytes, is_new: bool) -> None:
        """Save the game, a new one to a file of its own; what can't be saved now is saved with the next move."""
        self.path, self._unsaved = None if is_new else self.path, record
        if self.path:
            write_whole(self.path, record, PRIVATE, is_synced=False)  # a page waits for it
        else:
            with self._held.pop_all():  # the file of the game before
                self.path = own_name(record, self._held, _STEM)
        self._keep_keys()
        self._unsaved = b""

    def _keep_keys(self) -> None:
        assert self.path
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
        if not self.path:
            return ""
        from krypenv.ui.table import command_to_resume, is_seated_by_record  # the game has loaded it

        if is_seated_by_record(self._seated):
            return f"\nThe game is saved in {self.path}; krypenv table goes on with it."
        return f"\nThe game is saved in {self.path}; to go on: {command_to_resume('table', self.path, self._seated)}"
