"""The narrator: all that it can tell, for one seat at a table."""

from __future__ import annotations

from krypenv.game.game import Game
from krypenv.game.moves import Move
from krypenv.ui.narrator import events, options, refusals, rules_text, score_sheet
from krypenv.ui.narrator.examples import examples_of
from krypenv.ui.narrator.words import Words


class Narrator(Words):
    """Turns rules, plays, refusals and scores into sentences, and tells nothing that its seat may not know.

    It holds no rules: what it says is asked of `Game` and `Rules`. See `Words` for the arguments.

    >>> from krypenv import Game, Rules
    >>> game = Game.from_position("rules: krypkasino; hand 0: 8S 9D; hand 1: 4C KD; table: 2H 6D; captured 1: rest")
    >>> Narrator(game.rules, seat=0).why(game, Move("9D"))
    'You must sweep: play 8♠.'
    """

    # ------------------------------------------------------------------ the game

    @property
    def title(self) -> str:
        """What the game is called."""
        return rules_text.title_of(self)

    @property
    def table_title(self) -> str:
        """What the game is called, and for how many players."""
        return rules_text.table_title_of(self)

    def lines(self) -> list[tuple[str, str]]:
        """Return what the game is in five lines, each with its heading."""
        return [(part.heading, part.line) for part in rules_text.sections(self)]

    def in_full(self) -> list[tuple[str, list[str]]]:
        """Return what the game is, in paragraphs under five headings, with examples that were played."""
        examples = examples_of(self)
        return [
            (part.heading, [*filter(None, (part.line, part.more)), *examples.get(name, [])])
            for name, part in zip(rules_text.LINES, rules_text.sections(self), strict=True)
        ]

    # ------------------------------------------------------------------ plays

    def place(self, game: Game) -> str:
        """Return which deal of which game is being played, within a sentence."""
        return events.tell_place(self, game)

    def deal(self, game: Game) -> str:
        """Return which deal begins, and who leads."""
        return " ".join(events.tell_deal(self, game))

    def play(self, before: Game, game: Game) -> str:
        """Return what the last play of a game was and brought; `before` is the game before it."""
        return " ".join(events.tell_play(self, before, game))

    def announcement(self, game: Game) -> str:
        """Tell the seat to act that it must sweep, and everybody what could sweep the table; empty if nothing."""
        said = events.tell_announcement(self, game)
        return (refusals.must_sweep(self, game) if said and game.turn == self.seat else "") or said

    def choice(self, game: Game, move: Move) -> tuple[str, str]:
        """Return a move of the seat to act in a few words, and what it is worth to it at once: plus is good."""
        return options.tell_choice(self, game, move)

    def advice(self, game: Game, move: Move, sets_up: float = 0, by: str = "") -> str:
        """Tell which move an agent advises, and what it is good for; see `options.tell_advice`."""
        return options.tell_advice(self, game, move, sets_up, by)

    def why(self, game: Game, move: Move) -> str:
        """Return why the seat to act can't make a move, or what that would do."""
        return refusals.why(self, game, move)

    def why_card(self, game: Game, card: str) -> str:
        """Return why the seat to act can't play a card, or what that would do, or between what it must choose."""
        return refusals.why_card(self, game, card)

    # ------------------------------------------------------------------ the end

    def account(self, game: Game, seat: int) -> str:
        """Tell what the score of a seat so far is made of."""
        return score_sheet.tell_account(self, game, seat)

    def sheet(self, game: Game) -> score_sheet.Sheet:
        """Return every point of a game by its source and seat."""
        return score_sheet.sheet_of(self, game)

    def sheet_lines(self, game: Game, width: int = 80) -> list[str]:
        """Return every point of a game by its source and seat, as lines of so many columns."""
        return score_sheet.lines_of(self, self.sheet(game), width)

    def result(self, game: Game) -> str:
        """Return who won a game that is over, or its session, and why."""
        return " ".join(score_sheet.tell_result(self, game))
