"""Scratch for listing moves, allocated once, and how many are kept where there are very many."""

from __future__ import annotations

from typing import Any

import numpy as np

from krypenv.agents.moves.record import MOVE
from krypenv.cards import NUM_KINDS
from krypenv.families.bounds import MAX_PLAYERS
from krypenv.kernels.captures import SCRATCH

# Moves of all nodes on one line of a search together. A node has a few; only tables with many copies of a rank have
# hundreds of ways to choose between suits. `list_moves` raises OverflowError if the moves don't fit.
FEW_MOVES = 1 << 14
MOST_MOVES = 1 << 22  # in the largest space that is tried: 250 MB
KNOWN_SIZE = 1 << 11  # tables whose captures and sweeps are remembered
KNOWN_CAPTURES = 5  # captures of one value that are remembered; if there are more, none are

# Where captures are optional:
MOST_UNIONS = 1 << 10  # unions of groups that are found for a card, at most
UNION_SLOTS = 1 << 13  # of the set that tells which unions were found
OPTIONAL_SIZE = 1 << 11  # tables whose optional captures by a card are remembered
OPTIONAL_CAPTURES = 8  # of a table and a card; if there are more, none are
# A search for unions takes MANY_STEPS steps for each capture that is kept, and tries as many choices of kinds, at most.
MANY_STEPS = 40
MANY_CHOICES = 1000  # of kinds for one union; of more, the best go on to the next rank
STEPS_OF_NODE = 16  # so many steps count as a node
# Captures of a card that are listed: in a playout, by the judgement, at the root of a search and on its lines, and
# where more than LARGE_TABLE cards lie there.
PLAYOUT_CAPTURES, JUDGED_CAPTURES, ROOT_CAPTURES, LINE_CAPTURES = 3, 8, 24, 6
LARGE_TABLE, LARGE_ROOT_CAPTURES, LARGE_LINE_CAPTURES = 10, 6, 2
MOST_SOLVED = 200  # moves at the root of a last deal that is solved exactly, all captures included
MOST_JUDGED = 128  # moves of a decision that are judged, those that cost least at once


KNOWN = np.dtype(
    [
        ("table", np.int64),  # packed ranks whose `sweeps` are known
        ("sweeps", np.int64),
        ("query", np.int64),  # packed ranks and a hand value whose captures are known
        ("count", np.int64),
        ("captures", np.int64, (KNOWN_CAPTURES,)),
    ],
    align=True,
)


OPTIONAL = np.dtype(
    [
        ("query", np.uint64),  # key of a table and a card whose captures are known
        ("count", np.int64),
        ("is_cut", np.bool_),  # there are more
        ("captures", MOVE, (OPTIONAL_CAPTURES,)),
    ],
    align=True,
)


def listing_type(moves: int) -> np.dtype[Any]:
    """Return the dtype of listed moves, with room for so many, and of what finding them needs."""
    fields: list[tuple[Any, ...]] = [
        ("moves", MOVE, (moves,)),
        ("prices", np.float64, (NUM_KINDS,)),  # what winning each kind is worth (`set_prices`)
        ("price_key", np.uint64),  # differs where the prices do
        ("known", KNOWN, (KNOWN_SIZE,)),
        ("scratch", SCRATCH),
        # optional captures:
        ("keep", np.int64),  # captures of a card that are listed, at most
        ("is_cut", np.bool_),  # some card had more
        ("nodes", np.int64),  # nodes of searches so far, and the work of finding captures in nodes
        ("known_captures", OPTIONAL, (OPTIONAL_SIZE,)),
        ("table_keys", np.uint64, (NUM_KINDS,)),  # random words that a table's key is a sum of
        ("table_key", np.uint64),  # of the table, and of the kinds that are not alike because of a copy
        ("lone", np.int64),  # bits of these kinds
        ("least", np.int64),  # what a play has taken so far, packed
        ("most", np.int64),  # and all that it may take
        ("first", np.int64),  # the first kind that a capture may still take
        ("sweep", np.int64),  # what a sweep costs, in thousandths of a point
        ("free", np.int8, (NUM_KINDS,)),  # copies that it may take of each kind of the rank to choose from
        ("unions", np.int64, (MOST_UNIONS,)),  # packed
        ("union_set", np.int64, (UNION_SLOTS,)),  # the same as a hash set
        ("set_number", np.int64, (UNION_SLOTS,)),  # of the set that a slot was last used by
        ("sets", np.int64),  # the number of the current one
    ]
    return np.dtype(fields, align=True)


def begin_listing(listing: np.ndarray) -> None:
    """Forget all tables, and write what must not be zero: into (threads,) of `listing_type`, for other rules too."""
    listing["table_keys"] = random_keys()[1]
    listing["known"]["table"] = listing["known"]["query"] = -1
    listing["known_captures"]["query"] = 0
    listing["keep"] = MOST_MOVES


def random_keys() -> list[np.ndarray]:
    """Return random words for cards in hands, for cards on the table, and for who captured last."""
    random, shapes = np.random.default_rng(0), ((MAX_PLAYERS, NUM_KINDS), (NUM_KINDS,), (MAX_PLAYERS + 1,))
    return [random.integers(0, 2**64, shape, dtype=np.uint64) for shape in shapes]
