"""The slow reference of games in which cards are built (B), by brute force over all sets of loose cards.

It lists the whole plays of a seat, and what may be done next follows from their sequences of actions.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

from support.reference import STOP, TAKE, Reference
from support.reference_captures import Cards, list_captures, rank
from support.reference_scores import NO_SEAT

BUILD, TAKE_BUILD = 105, 122


class Play(NamedTuple):
    """A whole play, as `Move.kinds` has it but for the sweep."""

    card: int
    takes: Cards = ()
    build: int = 0
    builds: Cards = ()

    def actions(self) -> list[int]:
        """Return its staged actions; the last one is a stop that may make itself."""
        begun = [self.card, *([BUILD + self.build] if self.build else [])]
        taken = [TAKE_BUILD + value for value in self.builds if value != self.build]
        return [*begun, *(TAKE + kind for kind in self.takes), *taken, STOP]


class Pile(NamedTuple):
    """A build: its value, its owner, its cards, and whether they are several groups that each sum to its value."""

    value: int
    owner: int
    cards: Cards
    is_multiple: bool


class Builder(Reference):
    """One game from a stacked deck, under rules with builds."""

    def __init__(self, rules: Any, deck: list[int], dealer: int | None = None, totals: Any = ()) -> None:
        """Deal the first hands from `deck`."""
        self.builds: list[Pile] = []
        self.done: list[int] = []  # the actions of the play so far
        super().__init__(rules, deck, dealer, totals)

    def table_value(self, card: int) -> int:
        """Return the value of a card on the table."""
        return int(self.rules.table_values[rank(card) - 1])

    def splits(self, cards: Cards, value: int) -> bool:
        """Return whether cards split into groups that each sum to a value (B2); none split into no groups."""
        if not cards or sum(map(self.table_value, cards)) % value:
            return not cards
        ranks = tuple((each, (self.table_value(each - 1),)) for each in sorted(set(map(rank, cards))))
        return tuple(sorted(cards)) in list_captures(tuple(sorted(cards)), ranks, (value,), True)

    def pile(self, value: int) -> Pile | None:
        """Return the build of a value, or None."""
        return next((pile for pile in self.builds if pile.value == value), None)

    # What may be played

    def plays_of(self, card: int, hand: list[int]) -> list[Play]:
        """Return the plays of a card of the seat to act, which then has a hand left (B1 to B5)."""
        [value] = self.hand_values(card)
        held = {each for kind in hand for each in self.hand_values(kind)}
        own = {pile.value for pile in self.builds if pile.owner == self.turn}
        loose = {tuple(sorted(cards)) for n in range(len(self.table) + 1) for cards in combinations(self.table, n)}
        plays = [] if own else [Play(card)]
        for takes in loose:
            if self.splits(takes, value):
                if takes and own <= held:
                    plays.append(Play(card, takes))
                if self.pile(value) and own - {value} <= held:
                    plays.append(Play(card, takes, 0, (value,)))
        for made in held:
            joined = (made,) if self.pile(made) else ()
            for takes in loose:
                if own <= held and (takes or joined) and self.splits((card, *takes), made):
                    plays.append(Play(card, takes, made, joined))
                raised = self.pile(made - self.table_value(card))
                may_raise = raised and not raised.is_multiple and own - {raised.value} <= held
                if raised and may_raise and self.splits(takes, made):
                    plays.append(Play(card, takes, made, tuple(sorted({raised.value, *joined}))))
        return plays

    def plays(self) -> list[Play]:
        """Return all plays of the seat to act that agree with what it has done of one."""
        hand = self.hands[self.turn]
        if self.pending is not None:
            found = self.plays_of(self.pending, hand)
        else:
            found = [play for card in sorted(set(hand)) for play in self.plays_of(card, self._without(hand, card))]
        return [play for play in found if play.actions()[: len(self.done)] == self.done]

    @staticmethod
    def _without(hand: list[int], card: int) -> list[int]:
        rest = list(hand)
        rest.remove(card)
        return rest

    def _plays_of(self, card: int) -> list[Any]:
        return self.plays_of(card, self._without(self.hands[self.turn], card))

    def legal_actions(self) -> list[int]:
        """Return the staged actions in ascending order."""
        return [] if self.over else sorted({play.actions()[len(self.done)] for play in self.plays()})

    # Playing

    def act(self, action: int) -> None:
        """Make one staged action; a play that can only stop is complete."""
        if action not in self.legal_actions():
            raise ValueError(f"{action} is not one of the legal actions {self.legal_actions()}")
        if self.pending is None:
            self._show(action)
        elif TAKE <= action < STOP:
            self.taken.append(action - TAKE)
        self.done.append(action)
        if action != STOP and self.legal_actions() != [STOP]:
            return
        made = self.done if action == STOP else [*self.done, STOP]
        [play] = [play for play in self.plays() if play.actions() == made]
        self._make(play)

    def push_play(self, play: Play) -> None:
        """Make a whole play, or complete the one that is begun."""
        if self.pending is None:
            self._show(play.card)
        self._make(play)

    def _make(self, play: Play) -> None:
        """Carry out a whole play, whose card is shown, and go on."""
        seat = self.turn
        if play.build:
            self._lay(play)
        elif play.takes or play.builds:
            self._win(play)
        else:
            self.table.append(play.card)
        self.pending, self.taken, self.done = None, [], []
        self._sort()
        self._go_on(seat)

    def _lay(self, play: Play) -> None:
        """Make, raise or join a build; the seat to act owns it (B2 to B5)."""
        gone = [pile for pile in self.builds if pile.value in (play.build, *play.builds)]
        self.builds = [pile for pile in self.builds if pile not in gone]
        cards = tuple(sorted([play.card, *play.takes, *(card for pile in gone for card in pile.cards)]))
        is_multiple = sum(map(self.table_value, cards)) > play.build
        self.builds.append(Pile(play.build, self.turn, cards, is_multiple))
        for kind in play.takes:
            self.table.remove(kind)

    def _win(self, play: Play) -> None:
        """Capture loose cards and builds (B1), with the sweep and the mulle of it (B6, G2, M2)."""
        won = [*play.takes, *(card for value in play.builds for card in self.pile(value).cards)]  # type: ignore[union-attr]
        is_void, is_lone = self._is_void(), len(self.table) == 1 and not self.builds
        sweeps = self._sweep(play.card, play.takes) if is_lone else 1
        for kind in play.takes:
            self.table.remove(kind)
        self.builds = [pile for pile in self.builds if pile.value not in play.builds]
        if not self.table and not self.builds:
            self.sweeps[self.turn] += sweeps
            self.void[self.turn] += sweeps * is_void
        self._count_mulle(play.card, won)
        self.captured[self.turn] += [play.card, *won]
        self.last_capturer = self.turn

    def trail(self, card: int) -> None:
        """Play a card that takes nothing, without a look at what it could take."""
        self.push_play(Play(card))

    def _show(self, card: int) -> None:
        self.hands[self.turn].remove(card)
        self.pending = card

    # What a seat knows

    def seen_by(self, seat: int) -> list[int]:
        """Return 52 counts: the copies of each kind that a seat has held or seen face up so far."""
        built = [card for pile in self.builds for card in pile.cards]
        return [count + built.count(kind) for kind, count in enumerate(super().seen_by(seat))]

    def check_promises(self) -> None:
        """Assert B5 and B6: between plays every owner holds a card of its build's value, and no deal ends with one."""
        values = [pile.value for pile in self.builds]
        assert len(values) == len(set(values))
        if self.pending is None:
            for pile in self.builds:
                assert any(pile.value in self.hand_values(card) for card in self.hands[pile.owner])
        assert not (self.builds and self.turn == NO_SEAT and not self.cut_short)
