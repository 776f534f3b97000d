"""What is still to come where a deal ends: the value that searches put there."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import numpy as np

from krypenv.captures import bit_index
from krypenv.cards import NUM_KINDS, NUM_RANKS, NUM_SUITS
from krypenv.jit import handle, kernel, records
from krypenv.play import leader_of
from krypenv.rules import MAX_PLAYERS, Rules
from krypenv.tables import NIBBLE

FILE = Path(__file__).with_name("horizon.json")  # made by `krypenv fit-horizon`
NUM_FACTS = 3 + NUM_RANKS  # one, chance of a sweep, points on the table, cards on the table by rank

MODEL = np.dtype(
    [
        ("is_used", np.bool_),
        ("deals", np.int64),  # deals that are played on first, by the known deck; 0 for none
        # points to come beyond an equal share, for each seat counted from the leader, by fact
        ("weights", np.float64, (MAX_PLAYERS, NUM_FACTS)),
    ],
    align=True,
)


@functools.lru_cache(maxsize=1)
def _fitted() -> dict[str, list[list[float]]]:
    weights: dict[str, list[list[float]]] = json.loads(FILE.read_text(encoding="utf-8"))["weights"]
    return weights


def make_model(rules: Rules, value: str) -> np.ndarray:
    """Return what a value is worked out from, (1,) of `MODEL`.

    `value` is `fitted`, for the weights fitted to play with as many players, two packs and the main rulebook's
    captures; `sweep` for the chance alone that the leader sweeps; or `margin` for nothing to come. Rules with a
    smaller deck get `sweep` for `fitted`.
    """
    if value not in ("fitted", "sweep", "margin"):
        raise ValueError(f"value is fitted, sweep or margin, not {value!r}")
    array = records(MODEL, 1)
    model = array[0]
    model.is_used = value != "margin"
    if value == "fitted" and rules.deck_size == 2 * NUM_KINDS and str(rules.players) in _fitted():
        model.weights[: rules.players] = _fitted()[str(rules.players)]
    else:
        model.weights[0, 1], model.weights[rules.players - 1, 1] = rules.sweep_points, -rules.sweep_points
    return handle(array)


@kernel
def sweep_chance(tables: np.record, game: np.record, number: int) -> float:
    """Return the chance that the leader's hand of the deal after the first `number` ones sweeps the table."""
    values = np.int64(game.sweep_values)
    if values == 0:
        return 0.0
    ranks = np.int64(0)
    while values != 0:
        bit = values & -values
        values ^= bit
        ranks |= tables.value_ranks[bit_index(bit)]
    hits = np.int64(0)
    while ranks != 0:
        bit = ranks & -ranks
        ranks ^= bit
        rank = bit_index(bit)
        for suit in range(NUM_SUITS):
            kind = suit * NUM_RANKS + rank
            hits += tables.deck_counts[kind] - game.seen[kind]
    drawn = np.int64(0)
    for at in range(tables.deal_start[number], tables.deal_start[number + 1]):
        drawn += tables.destination[at] == 0
    pool = tables.deck_size - tables.deal_start[number]
    missed = 1.0
    for draw in range(drawn):
        missed *= max(pool - hits - draw, 0) / max(pool - draw, 1)
    return 1.0 - missed


@kernel
def expected_margin(tables: np.record, model: np.record, game: np.record, number: int, side: int) -> float:
    """Return the margin that a side can expect of what comes after the first `number` deals."""
    if not model.is_used:
        return 0.0
    chance = sweep_chance(tables, game, number)
    points = np.int64(0)
    ranks = np.int64(game.table_ranks)
    kinds = tables.point_kinds
    while kinds != 0:
        bit = kinds & -kinds
        kinds ^= bit
        kind = bit_index(bit)
        points += game.table[kind] * tables.card_points[kind]
    excess = 0.0
    leader = leader_of(tables, game)
    for offset in range(tables.players):
        if (leader + offset) % tables.players % tables.teams == side:
            weights = model.weights[offset]
            excess += weights[0] + weights[1] * chance + weights[2] * points
            left = ranks
            rank = 3
            while left != 0:
                excess += weights[rank] * (left & 15)
                left >>= NIBBLE
                rank += 1
    return -excess * tables.teams / (tables.teams - 1)
