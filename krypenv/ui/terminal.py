"""The table in a terminal: line by line, so that it works over any connection, with and without colour."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.text import Text

from krypenv.game.display import format_announcement, format_end, last_play
from krypenv.game.moves import Move
from krypenv.inputs.files import write_new, write_whole
from krypenv.inputs.words import one_line
from krypenv.pictures.text import NARROWEST, TextStyle, line_of, text_of
from krypenv.ui.choices import MOST_LISTED, Choices, Wrong, choices_of, parse_choice
from krypenv.ui.table import Table

HELP = """\
Type the number of a choice, or name cards: 8s plays the eight of spades, and
8s 6d 2h takes two cards with it; 4s+5d=9 builds nine, 9sx[9] takes that build.
Or type a word; its first letter is enough.
hint   advice from an agent       undo   take back your last move
more   show more choices          back   choose another card
table  show the table again       save   save the game; save FILE a copy
quit   save the game and leave    ?      show this
The game is also saved after each of your moves."""
COMMANDS = ("hint", "undo", "more", "back", "table", "save", "quit", "?")


class Leave(BaseException):  # an agent that catches every Exception is not to catch it
    """The person leaves the table, or their input or terminal is gone."""


class Terminal:
    """Lets a person play at a table.

    Args:
        table: the table.
        path: the file to which the game is saved as it goes.
        helper: the agent that gives hints.
        console: where to write.
        four_colours: write clubs green and diamonds blue.
        read: how to ask for a line; it raises EOFError where the input has ended.
        remark: what there is to say about a game that is over, in a sentence; nothing, if there is nothing.
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
    ) -> None:
        self._table, self._path, self._helper, self._console, self._read = table, path, helper, console, read
        self._remark = remark
        self._look = TextStyle(table.names, table.seat, four_colours, _shows(console, "♠"))
        self._kept = b""  # the record as it was last saved
        self._copies: set[str] = set()  # the real paths of the files that the person has saved it to
        self._fault = ""  # why it could not be saved the last time
        self._is_warned = False  # whether the person has been told so when leaving
        self._file = Path(os.path.abspath(path))  # the same file, though an agent goes to another folder

    def run(self) -> None:
        """Play until the session is over or the person leaves.

        Whatever ends it, an error of an agent too, the game is saved and where is said. Raises OSError if it can't be
        saved.
        """
        with _hang_up_leaves():
            try:
                self._play()
            except BaseException as stopped:
                self._keep()
                self._say_where(f"; to go on: krypenv play --load {shlex.quote(str(self._path))}")
                if not isinstance(stopped, Leave):
                    raise
            else:
                self._keep()
                self._say_where(".")

    def _say_where(self, more: str) -> None:
        with contextlib.suppress(OSError, SystemExit):  # the terminal may be gone; rich then ends the process
            self._write(f"\nThe game is saved in {self._path}{more}", True)

    def _play(self) -> None:
        self._write("Type ? to see what you can type.")
        while True:
            self._play_game()
            if self._table.game.session_over:
                return
            self._ask("Enter deals the next game: ")
            self._table.next_game()

    def _play_game(self) -> None:
        while True:
            while self._answer():
                self._tell()
            self._save_along()
            if self._table.game.is_over:
                break
            self._show()
            self._choose()
        self._show()
        self._write("\n" + "\n".join(format_end(self._table.game)))
        names = [f"seat {seat} is {name}" for seat, name in enumerate(self._look.names)]
        self._write(f"({', '.join(names)})")
        if self._remark:
            self._add(self._remark)

    def _add(self, remark: Callable[[Table], str]) -> None:
        """Write what there is to say about the game; a person need not wait for it."""
        with contextlib.suppress(KeyboardInterrupt):
            with self._console.status("Looking back at the cards; Ctrl-C skips it.", spinner="line"):
                said = remark(self._table)
            if said:
                self._write(said)

    def _answer(self) -> bool:
        """Let the next agent play before the person, and return whether there was one."""
        if self._table.is_yours or self._table.game.is_over:
            return False
        with self._console.status("The others play.", spinner="line"):  # shown in terminals that can
            return next(self._table.play_others(), None) is not None

    # ------------------------------------------------------------------ choosing

    def _choose(self) -> None:
        """Ask until the person has made a move, or has taken one back."""
        card, first, is_listed = "", 0, False
        choices = choices_of(self._table.game)
        while True:
            if not is_listed:
                choices = choices_of(self._table.game, card)
                first = first if first < len(choices) else 0
                self._list(choices, first)
            is_listed = True
            line = self._ask(f"{card} takes: " if card else "You play: ")
            word, _, rest = line.partition(" ")
            command = next((each for each in COMMANDS if word and each.startswith(word.lower())), "")
            if command == "undo" and self._undo():
                return
            if command in ("more", "back", "table"):
                card, first = (card, first + MOST_LISTED) if command == "more" else ("", 0)
                is_listed = False
            if command:
                self._obey(command, rest.strip())
                continue
            try:
                choice = parse_choice(line, choices, self._table.game)
            except Wrong as error:
                self._write(f"{error}.")
                continue
            if isinstance(choice, Move):
                self._table.game.push(choice)
                self._save_along()
                self._tell()
                return
            card, first, is_listed = choice, 0, False

    def _undo(self) -> bool:
        """Take back the person's last move; return whether there was one, and say so if not."""
        is_done = self._table.undo()
        if not is_done:
            self._write("There is nothing to take back: you have made no move in this game.")
        return is_done

    def _obey(self, command: str, rest: str) -> None:
        """Do what a command says that changes nothing in the game."""
        if command == "hint":
            self._hint()
        elif command == "table":
            self._show()
        elif command == "?":
            self._write(HELP)
        elif command == "save":
            self._save(rest)
        elif command == "quit":
            self._quit()

    def _hint(self) -> None:
        try:
            move = self._table.hint(self._helper)
        except ValueError as error:  # no such agent, or none for these rules
            self._write(f"{error}.")
            return
        self._write(Text(f"{self._helper.partition('(')[0]} advises: ") + self._line(move))

    # ------------------------------------------------------------------ saving

    def _keep(self) -> None:
        """Save the game as it stands, unless it stands there already; raise OSError if it can't be saved."""
        record = self._table.record()
        if record != self._kept:
            write_whole(self._file, record)
            self._kept = record

    def _save_along(self) -> None:
        """Save the game on the way; say once if it can't be saved, and play on."""
        before, self._fault = self._fault, ""
        try:
            self._keep()
        except OSError as error:
            self._fault = _reason(error)
            if self._fault != before:
                self._write(f"The game can't be saved: {self._fault}. To save it elsewhere: save FILE", True)

    def _save(self, name: str) -> None:
        """Save the game, to its own file or to one that the person names; no other file is overwritten."""
        path = Path(os.path.expanduser(name)) if name else self._path
        try:
            if name:
                self._copy(path)
            else:
                self._keep()
        except FileExistsError:
            self._write(one_line(f"{path} is there already; give the copy another name."), True)
        except OSError as error:
            self._write(one_line(f"{_reason(error)}."), True)
        else:
            self._write(f"The game is saved in {path}.", True)

    def _copy(self, path: Path) -> None:
        record = self._table.record()
        try:
            write_new(path, record)
        except FileExistsError:
            if os.path.realpath(path) not in {os.path.realpath(self._file), *self._copies}:
                raise
            write_whole(path, record)
        self._copies.add(os.path.realpath(path))

    def _quit(self) -> None:
        """Leave; where the game can't be saved, say so first, and leave when the person says it again."""
        self._save_along()
        if not self._fault or self._is_warned:
            raise Leave
        self._is_warned = True
        self._write(f"The game is not saved: {self._fault}. Save it elsewhere, or leave without it: quit", True)

    # ------------------------------------------------------------------ reading and writing

    def _ask(self, prompt: str) -> str:
        """Return a line that a person types, without spaces around it; raise Leave where there is no more."""
        try:
            return self._read(prompt).strip()
        except UnicodeDecodeError:
            return "\N{REPLACEMENT CHARACTER}"
        except (EOFError, RuntimeError):  # Python raises the second where there is no input at all
            raise Leave from None

    def _write(self, what: RenderableType, is_path: bool = False) -> None:
        self._console.print(what, markup=False, highlight=False, emoji=False, soft_wrap=is_path)

    def _show(self) -> None:
        game = self._table.game
        self._write("")
        self._write(text_of(game, self._table.seat, self._look, max(self._console.width, NARROWEST)))
        said = format_announcement(game)
        self._write(f'\n"{said}"\n' if said else "")

    def _tell(self) -> None:
        play = last_play(self._table.game)
        if play:
            self._write(line_of(play, self._look))

    def _list(self, choices: Choices, first: int) -> None:
        """Write some choices with their numbers, and how many more there are."""
        rows = [self._line(move) for move in choices.moves]
        for card, count in zip(choices.cards, choices.counts, strict=True):
            said = (
                "more captures than can be listed" if count is None else "1 move" if count == 1 else f"{count:,} moves"
            )
            rows.append(self._look.card(card) + Text(f" {said}"))
        for number, row in enumerate(rows[first : first + MOST_LISTED], first + 1):
            self._write(Text(f"{number:4}  ") + row)
        left = len(rows) - first - MOST_LISTED
        if left > 0:
            self._write(f"      and {left:,} more: type more, or name the cards to take, as in 6d 2h")
        if not rows:
            self._write("      more captures than can be listed: name the cards to take, as in 6d 2h, or - for none")

    def _line(self, move: Move) -> Text:
        """Return a move in a line."""
        line = self._look.card(move.card)
        parts = [self._look.cards(move.takes)] if move.takes else []
        parts += [Text(f"the build of {value}") for value in move.builds if value != move.build]
        if move.build is not None:
            verb = f" joins the build of {move.build}" if move.build in move.builds else f" builds {move.build}"
            line += Text(f"{verb}{' with ' if parts else ''}")
        else:
            line += Text(" takes " if parts else " stays on the table")
        line += Text(" and ").join(parts)
        return line.append(("", ", a sweep", ", a double sweep")[move.sweep])


def _reason(error: OSError) -> str:
    """Return what is wrong with a file, with its name."""
    return f"{error.filename}: {error.strerror or error}"


def _shows(console: Console, characters: str) -> bool:
    """Return whether a console can show some characters."""
    try:
        characters.encode(console.encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


@contextlib.contextmanager
def _hang_up_leaves() -> Iterator[None]:
    """Raise Leave in the block when the terminal is closed or the connection is lost: once, so that it can save."""
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
