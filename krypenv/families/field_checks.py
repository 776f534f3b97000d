"""What a single field of `Rules` may be, and which fields don't go together: a condition and a sentence for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from krypenv.cards import NUM_RANKS, NUM_SUITS
from krypenv.families.fields import Fields
from krypenv.families.mulle import GLIMNE
from krypenv.families.variants import MOST_PLAYERS
from krypenv.inputs.words import is_whole, shown

MAX_BATCHES = 104  # rounds of dealing in a deal
MAX_VALUE = 16  # of a card

CHOICES = {  # fields that are one of some words
    "set_aside": ("pictures", "spades", "none"),
    "double_sweep": ("identical", "rank", "none"),
    "capture": ("maximal", "optional"),
    "sweep_payer": ("seat_before", "nobody"),
    "spades_tie": ("nobody", "two_share"),
    "tie_break": ("share", "spades", "play_on", "finnish"),
    "goal": ("low", "high"),
}
SWITCHES = (
    "short_last_deal", "pictures_in_sums", "forced_sweep", "sweeps_cancel", "last_deal_sweeps", "threshold_at_once",
    "building", "mulle_by_value",
)  # fmt: skip
POINTS = {  # fields that are points, and the least they may be
    "storan_points": 0, "lillan_points": 0, "spade_points": 0, "ace_points": 0, "sweep_points": 0,
    "last_capture_points": 0, "initial_match_bonus": -20, "most_spades_points": 0, "most_cards_points": 0,
    "mulle_points": 0,
}  # fmt: skip
NUMBERS = {  # fields that are whole numbers: the least and the most that they may be, and whether they may be None
    "packs": (1, 2, False), "games": (0, 1000, False), "threshold": (1, 10_000, True), "sweep_limit": (1, 10_000, True),
    "spades_above": (0, 26, True), "spade_ace_points": (0, 20, True), "lillan_hand_value": (1, MAX_VALUE, True),
    "storan_hand_value": (1, MAX_VALUE, True), **{name: (low, 20, False) for name, low in POINTS.items()},
}  # fmt: skip


def find_fault(rules: Fields) -> str:
    """Describe the first field that is wrong, in a sentence; empty if all are right."""
    if reason := next((reason for faulty, reason in _CHECKS if faulty(rules)), ""):
        values = {name: shown(value) for name, value in vars(rules).items()}
        return reason.format(**{**values, "name": rules.name, "most": MOST_PLAYERS[rules.name]})
    for name, (low, high, or_none) in NUMBERS.items():
        value = getattr(rules, name)
        if not is_whole(value, low, high) and not (or_none and value is None):
            return f"{name} is a whole number from {low} to {high}{' or None' * or_none}, not {shown(value)}"
    for name, words in CHOICES.items():
        if getattr(rules, name) not in words:
            return f"{name} is {', '.join(map(repr, words[:-1]))} or {words[-1]!r}, not {shown(getattr(rules, name))}"
    for name in SWITCHES:
        if type(getattr(rules, name)) is not bool:
            return f"{name} is True or False, not {shown(getattr(rules, name))}"
    return next((reason for faulty, reason in _TOGETHER if faulty(rules)), "")


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


def _are_values(values: Any) -> bool:
    """Check whether these are the values of 13 ranks: a number each, or two that its owner chooses from."""
    return (
        isinstance(values, tuple)
        and len(values) == NUM_RANKS
        and all(
            is_whole(value, 1, MAX_VALUE) or (_is_choice(value, MAX_VALUE, 1) and len(value) == 2) for value in values
        )
    )


_Checks = tuple[tuple[Callable[[Fields], bool], str], ...]
_CHECKS: _Checks = (
    (
        lambda r: not is_whole(r.players, 2, MOST_PLAYERS[r.name]),
        "{name} is not played by {players} players; it takes 2 to {most}",
    ),
    (
        lambda r: r.teams is not None and not (is_whole(r.teams, 2, r.players - 1) and r.players % r.teams == 0),
        "{players} players can't form {teams} equal teams; there are 2 teams of 2 or 3, or 3 teams of 2",
    ),
    (
        lambda r: r.name == GLIMNE and (r.players, r.teams) not in ((2, None), (4, 2)),
        "{name} is played by 2 players, or by 4 in two teams (players=4, teams=2), "
        "not with players={players} and teams={teams}",
    ),
    (
        lambda r: not _is_choice(r.ranks, NUM_RANKS, 1),
        "ranks are ascending numbers from 1 (ace) to 13 (king), not {ranks}",
    ),
    (
        lambda r: not _is_choice(r.suits, NUM_SUITS - 1),
        "suits are ascending numbers from 0 (clubs) to 3 (spades), not {suits}",
    ),
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
        lambda r: not (_are_values(r.hand_values) and _are_values(r.table_values)),
        "hand_values and table_values are for each of the 13 ranks a whole number from 1 to 16, or two such as (1,14)",
    ),
)
_TOGETHER: _Checks = (
    (
        lambda r: r.spades_tie == "two_share" and r.most_spades_points % 2 == 1,
        "spades_tie='two_share' halves most_spades_points, so these are an even number",
    ),
    (lambda r: r.mulle_points > 0 and r.packs == 1, "mulle_points are for identical cards, so they need packs=2"),
    (lambda r: r.mulle_by_value and r.packs == 1, "mulle_by_value is for identical cards, so it needs packs=2"),
    (
        lambda r: r.mulle_by_value and r.mulle_points > 0,
        "mulle_points and mulle_by_value are two ways to count a mulle; set one of them",
    ),
    (lambda r: r.building and r.capture != "optional", "building=True needs optional captures, capture='optional'"),
    (
        lambda r: r.building and any(isinstance(value, tuple) for value in (*r.hand_values, *r.table_values)),
        "building=True needs cards with one value in the hand and one on the table, and here some have two",
    ),
    (
        lambda r: r.building and not r.pictures_in_sums,
        "building=True needs pictures_in_sums=True, for a picture without a value has no place in a build",
    ),
    (lambda r: r.building and r.forced_sweep, "building=True needs forced_sweep=False: who must sweep can't build"),
    (
        lambda r: r.threshold is not None and r.total_points <= 0,
        "a threshold needs cards that count points; here no card does",
    ),
    (
        lambda r: r.games == 0 and r.threshold is None,
        "a session without a number of games needs a threshold",
    ),
)
