"""The scratch memory of a search: one record a thread, allocated once, so that the kernels allocate nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

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
MOST_MOVES = 1 << 22  # the largest scratch that is tried: 250 MB
MEMORY_SIZE = 1 << 13  # positions remembered by alpha-beta
MEMO_SIZE = 1 << 11  # tables whose captures and sweeps are remembered
MEMO_CAPTURES = 5  # captures of one value that are remembered; if there are more, none are

# Where captures are optional (`krypenv.agents.search.optional`):
MOST_UNIONS = 1 << 10  # unions of groups that are found for a card, at most
FOUND = 1 << 13  # places of the set that tells which unions were found
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

MEMO = np.dtype(
    [
        ("table", np.int64),  # packed ranks whose `sweeps` are known
        ("sweeps", np.int64),
        ("query", np.int64),  # packed ranks and a hand value whose captures are known
        ("count", np.int64),
        ("captures", np.int64, (MEMO_CAPTURES,)),
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


def search_scratch_type(moves: int) -> np.dtype[Any]:
    """Return the dtype of scratch with room for `moves` moves."""
    return np.dtype(_fields(moves), align=True)


def _fields(moves: int) -> list[tuple[Any, ...]]:
    return [
        ("blank", GAME),  # zeros
        ("root", GAME),  # what the searching seat knows of its game
        ("stack", GAME, (MAX_PLIES + 2,)),  # the positions on the line that is being searched
        ("ahead", GAME),  # a game that is played out from a leaf
        ("after", GAME),  # what a move makes of the root (`krypenv.agents.search.building`)
        ("frames", FRAME, (MAX_PLIES + 2,)),
        ("moves", MOVE, (moves,)),
        ("memory", MEMORY, (MEMORY_SIZE,)),
        ("memo", MEMO, (MEMO_SIZE,)),
        ("hand_keys", np.uint64, (MAX_PLAYERS, NUM_KINDS)),  # random words that keys of positions are sums of
        ("table_keys", np.uint64, (NUM_KINDS,)),
        ("last_keys", np.uint64, (MAX_PLAYERS + 1,)),
        ("margins", np.float64, (MAX_PLAYERS,)),  # max^n: margins of all sides at a leaf
        ("values", np.float64, (moves,)),  # margins of the root's moves in one world
        ("totals", np.float64, (moves,)),  # their sums over the worlds
        ("nodes", np.int64),  # moves made so far, and the work of finding optional captures
        ("limit", np.int64),  # of them; a search that reaches it is given up
        # optional captures:
        ("keep", np.int64),  # captures of a card that are looked at, at most
        ("is_cut", np.bool_),  # some card had more
        ("known_captures", OPTIONAL, (OPTIONAL_SIZE,)),
        ("table_key", np.uint64),  # of the table, and of the kinds that are not alike because of a copy
        ("lone", np.int64),  # bits of these kinds
        ("forced", np.int8, (NUM_KINDS,)),  # copies that a capture must contain
        ("free", np.int8, (NUM_KINDS,)),  # copies that it may contain beside them
        ("unions", np.int64, (MOST_UNIONS,)),  # packed
        ("found", np.int64, (FOUND,)),  # the same as a set, for each number in `found_in`
        ("found_in", np.int64, (FOUND,)),
        ("finds", np.int64),  # this number
        ("lefts", np.int64, (MAX_DECK,)),  # stacks of the search for unions
        ("mades", np.int64, (MAX_DECK,)),
        ("nexts", np.int64, (MAX_DECK,)),
        # the worlds of a decision (`krypenv.agents.search.sampling`):
        ("is_open", np.bool_),  # nothing is hidden
        ("agrees", np.bool_),  # every world so far agrees with what is seen
        ("world", np.int64),  # number of the next one
        ("end", np.int64),  # number after the last one
        ("seed", np.uint64),  # of the one that was drawn
        ("tried", np.int64),  # worlds in which the actions were tried
        ("listed", np.int64),  # moves of the root that were weighed (`krypenv.agents.neural.building_features`)
        ("owner", np.int64, (MAX_DECK,)),  # for dealing hidden cards
        ("pool", np.int64, (MAX_DECK,)),
        ("feature_scratch", FEATURE_SCRATCH),  # of the tactician (`krypenv.agents.search.prior`)
        ("replies", REPLIES),
        ("scratch", SCRATCH),
    ]


def make_search_scratch(threads: int = 1, moves: int = FEW_MOVES) -> np.ndarray:
    """Return fresh scratch for some threads, (threads,) of `search_scratch_type`."""
    search_scratch = records(search_scratch_type(moves), threads)
    begin_scratch(search_scratch)
    return handle(search_scratch)


def begin_scratch(search_scratch: np.ndarray) -> None:
    """Write what must not be zero into zeros, (threads,) of `search_scratch_type`."""
    random = np.random.default_rng(0)
    for name in ("hand_keys", "table_keys", "last_keys"):
        keys = search_scratch[name]
        keys[:] = random.integers(0, 2**64, keys.shape[1:], dtype=np.uint64)
    search_scratch["memo"]["table"] = search_scratch["memo"]["query"] = -1
    search_scratch["limit"], search_scratch["keep"] = NO_LIMIT, MOST_MOVES


class HasSpace(Protocol):
    """An object that searches with its own scratch."""

    _search_scratch: np.ndarray


def with_room(searcher: HasSpace, search: Callable[[], Result]) -> Result:
    """Return the result of a search; if its moves don't fit into the scratch, repeat it with a larger one.

    The kernels are then compiled anew, which takes some seconds. Raises ValueError if no scratch is large enough.
    """
    while True:
        try:
            return search()
        except OverflowError:
            moves = 8 * searcher._search_scratch["moves"].shape[1]
            if moves > MOST_MOVES:
                raise ValueError(f"a search finds more than {MOST_MOVES // 8:,} moves on one line of play") from None
            searcher._search_scratch = make_search_scratch(len(searcher._search_scratch), moves)
