"""`krypenv play`: a game at the table in the terminal."""

from __future__ import annotations

import contextlib
import secrets
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import typer
from pydantic import model_validator

from krypenv.inputs.words import command_line, printable
from krypenv.training.cli.outputs import read_text
from krypenv.training.cli.saved_games import alone, latest, open_record, own_name
from krypenv.training.settings.base import option, output
from krypenv.training.settings.groups import AGENTS, AtTable

if TYPE_CHECKING:
    from rich.console import Console

    from krypenv.game.game import Game
    from krypenv.rules import Rules
    from krypenv.ui.ahead import Ahead
    from krypenv.ui.narrator.words import Words
    from krypenv.ui.table import Table

_PLAIN: dict[str, Any] = {"markup": False, "highlight": False, "emoji": False, "soft_wrap": True}


class PlaySettings(AtTable):
    """The settings of `krypenv play`."""

    command: ClassVar[str] = "play"

    seat: int | None = option(None, "your seat [default: 0, which leads the first deal]", AGENTS)
    four_colours: bool = output(False, "write clubs green and diamonds blue")
    no_colour: bool = output(False, "write line by line and without colour, as with NO_COLOR=1")

    @model_validator(mode="after")
    def _fits(self) -> PlaySettings:
        if self.load and self.has_deal:
            raise ValueError("the record of --load has the rules and the deal; leave out their options")
        return self

    @property
    def has_deal(self) -> bool:
        """Whether the rules or the deal are given."""
        return self.has_rules or self.seed is not None


def play_command(settings: PlaySettings) -> None:
    """Play against agents in the terminal.

    The game is saved after each of your moves, to a file of its own. Without options for the game, you are asked
    whether to go on with an unfinished one of this folder.
    """
    from rich.console import Console

    from krypenv.ui.narrator.texts import check_language, language_of
    from krypenv.ui.table import Table, check_players, dealt, named_in, next_of
    from krypenv.ui.terminal import Terminal

    seat = settings.seat
    language = check_language(settings.language or language_of())
    console = Console(no_color=True if settings.no_colour else None)
    with contextlib.ExitStack() as held:
        record: tuple[Game, Path | None] | None
        if settings.load:
            record = open_record(settings.load, held)
        else:
            is_new = settings.has_deal or settings.against or seat is not None
            record = _unfinished(console, language, held, not is_new)
        opponents = list(settings.against or ["champion"])
        remark = partial(_luck_in, language)
        begin_ahead = partial(_begin_ahead, console, held, settings.hint, remark)
        path = None
        if record:
            game, path = record
            named = named_in(game)
            if named:
                seat = named[0] if seat is None else seat
                opponents = opponents if settings.against else named[1]
            if game.is_over:
                game = next_of(game)
            ahead = begin_ahead(game.rules, opponents)
        else:
            rules = settings.game_rules()
            check_players(rules, seat or 0, opponents)
            ahead = begin_ahead(rules, opponents)
            game = dealt(rules, settings.seed) if ahead is None else _welcomed(console, language, rules, settings.seed)
        agent_seed = secrets.randbits(64) if settings.seed is None else settings.seed
        table = Table(game, 0 if seat is None else seat, opponents, agent_seed)
        Terminal(
            table, path or own_name(table.record(), held), settings.hint, console, settings.four_colours,
            remark=remark, language=language, ahead=ahead, is_welcome=ahead is not None and not record,
        ).run()  # fmt: skip


def _begin_ahead(
    console: Console,
    held: contextlib.ExitStack,
    helper: str,
    remark: Callable[[Table], str],
    rules: Rules,
    opponents: list[str],
) -> Ahead | None:
    """Compile in the background the kernels that the game needs; None if nobody is at the console."""
    from krypenv.ui.ahead import Ahead
    from krypenv.ui.board import is_for_people

    if not is_for_people(console):
        return None
    ahead = Ahead(rules, opponents, helper, remark)
    held.callback(ahead.close)
    return ahead


def _welcomed(console: Console, language: str, rules: Rules, seed: int | None) -> Game:
    """Print the rules, then deal a new game, which may compile kernels."""
    from krypenv.ui.board import make_room, stays_in_place
    from krypenv.ui.narrator.narrator import Narrator
    from krypenv.ui.rulebook import five_lines, shows
    from krypenv.ui.table import dealt
    from krypenv.ui.terminal import told_to_wait

    if stays_in_place(console):
        make_room(console)
    words = Narrator(rules, language=language, symbols=shows(console, "♠"))
    console.print(five_lines(words, console.width), "", sep="\n", **_PLAIN)
    with told_to_wait(console, words.say("wait.dealing"), words.say("wait.compiling")):
        return dealt(rules, seed)


def _luck_in(language: str, table: Table) -> str:
    """Write a sentence on the luck of the person's side in a finished game; empty unless all its deals are known."""
    from krypenv.training.evaluation.luck.game_luck import luck_of_game
    from krypenv.ui.narrator.texts import say
    from krypenv.ui.narrator.words import starting

    luck, rules = luck_of_game(table.game), table.game.rules
    if not luck.is_whole:
        return ""
    isalone = rules.num_teams == rules.players
    name = starting(say(language, "you" if isalone else "your_side"))
    whom = say(language, f"luck.whom.{'you' if isalone else 'side'}")
    return luck.tell(rules.team_of(table.seat), name, whom, language)


def _unfinished(console: Console, language: str, held: contextlib.ExitStack, asks: bool) -> tuple[Game, Path] | None:
    """Read and lock the unfinished record in this folder that the person continues; None for a new game.

    It is the latest record that has not ended and that nobody else plays. It is only mentioned unless the command asks
    and a person can answer.
    """
    from krypenv.ui.narrator.narrator import Narrator
    from krypenv.ui.narrator.texts import say

    for path in latest():
        lock = contextlib.ExitStack()
        try:
            game = _of_a_person(path)
            if game is None:
                continue
            lock.enter_context(alone(path))
        except (OSError, ValueError):  # no record, or one in play
            continue
        with lock:
            file = printable(str(path))
            if not (asks and sys.stdin and sys.stdin.isatty() and sys.stdout.isatty()):
                command = f"krypenv play --load {printable(command_line(str(path)))}"
                console.print(say(language, "unfinished.how", file=file, command=command), **_PLAIN)
                return None
            words, count = Narrator(game.rules, language=language), len(game.moves)
            console.print(
                words.say("unfinished", count, file=file, rules=game.rules, place=words.place(game)), **_PLAIN
            )
            if not _says_yes(words):
                return None
            held.enter_context(lock.pop_all())
            return game, path
    return None


def _of_a_person(path: Path) -> Game | None:
    """Read a record's game if it is a person's and unfinished; raise OSError or ValueError if it is no record."""
    from krypenv.game.game import Game
    from krypenv.ui.table import named_in

    if not path.is_file():
        return None
    game = Game.replay(read_text(str(path)))
    return game if named_in(game) and not game.session_over else None


def _says_yes(words: Words) -> bool:
    """Ask whether the person continues a game, by Enter or yes; the end of the input ends the command."""
    yes, no = words.say("answer.yes"), words.say("answer.no")
    while True:
        try:
            answer = input(words.say("ask.go_on")).strip().lower()
        except EOFError:
            raise typer.Exit from None
        except UnicodeDecodeError:
            continue
        if yes.startswith(answer) or (answer and no.startswith(answer)):
            return yes.startswith(answer)
