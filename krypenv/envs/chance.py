"""What chance deals, card by card: who gets the next card, and with which probability it is which kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, groupby
from math import comb
from typing import NamedTuple

from krypenv.cards import NO_CARD
from krypenv.kernels.compiled import compile_rules
from krypenv.rewards import LAST_GAME
from krypenv.rules import RulesLike, as_rules


class Draw(NamedTuple):
    """A card that chance deals."""

    place: int  # in the deck
    seat: int  # that gets it, counted from the leader, or TABLE
    to_come: int  # cards that are still to come to it in a row, this one included
    come: int  # cards of them that have come


class CoursePlan:
    """What all courses under some rules share.

    Args:
        rules: the rules.
        sorted_deals: deal each hand, and the table, at once and in ascending order of kinds. The hands have the same
            probabilities, and the tree is many times smaller, because a hand is dealt in one order only.

    Attributes:
        deals: for each deal of a game the cards that chance deals, in order; without `sorted_deals` in that of R4.
    """

    def __init__(self, rules: RulesLike, sorted_deals: bool = False) -> None:
        self.rules, self.sorted_deals = as_rules(rules), bool(sorted_deals)
        self.compiled = compile_rules(rules)
        rows = self.compiled[0]
        starts, seats = rows["deal_start"], rows["destination"]
        self.deals: list[list[Draw]] = []
        for number in range(int(rows["num_deals"])):
            places: Iterable[int] = range(starts[number], starts[number + 1])
            groups = [[place] for place in places]
            if self.sorted_deals:
                places = sorted(places, key=lambda place: seats[place])
                groups = [list(group) for _, group in groupby(places, key=lambda place: seats[place])]
            draws = ((place, len(group), at) for group in groups for at, place in enumerate(group))
            self.deals.append([Draw(place, int(seats[place]), size - at, at) for place, size, at in draws])
        self.deck = rows["deck_counts"].astype(int).tolist()

    @property
    def most_games(self) -> int:
        """A bound on the games of a session."""
        return self.rules.games or LAST_GAME


def draw_weights(left: Sequence[int], to_come: int, last: int = NO_CARD, held: int = 0) -> list[tuple[int, int]]:
    """Return the kinds that may be dealt next, ascending, each with a weight proportional to its probability.

    `to_come` cards, of which any set is equally likely, are dealt in ascending order. The weight of a kind is the
    number of sets that go on with it.

    Args:
        left: copies of each kind that are not dealt yet.
        to_come: cards still to come to the same hand.
        last: the kind dealt to it last, of which it has got `held` copies; NO_CARD if this is its first card.

    >>> draw_weights([1, 1, 1], to_come=2)
    [(0, 2), (1, 1)]
    """
    if to_come == 1 and last == NO_CARD:
        return [(kind, copies) for kind, copies in enumerate(left) if copies]
    above = list(accumulate(reversed(left), initial=0))[::-1]  # copies of a kind and of those after it
    weights = []
    start, ways = 0, 1
    if last != NO_CARD:
        copies, rest = left[last] + held, above[last + 1]
        same = sum(
            comb(copies, count) * comb(rest, to_come - count + held)
            for count in range(held + 1, min(copies, held + to_come) + 1)
        )
        if same:
            weights.append((last, same))
        start, ways = last + 1, comb(copies, held)
    for kind in range(start, len(left)):
        weight = ways * (comb(above[kind], to_come) - comb(above[kind + 1], to_come))
        if weight:
            weights.append((kind, weight))
    return weights
