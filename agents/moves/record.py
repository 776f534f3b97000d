"""Records of moves, as kernels write them and from moves as people write them, `krypenv.Move`."""

from __future__ import annotations

from typing import Any

import numpy as np

from krypenv.cards import NUM_KINDS, NUM_RANKS
from krypenv.game.moves import Move
from krypenv.kernels.compiled import NIBBLE, pack_ranks
from krypenv.runtime.jit import kernel

MOVE = np.dtype(
    [
        ("card", np.int32),  # the kind played
        ("build", np.int16),  # value of the build that it makes, raises or joins, else 0 (B2 to B4)
        ("taken", np.int16),  # value of the build that it captures or raises, else 0
        ("ranks", np.int64),  # the ranks of the loose cards that it takes or builds with, packed
        ("once", np.int64),  # bits of the kinds of which it takes a copy or two
        ("twice", np.int64),  # bits of the kinds of which it takes two
        # the immediate cost (`order_moves`), in points, or under rules beyond the main game's in thousandths of one;
        # the cheapest move is searched first
        ("cost", np.int64),
    ],
    align=True,
)


@kernel
def write_move(moves: np.ndarray, at: int, card: int, ranks: int, once: int, twice: int) -> None:
    """Write one move."""
    if at >= len(moves):
        raise OverflowError("more moves on one line of a search than there is room for")
    move = moves[at]
    move.card = card
    move.build, move.taken = 0, 0
    move.ranks = ranks
    move.once = once
    move.twice = twice


@kernel
def swap_moves(moves: np.ndarray, one: int, other: int) -> None:
    """Swap two moves."""
    first, second = moves[one], moves[other]
    first.card, second.card = second.card, first.card
    first.build, second.build = second.build, first.build
    first.taken, second.taken = second.taken, first.taken
    first.ranks, second.ranks = second.ranks, first.ranks
    first.once, second.once = second.once, first.once
    first.twice, second.twice = second.twice, first.twice
    first.cost, second.cost = second.cost, first.cost


@kernel
def keep_best(start: int, end: int, table: int, listing: np.record) -> int:
    """Bring the best moves, `listing.keep` at most, and a sweep to the front; return where they end."""
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
            swap_moves(moves, place, best)
    return start + keep


@kernel
def bits_of_counts(counts: np.ndarray) -> tuple[int, int]:
    """Return the kinds of which there is a card or two, and those of which there are two, as bits; (52,) counts."""
    once: Any = np.int64(0)
    twice: Any = np.int64(0)
    for kind in range(NUM_KINDS):
        once |= np.int64(counts[kind] > 0) << kind
        twice |= np.int64(counts[kind] > 1) << kind
    return once, twice


@kernel
def copies_taken(move: np.record, kind: int) -> int:
    """Return how many cards of a kind a move takes."""
    return (move.once >> kind & 1) + (move.twice >> kind & 1)


@kernel
def trails(move: np.record) -> bool:
    """Return whether a move takes nothing and builds nothing: its card stays on the table."""
    is_alone: bool = move.ranks == 0 and move.taken == 0 and move.build == 0
    return is_alone


@kernel
def is_mulle(move: np.record) -> bool:
    """Return whether a move takes one card, the identical copy of the card played (M2)."""
    is_one: bool = move.ranks == np.int64(1) << NIBBLE * (move.card % NUM_RANKS)
    return is_one and move.once == np.int64(1) << move.card


def add_move(moves: np.ndarray, count: int, move: Move) -> int:
    """Add a move to the first `count` ones of (M,) of `MOVE`; return their number: no more if it is among them.

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
        raise OverflowError("more moves on one line of a search than there is room for")
    moves[count] = card, build, taken, pack_ranks([kind % NUM_RANKS + 1 for kind in takes]), once, twice, 0
    return count + 1


def as_move(record: np.void, builds: int) -> Move:
    """Return the move of a record of `MOVE`, without its sweeps; `builds` are the values on the table, as bits."""
    takes = sorted(kind for name in ("once", "twice") for kind in range(NUM_KINDS) if int(record[name]) >> kind & 1)
    build, taken = int(record["build"]), int(record["taken"])
    joined = {build} if builds >> build & 1 else set()
    return Move.of_kinds(int(record["card"]), takes, 0, build, tuple(sorted(joined | {taken} - {0})))
