"""A game as text for a terminal, with cards in colour. Rich writes it; it is loaded when it is first needed."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from krypenv.cards import CLUBS, DIAMONDS, HEARTS, RANK_NAMES, SPADES, SUIT_SYMBOLS, parse_card, rank_of, suit_of
from krypenv.game.core import Core
from krypenv.game.display import (
    TURN,
    format_announcement,
    format_place,
    format_result,
    last_play,
    seat_counts,
    seats_shown,
)

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

NARROWEST = 40  # columns
_PAPER = "on grey93"
_TWO_COLOURS = {CLUBS: "grey7", DIAMONDS: "red3", HEARTS: "red3", SPADES: "grey7"}
_FOUR_COLOURS = {CLUBS: "dark_green", DIAMONDS: "blue3", HEARTS: "red3", SPADES: "grey7"}


class Look(NamedTuple):
    """How a game is written."""

    names: Sequence[str] = ()  # what the seats are called; by default by their numbers
    bottom: int = 0  # the seat that comes last; the others stand above it as they sit clockwise (R5)
    four_colours: bool = False  # clubs are green and diamonds blue
    symbols: bool = True  # suits are written as in 8♠, otherwise as in 8S

    def name(self, seat: int) -> str:
        """Return what a seat is called."""
        return self.names[seat] if self.names else f"Seat {seat}"

    def card(self, name: str) -> Text:
        """Return a card."""
        from rich.text import Text

        kind = parse_card(name)
        suit = suit_of(kind)
        rank = "10" if rank_of(kind) == 10 else RANK_NAMES[rank_of(kind) - 1]
        colour = (_FOUR_COLOURS if self.four_colours else _TWO_COLOURS)[suit]
        words = f"\u00a0{rank}{SUIT_SYMBOLS[suit]}\u00a0" if self.symbols else f" {name} "  # not to be broken
        return Text(words, style=f"bold {colour} {_PAPER}")

    def cards(self, names: Iterable[str]) -> Text:
        """Return cards side by side."""
        from rich.text import Text

        return Text(" ").join(map(self.card, names)) or Text(" -")

    def backs(self, count: int) -> Text:
        """Return cards that lie face down."""
        from rich.text import Text

        back = "▒▒▒▒" if self.symbols else "####"
        return Text(" ").join([Text(back, style="blue3")] * count) or Text(" -")


def format_ansi(
    game: Core,
    render_seat: int | str | None = TURN,
    width: int | None = None,
    colour: bool | None = None,
    look: Look = Look(),  # noqa: B008 - it can't be changed
) -> str:
    """Return a game as text for a terminal.

    Args:
        game: the game.
        render_seat: whose hand is open: the seat to act ("turn"), one seat (its number), "all" or none (None).
        width: columns, at least 40; by default those of the terminal.
        colour: whether to write in colour; by default unless the environment variable NO_COLOR is set.
        look: names, order and colours.
    """
    from rich.console import Console

    if width is None:
        width = shutil.get_terminal_size().columns
    if colour is None:
        colour = not os.environ.get("NO_COLOR")
    file = io.StringIO()
    console = Console(
        file=file, width=max(width, NARROWEST), force_terminal=colour, no_color=not colour,
        color_system="256" if colour else None, legacy_windows=False,
    )  # fmt: skip
    console.print(text_of(game, render_seat, look))
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def text_of(game: Core, render_seat: int | str | None, look: Look) -> Group:
    """Return a game as rich prints it: the seats, the table, the last play, and what is said."""
    from rich.console import Group
    from rich.text import Text

    players, seats = game.rules.players, seats_shown(game, render_seat)
    middle = [(Text("  Table"), look.cards(game.table))]
    middle += [(Text("  Put aside"), look.cards(game.set_aside))] if game.set_aside else []
    rows = {seat: _row(game, seat, seat in seats, look) for seat in range(players)}
    width = max(len(name) for name, *_ in (*middle, *rows.values()))
    others = [rows[(look.bottom + step) % players] for step in range(1, players)]
    head = Text(f"{game.rules}, {format_place(game)}, stock {game.stock_size}", style="bold")
    parts = [_grid(others, width), _grid(middle, width), _grid([rows[look.bottom]], width)]
    return Group(head, *(each for part in parts for each in (Text(), part)), Text(), *_words(game, look))


def _row(game: Core, seat: int, is_open: bool, look: Look) -> tuple[Text, Text, Text]:
    """Return a seat's name and role, its hand, and what it has."""
    from rich.text import Text

    roles = ["dealer"] * (seat == game.dealer)
    roles += [] if game.rules.teams is None else [f"team {seat % game.rules.num_teams}"]
    is_next, hand = seat == game.turn, game.hand(seat)
    name = Text(f"{'>' if is_next else ' '} {look.name(seat)}", style="bold" if is_next else "")
    name.append(f" ({', '.join(roles)})" if roles else "", style="not bold")
    counts = ", ".join(f"{what} {count}" for what, count in seat_counts(game, seat).items())
    return name, look.cards(hand) if is_open else look.backs(len(hand)), Text(counts)


def _grid(rows: Sequence[tuple[Text, ...]], width: int) -> Table:
    """Return rows of a table whose first column has some width."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=width)
    for row in rows:
        grid.add_row(*row)
    return grid


def _words(game: Core, look: Look) -> list[Text]:
    """Return the last play, what must be announced, and who is to play or how the game ended."""
    from rich.text import Text

    lines = []
    if play := last_play(game):
        line = Text(f"{look.name(play.seat)} {'plays' if play.is_begun else 'played'} ") + look.card(play.card)
        if play.takes:
            line += Text(f" and {'takes' if play.is_begun else 'took'} ") + look.cards(play.takes)
        line.append(("", ": a sweep!", ": a double sweep!")[play.sweep], style="bold")
        lines.append(line)
    if said := format_announcement(game):
        lines.append(Text(f'"{said}"', style="bold"))
    lines.append(Text(format_result(game) if game.is_over else f"{look.name(game.turn)} to play."))
    return lines
