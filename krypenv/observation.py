"""What a seat sees: one flat int8 vector with a named layout, the same for every player count and preset.

Rules that need them have extra blocks after it (K7); `Rules.layout` names those too. The order of the plays, from
which a player can guess hands, is in the history block only, which comes last if it is requested.
`krypenv.kernels.observing` writes all of them.

Seats are relative: place 0 is the seat that observes, place 1 the seat to its left, and so on up to six places. Places
beyond the number of players are zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from krypenv.cards import MAX_BUILD, NUM_KINDS, NUM_RANKS
from krypenv.families.bounds import MAX_PLAYERS
from krypenv.families.fields import Fields

VERSION = 1  # changes whenever the layout or the meaning of an entry does


_BLOCKS: tuple[tuple[str, int, str], ...] = (
    ("hand", NUM_KINDS, "copies of each kind in your hand"),
    ("table", NUM_KINDS, "copies of each kind on the table"),
    ("seen", NUM_KINDS, "copies of each kind you have seen in this game: your hand and all cards ever face up"),
    ("set_aside", NUM_KINDS, "copies of each kind set aside for the last capturer"),
    ("pending", NUM_KINDS, "1 for the card just played, while its capture is being chosen"),
    ("taken", NUM_KINDS, "copies of each kind taken so far in that play"),
    ("seated", MAX_PLAYERS, "1 for each place with a player"),
    ("team", MAX_PLAYERS, "side of each place, counted from your side, which is 0"),
    ("points", MAX_PLAYERS, "points of the cards captured, plus any bonus"),
    ("sweeps", MAX_PLAYERS, "sweeps made; a double sweep counts as two"),
    ("hand_size", MAX_PLAYERS, "cards in hand"),
    ("last_capturer", MAX_PLAYERS, "1 for the place that made the last capture"),
    ("dealer", MAX_PLAYERS, "1 for the dealer"),
    ("turn", MAX_PLAYERS, "1 for the place to act"),
    ("session_total", MAX_PLAYERS, "score in the session's earlier games minus the mean of all, rounded, within ±127"),
    (
        "cannot_hold",
        (MAX_PLAYERS - 1) * NUM_RANKS,
        "for places 1 to 5, by rank: 1 if that hand can't contain the rank before the next deal",
    ),
    ("deals_left", 1, "deals left after this one"),
    ("games_left", 1, "games left in the session after this one, at most 127; 0 if only a threshold ends it"),
)


# Extra blocks, of rules that need them (K7), in this order after the others.
_EXTRA: tuple[tuple[str, int, str], ...] = (
    ("cards_won", MAX_PLAYERS, "cards in the pile of each place"),
    ("spades_won", MAX_PLAYERS, "spades in the pile of each place"),
    ("counted_sweeps", MAX_PLAYERS, "sweeps of each place that count, before those of all sides cancel"),
    ("mulles", MAX_PLAYERS, "mulles made"),
    ("totals", MAX_PLAYERS, "score in the session's earlier games, within ±127; session_total is then 0"),
    (
        "cannot_hold_special",
        2 * (MAX_PLAYERS - 1),
        "for places 1 to 5: 1 if that hand can't contain the two of spades, and 1 if not the ten of diamonds, "
        "before the next deal",
    ),
    ("mulle_scores", MAX_PLAYERS, "points of the mulles made, at most 127; they are not among the points"),
    ("built", NUM_KINDS, "value of the build in which a copy of each kind lies, of the lower one if it lies in two"),
    ("built_twin", NUM_KINDS, "value of the build in which the other copy lies"),
    ("build_owner", MAX_BUILD, "for values 1 to 16: 1 more than the place that owns the build, 0 without a build"),
    ("build_multiple", MAX_BUILD, "for values 1 to 16: 1 if the build is multiple"),
    ("building", 1, "value of the build that the card just played makes, else 0"),
)


def slices_of(blocks: Iterable[tuple[Any, ...]], start: int = 0) -> dict[str, slice]:
    """Lay out blocks, each a tuple of name, size and more, one after the other from `start` on.

    >>> slices_of([("left", 13, "by rank: cards on the table"), ("held", 1, "copies in the own hand")])
    {'left': slice(0, 13, None), 'held': slice(13, 14, None)}
    """
    layout = {}
    for name, size, *_ in blocks:
        layout[name] = slice(start, start + size)
        start += size
    return layout


def extra_blocks(rules: Fields) -> list[str]:
    """Name the blocks that rules need beside those of the main game (K7)."""
    ties = rules.tie_break in ("spades", "finnish")
    counts_piles = bool(rules.most_spades_points or rules.most_cards_points or rules.spades_above is not None or ties)
    in_session = rules.threshold is not None or (rules.sweep_limit is not None and rules.games != 1)
    special = rules.lillan_hand_value is not None or rules.storan_hand_value is not None
    needed = {
        "cards_won": counts_piles,
        "spades_won": counts_piles,
        "counted_sweeps": rules.sweeps_cancel or rules.sweep_limit is not None or not rules.last_deal_sweeps,
        "mulles": rules.mulle_points > 0 or rules.mulle_by_value,
        "totals": in_session and not is_plain(rules),
        "cannot_hold_special": special and rules.forced_sweep,
        "mulle_scores": rules.mulle_by_value,
        **dict.fromkeys(("built", "built_twin", "build_owner", "build_multiple", "building"), rules.building),
    }
    return [name for name, is_needed in needed.items() if is_needed]


def is_plain(rules: Fields) -> bool:
    """Check whether nothing counts but what Krypkasino counts: cards, last capture, sweeps, an initial match."""
    return rules.goal == "low" and rules.sweep_payer == "seat_before" and rules.capture == "maximal"


def has_extra_features(rules: Fields) -> bool:
    """Check whether the features block has the entries for optional captures, cards, spades and mulles."""
    needed = extra_blocks(rules)
    return rules.capture == "optional" or "cards_won" in needed or "mulles" in needed


def layout_of(rules: Fields) -> dict[str, slice]:
    """Name the blocks of an observation under some rules, as slices of it."""
    needed = extra_blocks(rules)
    return slices_of([*_BLOCKS, *(block for block in _EXTRA if block[0] in needed)])


# The history block: the plays of the current deal, as everybody has seen them. It comes last, after the features if
# there are any, and only if requested. It has a row for each play so far, in order; other rows are zero.
_HISTORY: tuple[tuple[str, int, str], ...] = (
    ("who", MAX_PLAYERS, "1 for the place that played"),
    ("card", NUM_KINDS, "1 for the kind played"),
    ("takes", NUM_KINDS, "copies of each kind that it took"),
)
_HISTORY_OF_BUILDS: tuple[tuple[str, int, str], ...] = (  # where cards are built
    ("build", MAX_BUILD + 1, "1 for the value of the build that it made, joined or raised to"),
    ("builds", MAX_BUILD + 1, "1 for the value of each build that it captured, joined or raised"),
)


def history_shape(rules: Fields) -> tuple[int, int]:
    """Compute the shape of the history block: as many rows as cards in the largest deal's hands, and columns.

    >>> history_shape(Rules.preset("kasino-sweden"))
    (8, 110)
    """
    return max(sum(hands) for hands, _ in rules.deal_sizes()), history_width(rules)


def history_width(rules: Fields) -> int:
    """Count the columns of the history block."""
    return HISTORY_WIDTH + rules.building * HISTORY_OF_BUILDS


def history_columns(rules: Fields) -> dict[str, slice]:
    """Name the columns of the history block; the first are those of `HISTORY_COLUMNS`."""
    return slices_of([*_HISTORY, *(_HISTORY_OF_BUILDS if rules.building else ())])


def history_size(rules: Fields, history: bool = True) -> int:
    """Count the entries of the history block, 0 without it."""
    if not history:
        return 0
    rows, columns = history_shape(rules)
    return rows * columns


HISTORY_COLUMNS: dict[str, slice] = slices_of(_HISTORY)
HISTORY_WIDTH: int = sum(size for _, size, _ in _HISTORY)
HISTORY_OF_BUILDS: int = sum(size for _, size, _ in _HISTORY_OF_BUILDS)
LAYOUT: dict[str, slice] = slices_of(_BLOCKS)  # what all rules have
SIZE: int = sum(size for _, size, _ in _BLOCKS)  # `Rules.observation_size` has the extra blocks too
LARGEST_SIZE: int = SIZE + sum(size for _, size, _ in _EXTRA)  # with all extra blocks
EXTRA: tuple[str, ...] = tuple(name for name, _, _ in _EXTRA)
DESCRIPTIONS: dict[str, str] = {name: text for name, _, text in (*_BLOCKS, *_EXTRA)}
HISTORY_DESCRIPTIONS: dict[str, str] = {name: text for name, _, text in (*_HISTORY, *_HISTORY_OF_BUILDS)}
