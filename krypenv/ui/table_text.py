"""The table in a terminal: the seats with their hands, and the cards between them in colour, as rich prints them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from krypenv.cards import CLUBS, DIAMONDS, HEARTS, SPADES, SUIT_NAMES, SUIT_SYMBOLS
from krypenv.game.display import seat_counts
from krypenv.game.game import Game
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.narrator.words import starting

NARROWEST = 40  # columns
_PAPER = "on grey93"
_LABEL, _WIDEST = 13, 6  # columns of a label before cards, and of a card
_TWO_COLOURS = {CLUBS: "grey7", DIAMONDS: "red3", HEARTS: "red3", SPADES: "grey7"}
_FOUR_COLOURS = {CLUBS: "dark_green", DIAMONDS: "blue3", HEARTS: "red3", SPADES: "grey7"}
_MAJORITIES = ("cards", "spades")  # counts beside the score


class TableText:
    """The table as one seat sees it, in its language; that seat comes last, the others sit clockwise (R5).

    Args:
        narrator: what it says, and to which seat.
        four_colours: write clubs green and diamonds blue.
    """

    def __init__(self, narrator: Narrator, four_colours: bool = False) -> None:
        self._narrator, self._bottom = narrator, narrator.seat or 0
        self._names = [*map(starting, narrator.names)]
        self._colours = _FOUR_COLOURS if four_colours else _TWO_COLOURS

    def ink(self, card: str) -> str:
        """Look up the style of a card, in any language, by its suit."""
        return f"bold {self._colours[f'{SUIT_NAMES}{SUIT_SYMBOLS}'.index(card[-1]) % len(SUIT_NAMES)]} {_PAPER}"

    def table(self, game: Game, width: int) -> Group:
        """Lay out the seats, the hand of the seat at the bottom, and the table, in `width` columns."""
        players, say = game.rules.players, self._say
        place = self._narrator.place(game)
        head = Text(say("head", title=self._narrator.title, place=place, stock=game.stock_size), style="bold")
        lines: list[RenderableType] = [head, Text()]
        longest = max(len(self._name(game, seat)) for seat in range(players))
        before_counts = longest + len(f"  {self._size(10)}  ")
        if width - before_counts < max(len(self._counts(game, seat)) for seat in range(players)):
            longest = 0
        for seat in [(self._bottom + step) % players for step in range(1, players)]:
            lines.append(self._seat(game, seat, longest))
        lines += [Text(), self._rows(f"  {say('table')}", game.table, width)]
        for value, cards, owner, is_multiple in game.builds:
            owned = f" ({', '.join([self._names[owner], *[say('multiple')] * is_multiple])})"
            lines.append(self._rows(f"  {say('build', value=value)}", cards, width - len(owned)) + Text(owned))
        lines += [self._rows(f"  {say('aside')}", game.set_aside, width)] if game.set_aside else []
        lines += [Text(), self._seat(game, self._bottom, longest)]
        hand = game.hand(self._bottom)
        return Group(*lines, *([self._rows("", hand, width)] if hand else []))

    def _say(self, label: str, **parts: object) -> str:
        return self._narrator.say(f"screen.{label}", **parts)  # type: ignore[arg-type]

    def _cards(self, names: Iterable[str]) -> Text:
        """Write cards side by side."""
        cards = (Text.assemble((f" {self._narrator.card(name)} ", self.ink(name))) for name in names)
        return Text(" ").join(cards) or Text(" -")

    def _rows(self, label: str, names: Sequence[str], width: int) -> Text:
        """Write cards after a label, in as many rows as they need in `width` columns."""
        in_row = max(1, (width - _LABEL) // _WIDEST)
        rows = [self._cards(names[at : at + in_row]) for at in range(0, max(1, len(names)), in_row)]
        return Text(f"{label:{_LABEL}}") + Text("\n" + " " * _LABEL).join(rows)

    def _name(self, game: Game, seat: int) -> Text:
        """Write the name of a seat, with a mark if it is to play, and its roles."""
        roles = [self._say("dealer")] * (seat == game.dealer)
        roles += [] if game.rules.teams is None else [self._say("team", team=seat % game.rules.num_teams)]
        is_next = seat == game.turn
        name = f"{'>' if is_next else ' '} {self._names[seat]}"
        return Text.assemble((name, "bold" if is_next else ""), f" ({', '.join(roles)})" if roles else "")

    def _counts(self, game: Game, seat: int) -> str:
        """Write the account of a seat's score, and its counts for majorities."""
        counts = seat_counts(game, seat)
        majorities = [self._say(f"{name}_won", count=counts[name]) for name in _MAJORITIES if name in counts]
        return "; ".join([self._narrator.account(game, seat), *majorities])

    def _seat(self, game: Game, seat: int, longest: int) -> Table:
        """Lay out a seat: name, size of the hand, and counts, beside names of `longest` columns, or below for 0."""
        name, size = self._name(game, seat), self._size(len(game.hand(seat)))
        grid = Table.grid(padding=(0, 2, 0, 0))
        if not longest:
            grid.add_row(name + Text(f"  {size}"))
            grid.add_row(Text(f"    {self._counts(game, seat)}"))
            return grid
        for width in (longest, len(self._size(10)), None):
            grid.add_column(width=width)
        grid.add_row(name, size, self._counts(game, seat))
        return grid

    def _size(self, held: int) -> str:
        """Write the size of a hand."""
        return self._say("card" if held == 1 else "cards", count=held)
