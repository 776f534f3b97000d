"""Moves as people write them, `krypenv.Move`, and their records."""

from __future__ import annotations

import numpy as np

from krypenv.cards import NUM_RANKS
from krypenv.game.moves import Move, bits
from krypenv.kernels.compiled import pack_ranks


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
    takes = sorted([*bits(int(record["once"])), *bits(int(record["twice"]))])
    build, taken = int(record["build"]), int(record["taken"])
    joined = {build} if builds >> build & 1 else set()
    return Move.of_kinds(int(record["card"]), takes, 0, build, tuple(sorted(joined | {taken} - {0})))
