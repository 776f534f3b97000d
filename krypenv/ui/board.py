"""The table in a terminal as a screen that stays in place: what changes is drawn over what was there."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable
from itertools import zip_longest
from typing import Any

from rich.console import Console, RenderableType
from rich.segment import Segment, Segments
from rich.text import Text

from krypenv.game.game import Game
from krypenv.ui.choices import MOST_LISTED, Choices
from krypenv.ui.narrator.options import group_of
from krypenv.ui.narrator.words import starting
from krypenv.ui.screen import Screen
from krypenv.ui.table import Table
from krypenv.ui.table_text import NARROWEST
from krypenv.ui.view import Story

WIDE = 100  # columns from which on there is a second column
_FEWEST = 3  # choices shown at once
_SIDE, _GAP = (34, 48), 3  # columns of the second column, at least and at most, and before it
_HOME, _TO_END_OF_LINE, _BELOW = "\x1b[H", "\x1b[K", "\x1b[J"

Line = list[Segment]


def is_for_people(console: Console) -> bool:
    """Check whether a person reads and types at a terminal."""
    return console.is_terminal and bool(sys.stdin and sys.stdin.isatty())


def stays_in_place(console: Console) -> bool:
    """Check whether a person sits at a terminal that can draw a screen in place, in colour."""
    is_plain = console.is_dumb_terminal or console.legacy_windows or console.no_color
    return is_for_people(console) and not is_plain


def make_room(console: Console) -> None:
    """Clear a terminal for a board; its earlier lines can still be scrolled back to."""
    lines = "\n" * console.height
    console.file.write(f"{lines}{_HOME}{_BELOW}")
    console.file.flush()


class Board(Screen):
    """A screen that is redrawn before each question: the table, the latest plays, answers, and the choices.

    A wide terminal has a second column: the last capture, the piles, and the game so far. See `Screen` for the
    arguments.
    """

    def __init__(self, table: Table, console: Console, language: str = "en", four_colours: bool = False) -> None:
        super().__init__(table, console, language, four_colours)
        self._game: Game | None = None
        self._choices: tuple[Choices, int] | None = None
        self._story = Story(self.narrator)
        self._since = 0  # how many moves had been made when the person moved last
        self._said: list[RenderableType] = []  # since the person has typed something
        self._is_open = True  # whether it is drawn in place
        self._prompt = ""  # while a person is asked
        with contextlib.suppress(ValueError, AttributeError):  # another thread; no such signal
            signal.signal(signal.SIGWINCH, self._resized)
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401 - lines that are typed can be edited

    # ------------------------------------------------------------------ what is told

    def write(self, what: RenderableType, is_path: bool = False) -> None:
        """Keep an answer until the screen is drawn; after the end write it at once."""
        if self._is_open:
            self._said.append(what)
        else:
            super().write(what, is_path)

    def position(self, game: Game) -> None:
        """Show a game from now on."""
        self._follow(game)

    def play(self, before: Game, game: Game) -> None:
        """Tell the last play, and the deal that follows it if it ended one."""
        if before.turn == self.narrator.seat:
            self._since = len(before.moves)
        self._choices = None
        self._follow(game)

    def deal(self, game: Game) -> None:
        """Show a game whose cards have been dealt."""
        self._follow(game)

    def choices(self, game: Game, choices: Choices, first: int) -> None:
        """Offer some choices, from the one after `first` on."""
        self._choices = choices, first

    def _follow(self, game: Game) -> None:
        """Update the log: moves may have been made or taken back, or another game begun."""
        moves = len(game.moves)
        if game is not self._game:
            self._game, self._story, self._since = game, Story(self.narrator), moves
        self._since = min(self._since, moves)
        self._story.follow(game)

    def _log(self, since: int = -1) -> list[Text]:
        """Return the plays after the first `since`, with the deals that follow them; by default the whole log."""
        plays, told = 0, []
        for line in self._story.log:
            is_play = line["seat"] is not None
            plays += is_play
            if plays > since:
                told.append(self.inked(line["text"], "" if is_play else "bold"))
        return told

    # ------------------------------------------------------------------ drawing

    @property
    def _side(self) -> int:
        """The width of the second column; 0 if the terminal has no room for one."""
        is_there = self._game is not None and not self._game.is_over and self.console.width >= WIDE
        return min(max(self.console.width // 3, _SIDE[0]), _SIDE[1]) if is_there else 0

    @property
    def width(self) -> int:
        """The width of the first column."""
        return max(self.console.width - self._side - _GAP * bool(self._side), NARROWEST)

    def ask(self, prompt: str, read: Callable[[str], str]) -> str:
        """Draw the screen and ask for a line."""
        self._prompt = prompt
        self._draw()
        try:
            return read(prompt)
        finally:
            self._prompt = ""
            self._said.clear()

    def wait(self) -> None:
        """Draw the screen while the person waits."""
        self._draw()

    def close(self) -> None:
        """Draw the screen of a finished game for the last time; later lines are written below it."""
        if self._is_open and self._game is not None and self._game.is_over:
            self._draw()
        self._is_open = False
        with contextlib.suppress(ValueError, AttributeError):
            signal.signal(signal.SIGWINCH, signal.SIG_DFL)

    def _resized(self, *_: Any) -> None:
        if self._is_open and self._prompt:
            self._draw()
            typed = ""
            with contextlib.suppress(ImportError):
                import readline

                typed = readline.get_line_buffer()
            self.console.file.write(self._prompt + typed)
            self.console.file.flush()

    def _draw(self) -> None:
        """Draw the whole screen, and leave the cursor at the beginning of the line below."""
        width, height = self.width, self.console.height - 1
        lines = self._main(width, height)
        if self._side:
            lines = _side_by_side(lines, width, self._beside(self._side, height))
        with self.console.capture() as drawn:
            self.console.print(Segments([segment for line in lines for segment in [*line, Segment.line()]]), end="")
        over = "".join(f"{_TO_END_OF_LINE}{line}" for line in drawn.get().splitlines(keepends=True))
        self.console.file.write(f"{_HOME}{over}{_BELOW}")
        self.console.file.flush()

    def _main(self, width: int, height: int) -> list[Line]:
        """Lay out the first column: all parts if they fit, otherwise the most important ones.

        What was said comes first: where it leaves no room for the table, it stands alone.
        """
        game, blank = self._game, Text()
        said = self._lines([*self._said], width)
        if game is None:
            return said
        news = self._lines(self._log(self._since if game.moves else -1), width)
        if game.is_over:
            return [*news, *said]
        table = self._lines([self._text.table(game, width)], width)
        aloud = self._lines([self.announced(game)], width) if self.announced(game) else []
        empty = self._lines([blank], width)
        for is_roomy, most in [(True, MOST_LISTED), *((False, count) for count in range(MOST_LISTED, _FEWEST - 1, -1))]:
            between = empty if is_roomy else []
            listed = self.choice_lines(game, *self._choices, most, width) if self._choices else []
            self.listed = most
            parts = [table, aloud, news, said, self._lines(listed, width)]
            if not is_roomy:
                parts[0] = [line for line in table if any(segment.text.strip() for segment in line)]
            lines = [line for part in parts if part for line in [*part, *between]]
            if len(lines) <= height:
                return lines
        if len(said) > len(parts[0]):
            return [*said, *self._lines([blank, Text(self.narrator.say("board.back"), "dim")], width)]
        return lines[-height:]

    def _beside(self, width: int, height: int) -> list[Line]:
        """Lay out the second column: the last capture, the piles, and the end of the log."""
        game, say = self._game, self.narrator.say
        assert game
        blank, parts = Text(), []
        plays = [self.inked(line["text"]) for line in self._story.log if line["seat"] is not None]
        captures = [play for play, move in zip(plays, game.moves, strict=True) if group_of(move) == "take"]
        if captures:
            parts += [Text(say("board.last"), "bold"), captures[-1], blank]
        piles = [
            Text(say("board.pile", game.pile_counts(seat)[0], who=starting(name)))
            for seat, name in enumerate(self.narrator.names)
        ]
        parts += [Text(say("board.piles"), "bold"), *piles, blank, Text(say("board.log"), "bold")]
        head = self._lines(parts, width)
        log = self._lines(self._log(), width)
        return [*head, *log[-max(height - len(head), 1) :]][:height]

    def _lines(self, parts: list[Any], width: int) -> list[Line]:
        """Render parts with rich in `width` columns, line by line."""
        options = self.console.options.update(width=width, highlight=False, markup=False, height=None)
        return [
            [*line]
            for part in parts
            for line in self.console.render_lines(Text(part) if isinstance(part, str) else part, options, pad=False)
        ]


def _side_by_side(first: list[Line], width: int, second: list[Line]) -> list[Line]:
    """Join two columns line by line; the first one is `width` wide."""
    return [
        [*Segment.adjust_line_length(left, width + _GAP), *right] if right else left
        for left, right in zip_longest(first, second, fillvalue=Line())
    ]
