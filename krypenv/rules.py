"""The rulebook as data: a frozen `Rules`, with a preset for each description; the ids are those of docs/rules.md."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from krypenv.cards import (
    ACE,
    DIAMONDS,
    NUM_ACTIONS,
    NUM_KINDS,
    NUM_RANKS,
    NUM_SUITS,
    PICTURES,
    SPADES,
    TEN,
    TWO,
    card_of,
)
from krypenv.families.bounds import MAX_PLAYERS, check_bounds
from krypenv.families.krypkasino import PRESETS
from krypenv.families.layout import OBSERVATION, OBSERVATION_SIZE
from krypenv.inputs import schema
from krypenv.inputs.words import check_keywords, check_text, did_you_mean, is_whole, parse_value, shown

Batches = tuple[tuple[int, int], ...]  # one pair per round of dealing: cards to each hand, then cards to the table

MAX_HAND = 26  # cards in a hand, at most
MAX_BATCHES = 104  # rounds of dealing in a deal
_RULEBOOK_FIRST_DEAL: dict[int, Batches] = {
    2: ((3, 2), (3, 2)),
    3: ((3, 3), (2, 2)),
    4: ((3, 2), (2, 2)),
    5: ((2, 2), (2, 2)),
    6: ((3, 2), (2, 0)),
}
_SIX_TABLE: Batches = ((3, 3), (2, 3))


@dataclass(frozen=True)
class Rules:
    """The rules of a game. The defaults are the main rulebook for two players.

    Make them with `Rules.preset` or the constructor. Both raise ValueError, with the reason, for rules that can't be
    played.

    >>> Rules.preset("krypkasino", players=4, teams=2).total_points
    42
    """

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
    hand_values: tuple[int, ...] = (14, *range(2, NUM_RANKS + 1))  # capture value from the hand, by rank (R2)
    table_values: tuple[int, ...] = tuple(range(1, NUM_RANKS + 1))  # capture value on the table, by rank (R2)
    pictures_in_sums: bool = True  # False: J, Q and K match only their own rank (H2)
    forced_sweep: bool = True  # a player who can sweep must (R10, H5)
    double_sweep: str = "identical"  # what doubles a lone card's sweep: its "identical" copy (R11) or its "rank" (H4)
    storan_points: int = 3  # the ten of diamonds (R3, H5)
    lillan_points: int = 2  # the two of spades (R3)
    spade_points: int = 1  # any other spade; the ace of spades is a spade and an ace (R3)
    ace_points: int = 1  # any ace (R3)
    goal: str = "low"  # "low": the lowest score wins (R15)
    sweep_points: int = 5  # added for a sweep, and taken off the seat before (R9)
    last_capture_points: int = 0  # added for the last capture (V2)
    initial_match_bonus: int = 0  # added for the leader if the first layout is all of one rank (H5)
    games: int = 1  # games in a session; 0: no limit, only the threshold ends it (R15)
    threshold: int | None = None  # the session ends after the game in which a side's total reaches this (H5)

    # ------------------------------------------------------------------ presets and text

    @classmethod
    def preset(cls, name: str = "krypkasino", **fields: Any) -> Rules:
        """Return the rules of a preset with some fields changed; `Rules.presets()` lists the names.

        Raises ValueError for an unknown preset and for rules that can't be played, and TypeError for an unknown field.
        """
        check_keywords("Rules.preset", fields, FIELDS)
        return cls._depart(name, fields)

    @classmethod
    def _depart(cls, name: str, fields: dict[str, Any]) -> Rules:
        """Do what `preset` does, but raise ValueError for an unknown field: the fields may come from a text."""
        _check_name(name)
        unknown = sorted(set(fields) - set(FIELDS))
        if unknown:
            raise ValueError(f"rules have no field {shown(unknown[0])}; the fields are {', '.join(sorted(FIELDS))}")
        return cls(**{"name": name, **PRESETS[name], **fields})

    @staticmethod
    def presets() -> list[str]:
        """Return the names of all presets."""
        return list(PRESETS)

    def __str__(self) -> str:
        """Return the preset and the fields that differ from it, as in ``krypkasino players=4 teams=2``."""
        base = PRESETS.get(self.name, {})
        words = [self.name, f"players={self.players}"]
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name not in ("name", "players") and value != base.get(field.name, field.default):
                words.append(f"{field.name}={repr(value).replace(' ', '')}".replace("'", ""))
        return " ".join(words)

    @classmethod
    def parse(cls, text: str) -> Rules:
        """Return the rules in a text of the form of `str(rules)`; raise ValueError if it is not such a text."""
        name, *words = check_text(text, "rules").split() or [""]
        fields: dict[str, Any] = {}
        for word in words:
            key, equals, value = word.partition("=")
            if not equals:
                raise ValueError(f"{shown(word)} in the rules {shown(text)} is no field; a field is written players=4")
            if key in fields:
                raise ValueError(f"the field {shown(key)} appears in the rules {shown(text)} more than once")
            fields[key] = parse_value(value)
        return cls._depart(name, fields)

    # ------------------------------------------------------------------ what follows from the fields

    @property
    def deck_counts(self) -> np.ndarray:
        """Copies of each kind in the deck, (52,) int8."""
        counts = np.zeros(NUM_KINDS, np.int8)
        for suit in self.suits:
            for rank in self.ranks:
                counts[card_of(rank, suit)] = self.packs
        return counts

    @property
    def deck_size(self) -> int:
        """D, the number of cards in the deck."""
        return self.packs * len(self.ranks) * len(self.suits)

    @property
    def card_points(self) -> np.ndarray:
        """Penalty points of each kind, (52,) int8 (R3)."""
        points = np.zeros(NUM_KINDS, np.int8)
        points[[card_of(rank, SPADES) for rank in range(1, NUM_RANKS + 1)]] = self.spade_points
        points[card_of(TWO, SPADES)] = self.lillan_points
        points[card_of(TEN, DIAMONDS)] = self.storan_points
        for suit in range(NUM_SUITS):
            points[card_of(ACE, suit)] += self.ace_points
        return points

    @property
    def total_points(self) -> int:
        """The points of all cards in the deck and of the last capture: what the scores of a game sum to (R14).

        An `initial_match_bonus` comes on top if it is paid.
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
        """The number of sides: teams, or players if there are no teams."""
        return self.teams or self.players

    def team_of(self, seat: int) -> int:
        """Return the side of a seat (R16)."""
        return seat % self.num_teams

    @property
    def num_actions(self) -> int:
        """A, the number of actions."""
        return NUM_ACTIONS

    @property
    def layout(self) -> dict[str, slice]:
        """The named blocks of an observation, as slices of it."""
        return OBSERVATION

    @property
    def observation_size(self) -> int:
        """N, the number of entries of an observation without the features."""
        return OBSERVATION_SIZE

    @property
    def first_batches(self) -> Batches:
        """The batches of the first deal."""
        if not isinstance(self.first_deal, str):
            return self.first_deal
        return _SIX_TABLE if self.first_deal == "six_table" else _RULEBOOK_FIRST_DEAL[self.players]

    def deal_batches(self) -> list[Batches]:
        """Return the batches of each deal of a game, without the rest that H3 deals one card at a time."""
        deals, left = [self.first_batches], self.deck_size - self._cards_in(self.first_batches)
        later = self._cards_in(self.later_deal)
        return deals + [self.later_deal] * (left // later)

    def deal_sizes(self) -> list[tuple[tuple[int, ...], int]]:
        """Return for each deal how many cards each seat gets, counted from the leader, and how many the table gets."""
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

    # ------------------------------------------------------------------ checks

    def __post_init__(self) -> None:
        _check_name(self.name)
        fields = [field.name for field in dataclasses.fields(self)]
        for name in fields:
            object.__setattr__(self, name, _frozen(getattr(self, name)))
        for faulty, reason in _CHECKS:
            if faulty(self):
                told = {name: shown(getattr(self, name)) for name in fields}
                raise ValueError(reason.format(**{**told, "name": self.name}))
        self._check_deal()

    def _check_deal(self) -> None:
        first, later = self._cards_in(self.first_batches), self._cards_in(self.later_deal)
        if first > self.deck_size:
            raise ValueError(f"the first deal takes {first} cards, and the deck has {self.deck_size}")
        rest = (self.deck_size - first) % later
        if rest and not self.short_last_deal:
            raise ValueError(
                f"this deck can't be dealt: of {self.deck_size} cards {first} go into the first deal and {later} into "
                f"each later one, which leaves {rest}; change the deck or the deals, or set short_last_deal=True"
            )
        if max(max(hands) for hands, _ in self.deal_sizes()) > MAX_HAND:
            raise ValueError(f"a hand may have at most {MAX_HAND} cards; deal fewer at a time")
        check_bounds(self)


FIELDS = tuple(field.name for field in dataclasses.fields(Rules) if field.name != "name")  # that `Rules.preset` takes


def check_rules(rules: Any) -> Rules:
    """Return rules; raise ValueError for anything that is not a `Rules`."""
    if not isinstance(rules, Rules):
        raise ValueError(f"rules are those of Rules.preset or Rules.parse, not {shown(rules)}")
    return rules


def rules_text(value: Any, place: str) -> None:
    """Check for rules in the form of `str(rules)`; a check as in `krypenv.inputs.schema`."""
    schema.text(value, place)
    try:
        Rules.parse(value)
    except ValueError as error:
        raise ValueError(f"{place} names no rules: {schema.sentence_of(error)}") from None


def _check_name(name: Any) -> None:
    if not (isinstance(name, str) and name in PRESETS):
        hint = did_you_mean(name, PRESETS) if isinstance(name, str) else ""
        raise ValueError(f"unknown preset {shown(name)}{hint}; the presets are {', '.join(PRESETS)}")


def _frozen(value: Any, depth: int = 3) -> Any:
    """Convert a value to the plain Python that `str(rules)` and `Rules.parse` handle, if possible."""
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return tuple(_frozen(item, depth - 1) for item in value) if depth else value
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    return str.__str__(value) if isinstance(value, str) else value


def _is_choice(values: Any, high: int, low: int = 0) -> bool:
    return (
        isinstance(values, tuple)
        and len(values) > 0
        and all(is_whole(value, low, high) for value in values)
        and list(values) == sorted(set(values))
    )


def _are_batches(batches: Any) -> bool:
    return (
        isinstance(batches, tuple)
        and len(batches) <= MAX_BATCHES
        and all(
            isinstance(pair, tuple) and len(pair) == 2 and all(is_whole(n, 0, 104) for n in pair) for pair in batches
        )
        and sum(pair[0] for pair in batches) > 0
    )


_POINT_FIELDS = (
    ("storan_points", 0), ("lillan_points", 0), ("spade_points", 0), ("ace_points", 0),
    ("sweep_points", 0), ("last_capture_points", 0), ("initial_match_bonus", -20),
)  # fmt: skip
_MOST_PLAYERS = {"howto": 4}  # the second description is for 2 to 4 players

_CHECKS: tuple[tuple[Callable[[Rules], bool], str], ...] = (
    (
        lambda r: not is_whole(r.players, 2, _MOST_PLAYERS.get(r.name, MAX_PLAYERS)),
        "{name} is not played by {players} players; it takes 2 to 6 (2 to 4 in howto)",
    ),
    (
        lambda r: r.teams is not None and not (is_whole(r.teams, 2, r.players - 1) and r.players % r.teams == 0),
        "{players} players can't form {teams} equal teams; there are 2 teams of 2 or 3, or 3 teams of 2",
    ),
    (
        lambda r: not _is_choice(r.ranks, NUM_RANKS, 1),
        "ranks are ascending numbers from 1 (ace) to 13 (king), not {ranks}",
    ),
    (
        lambda r: not _is_choice(r.suits, NUM_SUITS - 1),
        "suits are ascending numbers from 0 (clubs) to 3 (spades), not {suits}",
    ),
    (lambda r: not is_whole(r.packs, 1, 2), "packs is 1 or 2, not {packs}"),
    (
        lambda r: not _are_batches(r.first_deal) and r.first_deal not in ("standard", "six_table"),
        "first_deal is 'standard', 'six_table' or batches such as ((3,2),(3,2)), not {first_deal}",
    ),
    (
        lambda r: r.first_deal == "six_table" and r.players != 2,
        "first_deal='six_table' is for 2 players, not {players}",
    ),
    (lambda r: not _are_batches(r.later_deal), "later_deal is batches such as ((2,0),(2,0)), not {later_deal}"),
    (
        lambda r: r.set_aside not in ("pictures", "spades", "none"),
        "set_aside is 'pictures', 'spades' or 'none', not {set_aside}",
    ),
    (
        lambda r: r.double_sweep not in ("identical", "rank"),
        "double_sweep is 'identical' or 'rank', not {double_sweep}",
    ),
    (
        lambda r: (
            not all(
                isinstance(values, tuple)
                and len(values) == NUM_RANKS
                and all(is_whole(value, 1, 16) for value in values)
                for values in (r.hand_values, r.table_values)
            )
        ),
        "hand_values and table_values are 13 whole numbers from 1 to 16, by rank",
    ),
    (
        lambda r: r.goal != "low",
        "goal is 'low', because the lowest score wins, not {goal}",
    ),
    (
        lambda r: any(type(flag) is not bool for flag in (r.short_last_deal, r.pictures_in_sums, r.forced_sweep)),
        "short_last_deal, pictures_in_sums and forced_sweep are True or False",
    ),
    (
        lambda r: any(not is_whole(getattr(r, field), low, 20) for field, low in _POINT_FIELDS),
        "points are whole numbers from 0 to 20 (initial_match_bonus from -20 to 20)",
    ),
    (lambda r: not is_whole(r.games, 0, 1000), "games is a whole number from 0 to 1000, not {games}"),
    (
        lambda r: r.threshold is not None and not is_whole(r.threshold, 1, 10_000),
        "threshold is a number of points from 1 to 10000, not {threshold}",
    ),
    (
        lambda r: r.games == 0 and (r.threshold is None or r.total_points <= 0),
        "a session without a number of games needs a threshold and cards that count points",
    ),
)
