"""`krypenv play`: a game at the table in the terminal."""

from __future__ import annotations

import contextlib
import secrets
import sys
from functools import partial
from typing import Any, ClassVar

import typer
from pydantic import model_validator
from rich.console import Console

from krypenv.game.game import Game
from krypenv.inputs.words import printable
from krypenv.rules import Rules
from krypenv.training.cli.saved_games import Opened, alone, open_record, own_name, unfinished
from krypenv.training.evaluation.luck.game_luck import luck_of_game
from krypenv.training.settings.base import option, output
from krypenv.training.settings.groups import AGENTS, AtTable
from krypenv.ui.ahead import Ahead
from krypenv.ui.board import is_for_people, make_room, stays_in_place
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.narrator.texts import check_language, language_of, say
from krypenv.ui.narrator.words import Words, starting
from krypenv.ui.rulebook import five_lines, shows
from krypenv.ui.seats import PERSON
from krypenv.ui.table import Table, check_players, command_to_resume, dealt, is_seated_by_record, next_of
from krypenv.ui.terminal import Terminal, told_to_wait

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


def play_command(settings: PlaySettings) -> None:
    """Play against agents in the terminal.

    The game is saved after each of your moves, to a file of its own. Without options for the game, you are asked
    whether to go on with an unfinished one of this folder.
    """
    language = check_language(settings.language or language_of())
    console = Console(no_color=True if settings.no_colour else None)
    seat, opponents = settings.seat or 0, settings.against or ("champion",)
    with contextlib.ExitStack() as held:
        if settings.load:
            found: Opened | None = open_record(settings.load, held)
        else:
            is_new = settings.has_deal or settings.against or settings.seat is not None
            found = _unfinished(console, language, held, not is_new)
        game, players, path = found or (None, [], None)
        if players.count(PERSON) == 1:
            named = players.index(PERSON)
            seat = named if settings.seat is None else seat
            opponents = settings.against or (*players[named + 1 :], *players[:named])
        rules = game.rules if game else settings.game_rules()
        if not game:
            check_players(rules, seat, opponents)
        remark, ahead = partial(_luck_in, language), None
        if is_for_people(console):  # what the game needs is compiled in the background
            ahead = Ahead(rules, opponents, settings.hint, remark)
            held.callback(ahead.close)
        if not game:
            game = _welcomed(console, language, rules, settings.seed) if ahead else dealt(rules, settings.seed)
        elif game.is_over:
            game = next_of(game)
        agent_seed = secrets.randbits(64) if settings.seed is None else settings.seed
        table = Table(game, seat, opponents, agent_seed)
        Terminal(
            table, path or own_name(table.record(), held), settings.hint, console, settings.four_colours,
            remark=remark, language=language, ahead=ahead, is_welcome=bool(ahead and not found),
        ).run()  # fmt: skip


def _welcomed(console: Console, language: str, rules: Rules, seed: int | None) -> Game:
    """Print the rules, then deal a new game, which may compile kernels."""
    if stays_in_place(console):
        make_room(console)
    words = Narrator(rules, language=language, symbols=shows(console, "♠"))
    console.print(five_lines(words, console.width), "", sep="\n", **_PLAIN)
    with told_to_wait(console, words.say("wait.dealing"), words.say("wait.compiling")):
        return dealt(rules, seed)


def _luck_in(language: str, table: Table) -> str:
    """Write a sentence on the luck of the person's side in a finished game; empty unless all its deals are known."""
    luck, rules = luck_of_game(table.game), table.game.rules
    if not luck.is_whole:
        return ""
    isalone = rules.num_teams == rules.players
    name = starting(say(language, "you" if isalone else "your_side"))
    whom = say(language, f"luck.whom.{'you' if isalone else 'side'}")
    return luck.tell(rules.team_of(table.seat), name, whom, language)


def _unfinished(console: Console, language: str, held: contextlib.ExitStack, asks: bool) -> Opened | None:
    """Read and lock the unfinished record in this folder that the person continues; None for a new game.

    It is the latest record of one person's game that has not ended and that nobody else plays. It is only mentioned
    unless the command asks, a person can answer, and the record may seat its agents.
    """
    for game, players, path in unfinished():
        with contextlib.ExitStack() as lock:
            try:
                if players.count(PERSON) != 1 or not path:
                    continue
                lock.enter_context(alone(path))
            except (OSError, ValueError):  # in play
                continue
            file = printable(str(path))
            can_answer = sys.stdin and sys.stdin.isatty() and sys.stdout.isatty()
            if not (asks and can_answer and is_seated_by_record(players)):
                command = command_to_resume("play", path, players)
                console.print(say(language, "unfinished.how", file=file, command=command), **_PLAIN)
                return None
            words, count = Narrator(game.rules, language=language), len(game.moves)
            told = words.say("unfinished", count, file=file, rules=game.rules, place=words.place(game))
            console.print(told, **_PLAIN)
            if not _says_yes(words):
                return None
            held.enter_context(lock.pop_all())
            return game, players, path
    return None


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
