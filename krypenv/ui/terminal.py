"""The table in a terminal: on a screen that stays in place, or line by line, which works everywhere."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rich.console import Console

from krypenv.game.moves import Move
from krypenv.inputs.words import command_line, one_line
from krypenv.runtime.jit import compilations
from krypenv.ui.ahead import HINT, OTHERS, REMARK, Ahead
from krypenv.ui.board import Board, make_room, stays_in_place
from krypenv.ui.choices import Wrong, choices_of, parse_choice, reason
from krypenv.ui.narrator.texts import called
from krypenv.ui.saving import Saver, reason_of
from krypenv.ui.screen import Screen
from krypenv.ui.seats import take_back
from krypenv.ui.table import CantGoOn, Table, command_to_resume, hint_of

COMMANDS = ("hint", "undo", "more", "back", "table", "rules", "why", "save", "quit")  # as catalogues name them
HELP = "?"


class Leave(BaseException):  # an agent that catches every Exception is not to catch it
    """The person leaves the table, or their input or terminal is gone."""


class Terminal:
    """A person's place at a table in the terminal.

    Args:
        table: the table.
        path: the file to which the game is saved as it goes.
        helper: the agent that gives hints.
        console: where to write.
        four_colours: write clubs green and diamonds blue.
        read: how to ask for a line; it raises EOFError where the input has ended.
        remark: writes a sentence about a finished game; empty if there is none.
        language: one of `krypenv.ui.narrator.texts.LANGUAGES`.
        ahead: the process that compiles what the game needs, if there is one.
        is_welcome: whether the person has just read the rules.
    """

    def __init__(
        self,
        table: Table,
        path: Path,
        helper: str,
        console: Console,
        four_colours: bool = False,
        read: Callable[[str], str] = input,
        remark: Callable[[Table], str] | None = None,
        language: str = "en",
        ahead: Ahead | None = None,
        is_welcome: bool = False,
    ) -> None:
        self._table, self._helper, self._console, self._read = table, helper, console, read
        self._remark, self._saver, self._ahead, self._is_welcome = remark, Saver(table, path), ahead, is_welcome
        self._is_in_place = stays_in_place(console)
        self._screen = (Board if self._is_in_place else Screen)(table, console, language, four_colours)
        self._say = self._screen.say
        self._text = self._screen.narrator.say
        self._commands = {self._text(f"word.{command}"): command for command in COMMANDS} | {HELP: HELP}
        self._fault = ""  # why the game could not be saved the last time
        self._is_warned = False  # whether the person has been told so when leaving

    def run(self) -> None:
        """Play until the session is over or the person leaves.

        Whatever ends it, an error of an agent too, the game is saved and where is said. Raises OSError if it can't be
        saved.
        """
        with _hang_up_leaves():
            try:
                self._play()
            except BaseException as stopped:
                self._saver.keep()
                self._say_where("saved.go_on")
                if isinstance(stopped, CantGoOn):
                    told = self._saver.explain(stopped.__cause__ or stopped)
                    raise ValueError(f"{stopped}; why is in {told}, with cards that you can't see") from None
                if not isinstance(stopped, Leave):
                    raise
            else:
                self._saver.keep()
                self._say_where("saved")
                self._say("saved.over", is_path=True, path=command_line(str(self._saver.path)))

    def _say_where(self, key: str) -> None:
        path = self._saver.path
        self._screen.close()
        with contextlib.suppress(OSError, SystemExit):  # the terminal may be gone; rich then ends the process
            self._screen.write("")
            command = command_to_resume("play", path, self._table.players)
            self._say(key, is_path=True, path=path, command=command)

    def _play(self) -> None:
        if self._is_in_place and not self._is_welcome:
            make_room(self._console)
        if self._table.game.moves or self._table.game.game_number > 1:
            self._say("begin")
        else:
            if self._is_in_place or not self._is_welcome:
                self._screen.rules()
            self._screen.write("")
            self._say("begin.rules")
            if self._is_in_place:
                self._ask(self._text("ask.deal"))
        while True:
            self._play_game()
            if self._table.game.session_over:
                return
            self._ask(self._text("ask.next_game"))
            self._table.next_game()

    def _play_game(self) -> None:
        if not self._table.game.moves:
            self._screen.deal(self._table.game)
        while True:
            while self._answer():
                pass
            self._save_along()
            if self._table.game.is_over:
                break
            self._screen.position(self._table.game)
            self._choose()
        self._screen.end(self._table.game)
        if self._remark:
            self._add(self._remark)

    def _add(self, remark: Callable[[Table], str]) -> None:
        """Write a remark about a finished game; Ctrl-C skips it."""
        with contextlib.suppress(KeyboardInterrupt):
            with self._waiting(REMARK):
                said = remark(self._table)
            if said:
                self._screen.tell(said)

    def _answer(self) -> bool:
        """Have the next agent play before the person's turn; false if it is their turn."""
        if self._table.is_yours or self._table.game.is_over:
            return False
        before = self._table.game.copy()
        with self._waiting(OTHERS):
            is_played = next(self._table.play_others(), None) is not None
        self._screen.play(before, self._table.game)
        return is_played

    # ------------------------------------------------------------------ choosing

    def _choose(self) -> None:
        """Ask until the person makes a move or takes one back."""
        card, first, is_listed, game = "", 0, False, self._table.game
        choices = choices_of(game)
        while True:
            if not is_listed:
                choices = choices_of(game, card)
                first = first if first < len(choices) else 0
                self._screen.choices(game, choices, first)
            is_listed = True
            name = self._screen.narrator.card(card) if card else ""
            line = self._ask(self._text("ask.takes", card=name) if card else self._text("ask.play"))
            word, _, rest = line.partition(" ")
            command = self._command(word) if line else "table"
            if command == "undo" and take_back(game, self._table.seat):
                return
            if command in ("more", "back", "table"):
                card, first = (card, first + self._screen.listed) if command == "more" else ("", 0)
                is_listed = False
            try:
                if command == "why":
                    self._screen.tell(reason(rest, choices, game, self._screen.narrator))
                if command:
                    self._obey(command, rest.strip())
                    continue
                choice = parse_choice(line, choices, game, self._screen.narrator)
            except Wrong as error:
                self._screen.tell(str(error))
                continue
            if isinstance(choice, Move):
                self._push(choice)
                return
            card, first, is_listed = choice, 0, False

    def _command(self, word: str) -> str:
        """Parse a command from a word of the person's language or its beginning; empty if it is none."""
        return next((self._commands[each] for each in self._commands if word and each.startswith(word.lower())), "")

    def _push(self, move: Move) -> None:
        before = self._table.game.copy()
        self._table.game.push(move)
        self._save_along()
        self._screen.play(before, self._table.game)

    def _obey(self, command: str, rest: str) -> None:
        """Run a command that changes nothing in the game."""
        is_full = bool(rest) and self._text("word.full").startswith(rest.lower())
        if command == "hint":
            self._hint(is_full)
        elif command == "undo":  # there was nothing to take back
            self._say("undo.none")
        elif command == "table":
            self._screen.position(self._table.game)
        elif command == "rules":
            self._screen.rules(is_full)
        elif command == HELP:
            self._screen.help(self._commands)
        elif command == "save":
            self._save(rest)
        elif command == "quit":
            self._quit()

    def _hint(self, is_full: bool) -> None:
        name = called(self._helper)
        try:
            with self._waiting(HINT, agent=name):
                hint = hint_of(self._table.game, self._helper)
        except ValueError as error:  # no such agent, or none for these rules
            self._screen.write(f"{error}.")
            return
        if isinstance(hint, Move):
            self._screen.tell(self._screen.narrator.advice(self._table.game, hint, by=name))
            return
        self._screen.advice(self._table.game, hint)
        if is_full:
            self._screen.values(self._table.game, name, hint)

    @contextlib.contextmanager
    def _waiting(self, part: str, **parts: Any) -> Iterator[None]:
        """Show what the person waits for while the block runs, and whether code is compiled.

        The block begins when the process that compiles ahead has finished this part.
        """
        self._screen.wait()
        with told_to_wait(self._console, self._text(f"wait.{part}", **parts), self._text("wait.compiling")) as is_slow:
            if self._ahead and not self._ahead.is_done(part):
                is_slow()
                self._ahead.wait(part)
            yield

    # ------------------------------------------------------------------ saving

    def _save_along(self) -> None:
        """Save the game after a move; a failure is told once, and play goes on."""
        before, self._fault = self._fault, ""
        try:
            self._saver.keep()
        except OSError as error:
            self._fault = reason_of(error)
            if self._fault != before:
                self._say("unsaved", is_path=True, reason=self._fault)

    def _save(self, name: str) -> None:
        """Save the game to its own file, or a copy to a new file that the person names."""
        path = Path(os.path.expanduser(name)) if name else self._saver.path
        try:
            if name:
                self._saver.copy(path)
            else:
                self._saver.keep()
        except FileExistsError:
            said = self._text("unsaved.taken", path=path)
        except OSError as error:
            said = f"{reason_of(error)}."
        else:
            said = self._text("saved", path=path)
        self._screen.write(one_line(said), is_path=True)

    def _quit(self) -> None:
        """Leave; if the game can't be saved, tell so first, and leave at the second request."""
        self._save_along()
        if not self._fault or self._is_warned:
            raise Leave
        self._is_warned = True
        self._say("unsaved.leave", is_path=True, reason=self._fault)

    # ------------------------------------------------------------------ reading

    def _ask(self, prompt: str) -> str:
        """Read a line without spaces around it; raises Leave at the end of the input."""
        try:
            return self._screen.ask(prompt, self._read).strip()
        except UnicodeDecodeError:
            return "\N{REPLACEMENT CHARACTER}"
        except (EOFError, RuntimeError):  # Python raises the second where there is no input at all
            raise Leave from None


@contextlib.contextmanager
def told_to_wait(console: Console, what: str, compiling: str) -> Iterator[Callable[[], None]]:
    """Show what a person waits for while the block runs, or that code is compiled."""
    status = console.status(what, spinner="line")

    def is_slow() -> None:
        status.update(compiling)

    with status, compilations(is_slow):
        yield is_slow


@contextlib.contextmanager
def _hang_up_leaves() -> Iterator[None]:
    """Raise Leave in the block, once, when the terminal is closed or the connection is lost."""
    before: dict[int, Any] = {}

    def leave(*_: Any) -> None:
        for number in before:
            signal.signal(number, signal.SIG_IGN)
        raise Leave

    numbers = [getattr(signal, name) for name in ("SIGHUP", "SIGTERM") if hasattr(signal, name)]
    try:
        with contextlib.suppress(ValueError):  # not in the main thread
            for number in numbers:
                before[number] = signal.signal(number, leave)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
