"""The workspace of agents: one record for each thread, allocated once, so that kernels allocate nothing."""

from __future__ import annotations

import numpy as np

from krypenv.agents.base import MAX_PLIES
from krypenv.agents.judgement import JUDGING
from krypenv.agents.moves.record import LISTING, MOST_MOVES, reset_listing, zobrist_keys
from krypenv.cards import NUM_KINDS
from krypenv.families.bounds import MAX_PLAYERS
from krypenv.runtime.jit import handle, records
from krypenv.state import GAME, MAX_DECK

TABLE_SIZE = 1 << 13  # positions in the transposition table of alpha-beta
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

ENTRY = np.dtype([("key", np.uint64), ("gain", np.float64), ("bound", np.int64)], align=True)  # of the table

DECISION = np.dtype(
    [
        ("blank", GAME),  # zeros
        ("root", GAME),  # the information set: the game with empty hands for the other seats
        ("world", GAME),  # the current world: the root, completed
        ("ahead", GAME),  # the current world, played on
        ("row", np.int64),  # of the decision in its job
        ("is_open", np.bool_),  # nothing is hidden
        ("agrees", np.bool_),  # every world so far agrees with the observation
        ("next", np.int64),  # number of the next world
        ("end", np.int64),  # number after the last world
        ("seed", np.uint64),  # of the current world
        ("tried", np.int64),  # worlds in which the moves were valued
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
        ("table", ENTRY, (TABLE_SIZE,)),  # the transposition table
        ("hand_keys", np.uint64, (MAX_PLAYERS, NUM_KINDS)),  # Zobrist keys; those of the table are in the listing
        ("last_keys", np.uint64, (MAX_PLAYERS + 1,)),
        ("margins", np.float64, (MAX_PLAYERS,)),  # max^n: margins of all sides at a leaf
        ("limit", np.int64),  # of `nodes` of the listing; a search that reaches it is given up
        ("known_deals", np.int64),  # to play out at a leaf, from the known deck; 0 for none
    ],
    align=True,
)


TALLY = np.dtype(  # by move of the root
    [
        ("values", np.float64, (MOST_MOVES,)),  # in one world: margins, the prior included
        ("totals", np.float64, (MOST_MOVES,)),  # their sums over the worlds; minus infinity for pruned moves
        ("logit_gap", np.float64, (MOST_MOVES,)),  # the network's logit, less that of the best action
    ],
    align=True,
)

WORKSPACE = np.dtype(
    [
        ("listing", LISTING),  # moves, and the scratch for listing them
        ("decision", DECISION),  # its information set, and the world that was sampled from it
        ("lines", LINES),  # the lines of play that the solver searches
        ("judging", JUDGING),  # the judgement of moves before any search
        ("tally", TALLY),  # the margins of the root's moves
    ],
    align=True,
)


def make_workspaces(threads: int = 1) -> np.ndarray:
    """Allocate fresh workspaces, (threads,) of `WORKSPACE`; memory is touched only as it is used."""
    workspaces = records(WORKSPACE, threads)
    lines = workspaces["lines"]
    reset_listing(workspaces["listing"])
    lines["hand_keys"], _, lines["last_keys"] = zobrist_keys()
    lines["limit"] = NO_LIMIT
    return handle(workspaces)
