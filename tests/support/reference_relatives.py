"""The slow reference of the relatives of Krypkasino, and of all that `Rules` combine with them; from docs/rulings.md.

Captures are found by brute force over all sets of table cards, so tables of up to about 14 cards are quick. Whoever
looks at neither actions nor moves may `trail` onto larger ones.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from support.reference import DIAMONDS, NO_SEAT, PICTURES, SPADES, TAKE, Cards, Reference, rank, suit

STOP = 104
LILLAN, STORAN = SPADES * 13 + 1, DIAMONDS * 13 + 9
OWN_RANK = 99  # the value of a picture that is in no sum (H2)
Values = tuple[int, ...]  # that a card may have


@lru_cache(maxsize=1 << 12)
def mark_unions(cards: tuple[Values, ...], target: int) -> np.ndarray:
    """Return for each set of cards, as bits, whether it is a union of disjoint groups that sum to `target` (K2)."""
    every = np.arange(1 << len(cards))
    sums = np.zeros(len(every), np.int64)  # of each set, as bits
    sums[0] = 1
    for at, values in enumerate(cards):
        for value in values:
            if value <= target < OWN_RANK:
                sums[1 << at : 2 << at] |= sums[: 1 << at] << value & (2 << target) - 1
    groups = np.flatnonzero(sums >> target & 1) if target < OWN_RANK else 1 << np.arange(len(cards))
    unions = every == 0
    for group in groups:
        others = every[unions & (every & group == 0)]
        unions[others | group] = True
    return unions


@lru_cache(maxsize=1 << 12)
def list_captures(table: Cards, cards: tuple[Values, ...], targets: Values, maximal: bool) -> frozenset[Cards]:
    """Return the captures of a card with some hand values from a sorted table, as sorted kinds; nothing is none."""
    places = sorted(range(len(table)), key=lambda at: cards[at])  # so that equal values are remembered together
    ordered = tuple(cards[at] for at in places)
    unions = np.any([mark_unions(ordered, target) for target in targets], axis=0)
    if maximal:
        above = np.zeros_like(unions)
        for at in range(len(table)):
            sets = np.flatnonzero(~np.arange(len(unions)) >> at & 1)
            above[sets] |= (unions | above)[sets | 1 << at]
        unions = unions & ~above
    chosen = [[table[places[at]] for at in range(len(table)) if one >> at & 1] for one in np.flatnonzero(unions)]
    return frozenset(tuple(sorted(cards)) for cards in chosen if cards)


class Relative(Reference):
    """One game from a stacked deck, under any rules, with the totals of the session's games before it."""

    def __init__(self, rules: Any, deck: list[int], dealer: int | None = None, totals: Sequence[int] = ()) -> None:
        """Deal the first hands from `deck`; before the first game of a session there are no totals."""
        self.totals = list(totals) or [0] * rules.players
        self.kinds = set(deck)
        self.void = [0] * rules.players  # sweeps that don't count (F5)
        self.mulles = [0] * rules.players
        self.mulle_scores = [0] * rules.players  # what they count, each by its card (G2)
        self.cut_short = False  # ended at once, by the threshold (F6)
        self.last_deal = 0  # the number of the last deal
        values = (*rules.hand_values, *rules.table_values)
        self.is_plain = rules.capture == "maximal" and all(isinstance(value, int) for value in values)
        self.is_plain &= rules.lillan_hand_value is rules.storan_hand_value is None  # then ranks decide, as there
        super().__init__(rules, deck, dealer)
        sizes = [sum(hand * rules.players + table for hand, table in self.rules.later_deal)]
        self.last_deal = 1 + -(-len(self.stock) // sizes[0])

    # What may be played

    def hand_values(self, card: int) -> Values:
        """Return the values of a kind from the hand (S1, F1), without H2."""
        if card == LILLAN and self.rules.lillan_hand_value is not None:
            return (self.rules.lillan_hand_value,)
        if card == STORAN and self.rules.storan_hand_value is not None:
            return (self.rules.storan_hand_value,)
        return _choice(self.rules.hand_values[rank(card) - 1])

    def _captures_by(self, card: int, maximal: bool) -> Collection[Cards]:
        """Return the captures of a kind, or only the maximal ones."""
        if self.is_plain:  # the whole table is a maximal capture where it is one
            return self.captures(rank(card))
        table, targets = tuple(self.table), self.hand_values(card)
        if not self.rules.pictures_in_sums:  # H2
            picture = rank(card) in PICTURES
            table = tuple(c for c in table if (rank(c) == rank(card) if picture else rank(c) not in PICTURES))
            if picture:
                return list_captures(table, ((OWN_RANK,),) * len(table), (OWN_RANK,), maximal)
        return list_captures(
            table, tuple(_choice(self.rules.table_values[rank(c) - 1]) for c in table), targets, maximal
        )

    def _sweeps_by(self, card: int) -> bool:
        return tuple(self.table) in self._captures_by(card, False)

    def _sweepers(self) -> set[int]:
        """Return the kinds of the deck that take the whole table."""
        return {kind for kind in self.kinds if self._sweeps_by(kind)}

    def _plays_of(self, card: int) -> list[Cards]:
        """Return what a card may take: any capture or nothing, or where it must sweep everything (K2)."""
        if self.rules.capture == "maximal":
            return sorted(self._captures_by(card, True)) or [()]
        if self.rules.forced_sweep and self._sweeps_by(card):
            return [tuple(self.table)]
        return [(), *sorted(self._captures_by(card, False))]

    def _open_plays(self, card: int) -> list[Cards]:
        """Return what the pending card may still take in all: optional captures are taken in ascending order."""
        if self.rules.capture == "maximal":
            return super()._open_plays(card)
        taken = tuple(self.taken)
        return [takes for takes in self._plays_of(card) if takes[: len(taken)] == taken]

    def legal_actions(self) -> list[int]:
        """Return the staged actions in ascending order, `STOP` last where what was taken is a capture, or nothing."""
        if self.rules.capture == "maximal" or self.over or self.pending is None:
            return super().legal_actions()
        taken, plays = tuple(self.taken), self._open_plays(self.pending)
        takes = {TAKE + takes[len(taken)] for takes in plays if len(takes) > len(taken)}
        return sorted(takes) + [STOP] * (taken in plays)

    def act(self, action: int) -> None:
        """Make one staged action; a play that can only stop, or that must take everything, is complete."""
        if self.rules.capture == "maximal":
            super().act(action)
            return
        if action not in self.legal_actions():
            raise ValueError(f"{action} is not one of the legal actions {self.legal_actions()}")
        if action == STOP:
            assert self.pending is not None
            self._finish(self.pending, tuple(self.taken))
            return
        if self.pending is None:
            self._show(action)
        else:
            self.taken.append(action - TAKE)
        assert self.pending is not None
        must_sweep = () not in self._plays_of(self.pending)
        if must_sweep or self.legal_actions() == [STOP]:
            self._finish(self.pending, tuple(self.table if must_sweep else self.taken))

    def trail(self, card: int) -> None:
        """Play a card that takes nothing, without a look at what it could take."""
        self.hands[self.turn].remove(card)
        self._finish(card, ())

    # Playing

    def _sweep(self, card: int, takes: Cards) -> int:
        sweeps = super()._sweep(card, takes)
        return min(sweeps, 1) if self.rules.double_sweep == "none" else sweeps  # K3

    def _capture(self, card: int, takes: Cards) -> None:
        if self._is_void():
            self.void[self.turn] += self._sweep(card, takes)
        if self.rules.mulle_points and takes == (card,):  # M2
            self.mulles[self.turn] += 1
        if self.rules.mulle_by_value and card in takes:  # G2
            self.mulles[self.turn] += 1
            self.mulle_scores[self.turn] += min(self.hand_values(card))
        super()._capture(card, takes)

    def _is_void(self) -> bool:
        """Return whether a sweep would not count now, before the card is played (F5)."""
        rules = self.rules
        if not rules.last_deal_sweeps and self.deal_number == self.last_deal:
            return True
        return rules.sweep_limit is not None and max(self.running_totals()) >= rules.sweep_limit

    def _go_on(self, seat: int) -> None:
        if self.rules.threshold_at_once and self._reaches_threshold(self.running_totals()):
            self.over, self.cut_short, self.turn = True, True, NO_SEAT  # F6
        else:
            super()._go_on(seat)

    # Scores

    def rulebook_points(self, card: int) -> int:
        """Return the points of a kind (R3, G3)."""
        if (suit(card), rank(card)) == (SPADES, 1) and self.rules.spade_ace_points is not None:
            return int(self.rules.spade_ace_points)
        return super().rulebook_points(card)

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


def _choice(value: int | tuple[int, int]) -> Values:
    return value if isinstance(value, tuple) else (value,)
