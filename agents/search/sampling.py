"""Sampling worlds that agree with an observation, as kernels over the scratch of a search."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from krypenv.cards import NUM_KINDS
from krypenv.kernels.play import prepare
from krypenv.observation import LAYOUT
from krypenv.runtime.jit import kernel
from krypenv.state import mix, seed_game
from krypenv.worlds.determinize import copy_public
from krypenv.worlds.hidden import deal_hidden

NO_ACTION = -1  # where no world agrees with an observation

_SEEN, _HAND_SIZE = LAYOUT["seen"].start, LAYOUT["hand_size"].start


class Job(NamedTuple):
    """Decisions, the worlds to sample for each, and the arrays for the answers."""

    compiled: np.ndarray  # (1,) compiled rules
    model: np.ndarray  # (1,) of `MODEL`
    observations: np.ndarray  # (B, >= 433) int8
    masks: np.ndarray  # (B, A) int8
    seeds: np.ndarray  # (B,) uint64
    start: int  # the first row to decide
    stop: int  # the row after the last one
    first: int  # number of the first world; if not 0, a thread has one row and continues from its scratch
    worlds: int
    out: np.ndarray  # (B,) int64: the actions, NO_ACTION where no world agrees with what is seen
    values: np.ndarray  # (B, A) float64, or (0, A) if not requested: see `Sampler.action_values`


@kernel
def begin(job: Job, row: int, worlds: np.record, scratch: np.record) -> bool:
    """Set up a decision in the scratch; return whether there is a choice. If there is none, write the answer.

    After that, `next_world` draws one world after the other, and `write_best` writes the answer.
    """
    if not has_choice(job.masks[row]):
        job.out[row] = np.argmax(job.masks[row])
        return False
    begin_worlds(job, row, worlds, scratch)
    return True


@kernel
def begin_worlds(job: Job, row: int, worlds: np.record, scratch: np.record) -> None:
    """Set up a decision in the scratch, and the range of worlds to sample."""
    worlds.is_open = look_around(job.compiled[0], job.observations[row], worlds, scratch)
    worlds.world, worlds.end = job.first, job.first + job.worlds
    worlds.agrees = True


@kernel
def next_world(job: Job, row: int, whole: bool, worlds: np.record, scratch: np.record) -> bool:
    """Draw the next world of a decision into `worlds.game`; return False after the last one.

    If no world agrees with the observation, it returns False too, and `worlds.agrees` is False.
    """
    if worlds.world == worlds.end or not worlds.agrees:
        return False
    worlds.seed = world_seed(job.seeds[row], worlds.world)
    worlds.world += 1
    worlds.agrees = sample_world(job.compiled[0], job.observations[row], worlds.seed, whole, worlds, scratch)
    return worlds.agrees


@kernel
def write_best(job: Job, row: int, worlds: np.record, tally: np.record) -> None:
    """Write the action with the highest total, and if requested, the means over the worlds tried."""
    if not worlds.agrees:
        job.out[row] = NO_ACTION
        return
    job.out[row] = best_of(tally.totals, job.masks.shape[1])
    if len(job.values) > 0:
        for action in range(job.masks.shape[1]):
            job.values[row, action] = tally.totals[action] / max(worlds.tried, 1)


@kernel
def has_choice(mask: np.ndarray) -> bool:
    """Return whether a mask, (A,) int8, allows more than one action."""
    count = 0
    for action in range(len(mask)):
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
def look_around(compiled: np.record, seen: np.ndarray, worlds: np.record, scratch: np.record) -> bool:
    """Write what an observation, (433,) int8, shows into `worlds.root`; return whether it hides nothing."""
    worlds.root = worlds.blank
    read_public(compiled, seen, worlds.root, scratch)
    return tells_all(compiled, seen)


@kernel
def read_public(compiled: np.record, seen: np.ndarray, game: np.record, scratch: np.record) -> None:
    """Write what an observation of the seat to act shows into a game of zeros."""
    copy_public(compiled, game, seen)
    prepare(compiled, game, scratch)


@kernel
def tells_all(compiled: np.record, seen: np.ndarray) -> bool:
    """Return whether nothing is hidden: one of two players who has seen all other cards knows the other hand."""
    unseen = np.int64(0)
    for kind in range(NUM_KINDS):
        unseen += compiled.deck_counts[kind] - seen[_SEEN + kind]
    return compiled.players == 2 and unseen == seen[_HAND_SIZE + 1]


@kernel
def find_open(compiled: np.ndarray, observations: np.ndarray, out: np.ndarray) -> None:
    """Write for each row of observations, (B, >= 433) int8, whether it hides nothing into `out`, (B,) bool."""
    for row in range(len(out)):
        out[row] = tells_all(compiled[0], observations[row])


@kernel
def sample_world(
    compiled: np.record, seen: np.ndarray, seed: np.uint64, whole: bool, worlds: np.record, scratch: np.record
) -> bool:
    """Complete the root to a game in `worlds.game`, sampled uniformly among those that agree with it.

    Unless `whole`, the stock is left unshuffled. Returns whether there is such a game.
    """
    worlds.game = worlds.root
    return complete(compiled, seen, seed, whole, worlds.game, worlds, scratch)


@kernel
def complete(
    compiled: np.record,
    seen: np.ndarray,
    seed: np.uint64,
    whole: bool,
    game: np.record,
    worlds: np.record,
    scratch: np.record,
) -> bool:
    """Complete a game that `read_public` has written, as `sample_world` does."""
    seed_game(game, seed)
    if not deal_hidden(compiled, game, seen, whole, worlds.owner, worlds.pool):
        return False
    prepare(compiled, game, scratch)
    return True


@kernel
def world_seed(seed: np.uint64, world: int) -> np.uint64:
    """Return the seed of one of the worlds of a decision."""
    return mix(seed + np.uint64(world))
