"""Moves where captures must be made, and are maximal (R7 to R10)."""

from __future__ import annotations

import numpy as np

from krypenv.agents.moves.kinds import write_choices
from krypenv.agents.moves.record import write_move
from krypenv.agents.moves.space import KNOWN_CAPTURES, KNOWN_SIZE
from krypenv.cards import NO_CARD, NUM_RANKS
from krypenv.kernels.captures import captures_of, find_captures, find_sweep_values
from krypenv.kernels.compiled import NIBBLE, fits, hand_value_of, sum_of
from krypenv.runtime.jit import kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_HASH_SHIFT = np.uint64(64 - (KNOWN_SIZE.bit_length() - 1))


@kernel
def list_maximal(compiled: np.record, game: np.record, card: int, start: int, listing: np.record) -> int:
    """Write the moves of a card to `.moves` from `start` on, one for each capture of kinds; return where they end."""
    scratch = listing.scratch
    table = np.int64(game.table_ranks)
    if compiled.chooses_value:
        count = captures_of(compiled, card, table, scratch)
    else:
        count = known_captures(compiled, np.int64(hand_value_of(compiled, card)), table, listing)
    if count == 0:
        write_move(listing.moves, start, card, np.int64(0), np.int64(0), np.int64(0))
        return start + 1
    end = start
    for at in range(count):
        capture = scratch.captures[at]
        if game.pending == NO_CARD or fits(game.taken_ranks, capture):
            end = write_choices(compiled, game, card, capture, end, listing)
    return end


@kernel
def known_sweeps(compiled: np.record, ranks: int, listing: np.record) -> int:
    """Do what `find_sweep_values` does, memoized: a search visits the same tables many times."""
    entry = listing.known[np.int64(np.uint64(ranks) * _GOLDEN >> _HASH_SHIFT)]
    if entry.table != ranks:
        entry.table = ranks
        entry.sweeps = find_sweep_values(compiled, ranks, sum_of(compiled, ranks), listing.scratch)
    return int(entry.sweeps)


@kernel
def known_captures(compiled: np.record, value: int, ranks: int, listing: np.record) -> int:
    """Do what `find_captures` does, memoized."""
    query = ranks | value << NIBBLE * NUM_RANKS
    entry = listing.known[np.int64(np.uint64(query) * _GOLDEN >> _HASH_SHIFT)]
    captures = listing.scratch.captures
    if entry.query == query:
        count = np.int64(entry.count)
        for at in range(count):
            captures[at] = entry.captures[at]
        return int(count)
    count = find_captures(compiled, value, ranks, listing.scratch)
    if count <= KNOWN_CAPTURES:
        entry.query = query
        entry.count = count
        for at in range(count):
            entry.captures[at] = captures[at]
    return count
