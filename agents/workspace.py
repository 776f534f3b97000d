"""What agents work in: a record of each part for each thread, made once, so that kernels allocate nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from krypenv.agents.base import MAX_PLIES
from krypenv.agents.judgement.judge import judging_type
from krypenv.agents.moves.space import FEW_MOVES, MOST_MOVES, begin_listing, listing_type, random_keys
from krypenv.cards import NUM_KINDS
from krypenv.families.bounds import MAX_PLAYERS
from krypenv.runtime.jit import handle, records
from krypenv.state import GAME, MAX_DECK

Result = TypeVar("Result")

MEMORY_SIZE = 1 << 13  # positions remembered by alpha-beta
NO_LIMIT = 1 << 60  # of nodes

FRAME = np.dtype(  # a node on the line that is being searched
    [
        ("at", np.int64),  # the next of its moves to try
        ("end", np.int64),  # where they end
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


def tally_type(moves: int) -> np.dtype[Any]:
    """Return the dtype of figures of so many moves of the root."""
    return np.dtype(
        [
            ("values", np.float64, (moves,)),  # their margins in one world
            ("totals", np.float64, (moves,)),  # the sums of these over the worlds; minus infinity for pruned moves
            ("behind", np.float64, (moves,)),  # how far a network's logit is behind that of the best action
        ],
        align=True,
    )


class Workspace(NamedTuple):
    """What agents work in, allocated once: a record of each part for each thread."""

    listing: np.ndarray  # (threads,) of `listing_type`: moves, and what finds them
    worlds: np.ndarray  # (threads,) of `WORLDS`: the decision, and the world that was sampled for it
    lines: np.ndarray  # (threads,) of `LINES`: the lines of play that the solver goes through
    judging: np.ndarray  # (threads,) of `judging_type`: what moves are worth before any search
    tally: np.ndarray  # (threads,) of `tally_type`: the margins of moves


def part_of(workspace: Workspace, part: int) -> Workspace:
    """Return the workspace of one thread."""
    return Workspace(*(records[part : part + 1] for records in workspace))


def make_workspace(threads: int = 1, moves: int = FEW_MOVES) -> Workspace:
    """Return a fresh workspace with room for so many moves on one line of play."""
    listing, lines = records(listing_type(moves), threads), records(LINES, threads)
    begin_listing(listing)
    lines["hand_keys"], lines["table_keys"], lines["last_keys"] = random_keys()
    lines["limit"] = NO_LIMIT
    judging, tally = records(judging_type(moves), threads), records(tally_type(moves), threads)
    return Workspace(*(handle(part) for part in (listing, records(WORLDS, threads), lines, judging, tally)))


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
