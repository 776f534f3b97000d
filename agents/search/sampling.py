"""From an observation to worlds that agree with it, as kernels over the work space of a search."""

from __future__ import annotations

import numpy as np

from krypenv.cards import NUM_KINDS
from krypenv.kernels.observation import LAYOUT
from krypenv.kernels.play import mix, prepare, seed_game
from krypenv.kernels.worlds import copy_public, deal_hidden
from krypenv.runtime.jit import kernel

NO_ACTION = -1  # where no world agrees with an observation; a kernel on several threads can't raise

_SEEN, _HAND_SIZE = LAYOUT["seen"].start, LAYOUT["hand_size"].start


@kernel
def look_around(tables: np.record, seen: np.ndarray, space: np.record) -> bool:
    """Write what an observation, (433,) int8, of the seat to act tells into `space.root`; return `tells_all` of it."""
    space.root = space.blank
    copy_public(tables, space.root, seen)
    prepare(tables, space.root, space.scratch)
    return tells_all(tables, seen)


@kernel
def tells_all(tables: np.record, seen: np.ndarray) -> bool:
    """Return whether nothing is hidden: of two players, one who has seen all cards but the other hand knows it."""
    unseen = np.int64(0)
    for kind in range(NUM_KINDS):
        unseen += tables.deck_counts[kind] - seen[_SEEN + kind]
    return tables.players == 2 and unseen == seen[_HAND_SIZE + 1]


@kernel
def find_open(tables: np.ndarray, observations: np.ndarray, out: np.ndarray) -> None:
    """Write for each row of observations, (B, >= 433) int8, whether it hides nothing into `out`, (B,) bool."""
    for row in range(len(out)):
        out[row] = tells_all(tables[0], observations[row])


@kernel
def sample_world(tables: np.record, seen: np.ndarray, seed: np.uint64, whole: bool, space: np.record) -> bool:
    """Complete `space.root` in `space.stack[0]` to a game that agrees with the observation, uniformly drawn by `seed`.

    Unless the `whole` game is wanted the stock is in no order. Returns whether there is such a game.
    """
    space.stack[0] = space.root
    game = space.stack[0]
    seed_game(game, seed)
    if not deal_hidden(tables, game, seen, whole, space.owner, space.pool):
        return False
    prepare(tables, game, space.scratch)
    return True


@kernel
def world_seed(seed: np.uint64, world: int) -> np.uint64:
    """Return the seed of one of the worlds of a decision."""
    return mix(seed + np.uint64(world))
