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
    remaining: int  # cards that it gets in a row from here on, this one included
    dealt: int  # cards that it has got of them


class CoursePlan:
    """The rules of courses, compiled, and the order in which their cards are dealt.

    Args:
        rules: the rules.
        sorted_deals: deal each hand, and the table, at once and in ascending order of kinds. The hands have the same
            probabilities, and the tree is many times smaller, because a hand is dealt in one order only.

    Attributes:
        deals: for each deal of a game the cards that chance deals, in order; without `sorted_deals` in that of R4.
        most_games: a bound on the games of a session.
    """

    def __init__(self, rules: RulesLike, sorted_deals: bool = False) -> None:
        self.rules, self.sorted_deals = as_rules(rules), bool(sorted_deals)
        self.most_games = self.rules.games or LAST_GAME
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
            draws = ((place, len(group), dealt) for group in groups for dealt, place in enumerate(group))
            self.deals.append([Draw(place, int(seats[place]), size - dealt, dealt) for place, size, dealt in draws])
        self.deck = rows["deck_counts"].astype(int).tolist()


def draw_weights(left: Sequence[int], remaining: int, last: int = NO_CARD, held: int = 0) -> list[tuple[int, int]]:
    """List the kinds that may be dealt next, ascending, with weights proportional to their probabilities.

    `remaining` cards, any set of which is equally likely, are dealt in ascending order. The weight of a kind is the
    number of sets whose next card it is.

    Args:
        left: copies of each kind that are not dealt yet.
        remaining: cards that the same hand still gets.
        last: the kind dealt to it last, of which it has `held` copies; NO_CARD if this is its first card.

    >>> draw_weights([1, 1, 1], remaining=2)
    [(0, 2), (1, 1)]
    """
    if remaining == 1 and last == NO_CARD:
        return [(kind, copies) for kind, copies in enumerate(left) if copies]
    above = list(accumulate(reversed(left), initial=0))[::-1]  # copies of a kind and of those after it
    before = 1 if last == NO_CARD else comb(left[last] + held, held)  # choices of the copies held of the last kind
    weights = []
    for kind in range(0 if last == NO_CARD else last, len(left)):
        copies, rest = left[kind], above[kind + 1]
        if kind == last:  # further copies of it are chosen with those held
            most = min(copies, remaining)
            weight = sum(comb(copies + held, held + more) * comb(rest, remaining - more) for more in range(1, most + 1))
        else:
            weight = before * (comb(copies + rest, remaining) - comb(rest, remaining))
        if weight:
            weights.append((kind, weight))
    return weights
