"""Points, scores and the ends of sessions of the slow reference, from docs/rulings.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from support.reference_captures import rank

DIAMONDS, SPADES = 1, 3
LILLAN, STORAN = SPADES * 13 + 1, DIAMONDS * 13 + 9
NO_SEAT = -1


def suit(card: int) -> int:
    """Return the suit 0..3 of a kind."""
    return card // 13


class Scored:
    """A game as far as it counts: what each seat has captured, and the session's games before it."""

    def __init__(self, rules: Any, dealer: int, totals: Sequence[int]) -> None:
        """Begin a game; `totals` are those of the session's games before it, by seat."""
        self.rules, self.dealer = rules, dealer
        self.leader = (dealer + 1) % rules.players
        self.totals = list(totals) or [0] * rules.players
        self.captured: list[list[int]] = [[] for _ in range(rules.players)]
        self.sweeps = [0] * rules.players
        self.void = [0] * rules.players  # sweeps that don't count (F5)
        self.mulles = [0] * rules.players
        self.mulle_scores = [0] * rules.players  # what they count, each by its card (G2)
        self.last_capturer = NO_SEAT
        self.bonus = 0  # the leader's (H5)
        self.over = False
        self.cut_short = False  # ended at once, by the threshold (F6)

    def card_points(self, card: int) -> int:
        """Return the points of a kind: those of the rulebook, or what the rules say instead."""
        pairs = [entry.split(":") for entry in self.rules.custom_points.split("+") if entry]
        own = {name: int(points) for name, points in pairs}
        name = "A23456789TJQK"[rank(card) - 1] + "CDHS"[suit(card)]
        if name in own:
            return own[name]
        if name[0] in own or name[1] in own:
            return own.get(name[0], 0) + own.get(name[1], 0)
        return self.rulebook_points(card)

    def rulebook_points(self, card: int) -> int:
        """Return the points of a kind (R3, G3)."""
        rules = self.rules
        own = {STORAN: rules.storan_points, LILLAN: rules.lillan_points, SPADES * 13: rules.spade_ace_points}.get(card)
        return (
            rules.spade_points * (suit(card) == SPADES) + rules.ace_points * (rank(card) == 1) if own is None else own
        )

    def points(self, seat: int) -> int:
        """Return the points of the cards that a seat has taken so far."""
        return sum(self.points_of_kinds[card] for card in self.captured[seat])

    @cached_property
    def points_of_kinds(self) -> list[int]:
        """The points of each kind, 52."""
        return [self.card_points(kind) for kind in range(52)]

    def by_side(self, numbers: Sequence[int]) -> list[int]:
        """Return the sums of seats' numbers over the members of each side (K1)."""
        sides = self.rules.teams or self.rules.players
        return [sum(numbers[side::sides]) for side in range(sides)]

    def running_totals(self) -> list[int]:
        """Return for each side its total in the session and its score in this game so far (F5)."""
        return self.by_side([total + score for total, score in zip(self.totals, self.scores(), strict=True)])

    def cards_won(self) -> list[int]:
        """Return the cards in each seat's pile."""
        return [len(pile) for pile in self.captured]

    def spades_won(self) -> list[int]:
        """Return the spades in each seat's pile."""
        return [sum(suit(card) == SPADES for card in pile) for pile in self.captured]

    def scores(self) -> list[int]:
        """Return each seat's score so far; what belongs to a side as a whole stands with its first seat (K7)."""
        rules, players = self.rules, range(self.rules.players)
        counted = [self.sweeps[seat] - self.void[seat] for seat in players]
        paid = [counted[(seat + 1) % rules.players] * (rules.sweep_payer == "seat_before") for seat in players]
        scores = [
            self.points(seat)
            + rules.sweep_points * (counted[seat] - paid[seat])
            + rules.mulle_points * self.mulles[seat]
            + self.mulle_scores[seat]
            + (self.bonus if seat == self.leader else 0)
            for seat in players
        ]
        if rules.sweeps_cancel:  # F4
            fewest = min(self.by_side(counted))
            for side in range(len(self.by_side(counted))):
                scores[side] -= rules.sweep_points * fewest
        if self.over and not self.cut_short:
            if self.last_capturer != NO_SEAT:
                scores[self.last_capturer] += rules.last_capture_points
            for side, points in enumerate(self.majorities()):
                scores[side] += points
        return scores

    def majorities(self) -> list[int]:
        """Return what each side gets at the end for its spades and cards (K5, F3, O1)."""
        rules = self.rules
        spades, cards = self.by_side(self.spades_won()), self.by_side(self.cards_won())
        points = [max(0, own - rules.spades_above) if rules.spades_above is not None else 0 for own in spades]
        leaders = [side for side, own in enumerate(spades) if own == max(spades)]
        if len(leaders) == 1:
            points[leaders[0]] += rules.most_spades_points
        elif len(leaders) == 2 and len(spades) > 2 and rules.spades_tie == "two_share":
            for side in leaders:
                points[side] += rules.most_spades_points // 2
        if cards.count(max(cards)) == 1:
            points[cards.index(max(cards))] += rules.most_cards_points
        return points

    # Sessions

    def new_totals(self) -> list[int]:
        """Return the totals by seat with this game's scores."""
        return [total + score for total, score in zip(self.totals, self.scores(), strict=True)]

    def ends_session(self, number: int) -> bool:
        """Return whether a session ends with this game, which is over and its `number`-th (K6)."""
        if self.rules.games and number >= self.rules.games:
            return True
        return self._reaches_threshold(self.by_side(self.new_totals()))

    def _reaches_threshold(self, totals: list[int]) -> bool:
        """Return whether totals of the sides end a session: one is at the threshold, and who plays on is alone (K6)."""
        best = max(totals) if self.rules.goal == "high" else min(totals)
        if self.rules.threshold is None or max(totals) < self.rules.threshold:
            return False
        return self.rules.tie_break != "play_on" or totals.count(best) == 1

    def winners(self) -> list[int]:
        """Return the sides that win, or share the win, if the session ends with this game (K6, F7)."""
        keys: Callable[[int], tuple[int, ...]] = {
            "spades": lambda side: (self.by_side(self.spades_won())[side],),
            "finnish": lambda side: (
                self.by_side([self.points(seat) for seat in range(self.rules.players)])[side],
                self.by_side(self.spades_won())[side],
                self.by_side(self.cards_won())[side],
            ),
        }.get(self.rules.tie_break, lambda side: ())
        totals = self.by_side(self.new_totals())
        ranked = [(total, *keys(side)) for side, total in enumerate(totals)]
        best = max(ranked) if self.rules.goal == "high" else min(ranked)
        return [side for side, one in enumerate(ranked) if one == best]
