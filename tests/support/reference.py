"""A slow reference of the rules, by brute force from docs/rulings.md, that shares no code with the package.

Cards are kinds 0..51 (suit * 13 + rank - 1, suits clubs, diamonds, hearts, spades), seats are 0..n-1 clockwise, and
every card list but the stock is sorted. The rules come as any object with the fields of `Rules`. Where captures are
optional all of them are listed, so tables of up to about 14 cards are quick; whoever looks at neither actions nor moves
may `trail` onto larger ones. `reference_builds` goes on from here to builds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from support.reference_captures import Cards, Values, list_captures, rank
from support.reference_scores import LILLAN, NO_SEAT, SPADES, STORAN, Scored, suit

Move = tuple[int, Cards, int]  # the card played, the kinds it takes, and 0, 1 or 2: no, one or a double sweep
PICTURES = (11, 12, 13)
TAKE, STOP = 52, 104  # action TAKE + kind takes that kind

STANDARD_FIRST_DEAL = {  # R4: players -> batches of (cards to each hand, cards to the table)
    2: ((3, 2), (3, 2)),
    3: ((3, 3), (2, 2)),
    4: ((3, 2), (2, 2)),
    5: ((2, 2), (2, 2)),
    6: ((3, 2), (2, 0)),
}
SIX_TABLE_FIRST_DEAL = ((3, 3), (2, 3))  # V1


def contains(larger: Cards, smaller: list[int]) -> bool:
    """Return whether one multiset of kinds holds every copy of another."""
    return not Counter(smaller) - Counter(larger)


class Reference(Scored):
    """One game from a stacked deck, played by whole plays (`push`) or by staged actions (`act`)."""

    def __init__(self, rules: Any, deck: list[int], dealer: int | None = None, totals: Sequence[int] = ()) -> None:
        """Deal the first hands from `deck` (kinds in deal order, R4); the dealer is the last seat unless told (R5)."""
        super().__init__(rules, rules.players - 1 if dealer is None else dealer, totals)
        self.kinds = set(deck)
        self.stock = list(deck)
        self.hands: list[list[int]] = [[] for _ in range(rules.players)]
        self.table: list[int] = []
        self.aside: list[int] = []
        self.turn = self.leader
        self.deal_number = 1
        self.pending: int | None = None  # the card just played, out of the hand, while its takes are being chosen
        self.taken: list[int] = []  # the kinds taken so far in this play
        self.excluded: list[set[int]] = [set() for _ in range(rules.players)]
        self._deal_batches(self._first_deal())
        if len({rank(card) for card in self.table}) == 1:
            self.bonus = rules.initial_match_bonus  # H5; the layout as it was dealt
        self._set_aside()
        sizes = [hand * rules.players + table for hand, table in rules.later_deal]
        self.last_deal = 1 + -(-len(self.stock) // sum(sizes))  # its number

    def copy(self) -> Reference:
        """Return an independent copy."""
        twin = object.__new__(type(self))
        for name, value in vars(self).items():
            if isinstance(value, list):
                value = [v.copy() if isinstance(v, (list, set)) else v for v in value]
            setattr(twin, name, value)
        return twin

    # Dealing

    def _first_deal(self) -> tuple[tuple[int, int], ...]:
        """Return the batches of the first deal: (cards to each hand, cards to the table) each."""
        if self.rules.first_deal == "standard":
            return STANDARD_FIRST_DEAL[self.rules.players]
        if self.rules.first_deal == "six_table":
            return SIX_TABLE_FIRST_DEAL
        return self.rules.first_deal

    def _deal_batches(self, batches: tuple[tuple[int, int], ...]) -> None:
        """Deal each batch: so many to every seat from the leader on, then so many to the table (R4)."""
        for to_hand, to_table in batches:
            for seat in self._from_leader():
                self.hands[seat] += self._draw(to_hand)
            self.table += self._draw(to_table)
        self._sort()

    def _deal_again(self) -> None:
        """Put aside and deal the next hands; a last deal that is short goes one card at a time (R4, R6, H3)."""
        self._set_aside()
        self.deal_number += 1
        self.turn = self.leader
        self.excluded = [set() for _ in self.hands]
        later = self.rules.later_deal
        whole = sum(to_hand * self.rules.players + to_table for to_hand, to_table in later)
        if self.rules.short_last_deal and len(self.stock) < whole:
            for place in range(len(self.stock)):
                self.hands[(self.leader + place) % self.rules.players] += self._draw(1)
            self._sort()
        else:
            self._deal_batches(later)

    def _from_leader(self) -> list[int]:
        return [(self.leader + place) % self.rules.players for place in range(self.rules.players)]

    def _draw(self, count: int) -> list[int]:
        if count > len(self.stock):
            raise ValueError(f"{count} cards are to be dealt, but the stock has {len(self.stock)}")
        drawn, self.stock = self.stock[:count], self.stock[count:]
        return drawn

    def _set_aside(self) -> None:
        """Put aside the pictures (R6), the spades (V3) or nothing (H1) from the table."""
        for card in list(self.table):
            picture, spade = rank(card) in PICTURES, suit(card) == SPADES
            if {"pictures": picture, "spades": spade, "none": False}[self.rules.set_aside]:
                self.table.remove(card)
                self.aside.append(card)
        self._sort()

    def _sort(self) -> None:
        for cards in (self.table, self.aside, self.taken, *self.hands, *self.captured):
            cards.sort()

    # What may be played

    def hand_values(self, card: int) -> Values:
        """Return the values of a kind from the hand (S1, F1), without H2."""
        if card == LILLAN and self.rules.lillan_hand_value is not None:
            return (self.rules.lillan_hand_value,)
        if card == STORAN and self.rules.storan_hand_value is not None:
            return (self.rules.storan_hand_value,)
        return _choice(self.rules.hand_values[rank(card) - 1])

    def captures(self, card: int) -> frozenset[Cards]:
        """Return the captures from the table by a kind, each as sorted kinds; only the maximal ones where they must be.

        Where pictures are in no sums, they take and are taken by their rank alone (H2).
        """
        rules, targets = self.rules, self.hand_values(card)
        values = {r: _choice(rules.table_values[r - 1]) for r in sorted({rank(c) for c in self.table})}
        if not rules.pictures_in_sums and rank(card) in PICTURES:
            values = {r: targets for r in values if r == rank(card)}
        elif not rules.pictures_in_sums:
            values = {r: value for r, value in values.items() if r not in PICTURES}
        return list_captures(tuple(self.table), tuple(values.items()), targets, rules.capture == "maximal")

    def can_sweep(self, card: int) -> bool:
        """Return whether a kind takes the whole table; an empty table cannot be taken."""
        return tuple(self.table) in self.captures(card)

    def _plays_of(self, card: int) -> list[Cards]:
        """Return what a card may take: nothing if it creeps (R8), or where captures are optional (K2)."""
        captures = sorted(self.captures(card))
        if self.rules.capture == "maximal":
            return captures or [()]
        return [tuple(self.table)] if self.rules.forced_sweep and self.can_sweep(card) else [(), *captures]

    def _playable(self) -> list[int]:
        """Return the kinds that the seat to act may play: those that sweep if there are any (R10), else all."""
        hand = sorted(set(self.hands[self.turn]))
        sweepers = [card for card in hand if self.can_sweep(card)] if self.rules.forced_sweep else []
        return sweepers or hand

    def legal_moves(self) -> list[Move]:
        """Return all whole plays of the seat to act; with a card pending, those that agree with what it has taken."""
        if self.over:
            return []
        if self.pending is not None:
            plays = self._open_plays(self.pending)
            return [(self.pending, takes, self._sweep(self.pending, takes)) for takes in plays]
        moves = []
        for card in self._playable():
            for takes in self._plays_of(card):
                moves.append((card, takes, self._sweep(card, takes)))
        return moves

    def legal_actions(self) -> list[int]:
        """Return the staged actions in ascending order: the kinds to play, or with a card pending the kinds to take.

        Of maximal captures a kind may be taken if those still open do not all hold the same number of copies of it.
        (Not: if some but not all hold more than were taken. A queen on 4C 4C 4D 4D has the captures 4C 4C 4D and
        4C 4D 4D, which both hold more of both kinds.) Optional ones are taken in ascending order, and `STOP` comes
        last where what was taken is a capture, or nothing.
        """
        if self.over:
            return []
        if self.pending is None:
            return self._playable()
        plays, taken = self._open_plays(self.pending), tuple(self.taken)
        if self.rules.capture == "maximal":
            copies = [Counter(takes) for takes in plays]
            return [TAKE + kind for kind in range(52) if len({count[kind] for count in copies}) > 1]
        takes = {TAKE + takes[len(taken)] for takes in plays if len(takes) > len(taken)}
        return sorted(takes) + [STOP] * (taken in plays)

    def _open_plays(self, card: int) -> list[Cards]:
        """Return what the pending card may still take in all: what agrees with all that it has taken so far."""
        if self.rules.capture == "maximal":
            return [takes for takes in self._plays_of(card) if contains(takes, self.taken)]
        return [takes for takes in self._plays_of(card) if takes[: len(self.taken)] == tuple(self.taken)]

    def _sweep(self, card: int, takes: Cards) -> int:
        """Return 0, 1 or 2: no sweep, a sweep (R9), a double sweep (R11, H4) where there are such (K3)."""
        if not takes or list(takes) != self.table:
            return 0
        rule = self.rules.double_sweep
        same = {"identical": takes[0] == card, "rank": rank(takes[0]) == rank(card), "none": False}[rule]
        return 2 if len(takes) == 1 and same else 1

    # Playing

    def push(self, move: Move) -> None:
        """Make a whole play; ValueError if it is not legal."""
        if move not in self.legal_moves():
            raise ValueError(f"{move} is not one of the legal moves {self.legal_moves()}")
        if self.pending is None:
            self._show(move[0])
        self._finish(move[0], move[1])

    def act(self, action: int) -> None:
        """Make one staged action; the play is complete when one capture is left, or nothing but `STOP`."""
        if action not in self.legal_actions():
            raise ValueError(f"{action} is not one of the legal actions {self.legal_actions()}")
        if action == STOP:
            assert self.pending is not None
            self._finish(self.pending, tuple(self.taken))
            return
        if self.pending is None:
            self._show(action)
        else:
            self.taken = sorted([*self.taken, action - TAKE])
        assert self.pending is not None
        plays = self._open_plays(self.pending)
        is_sure = self.rules.capture == "maximal" or () not in self._plays_of(self.pending)  # or it must sweep
        if len(plays) == 1 and (is_sure or self.legal_actions() == [STOP]):
            self._finish(self.pending, plays[0])

    def trail(self, card: int) -> None:
        """Play a card that takes nothing, without a look at what it could take."""
        self.hands[self.turn].remove(card)
        self._finish(card, ())

    def _show(self, card: int) -> None:
        """Put a card from the hand face up, and note what the seat is now known not to hold."""
        if self.rules.forced_sweep and not self.can_sweep(card):
            self.excluded[self.turn] |= {kind for kind in self.kinds if self.can_sweep(kind)}
        self.hands[self.turn].remove(card)
        self.pending = card

    def _finish(self, card: int, takes: Cards) -> None:
        """Complete the play of the card shown, and pass the turn, deal again or end the game."""
        if takes:
            self._capture(card, takes)
        else:
            self.table.append(card)
        self.pending, self.taken = None, []
        self._sort()
        self._go_on(self.turn)

    def _capture(self, card: int, takes: Cards) -> None:
        """Give the card and what it takes to the seat to act, with its sweep (R9) and its mulle (M2, G2)."""
        seat, sweeps = self.turn, self._sweep(card, takes)
        self.void[seat] += sweeps * self._is_void()
        self.sweeps[seat] += sweeps
        self._count_mulle(card, list(takes))
        self.captured[seat] += [card, *takes]
        for kind in takes:
            self.table.remove(kind)
        self.last_capturer = seat

    def _count_mulle(self, card: int, won: list[int]) -> None:
        """Count a mulle: the identical copy alone (M2), or with others, at the hand value of the card (G2)."""
        if self.rules.mulle_points and won == [card]:
            self.mulles[self.turn] += 1
        if self.rules.mulle_by_value and card in won:
            self.mulles[self.turn] += 1
            self.mulle_scores[self.turn] += min(self.hand_values(card))

    def _is_void(self) -> bool:
        """Return whether a sweep would not count now, before the card is played (F5)."""
        rules = self.rules
        if not rules.last_deal_sweeps and self.deal_number == self.last_deal:
            return True
        return rules.sweep_limit is not None and max(self.running_totals()) >= rules.sweep_limit

    def _go_on(self, seat: int) -> None:
        """Pass the turn of a seat that has played, deal again, or end the game."""
        if self.rules.threshold_at_once and self._reaches_threshold(self.running_totals()):
            self.over, self.cut_short, self.turn = True, True, NO_SEAT  # F6
            return
        followers = [(seat + step) % self.rules.players for step in range(1, self.rules.players + 1)]
        holders = [follower for follower in followers if self.hands[follower]]  # H3: who has no card is passed over
        if holders:
            self.turn = holders[0]
        elif self.stock:
            self._deal_again()
        else:
            self._end()

    def _end(self) -> None:
        """Give what is left to the seat with the last capture (R13), or to nobody (R17)."""
        self.over, self.turn = True, NO_SEAT
        if self.last_capturer != NO_SEAT:
            self.captured[self.last_capturer] += self.table + self.aside
            self.table, self.aside = [], []
            self._sort()

    # What a seat knows

    def cannot_hold(self, seat: int) -> set[int]:
        """Return the kinds that a seat cannot hold until the next deal: it could have been forced to sweep with them.

        Whenever the seat played a card that did not sweep, its hand held none that could take the whole table (R10).
        """
        return set(self.excluded[seat])

    def seen_by(self, seat: int) -> list[int]:
        """Return 52 counts: the copies of each kind that a seat has held or seen face up so far."""
        seen = [*self.hands[seat], *self.table, *self.aside]
        for pile in self.captured:
            seen += pile
        if self.pending is not None:
            seen.append(self.pending)
        return [seen.count(kind) for kind in range(52)]


def _choice(value: int | tuple[int, int]) -> Values:
    return value if isinstance(value, tuple) else (value,)
