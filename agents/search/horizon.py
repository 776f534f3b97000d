"""Leaf values: what searches expect to come after the end of a deal."""

from __future__ import annotations

import numpy as np

from krypenv.cards import NUM_RANKS, NUM_SUITS
from krypenv.inputs.words import shown
from krypenv.kernels.compiled import bit_index, classes_of_values
from krypenv.kernels.deals import leader_of
from krypenv.kernels.outlook import chance_of_hit
from krypenv.kernels.scoring import sweep_gain
from krypenv.runtime.jit import handle, kernel, records

VALUES = ("sweep", "margin")

MODEL = np.dtype(
    [
        ("counts_sweep", np.bool_),  # expect the next deal's leader to sweep, by the odds of the unseen cards
        ("deals", np.int64),  # deals to play out first, from the known deck; 0 for none
    ],
    align=True,
)


def make_model(value: str) -> np.ndarray:
    """Return the parameters of a leaf value by its name, (1,) of `MODEL`; raises ValueError for an unknown name.

    `sweep` expects the sweep that the next deal's leader may have to make (R9, R12), times the probability that its
    hand holds one. `margin` expects nothing.
    """
    if value not in VALUES:
        raise ValueError(f"value is {' or '.join(VALUES)}, not {shown(value)}")
    model = records(MODEL, 1)
    model.counts_sweep = value == "sweep"
    return handle(model)


@kernel
def sweep_chance(compiled: np.record, game: np.record, number: int) -> float:
    """Return the probability that the leader's hand in the deal after the first `number` ones sweeps the table."""
    ranks = classes_of_values(compiled, np.int64(game.sweep_values))
    if ranks == 0:
        return 0.0
    hits = np.int64(0)
    while ranks != 0:
        bit = ranks & -ranks
        ranks ^= bit
        rank = bit_index(bit)
        for suit in range(NUM_SUITS):
            kind = suit * NUM_RANKS + rank
            hits += compiled.deck_counts[kind] - game.seen[kind]
    drawn = np.int64(0)
    for at in range(compiled.deal_start[number], compiled.deal_start[number + 1]):
        drawn += compiled.destination[at] == 0
    return chance_of_hit(hits, compiled.deck_size - compiled.deal_start[number], drawn)


@kernel
def expected_margin(compiled: np.record, model: np.record, game: np.record, number: int, side: int) -> float:
    """Return the margin that a side can expect from what comes after the first `number` deals."""
    if not model.counts_sweep:
        return 0.0
    return sweep_gain(compiled, leader_of(compiled, game), side) * sweep_chance(compiled, game, number)
