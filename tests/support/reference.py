"""A slow reference of the rules, by brute force from docs/rulings.md, that shares no code with the package.

Cards are kinds 0..51 (suit * 13 + rank - 1, suits clubs, diamonds, hearts, spades), seats are 0..n-1 clockwise, and
every card list but the stock is sorted. The rules come as any object with the fields of `Rules`. Captures are
remembered per multiset of ranks, for the sums depend on ranks alone. This is Krypkasino; `reference_relatives` goes on
from here to its relatives.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property, lru_cache
from itertools import combinations, product
from typing import Any

Cards = tuple[int, ...]
Move = tuple[int, Cards, int]  # the card played, the kinds it takes, and 0, 1 or 2: no, one or a double sweep

DIAMONDS, SPADES = 1, 3
PICTURES = (11, 12, 13)
TAKE = 52  # action TAKE + kind takes that kind
NO_SEAT = -1

STANDARD_FIRST_DEAL = {  # R4: players -> batches of (cards to each hand, cards to the table)
    2: ((3, 2), (3, 2)),
    3: ((3, 3), (2, 2)),
    4: ((3, 2), (2, 2)),
    5: ((2, 2), (2, 2)),
    6: ((3, 2), (2, 0)),
}
SIX_TABLE_FIRST_DEAL = ((3, 3), (2, 3))  # V1


def rank(card: int) -> int:
    """Return the rank 1..13 of a kind."""
    return card % 13 + 1


def suit(card: int) -> int:
    """Return the suit 0..3 of a kind."""
    return card // 13


@lru_cache(maxsize=1 << 16)
def largest_captures(stacks: tuple[tuple[int, int], ...], target: int) -> tuple[Cards, ...]:
    """Return the maximal captures (R7) from stacks of equal cards, each as the number taken from every stack.

    `stacks` holds (table value, copies). A group is any choice of copies that sums to `target`. A capture is one group,
    or a capture and one more group that still fits. It is maximal when no other capture contains it.
    """
    groups: list[Cards] = [()]
    for value, copies in stacks:
        groups = [(*g, n) for g in groups for n in range(copies + 1) if total(stacks, g) + n * value <= target]
    groups = [g for g in groups if total(stacks, g) == target]
    table = tuple(copies for _, copies in stacks)
    captures, fresh = set(groups), set(groups)
    while fresh:
        unions = {tuple(map(sum, zip(c, g, strict=True))) for c in fresh for g in groups}
        fresh = {u for u in unions if fits(u, table)} - captures
        captures |= fresh
    maximal: list[Cards] = []
    for capture in sorted(captures, key=sum, reverse=True):  # one that is not maximal lies in a maximal one before it
        if not any(fits(capture, larger) for larger in maximal):
            maximal.append(capture)
    return tuple(maximal)


def total(stacks: tuple[tuple[int, int], ...], choice: Cards) -> int:
    """Return the sum of the table values of the copies chosen from the first stacks."""
    return sum(n * value for n, (value, _) in zip(choice, stacks, strict=False))


def fits(smaller: Cards, larger: Cards) -> bool:
    """Return whether no number of the first is above that of the second."""
    return all(a <= b for a, b in zip(smaller, larger, strict=True))


def contains(larger: Cards, smaller: list[int]) -> bool:
    """Return whether one multiset of kinds holds every copy of another."""
    return not Counter(smaller) - Counter(larger)


class Reference:
    """One game from a stacked deck, played by whole plays (`push`) or by staged actions (`act`)."""

    def __init__(self, rules: Any, deck: list[int], dealer: int | None = None) -> None:
        """Deal the first hands from `deck` (kinds in deal order, R4); the dealer is the last seat unless told (R5)."""
        self.rules = rules
        self.dealer = rules.players - 1 if dealer is None else dealer
        self.leader = (self.dealer + 1) % rules.players
        self.stock = list(deck)
        self.hands: list[list[int]] = [[] for _ in range(rules.players)]
        self.table: list[int] = []
        self.aside: list[int] = []
        self.captured: list[list[int]] = [[] for _ in range(rules.players)]
        self.sweeps = [0] * rules.players
        self.last_capturer = NO_SEAT
        self.turn = self.leader
        self.deal_number = 1
        self.over = False
        self.pending: int | None = None  # the card just played, out of the hand, while its takes are being chosen
        self.taken: list[int] = []  # the kinds taken so far in this play
        self.excluded: list[set[int]] = [set() for _ in range(rules.players)]
        self.known: dict[tuple[int, Cards], list[Cards]] = {}  # captures by rank and table
        self._deal_batches(self._first_deal())
        one_rank = len({rank(card) for card in self.table}) == 1
        self.bonus = rules.initial_match_bonus if one_rank else 0  # H5, for the leader; the layout as it was dealt
        self._set_aside()

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

    def captures(self, played_rank: int) -> list[Cards]:
        """Return the maximal captures from the table by a card of a rank, each as sorted kinds; none means it creeps.

        Maximality can be decided by ranks: a capture that lies in a larger one by ranks can be filled up to such a
        larger one with the other cards of the table. The kinds are then chosen in every way for each rank.
        """
        looked_up = played_rank, tuple(self.table)
        if looked_up in self.known:
            return self.known[looked_up]
        rules = self.rules
        target = rules.hand_values[played_rank - 1]
        kinds_of = {r: [card for card in self.table if rank(card) == r] for r in sorted({rank(c) for c in self.table})}
        values = {r: rules.table_values[r - 1] for r in kinds_of}
        if not rules.pictures_in_sums:  # H2
            if played_rank in PICTURES:
                values = {r: target for r in kinds_of if r == played_rank}
            else:
                values = {r: value for r, value in values.items() if r not in PICTURES}
        stacks = tuple((value, len(kinds_of[r])) for r, value in values.items())
        found = set()
        for counts in largest_captures(stacks, target):
            choices = [set(combinations(kinds_of[r], n)) for r, n in zip(values, counts, strict=True)]
            found |= {tuple(sorted(sum(choice, ()))) for choice in product(*choices)}
        self.known[looked_up] = sorted(found)
        return self.known[looked_up]

    def can_sweep(self, played_rank: int) -> bool:
        """Return whether a card of a rank takes the whole table; an empty table cannot be taken."""
        return tuple(self.table) in self.captures(played_rank)

    def _sweeps_by(self, card: int) -> bool:
        """Return whether a kind takes the whole table."""
        return self.can_sweep(rank(card))

    def _plays_of(self, card: int) -> list[Cards]:
        """Return what a card may take; nothing, if it creeps (R8)."""
        return self.captures(rank(card)) or [()]

    def _playable(self) -> list[int]:
        """Return the kinds that the seat to act may play: those that sweep if there are any (R10), else all."""
        hand = sorted(set(self.hands[self.turn]))
        sweepers = [card for card in hand if self._sweeps_by(card)]
        return sweepers if sweepers and self.rules.forced_sweep else hand

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

        A kind may be taken if the captures that are still open do not all hold the same number of copies of it. (Not:
        if some but not all hold more than were taken. A queen on 4C 4C 4D 4D has the captures 4C 4C 4D and 4C 4D 4D,
        which both hold more of both kinds.)
        """
        if self.over:
            return []
        if self.pending is None:
            return self._playable()
        copies = [Counter(takes) for takes in self._open_plays(self.pending)]
        return [TAKE + kind for kind in range(52) if len({count[kind] for count in copies}) > 1]

    def _open_plays(self, card: int) -> list[Cards]:
        """Return what the pending card may still take in all: what contains all that it has taken so far."""
        return [takes for takes in self._plays_of(card) if contains(takes, self.taken)]

    def _sweep(self, card: int, takes: Cards) -> int:
        """Return 0, 1 or 2: no sweep, a sweep (R9), a double sweep (R11, H4)."""
        if not takes or list(takes) != self.table:
            return 0
        same = takes[0] == card if self.rules.double_sweep == "identical" else rank(takes[0]) == rank(card)
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
        """Make one staged action; the play is complete when one capture is left. ValueError if not legal."""
        if action not in self.legal_actions():
            raise ValueError(f"{action} is not one of the legal actions {self.legal_actions()}")
        if self.pending is None:
            card = action
            self._show(card)
        else:
            card = self.pending
            self.taken = sorted([*self.taken, action - TAKE])
        plays = self._open_plays(card)
        if len(plays) == 1:
            self._finish(card, plays[0])

    def _show(self, card: int) -> None:
        """Put a card from the hand face up, and note what the seat is now known not to hold."""
        if self.rules.forced_sweep and not self._sweeps_by(card):
            self.excluded[self.turn] |= self._sweepers()
        self.hands[self.turn].remove(card)
        self.pending = card

    def _sweepers(self) -> set[int]:
        """Return the ranks that take the whole table."""
        return {r for r in self.rules.ranks if self.can_sweep(r)}

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
        """Give the card and what it takes to the seat to act."""
        self.sweeps[self.turn] += self._sweep(card, takes)
        self.captured[self.turn] += [card, *takes]
        for kind in takes:
            self.table.remove(kind)
        self.last_capturer = self.turn

    def _go_on(self, seat: int) -> None:
        """Pass the turn of a seat that has played, deal again, or end the game."""
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

    # Scores and what a seat knows

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
        """Return the penalty points of a kind (R3)."""
        rules = self.rules
        if (suit(card), rank(card)) == (DIAMONDS, 10):
            return rules.storan_points
        if (suit(card), rank(card)) == (SPADES, 2):
            return rules.lillan_points
        return rules.spade_points * (suit(card) == SPADES) + rules.ace_points * (rank(card) == 1)

    def points(self, seat: int) -> int:
        """Return the points of the cards that a seat has taken so far."""
        return sum(self.points_of_kinds[card] for card in self.captured[seat])

    @cached_property
    def points_of_kinds(self) -> list[int]:
        """The points of each kind, 52."""
        return [self.card_points(kind) for kind in range(52)]

    def scores(self) -> list[int]:
        """Return each seat's score so far (R14); what the last capture brings (R13, V2) counts at the end only."""
        scores = []
        for seat in range(self.rules.players):
            set_up = self.sweeps[(seat + 1) % self.rules.players]  # R12
            score = self.points(seat) + self.rules.sweep_points * (self.sweeps[seat] - set_up)
            if seat == self.leader:
                score += self.bonus
            if self.over and seat == self.last_capturer:
                score += self.rules.last_capture_points
            scores.append(score)
        return scores

    def cannot_hold(self, seat: int) -> set[int]:
        """Return the ranks that a seat cannot hold until the next deal: it could have been forced to sweep with them.

        Whenever the seat played a card that did not sweep, its hand held no rank that could take the whole table (R10).
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
