"""The parts of sentences: cards, lists, numbers, names of seats and sides."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from krypenv.cards import RANK_NAMES, SUIT_SYMBOLS, TEN, parse_card, rank_of, suit_of
from krypenv.rules import Rules
from krypenv.ui.narrator.facts import hand_values, split
from krypenv.ui.narrator.texts import CATALOGUES, check_language, say

PICTURE_NAMES = "AJQK"  # ranks that languages name by letters of their own


class Words:
    """The parts of sentences in a language, for one seat at a table.

    Args:
        rules: the rules of the game.
        names: what the seats are called, by default by their numbers.
        seat: who is spoken to; None for somebody who watches.
        language: one of `texts.LANGUAGES`.
        symbols: write suits as in 8♠, otherwise as in 8S.
    """

    def __init__(
        self,
        rules: Rules,
        names: Sequence[str] = (),
        seat: int | None = None,
        language: str = "en",
        symbols: bool = True,
    ) -> None:
        self.rules, self.seat, self.language, self.symbols = rules, seat, check_language(language), symbols
        self._texts = CATALOGUES[language]
        self._names = list(names)

    def say(self, key: str, count: int | None = None, **parts: Any) -> str:
        """Fill in a text of the catalogue; `count` chooses between its two forms."""
        return say(self.language, key, count, **parts)

    def has(self, key: str) -> bool:
        """Check whether the catalogue has a text."""
        return key in self._texts

    # ------------------------------------------------------------------ cards, lists, numbers

    def card(self, name: str) -> str:
        """Write a card, as in 8♠ or 8S; with symbols, ranks are those of the language."""
        kind = parse_card(name)
        return self.rank(rank_of(kind)) + SUIT_SYMBOLS[suit_of(kind)] if self.symbols else name

    def in_letters(self, text: str) -> str:
        """Write the ranks that cards have in the language as records have them, in a text in lower case."""
        for letter in PICTURE_NAMES:
            index = self._texts[f"index.{letter}"].lower()
            text = re.sub(rf"\b{index}(?=[cdhs♣♦♥♠])", letter.lower(), text)
        return text

    def cards(self, names: Iterable[str]) -> str:
        """Write cards side by side."""
        return " ".join(map(self.card, names))

    def taken(self, card: str, takes: Sequence[str]) -> str:
        """Write what a card takes by the sums that make its value, as in 3♥+5♦ 8♣."""
        groups = split(self.rules, takes, hand_values(self.rules, parse_card(card)))
        return " ".join("+".join(map(self.card, group)) for group in groups)

    def sums(self, card: str, takes: Sequence[str]) -> str:
        """Return a card and what adds up to its value, as in 8♠ = 8♣ = 5♦+3♥ and, where its rank does not tell the
        value, K♠ (13) = 7♦+6♥.
        """
        values = hand_values(self.rules, parse_card(card))
        value = f" ({values[0]})" if len(values) == 1 and str(values[0]) != self.rank(rank_of(parse_card(card))) else ""
        return " = ".join([self.card(card) + value, *self.taken(card, takes).split()])

    def rank(self, rank: int) -> str:
        """Write a rank as cards have it, as in 8 or Q."""
        letter = RANK_NAMES[rank - 1]
        return "10" if rank == TEN else self._texts.get(f"index.{letter}", letter) if self.symbols else letter

    def listed(self, items: Sequence[str], word: str = "and") -> str:
        """Write a list of items, as in "a, b and c"."""
        if len(items) < 2:
            return "".join(items)
        return f"{', '.join(items[:-1])} {self.say(f'list.{word}')} {items[-1]}"

    def either(self, values: Sequence[int]) -> str:
        """Write a list of values, as in "1 or 14"."""
        return self.listed([*map(str, values)], "or")

    def number(self, number: int) -> str:
        """Write a number, a small one as a word."""
        return self._texts.get(f"number.{number}", str(number))

    def points(self, points: int) -> str:
        """Write a number of points, as in "5 points"."""
        return self.say("points.count", points, points=points)

    def worth(self, points: int) -> int:
        """Sign points by what they are worth to the seat that gets them: plus is good."""
        return points if self.rules.goal == "high" else -points

    # ------------------------------------------------------------------ seats and sides

    def who(self, seat: int) -> str:
        """Name a seat within a sentence."""
        if seat == self.seat:
            return self.say("you")
        return self._names[seat] if self._names else self.say("seat", seat=seat)

    def whom(self, seat: int) -> str:
        """Name a seat as an object within a sentence."""
        return self.say("luck.whom.you") if seat == self.seat else self.who(seat)

    def says(self, key: str, seat: int, **parts: Any) -> str:
        """Fill in a sentence about a seat: there is one of its own for "you"."""
        return starting(self.say(f"{key}.you" if seat == self.seat else key, who=self.who(seat), **parts))

    @property
    def names(self) -> list[str]:
        """The names of the seats where they stand alone."""
        return [
            starting(self.who(seat)) if seat == self.seat or not self._names else self._names[seat]
            for seat in range(self.rules.players)
        ]

    def members(self, side: int) -> list[int]:
        """List the seats of a side."""
        return list(range(side, self.rules.players, self.rules.num_teams))

    @property
    def own_side(self) -> int | None:
        """The side of who is spoken to."""
        return None if self.seat is None else self.rules.team_of(self.seat)

    def side(self, side: int) -> str:
        """Name a side: a seat, or partners by their names."""
        return self.listed([self.who(seat) for seat in sorted(self.members(side), key=lambda seat: seat != self.seat)])


def starting(sentence: str) -> str:
    """Begin a sentence with a capital letter."""
    return sentence[:1].upper() + sentence[1:]


def signed(worth: int) -> str:
    """Write what something is worth to a player with its sign."""
    return f"{worth:+}" if worth else "0"
