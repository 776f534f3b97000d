"""The workspace of a search: a record of each part for each thread, made once, so that kernels allocate nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from krypenv.agents.base import MAX_PLIES
from krypenv.agents.replies import REPLIES
from krypenv.cards import NUM_KINDS
from krypenv.families.bounds import MAX_PLAYERS
from krypenv.kernels.captures import SCRATCH
from krypenv.kernels.outlook import FEATURE_SCRATCH
from krypenv.runtime.jit import handle, records
from krypenv.state import GAME, MAX_DECK

Result = TypeVar("Result")

# Moves of all nodes on one line of a search together. A node has a few; only tables with many copies of a rank have
# hundreds of ways to choose between suits. `list_moves` raises OverflowError if the moves don't fit, and `with_room`
# tries again with room for more.
FEW_MOVES = 1 << 14
MOST_MOVES = 1 << 22  # in the largest workspace that is tried: 250 MB
MEMORY_SIZE = 1 << 13  # positions remembered by alpha-beta
KNOWN_SIZE = 1 << 11  # tables whose captures and sweeps are remembered
KNOWN_CAPTURES = 5  # captures of one value that are remembered; if there are more, none are

# Where captures are optional (`krypenv.agents.search.optional`):
MOST_UNIONS = 1 << 10  # unions of groups that are found for a card, at most
UNION_SLOTS = 1 << 13  # of the set that tells which unions were found
OPTIONAL_SIZE = 1 << 11  # tables whose optional captures by a card are remembered
OPTIONAL_CAPTURES = 8  # of a table and a card; if there are more, none are
NO_LIMIT = 1 << 60  # of nodes

MOVE = np.dtype(
    [
        ("card", np.int32),  # the kind played
        ("build", np.int16),  # value of the build that it makes, raises or joins, else 0 (B2 to B4)
        ("taken", np.int16),  # value of the build that it captures or raises, else 0
        ("ranks", np.int64),  # the ranks of the loose cards that it takes or builds with, packed
        ("once", np.int64),  # bits of the kinds of which it takes a copy or two
        ("twice", np.int64),  # bits of the kinds of which it takes two
        # what it costs at once (`order_moves`), in points, or in thousandths of one where more counts than in the main
        # game; the cheapest is searched first
        ("cost", np.int64),
    ],
    align=True,
)

FRAME = np.dtype(  # a node on the line that is being searched
    [
        ("start", np.int64),  # where its moves begin
        ("end", np.int64),  # where they end
        ("at", np.int64),  # the next one to try
        ("own", np.bool_),  # the searching side is to move
        ("best", np.float64),  # margin of the best move so far
        ("alpha", np.float64),
        ("beta", np.float64),
        ("low", np.float64),  # alpha at the start
        ("high", np.float64),  # beta at the start
        ("margin", np.float64),  # margin so far
        ("key", np.uint64),  # of the cards in hands and on the table
        ("place", np.uint64),  # of the position, piles included where they count
        ("margins", np.float64, (MAX_PLAYERS,)),  # max^n: margins of all sides after the best move so far
    ],
    align=True,
)

MEMORY = np.dtype([("key", np.uint64), ("gain", np.float64), ("bound", np.int64)], align=True)

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
    return np.dtype(_listing_fields(moves), align=True)


def _listing_fields(moves: int) -> list[tuple[Any, ...]]:
    return [
        ("moves", MOVE, (moves,)),
        ("known", KNOWN, (KNOWN_SIZE,)),
        ("scratch", SCRATCH),
        # optional captures:
        ("keep", np.int64),  # captures of a card that are looked at, at most
        ("is_cut", np.bool_),  # some card had more
        ("nodes", np.int64),  # nodes of searches so far, and the work of finding captures in nodes
        ("known_captures", OPTIONAL, (OPTIONAL_SIZE,)),
        ("table_keys", np.uint64, (NUM_KINDS,)),  # random words that a table's key is a sum of
        ("table_key", np.uint64),  # of the table, and of the kinds that are not alike because of a copy
        ("lone", np.int64),  # bits of these kinds
        ("forced", np.int8, (NUM_KINDS,)),  # copies that a capture must contain
        ("free", np.int8, (NUM_KINDS,)),  # copies that it may contain beside them
        ("unions", np.int64, (MOST_UNIONS,)),  # packed
        ("union_set", np.int64, (UNION_SLOTS,)),  # the same as a hash set
        ("set_number", np.int64, (UNION_SLOTS,)),  # of the set that a slot was last used by
        ("sets", np.int64),  # the number of the current one
        ("lefts", np.int64, (MAX_DECK,)),  # stacks of the search for unions
        ("mades", np.int64, (MAX_DECK,)),
        ("nexts", np.int64, (MAX_DECK,)),
    ]


WORLDS = np.dtype(
    [
        ("blank", GAME),  # zeros
        ("root", GAME),  # what the searching seat knows of its game
        ("game", GAME),  # a world: the root, completed
        ("ahead", GAME),  # a world that is played on
        ("is_open", np.bool_),  # nothing is hidden
        ("agrees", np.bool_),  # every world so far agrees with what is seen
        ("world", np.int64),  # number of the next one
        ("end", np.int64),  # number after the last one
        ("seed", np.uint64),  # of the one that was drawn
        ("tried", np.int64),  # worlds in which the actions were tried
        ("margins", np.float64, (MAX_PLAYERS,)),  # of all sides at the end of a playout
        ("owner", np.int64, (MAX_DECK,)),  # for dealing hidden cards
        ("pool", np.int64, (MAX_DECK,)),
    ],
    align=True,
)

LINES = np.dtype(
    [
        ("stack", GAME, (MAX_PLIES + 2,)),  # the positions on the line that is being searched, from 1 on
        ("frames", FRAME, (MAX_PLIES + 2,)),
        ("ahead", GAME),  # a game that is played on from a leaf
        ("memory", MEMORY, (MEMORY_SIZE,)),
        ("hand_keys", np.uint64, (MAX_PLAYERS, NUM_KINDS)),  # random words that keys of positions are sums of
        ("table_keys", np.uint64, (NUM_KINDS,)),
        ("last_keys", np.uint64, (MAX_PLAYERS + 1,)),
        ("margins", np.float64, (MAX_PLAYERS,)),  # max^n: margins of all sides at a leaf
        ("limit", np.int64),  # of `nodes` of the listing; a search that reaches it is given up
    ],
    align=True,
)

JUDGING = np.dtype(
    [
        ("after", GAME),  # what a move makes of the root
        ("listed", np.int64),  # moves of the root that were weighed
        ("feature_scratch", FEATURE_SCRATCH),
        ("replies", REPLIES),
    ],
    align=True,
)


def tally_type(moves: int) -> np.dtype[Any]:
    """Return the dtype of the margins of so many moves of the root: in one world, and their sums over the worlds."""
    return np.dtype([("values", np.float64, (moves,)), ("totals", np.float64, (moves,))], align=True)


class Workspace(NamedTuple):
    """What searches work in, allocated once: a record of each part for each thread."""

    listing: np.ndarray  # (threads,) of `listing_type`: moves, and what finds them
    worlds: np.ndarray  # (threads,) of `WORLDS`: the decision, and the world that was sampled for it
    lines: np.ndarray  # (threads,) of `LINES`: the lines of play that the solver goes through
    judging: np.ndarray  # (threads,) of `JUDGING`: what moves are worth before any search
    tally: np.ndarray  # (threads,) of `tally_type`: the margins of moves


def make_workspace(threads: int = 1, moves: int = FEW_MOVES) -> Workspace:
    """Return a fresh workspace with room for so many moves on one line of play."""
    listing, lines = records(listing_type(moves), threads), records(LINES, threads)
    begin_listing(listing)
    lines["hand_keys"], lines["table_keys"], lines["last_keys"] = _keys()
    lines["limit"] = NO_LIMIT
    rest = (records(WORLDS, threads), lines, records(JUDGING, threads), records(tally_type(moves), threads))
    return Workspace(handle(listing), *(handle(part) for part in rest))


def begin_listing(listing: np.ndarray) -> None:
    """Write what must not be zero into zeros, (threads,) of `listing_type`."""
    listing["table_keys"] = _keys()[1]
    listing["known"]["table"] = listing["known"]["query"] = -1
    listing["keep"] = MOST_MOVES


def _keys() -> list[np.ndarray]:
    """Return random words for cards in hands, for cards on the table, and for who captured last."""
    random, shapes = np.random.default_rng(0), ((MAX_PLAYERS, NUM_KINDS), (NUM_KINDS,), (MAX_PLAYERS + 1,))
    return [random.integers(0, 2**64, shape, dtype=np.uint64) for shape in shapes]


class HasWorkspace(Protocol):
    """An object that searches in a workspace of its own."""

    _workspace: Workspace


def with_room(searcher: HasWorkspace, search: Callable[[], Result]) -> Result:
    """Return the result of a search; if its moves don't fit into the workspace, repeat it in a larger one.

    The kernels are then compiled anew, which takes some seconds. Raises ValueError if no workspace is large enough.
    """
    while True:
        try:
            return search()
        except OverflowError:
            moves = 8 * searcher._workspace.listing["moves"].shape[1]
            if moves > MOST_MOVES:
                raise ValueError(f"a search finds more than {MOST_MOVES // 8:,} moves on one line of play") from None
            searcher._workspace = make_workspace(len(searcher._workspace.listing), moves)
