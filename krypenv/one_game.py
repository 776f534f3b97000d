"""One game for people, with its texts and its picture."""

from __future__ import annotations

from krypenv import pictures
from krypenv.game.core import Core
from krypenv.game.display import format_announcement, format_game
from krypenv.game.position_parser import parse_position
from krypenv.game.positions import format_position
from krypenv.game.records import format_record, parse_record
from krypenv.game.view import format_view


class Game(Core):
    """One game: `push` and `pop` whole moves, or `act` in staged actions as the environments do.

    Args:
        rules: the rules.
        seed: a whole number from 0 to 2**64 - 1, with the same deals as an `Engine` row with this seed. None draws one
            and keeps it in `seed` (with a deck, `seed` stays None and later games of the session are dealt at random).
        deck: the names of all cards in deal order (R4), instead of a shuffle.
        dealer: the seat that deals, by default the last one (R5).

    Attributes:
        rules, seed: as given.
        tags: additional tags of the game's record, as in ``{"Event": "Friday"}``.
        comments: comments of the record, by the number of moves made before them.

    Raises ValueError for a deck that is not the deck of the rules, and for an impossible seed or dealer.

    >>> game = Game(Rules.preset("krypkasino"), seed=7)
    >>> game.push(game.legal_moves()[0])
    >>> game.turn, len(game.hand(0)), game.stock_size
    (1, 5, 88)
    """

    @property
    def announcement(self) -> str:
        """What must be announced now by the rules, as in ``last cards, sweep for a 6 or a queen``; empty if nothing."""
        return format_announcement(self)

    def __str__(self) -> str:
        """Return a picture of the game for people, with all hands: what one seat may see is `view`."""
        return format_game(self)

    def view(self, seat: int) -> str:
        """Return what a seat may see, as text for people and language models: nothing that is hidden from it.

        It has the seat's hand, the table, what each seat has won, the unseen cards, ranks that others can't hold, the
        plays of this deal, who is to play, and the seat's legal moves as `push` reads them. Raises ValueError for a
        seat that there is not.

        >>> game = Game.from_position("rules: krypkasino; hand 0: 8S 9D; hand 1: 4C KD; table: 2H 6D; captured 1: rest")
        >>> game.view(0).splitlines()[-1]
        'Your moves: 8Sx6D2H#.'
        """
        return format_view(self, seat)

    def _repr_svg_(self) -> str:
        """Return a picture of the game for a notebook, with all hands."""
        return pictures.draw_svg(self, "all")

    def position(self) -> str:
        """Return the whole position as text (docs/notation.md); `Game.from_position` is the inverse."""
        return format_position(self)

    @classmethod
    def from_position(cls, text: str) -> Game:
        """Return the game of a position's text; raise NotationError, with line and reason, if it is not one."""
        return parse_position(text, cls)

    def record(self) -> str:
        """Return the game as text (docs/notation.md), with its tags and comments; `Game.replay` is the inverse."""
        return format_record(self)

    @classmethod
    def replay(cls, text: str) -> Game:
        """Return the game of a record's text; raise NotationError, with line and reason, if it is not one."""
        return parse_record(text, cls)
