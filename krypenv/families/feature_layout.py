"""The entries of the features block, a row for each card; `krypenv.kernels.features` writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krypenv.cards import NUM_KINDS, NUM_RANKS
from krypenv.families.layout import has_further_features, slices_of

if TYPE_CHECKING:
    from krypenv.rules import Rules

_ENTRIES: tuple[tuple[str, int, str], ...] = (
    ("creeps", 1, "1 if the card captures nothing"),
    ("least_points", 1, "fewest points that it can take, over all its captures"),
    ("points", 1, "points that the best capture takes"),
    ("sweeps", 1, "sweeps that it makes: 0, 1 or 2"),
    ("chance", 1, "chance in percent that the next seat can sweep what it leaves"),
    ("sweepers", NUM_RANKS, "by rank: unseen cards that the next seat may hold and that would sweep what it leaves"),
)
_FURTHER: tuple[tuple[str, int, str], ...] = (  # where captures are optional, or cards, spades or mulles count
    ("cards", 1, "cards that the best capture wins, the card played included"),
    ("spades", 1, "spades among them"),
    ("mulle", 1, "1 if it is a mulle"),
    ("left_points", 1, "points of the cards that it leaves on the table"),
    ("take_chance", 1, "chance in percent that the next seat can take something of what it leaves"),
)


COLUMNS: dict[str, slice] = slices_of(_ENTRIES)
WIDTH = max(part.stop for part in COLUMNS.values())  # entries for each kind
SIZE = NUM_KINDS * WIDTH  # the block is (52, WIDTH), flat: a row for each kind to play or take, other rows zero
DESCRIPTIONS: dict[str, str] = {name: text for name, _, text in (*_ENTRIES, *_FURTHER)}
ALL_COLUMNS: dict[str, slice] = slices_of((*_ENTRIES, *_FURTHER))
ALL_WIDTH = max(part.stop for part in ALL_COLUMNS.values())


def columns_of(rules: Rules) -> dict[str, slice]:
    """Return the entries of a row of the features block under some rules, as slices of the row."""
    return ALL_COLUMNS if has_further_features(rules) else COLUMNS


def shape_of(rules: Rules) -> tuple[int, int]:
    """Return the rows and columns of the features block: a row for each kind, and a last one for `stop` (K2)."""
    return NUM_KINDS + (rules.capture == "optional"), ALL_WIDTH if has_further_features(rules) else WIDTH
