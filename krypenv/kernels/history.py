"""The history block: the plays of the current deal, as everybody at the table has seen them.

It comes last in an observation, after the features if there are any, and only where it is asked for. It has a row for
each play of the deal so far, in order; other rows are zero. Seats are relative, as in `krypenv.kernels.observation`.
"""

from __future__ import annotations

import numpy as np

from krypenv.cards import NO_CARD, NUM_KINDS
from krypenv.kernels.compiled import TABLE
from krypenv.rules import MAX_PLAYERS, Rules
from krypenv.runtime.jit import kernel

COLUMNS: dict[str, slice] = {
    "who": slice(0, MAX_PLAYERS),  # 1 for the place that played
    "card": slice(MAX_PLAYERS, MAX_PLAYERS + NUM_KINDS),  # 1 for the kind played
    "takes": slice(MAX_PLAYERS + NUM_KINDS, MAX_PLAYERS + 2 * NUM_KINDS),  # copies of each kind that it took
}
WIDTH = MAX_PLAYERS + 2 * NUM_KINDS
_CARD, _TAKES = COLUMNS["card"].start, COLUMNS["takes"].start

RECORD = 2 + NUM_KINDS  # entries of a recorded play: the seat, the card (NO_CARD if it is not known), and what it took


def shape_of(rules: Rules) -> tuple[int, int]:
    """Return the shape of the block: a row for each card of a deal's hands, where these are most, and its columns."""
    return max(sum(hands) for hands, _ in rules.deal_sizes()), WIDTH


def size_of(rules: Rules, history: bool = True) -> int:
    """Return the number of entries of the block, 0 without it."""
    rows, columns = shape_of(rules)
    return rows * columns if history else 0


@kernel
def plays_of_deal(compiled: np.record, game: np.record) -> int:
    """Return how many plays of the current deal are complete."""
    number = game.deal_number
    plays = np.int64(game.pending == NO_CARD) - 1
    for place in range(compiled.deal_start[number - 1], compiled.deal_start[number]):
        plays += compiled.destination[place] != TABLE
    for seat in range(compiled.players):
        plays -= game.hand_size[seat]
    return plays


@kernel
def note_play(compiled: np.record, game: np.record, record: np.ndarray) -> None:
    """Write the last complete play, if it belongs to the current deal, into its row of `record`, (M, RECORD) int8."""
    plays = plays_of_deal(compiled, game)
    if plays > 0 and game.pending == NO_CARD:
        row = record[plays - 1]
        row[0], row[1] = game.last_seat, game.last_card
        for kind in range(NUM_KINDS):
            row[2 + kind] = game.taken[kind]


@kernel
def write_play(play: np.ndarray, viewer: int, players: int, out: np.ndarray) -> None:
    """Write a recorded play, (RECORD,) int8, as a seat sees it into `out`, (WIDTH,) int8."""
    for at in range(WIDTH):
        out[at] = 0
    if play[1] != NO_CARD:
        out[(play[0] - viewer) % players] = 1
        out[_CARD + play[1]] = 1
        for kind in range(NUM_KINDS):
            out[_TAKES + kind] = play[2 + kind]


@kernel
def write_history(compiled: np.record, game: np.record, record: np.ndarray, viewer: int, out: np.ndarray) -> None:
    """Write the plays of the current deal as a seat sees them into `out`, (M * WIDTH,) int8."""
    plays = plays_of_deal(compiled, game)
    for at in range(len(record)):
        part = out[at * WIDTH : (at + 1) * WIDTH]
        if at < plays:
            write_play(record[at], viewer, compiled.players, part)
        else:
            for entry in range(WIDTH):
                part[entry] = 0


@kernel
def note_rows(
    compiled: np.ndarray, state: np.ndarray, orders: np.ndarray, record: np.ndarray, out: np.ndarray, start: int
) -> None:
    """Record the last plays of the rows in `orders`, (M, 2) int64, in (B, M, RECORD) int8, and write their blocks.

    The block begins at entry `start` of `out`, (B, N) int8.
    """
    for at in range(len(orders)):
        row = orders[at, 0]
        note_play(compiled[0], state[row], record[row])
        write_history(compiled[0], state[row], record[row], state[row].seat, out[row, start:])
