"""From an observation to worlds that agree with it, as kernels over the work space of a search."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from krypenv.cards import NUM_ACTIONS, NUM_KINDS
from krypenv.kernels.observation import LAYOUT
from krypenv.kernels.play import mix, prepare, seed_game
from krypenv.kernels.worlds import copy_public, deal_hidden
from krypenv.runtime.jit import kernel

NO_ACTION = -1  # where no world agrees with an observation

_SEEN, _HAND_SIZE = LAYOUT["seen"].start, LAYOUT["hand_size"].start


class Job(NamedTuple):
    """Decisions, the worlds that are to be looked at for each, and where the answers go."""

    tables: np.ndarray  # (1,) compiled rules
    model: np.ndarray  # (1,) of `MODEL`
    observations: np.ndarray  # (B, >= 433) int8
    masks: np.ndarray  # (B, 105) int8
    seeds: np.ndarray  # (B,) uint64
    start: int  # the rows that are decided: from this one
    stop: int  # up to this one
    first: int  # number of the first world; if not 0, a thread has one row and goes on with what is in its work space
    worlds: int
    out: np.ndarray  # (B,) int64: the actions, NO_ACTION where no world agrees with what is seen
    values: np.ndarray  # (B, 105) float64, or (0, 105) if not asked for: the expected margin after each action


@kernel
def begin(job: Job, row: int, space: np.record) -> bool:
    """Set up a decision in the work space; return whether there is a choice. Where there is none the answer is written.

    Then `next_world` gives one world after the other, and `write_best` the answer.
    """
    if not has_choice(job.masks[row]):
        job.out[row] = np.argmax(job.masks[row])
        return False
    begin_worlds(job, row, space)
    return True


@kernel
def begin_worlds(job: Job, row: int, space: np.record) -> None:
    """Set up a decision in the work space, and the worlds that are to be looked at."""
    space.is_open = look_around(job.tables[0], job.observations[row], space)
    space.world, space.end = job.first, job.first + job.worlds
    space.agrees = True


@kernel
def next_world(job: Job, row: int, whole: bool, space: np.record) -> bool:
    """Draw the next world of a decision into `space.stack[0]`; return False after the last one.

    Where no world agrees with the observation the last one is over, and `space.agrees` is False.
    """
    if space.world == space.end or not space.agrees:
        return False
    space.seed = world_seed(job.seeds[row], space.world)
    space.world += 1
    space.agrees = sample_world(job.tables[0], job.observations[row], space.seed, whole, space)
    return space.agrees


@kernel
def write_best(job: Job, row: int, space: np.record) -> None:
    """Write the action with the highest of `space.totals`, and if asked for, their means over `space.tried` worlds."""
    if not space.agrees:
        job.out[row] = NO_ACTION
        return
    job.out[row] = best_of(space.totals, NUM_ACTIONS)
    if len(job.values) > 0:
        for action in range(NUM_ACTIONS):
            job.values[row, action] = space.totals[action] / max(space.tried, 1)


@kernel
def has_choice(mask: np.ndarray) -> bool:
    """Return whether a mask, (105,) int8, allows more than one action."""
    count = 0
    for action in range(NUM_ACTIONS):
        count += mask[action] != 0
    return count > 1


@kernel
def best_of(values: np.ndarray, count: int) -> int:
    """Return the place of the highest of the first `count` values."""
    best = 0
    for at in range(1, count):
        if values[at] > values[best]:
            best = at
    return best


@kernel
def look_around(tables: np.record, seen: np.ndarray, space: np.record) -> bool:
    """Write what an observation, (433,) int8, of the seat to act tells into `space.root`; return `tells_all` of it."""
    space.root = space.blank
    read_public(tables, seen, space.root, space)
    return tells_all(tables, seen)


@kernel
def read_public(tables: np.record, seen: np.ndarray, game: np.record, space: np.record) -> None:
    """Write what an observation of the seat to act tells into a game of zeros."""
    copy_public(tables, game, seen)
    prepare(tables, game, space.scratch)


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
    return complete(tables, seen, seed, whole, space.stack[0], space)


@kernel
def complete(
    tables: np.record, seen: np.ndarray, seed: np.uint64, whole: bool, game: np.record, space: np.record
) -> bool:
    """Do what `sample_world` does in a game that `read_public` has written."""
    seed_game(game, seed)
    if not deal_hidden(tables, game, seen, whole, space.owner, space.pool):
        return False
    prepare(tables, game, space.scratch)
    return True


@kernel
def world_seed(seed: np.uint64, world: int) -> np.uint64:
    """Return the seed of one of the worlds of a decision."""
    return mix(seed + np.uint64(world))
