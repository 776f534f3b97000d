"""A game as text for a terminal, with cards in colour. Rich writes it."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from krypenv.cards import CLUBS, DIAMONDS, HEARTS, SPADES, card_symbol, parse_card, suit_of
from krypenv.game.display import (
    TURN,
    format_announcement,
    format_builds,
    format_place,
    format_result,
    format_verb,
    last_play,
    seat_counts,
    seats_shown,
)
from krypenv.game.game import Game

NARROWEST = 40  # columns
_PAPER = "on grey93"
_LABEL, _WIDEST = 13, 6  # columns of what stands before cards, and of a card
_TWO_COLOURS = {CLUBS: "grey7", DIAMONDS: "red3", HEARTS: "red3", SPADES: "grey7"}
_FOUR_COLOURS = {CLUBS: "dark_green", DIAMONDS: "blue3", HEARTS: "red3", SPADES: "grey7"}
LABELS = {  # what is written beside cards
    "head": "{title}, {place}, stock {stock}",
    "table": "Table",
    "build": "Build {value}",
    "multiple": "multiple",
    "aside": "Put aside",
    "dealer": "dealer",
    "team": "team {team}",
    "card": "1 card",
    "cards": "{count} cards",
    "score": "score {count}",
    "points": "points {count}",
    "sweeps": "sweeps {count}",
    "cards_won": "cards {count}",
    "spades_won": "spades {count}",
    "counted": "counted {count}",
    "mulles": "mulles {count}",
    "for_mulles": "for {count}",
}
_COUNTS = {"cards": "cards_won", "spades": "spades_won", "for mulles": "for_mulles"}  # labels of what is counted


def say_in_english(label: str, **parts: Any) -> str:
    """Return one of `LABELS` with its parts."""
    return LABELS[label].format(**parts)


class TextStyle(NamedTuple):
    """How a game is written."""

    names: Sequence[str] = ()  # what the seats are called; by default by their numbers
    bottom: int = 0  # the seat that comes last; the others stand above it as they sit clockwise (R5)
    four_colours: bool = False  # clubs are green and diamonds blue
    symbols: bool = True  # suits are written as in 8♠, otherwise as in 8S
    say: Callable[..., str] = say_in_english  # returns a text of `LABELS` with its parts, in some language
    title: str = ""  # what the game is called; by default its rules in short
    place: Callable[[Game], str] = format_place  # which deal is being played

    def name(self, seat: int) -> str:
        """Return what a seat is called."""
        return self.names[seat] if self.names else f"Seat {seat}"

    def card(self, name: str) -> Text:
        """Return a card."""
        return Text.assemble((f" {card_symbol(name) if self.symbols else name} ", self.ink(name)))

    def ink(self, name: str) -> str:
        """Return the style in which a card is written."""
        colours = _FOUR_COLOURS if self.four_colours else _TWO_COLOURS
        return f"bold {colours[suit_of(parse_card(name))]} {_PAPER}"

    def cards(self, names: Iterable[str]) -> Text:
        """Return cards side by side."""
        return Text(" ").join(map(self.card, names)) or Text(" -")

    def rows(self, label: str, names: Sequence[str], width: int) -> Text:
        """Return cards after a label, in as many rows as they need in so many columns."""
        each = max(1, (width - _LABEL) // _WIDEST)
        parts = [self.cards(names[at : at + each]) for at in range(0, max(1, len(names)), each)]
        return Text(f"{label:{_LABEL}}") + Text("\n" + " " * _LABEL).join(parts)


def format_ansi(
    game: Game,
    render_seat: int | str | None = TURN,
    width: int | None = None,
    colour: bool | None = None,
    look: TextStyle = TextStyle(),  # noqa: B008 - it can't be changed
) -> str:
    """Return a game as text for a terminal.

    Args:
        game: the game.
        render_seat: whose hand is open: the seat to act ("turn"), one seat (its number), "all" or none (None).
        width: columns, at least 40; by default those of the terminal.
        colour: whether to write in colour; by default unless the environment variable NO_COLOR is set.
        look: names, order and colours.
    """
    if width is None:
        width = shutil.get_terminal_size().columns
    if colour is None:
        colour = not os.environ.get("NO_COLOR")
    file, width = io.StringIO(), max(width, NARROWEST)
    console = Console(
        file=file, width=width, force_terminal=colour, no_color=not colour,
        color_system="256" if colour else None, legacy_windows=False,
    )  # fmt: skip
    console.print(text_of(game, render_seat, look, width), Text(), *_words(game, look), sep="\n")
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def text_of(game: Game, render_seat: int | str | None, look: TextStyle, width: int) -> Group:
    """Return a game as rich prints it in so many columns: the seats with their hands, and the table."""
    players, seats = game.rules.players, seats_shown(game, render_seat)
    title = look.title or str(game.rules)
    head = Text(look.say("head", title=title, place=look.place(game), stock=game.stock_size), style="bold")
    lines: list[RenderableType] = [head, Text()]
    longest = max(len(_name(game, seat, look)) for seat in range(players))
    beside = longest + len(f"  {_size(10, look)}  ")  # columns of what stands before the counts
    if width - beside < max(len(_counts(game, seat, look)) for seat in range(players)):
        beside = 0
    for seat in [(look.bottom + step) % players for step in range(1, players + 1)]:
        if seat == look.bottom:
            lines += [Text(), look.rows(f"  {look.say('table')}", game.table, width)]
            for value, cards, owner, is_multiple in game.builds:
                said = f" ({', '.join([look.name(owner), *[look.say('multiple')] * is_multiple])})"
                lines.append(look.rows(f"  {look.say('build', value=value)}", cards, width - len(said)) + Text(said))
            lines += [look.rows(f"  {look.say('aside')}", game.set_aside, width)] if game.set_aside else []
            lines += [Text()]
        lines.append(_seat(game, seat, look, longest if beside else 0))
        if seat in seats and game.hand(seat):
            lines.append(look.rows("", game.hand(seat), width))
    return Group(*lines)


def _name(game: Game, seat: int, look: TextStyle) -> Text:
    """Return what a seat is called, whether it is to play, and its roles."""
    roles = [look.say("dealer")] * (seat == game.dealer)
    roles += [] if game.rules.teams is None else [look.say("team", team=seat % game.rules.num_teams)]
    is_next = seat == game.turn
    name = f"{'>' if is_next else ' '} {look.name(seat)}"
    return Text.assemble((name, "bold" if is_next else ""), f" ({', '.join(roles)})" if roles else "")


def _counts(game: Game, seat: int, look: TextStyle) -> str:
    """Return what is counted for a seat, as in "score 3, points 3, sweeps 0"."""
    by_name = seat_counts(game, seat)
    told = [look.say(_COUNTS.get(what, what), count=by_name[what]) for what in ("score", *list(by_name)[:-1])]
    if "for mulles" in by_name:  # as in "mulles 1 for 13"
        told[-2:] = [" ".join(told[-2:])]
    return ", ".join(told)


def _seat(game: Game, seat: int, look: TextStyle, longest: int) -> Table:
    """Return a seat's name, the size of its hand, and what it has: beside names of so many columns, or below for 0."""
    name, size = _name(game, seat, look), _size(len(game.hand(seat)), look)
    grid = Table.grid(padding=(0, 2, 0, 0))
    if not longest:
        grid.add_row(name + Text(f"  {size}"))
        grid.add_row(Text(f"    {_counts(game, seat, look)}"))
        return grid
    for of_column in (longest, len(_size(10, look)), None):
        grid.add_column(width=of_column)
    grid.add_row(name, size, _counts(game, seat, look))
    return grid


def _size(held: int, look: TextStyle) -> str:
    """Return how many cards a hand has."""
    return look.say("card" if held == 1 else "cards", count=held)


def _words(game: Game, look: TextStyle) -> list[Text]:
    """Return the last play, what must be announced, and who is to play or how the game ended."""
    lines = []
    if play := last_play(game):
        parts = [look.cards(play.takes)] if play.takes else []
        parts += [Text(format_builds(play))] if format_builds(play) else []
        verb = f" {format_verb(play)} " if play.takes or play.builds or play.build else ""
        line = Text(f"{look.name(play.seat)} {'plays' if play.is_begun else 'played'} ") + look.card(play.card)
        line += Text(verb) + Text(" and ").join(parts)
        lines.append(line.append(("", ": a sweep!", ": a double sweep!")[play.sweep], style="bold"))
    if said := format_announcement(game):
        lines.append(Text(f'"{said}"', style="bold"))
    return [*lines, Text(format_result(game) if game.is_over else f"{look.name(game.turn)} to play.")]
