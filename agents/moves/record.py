"""Records of moves, the scratch in which they are listed, and conversions from and to `krypenv.Move`."""

from __future__ import annotations

from typing import Any

import numpy as np

from krypenv.cards import NUM_KINDS, NUM_RANKS, NUM_SUITS
from krypenv.families.bounds import MAX_PLAYERS
from krypenv.game.moves import Move
from krypenv.kernels.captures import SCRATCH
from krypenv.kernels.compiled import pack_ranks
from krypenv.runtime.jit import kernel

# Moves of all nodes on one line of a search together. A node has a few; only tables with many copies of a rank have
# hundreds of ways to choose between suits. `write_move` raises OverflowError for more.
MOST_MOVES = 1 << 16
KNOWN_SIZE = 1 << 11  # tables whose captures and sweeps are cached
KNOWN_CAPTURES = 5  # a table with more captures of a value is not cached

# Where captures are optional:
MOST_UNIONS = 1 << 10  # unions of groups that are listed for a card
OPTIONAL_SIZE = 1 << 11  # tables whose optional captures by a card are cached
OPTIONAL_CAPTURES = 8  # a table with more captures by a card is not cached
# A search for unions takes at most MANY_STEPS steps for each capture that is kept. Of more than MANY_CHOICES choices of
# kinds for one union, the best go on to the next rank.
MANY_STEPS = 40
MANY_CHOICES = 1000
STEPS_OF_NODE = 16  # steps that count as a node
# Captures of a card that are listed: in a playout, by the judgement, at the root of a search and on its lines, and
# where more than LARGE_TABLE cards lie on the table.
PLAYOUT_CAPTURES, JUDGED_CAPTURES, ROOT_CAPTURES, LINE_CAPTURES = 3, 8, 24, 6
LARGE_TABLE, LARGE_ROOT_CAPTURES, LARGE_LINE_CAPTURES = 10, 6, 2
MOST_SOLVED = 200  # moves at the root of a last deal that is solved exactly, all captures included
MOST_JUDGED = 128  # moves of a decision that are judged: those of least immediate cost

MOVE = np.dtype(
    [
        ("card", np.int32),  # the kind played
        ("build", np.int16),  # value of the build that it makes, raises or joins, else 0 (B2 to B4)
        ("taken", np.int16),  # value of the build that it captures or raises, else 0
        ("ranks", np.int64),  # the ranks of the loose cards that it takes or builds with, packed
        ("once", np.int64),  # bits of the kinds of which it takes a copy or two
        ("twice", np.int64),  # bits of the kinds of which it takes two
        # immediate cost (`order_moves`), in points, or under rules beyond the main game's in thousandths of one
        ("cost", np.int64),
    ],
    align=True,
)


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

LISTING = np.dtype(
    [
        ("moves", MOVE, (MOST_MOVES,)),
        ("spare", MOVE),  # for swapping two of them
        ("prices", np.float64, (NUM_KINDS,)),  # what winning each kind is worth (`set_prices`)
        ("price_key", np.uint64),  # a hash of the prices
        ("known", KNOWN, (KNOWN_SIZE,)),
        ("scratch", SCRATCH),
        # optional captures:
        ("keep", np.int64),  # captures of a card that are listed, at most
        ("is_cut", np.bool_),  # some card had more
        ("nodes", np.int64),  # nodes of searches so far, and the work of finding captures in nodes
        ("known_captures", OPTIONAL, (OPTIONAL_SIZE,)),
        ("table_keys", np.uint64, (NUM_KINDS,)),  # Zobrist keys of the cards on a table
        ("table_key", np.uint64),  # of the table, and of the kinds in `lone`
        ("lone", np.int64),  # bits of the kinds that are not alike because of a copy
        ("least", np.int64),  # what the play has taken so far, packed
        ("most", np.int64),  # and all that it may take
        ("first", np.int64),  # the first kind that a capture may still take
        ("sweep", np.int64),  # the cost of a sweep, in thousandths of a point
        ("free", np.int8, (NUM_KINDS,)),  # copies of each kind of a rank that a capture may take
        ("chosen", np.int8, (NUM_SUITS,)),  # copies of each suit that it takes
        ("unions", np.int64, (MOST_UNIONS,)),  # packed
    ],
    align=True,
)


def reset_listing(listing: np.ndarray) -> None:
    """Empty the caches of listings, (threads,) of `LISTING`, and set fields that start above zero.

    Needed for fresh listings, and before one is used under other rules.
    """
    listing["table_keys"] = zobrist_keys()[1]
    listing["known"]["table"] = listing["known"]["query"] = -1
    listing["known_captures"]["query"] = 0
    listing["keep"] = MOST_MOVES


def zobrist_keys() -> list[np.ndarray]:
    """Draw random words for cards in hands, for cards on the table, and for who captured last."""
    random, shapes = np.random.default_rng(0), ((MAX_PLAYERS, NUM_KINDS), (NUM_KINDS,), (MAX_PLAYERS + 1,))
    return [random.integers(0, 2**64, shape, dtype=np.uint64) for shape in shapes]


@kernel
def write_move(moves: np.ndarray, at: int, card: int, ranks: int, once: int, twice: int) -> None:
    """Write a move; raise OverflowError if there is no room."""
    if at >= len(moves):
        raise OverflowError("more than 65,536 moves on one line of a search")
    move = moves[at]
    move.card = card
    move.build, move.taken = 0, 0
    move.ranks = ranks
    move.once = once
    move.twice = twice


@kernel
def swap_moves(listing: np.record, one: int, other: int) -> None:
    """Swap two moves."""
    listing.spare = listing.moves[one]
    listing.moves[one] = listing.moves[other]
    listing.moves[other] = listing.spare


@kernel
def keep_best(start: int, end: int, table: int, listing: np.record) -> int:
    """Move the best `listing.keep` moves, and a sweep, to the front; return where they end."""
    moves, keep = listing.moves, listing.keep
    if end - start <= keep:
        return end
    listing.is_cut = True
    for place in range(start, start + keep):
        best = place
        for at in range(place, end):
            if moves[at].ranks == table or (moves[best].ranks != table and moves[at].cost < moves[best].cost):
                best = at
        if best != place:
            swap_moves(listing, place, best)
    return start + keep


@kernel
def bits_of_counts(counts: np.ndarray) -> tuple[int, int]:
    """Convert counts, (52,), to the bits of the kinds with a copy or two, and of those with two."""
    once: Any = np.int64(0)
    twice: Any = np.int64(0)
    for kind in range(NUM_KINDS):
        once |= np.int64(counts[kind] > 0) << kind
        twice |= np.int64(counts[kind] > 1) << kind
    return once, twice


@kernel
def copies_taken(move: np.record, kind: int) -> int:
    """Count the copies of a kind that a move takes."""
    return (move.once >> kind & 1) + (move.twice >> kind & 1)


@kernel
def trails(move: np.record) -> bool:
    """Check whether a move takes nothing and builds nothing: its card stays on the table."""
    is_alone: bool = move.ranks == 0 and move.taken == 0 and move.build == 0
    return is_alone


def add_move(moves: np.ndarray, count: int, move: Move) -> int:
    """Append a move to the first `count` of (M,) of `MOVE`, unless it is among them; return their number.

    Raises OverflowError if there is no room.
    """
    card, takes, _, build, builds = move.kinds()
    once = sum(1 << kind for kind in set(takes))
    twice = sum(1 << kind for kind in set(takes) if takes.count(kind) > 1)
    taken = next((value for value in builds if value != build), 0)
    listed = moves[:count]
    same = (listed["card"] == card) & (listed["once"] == once) & (listed["twice"] == twice)
    if (same & (listed["build"] == build) & (listed["taken"] == taken)).any():
        return count
    if count == len(moves):
        raise OverflowError("more than 65,536 moves on one line of a search")
    moves[count] = card, build, taken, pack_ranks([kind % NUM_RANKS + 1 for kind in takes]), once, twice, 0
    return count + 1


def as_move(record: np.void, builds: int) -> Move:
    """Convert a record of `MOVE`, without sweeps; `builds` are the values of the builds on the table, as bits."""
    takes = sorted(kind for name in ("once", "twice") for kind in range(NUM_KINDS) if int(record[name]) >> kind & 1)
    build, taken = int(record["build"]), int(record["taken"])
    joined = {build} if builds >> build & 1 else set()
    return Move.of_kinds(int(record["card"]), takes, 0, build, tuple(sorted(joined | {taken} - {0})))
