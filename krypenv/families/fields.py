"""The fields of the rules, and what follows from them: the deck, its points, the deals, the sides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from krypenv.cards import (
    ACE,
    DIAMONDS,
    NUM_ACTIONS,
    NUM_BUILDING_ACTIONS,
    NUM_KINDS,
    NUM_RANKS,
    NUM_SUITS,
    PICTURES,
    SPADES,
    TEN,
    TWO,
    card_of,
)
from krypenv.families.points import own_points

Batches = tuple[tuple[int, int], ...]  # one pair per round of dealing: cards to each hand, then cards to the table
Values = tuple[int | tuple[int, int], ...]  # by rank: a value, or the two that the player may choose from

_RULEBOOK_FIRST_DEAL: dict[int, Batches] = {
    2: ((3, 2), (3, 2)),
    3: ((3, 3), (2, 2)),
    4: ((3, 2), (2, 2)),
    5: ((2, 2), (2, 2)),
    6: ((3, 2), (2, 0)),
}
_SIX_TABLE: Batches = ((3, 3), (2, 3))


@dataclass(frozen=True)
class Fields:
    """What `krypenv.rules.Rules` holds. Nothing is checked here; the defaults are the main rulebook for two players."""

    name: str = "krypkasino"  # the preset that the other fields modify
    players: int = 2  # P, the number of seats
    teams: int | None = None  # number of teams; None: everyone plays alone (R16)
    ranks: tuple[int, ...] = tuple(range(1, NUM_RANKS + 1))  # ranks in the deck, 1 = ace .. 13 = king (R1)
    suits: tuple[int, ...] = tuple(range(NUM_SUITS))  # suits in the deck, 0..3: clubs, diamonds, hearts, spades (R1)
    packs: int = 2  # copies of each kind of card (R1, H5)
    first_deal: str | Batches = "standard"  # "standard" (R4), "six_table" (V1), or the batches
    later_deal: Batches = ((2, 0), (2, 0))  # batches of every later deal (R4)
    short_last_deal: bool = False  # deal a rest too small for a whole deal one card at a time (H3)
    set_aside: str = "pictures"  # what is set aside between deals: "pictures" (R6), "spades" (V3), "none" (H1)
    capture: str = "maximal"  # what a card may take: a "maximal" capture (R7), or an "optional" one or nothing (K2)
    hand_values: Values = (14, *range(2, NUM_RANKS + 1))  # capture value from the hand, by rank (R2, S1)
    table_values: Values = tuple(range(1, NUM_RANKS + 1))  # capture value on the table, by rank (R2, S1)
    lillan_hand_value: int | None = None  # of the two of spades, where it differs from that of other twos (F1)
    storan_hand_value: int | None = None  # of the ten of diamonds, where it differs from that of other tens (F1)
    pictures_in_sums: bool = True  # False: J, Q and K match only their own rank (H2)
    building: bool = False  # whether cards may be laid together as builds, which are taken whole (B1 to B6)
    forced_sweep: bool = True  # a player who can sweep must (R10, H5, K3)
    double_sweep: str = "identical"  # what doubles a lone card's sweep: its "identical" copy (R11), its "rank" (H4), or
    # "none" does (K3)
    sweep_payer: str = "seat_before"  # who loses what a sweep brings: the "seat_before" (R9) or "nobody" (K3)
    sweeps_cancel: bool = False  # every side loses as many sweeps as the side with the fewest has (F4)
    last_deal_sweeps: bool = True  # whether sweeps of the last deal count (F5)
    sweep_limit: int | None = None  # sweeps don't count once some side's running score has reached this (F5)
    storan_points: int = 3  # the ten of diamonds (R3, H5, S3)
    lillan_points: int = 2  # the two of spades (R3, S3)
    spade_points: int = 1  # any other spade; the ace of spades is a spade and an ace (R3)
    ace_points: int = 1  # any ace (R3, S3)
    spade_ace_points: int | None = None  # the ace of spades; None: what a spade and an ace count together (R3, G3)
    custom_points: str | Mapping[str, int] = ""  # what cards, ranks or suits count instead of that, as in
    # {"QS": 13, "H": 1} or its text H:1+QS:13, which `Rules` keeps
    goal: str = "low"  # "low": the lowest score wins (R15); "high": the highest does (K6)
    sweep_points: int = 5  # for a sweep (R9, K3)
    last_capture_points: int = 0  # added for the last capture (V2, S3)
    initial_match_bonus: int = 0  # added for the leader if the first layout is all of one rank (H5)
    most_spades_points: int = 0  # for the side with the most spades (K5, S3, F3, M3)
    spades_tie: str = (
        "nobody"  # who gets them in a tie: "nobody" (S3), or "two_share" if just two of more sides tie (F3)
    )
    most_cards_points: int = 0  # for the side with the most cards, nobody in a tie (K5, S3, M3)
    spades_above: int | None = None  # a side gets a point for each spade above this number (O1)
    mulle_points: int = 0  # for capturing just one card, by its identical copy (M2)
    mulle_by_value: bool = False  # capturing it, perhaps with others, counts the hand value of the card played (G2)
    games: int = 1  # games in a session; 0: no limit, only the threshold ends it (R15, K6)
    threshold: int | None = None  # the session ends after the game in which a side's total reaches this (H5, K6)
    threshold_at_once: bool = False  # or already in the middle of it, and then no majorities count (F6)
    tie_break: str = "share"  # equal totals at the end: "share" the win (R15), most "spades" in the last game (K6), the
    # "finnish" way (F7), or "play_on" (K6)

    # ------------------------------------------------------------------ what follows from them

    @cached_property
    def deck_counts(self) -> np.ndarray:
        """Copies of each kind in the deck, (52,) int8, read-only."""
        counts = np.zeros(NUM_KINDS, np.int8)
        for suit in self.suits:
            for rank in self.ranks:
                counts[card_of(rank, suit)] = self.packs
        counts.flags.writeable = False
        return counts

    @property
    def deck_size(self) -> int:
        """D, the number of cards in the deck."""
        return self.packs * len(self.ranks) * len(self.suits)

    @cached_property
    def card_points(self) -> np.ndarray:
        """Points of each kind, (52,) int8 (R3, S3), read-only."""
        points = np.zeros(NUM_KINDS, np.int8)
        points[[card_of(rank, SPADES) for rank in range(1, NUM_RANKS + 1)]] = self.spade_points
        points[card_of(TWO, SPADES)] = self.lillan_points
        points[card_of(TEN, DIAMONDS)] = self.storan_points
        for suit in range(NUM_SUITS):
            points[card_of(ACE, suit)] += self.ace_points
        if self.spade_ace_points is not None:
            points[card_of(ACE, SPADES)] = self.spade_ace_points
        for kind, own in own_points(str(self.custom_points)).items():
            points[kind] = own
        points.flags.writeable = False
        return points

    @property
    def total_points(self) -> int:
        """The points of all cards in the deck and of the last capture, to which the scores of Krypkasino sum (R14).

        An `initial_match_bonus` comes on top if it is paid, and so do majorities (K5), mulles (M2) and sweeps that
        nobody pays for (K3).
        """
        return int(self.deck_counts @ self.card_points.astype(int)) + self.last_capture_points

    @property
    def aside_kinds(self) -> np.ndarray:
        """Kinds that are set aside between deals, (52,) bool (R6, V3)."""
        kinds = np.arange(NUM_KINDS)
        if self.set_aside == "pictures":
            return np.isin(kinds % NUM_RANKS + 1, PICTURES)
        return (kinds // NUM_RANKS == SPADES) & (self.set_aside == "spades")

    @property
    def num_teams(self) -> int:
        """The number of sides (teams, or players if there are no teams)."""
        return self.teams or self.players

    def team_of(self, seat: int) -> int:
        """Find the side of a seat (R16)."""
        return seat % self.num_teams

    @property
    def num_actions(self) -> int:
        """A, the number of actions (105, or 139 where cards are built)."""
        return NUM_BUILDING_ACTIONS if self.building else NUM_ACTIONS

    @property
    def first_batches(self) -> Batches:
        """The batches of the first deal."""
        if not isinstance(self.first_deal, str):
            return self.first_deal
        return _SIX_TABLE if self.first_deal == "six_table" else _RULEBOOK_FIRST_DEAL[self.players]

    def deal_batches(self) -> list[Batches]:
        """List the batches of each deal of a game, without the rest that H3 deals one card at a time."""
        deals, left = [self.first_batches], self.deck_size - self._cards_in(self.first_batches)
        later = self._cards_in(self.later_deal)
        return deals + [self.later_deal] * (left // later)

    def deal_sizes(self) -> list[tuple[tuple[int, ...], int]]:
        """Count for each deal the cards of each seat, from the leader on, and those of the table."""
        sizes = [
            ((sum(hand for hand, _ in deal),) * self.players, sum(table for _, table in deal))
            for deal in self.deal_batches()
        ]
        rest = self.deck_size - sum(sum(hands) + table for hands, table in sizes)
        if rest:
            sizes.append(
                (tuple(rest // self.players + (seat < rest % self.players) for seat in range(self.players)), 0)
            )
        return sizes

    def _cards_in(self, batches: Batches) -> int:
        return sum(hand * self.players + table for hand, table in batches)
