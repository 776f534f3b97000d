"""The lines of a table in the terminal, in the person's language, with cards in colour."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from krypenv.advice.estimates import plus_minus
from krypenv.advice.values import Values
from krypenv.game.game import Game
from krypenv.game.moves import Move
from krypenv.ui.choices import MOST_LISTED, Choices
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.narrator.options import GROUPS, group_of
from krypenv.ui.rulebook import five_lines, in_full, shows
from krypenv.ui.table import Table
from krypenv.ui.table_text import NARROWEST, TableText

_CARD = re.compile(r"(?<![0-9A-Za-z])(?:10|Kn|[2-9TJQKADE])(?:[♣♦♥♠]|[CDHS](?![0-9A-Za-z]))")  # in any language
_INDENT = " " * 6  # before a choice; its number stands there
_POINTS = 8  # columns at the right of the choices


class Screen:
    """Writes the sentences of the narrator to one seat.

    Args:
        table: the table.
        console: where to write.
        language: one of `krypenv.ui.narrator.texts.LANGUAGES`.
        four_colours: write clubs green and diamonds blue.
    """

    def __init__(self, table: Table, console: Console, language: str = "en", four_colours: bool = False) -> None:
        symbols = shows(console, "♠")
        self.console = console
        self.listed = MOST_LISTED  # how many choices are shown at once
        self.narrator = narrator = Narrator(table.game.rules, table.names, table.seat, language, symbols)
        self._text = TableText(narrator, four_colours)

    @property
    def width(self) -> int:
        """The number of columns for lines."""
        return self.console.width

    # ------------------------------------------------------------------ sentences

    def write(self, what: RenderableType, is_path: bool = False) -> None:
        """Write a text; one with the path of a file is not broken into lines."""
        self.console.print(what, markup=False, highlight=False, emoji=False, soft_wrap=is_path)

    def ask(self, prompt: str, read: Callable[[str], str]) -> str:
        """Ask for a line."""
        return read(prompt)

    def wait(self) -> None:
        """Prepare for a wait; lines need nothing."""

    def close(self) -> None:
        """Prepare for the last lines; lines need nothing."""

    def tell(self, sentence: str, style: str = "") -> None:
        """Write a sentence, its cards in colour."""
        self.write(self.inked(sentence, style))

    def say(self, key: str, count: int | None = None, is_path: bool = False, **parts: Any) -> None:
        """Write a text of the catalogue."""
        self.write(self.inked(self.narrator.say(key, count, **parts)), is_path)

    def inked(self, sentence: str, style: str = "") -> Text:
        """Colour the cards of a sentence."""
        text = Text(sentence, style)
        for found in _CARD.finditer(sentence):
            text.stylize(self._text.ink(found[0]), *found.span())
        return text

    # ------------------------------------------------------------------ the game

    def rules(self, is_full: bool = False) -> None:
        """Write the rules of the game."""
        tell = in_full if is_full else five_lines
        self.write(tell(self.narrator, self.width))

    def position(self, game: Game) -> None:
        """Write the visible hands, the table, and the announcement."""
        self.write("")
        self.write(self._text.table(game, max(self.console.width, NARROWEST)))
        said = self.announced(game)
        self.write(Text("\n") + said + Text("\n") if said else "")

    def announced(self, game: Game) -> Text:
        """Write the cards that could sweep the table, or the sweep that must be made; empty if none."""
        return self.inked(self.narrator.announcement(game), "bold")

    def play(self, before: Game, game: Game) -> None:
        """Write the last play, and the deal that follows it if it ended one."""
        self.tell(self.narrator.play(before, game))
        if not game.is_over and game.deal_number != before.deal_number:
            self.deal(game)

    def deal(self, game: Game) -> None:
        """Write which deal begins, and who leads."""
        self.write("")
        self.tell(self.narrator.deal(game), "bold")

    def end(self, game: Game) -> None:
        """Write the score sheet of a finished game, and who won."""
        self.write("")
        for line in self.narrator.sheet_lines(game, self.width):
            self.tell(line)
        self.write("")
        self.tell(self.narrator.result(game), "bold")

    def help(self, commands: Mapping[str, str]) -> None:
        """Write the commands and how to type moves; `commands` has each command by its word."""
        self.say("help")
        grid = Grid.grid(padding=(0, 2, 0, 0))
        for word, command in commands.items():
            grid.add_row(Text(word, "bold"), self.inked(self.narrator.say(f"help.{command}")))
        self.write(grid)
        self.say("help.end")

    # ------------------------------------------------------------------ choices

    def choices(self, game: Game, choices: Choices, first: int) -> None:
        """Write numbered choices from the one after `first` on, and the number of those left out."""
        self.listed = MOST_LISTED
        for line in self.choice_lines(game, choices, first, MOST_LISTED, self.width):
            self.write(line)

    def choice_lines(self, game: Game, choices: Choices, first: int, most: int, width: int) -> list[Text]:
        """Write at most `most` choices from the one after `first` on, a line each, and the number of those left out."""
        lines = []
        if choices.moves:
            lines = self._moves(game, choices.moves[first : first + most], first, width)
        else:
            for number, (card, count) in enumerate(zip(choices.cards, choices.counts, strict=True), 1):
                key, name = "choose.count" if count else "choose.count.too_many", self.narrator.card(card)
                lines.append(Text(f"{number:4}  ") + self.inked(self.narrator.say(key, count, card=name)))
        left = len(choices.moves) - first - most
        if left > 0:
            lines.append(Text(_INDENT + self.narrator.say("choose.more", left)))
        if not len(choices):
            lines.append(Text(_INDENT + self.narrator.say("choose.too_many")))
        return lines

    def _moves(self, game: Game, moves: Sequence[Move], first: int, width: int) -> list[Text]:
        """Write moves by groups, each with its worth at once."""
        told = [self.narrator.choice(game, move) for move in moves]
        titles = {group: self.narrator.say(f"group.{group}") for group in GROUPS}
        most = width - len(_INDENT) - _POINTS
        wide = min(max(map(len, [*(words for words, _ in told), *titles.values()])), most)
        group, lines = "", []
        for number, (move, (words, points)) in enumerate(zip(moves, told, strict=True), first + 1):
            if group_of(move) != group:
                head = "" if group else self.narrator.say("group.points").rjust(_POINTS)
                group = group_of(move)
                title = Text(titles[group].ljust(wide + len(_INDENT)), "bold")
                title.append(head, "dim")
                title.rstrip()
                lines.append(title)
            lines.append(Text(f"{number:4}  ") + self.inked(words.ljust(wide) + points.rjust(_POINTS)))
        return lines

    # ------------------------------------------------------------------ advice

    def advice(self, game: Game, values: Values) -> None:
        """Write the move that an agent prefers, with its points and the chance of a sweep."""
        best = values.values[values.preferred]
        self.tell(self.narrator.advice(game, Move.parse(best.move), best.sets_up))

    def values(self, game: Game, agent: str, values: Values) -> None:
        """Write a table of an agent's best moves with their margins, the one that it prefers first."""
        say = self.narrator.say
        rows = [(say("hint.head", agent=agent), say("hint.margin"), say("hint.sweeps"))]
        for value in values.advised:
            move, _ = self.narrator.choice(game, Move.parse(value.move))
            rows.append((f"  {move}", plus_minus(value.margin, "+"), f"{value.sets_up:.0%}"))
        wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
        if sum(wide) + 4 > self.width:
            self.tell(rows[0][0])
            for move, margin, sweeps in rows[1:]:
                self.tell(move)
                self.tell(f"    {rows[0][1]} {margin}, {rows[0][2]} {sweeps}")
        else:
            for move, margin, sweeps in rows:
                self.tell(f"{move:{wide[0]}}  {margin:>{wide[1]}}  {sweeps:>{wide[2]}}")
        self.say("hint.legend")
        if values.preferred:
            self.say("hint.prefers", agent=agent)
