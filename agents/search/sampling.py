"""Sampling worlds that agree with an observation, as kernels over the scratch of a search."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from krypenv.agents.judgement.decision import has_choice, look_around
from krypenv.agents.moves.making import leads_to, next_action
from krypenv.kernels.play import prepare
from krypenv.runtime.jit import kernel
from krypenv.state import mix, seed_game
from krypenv.worlds.hidden import deal_hidden

# Moves are pruned after this many worlds, and not before.
FEWEST_WORLDS = 8
NO_ACTION = -1  # where no world agrees with an observation


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
    if job.first == 0:
        worlds.tried = 0
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
    worlds.game = worlds.root
    worlds.agrees = complete(job.compiled[0], job.observations[row], worlds.seed, whole, worlds.game, worlds, scratch)
    return worlds.agrees


@kernel
def add_values(end: int, times: int, race: float, worlds: np.record, tally: np.record) -> None:
    """Add the margins of the first `end` moves in a world to their totals, `times` times, and prune those behind.

    That is, moves whose mean over n worlds is `race` / sqrt(n) points behind that of the best one: more worlds hardly
    matter then. The totals of pruned moves become minus infinity.
    """
    totals = tally.totals
    for at in range(end):
        totals[at] += times * tally.values[at]
    worlds.tried += times
    if worlds.tried >= FEWEST_WORLDS:
        least = totals[best_of(totals, end)] - race * np.sqrt(worlds.tried)
        for at in range(end):
            if totals[at] < least:
                totals[at] = -np.inf


@kernel
def write_best(job: Job, row: int, end: int, listing: np.record, worlds: np.record, tally: np.record) -> None:
    """Write the action that begins or continues the move with the highest total, and if requested, all values."""
    if not worlds.agrees:
        job.out[row] = NO_ACTION
        return
    job.out[row] = next_action(worlds.root, listing.moves[best_of(tally.totals, end)])
    if len(job.values) > 0:
        value_actions(job.compiled[0], listing, worlds, tally, end, job.masks[row], job.values[row])


@kernel
def value_actions(
    compiled: np.record,
    listing: np.record,
    worlds: np.record,
    tally: np.record,
    end: int,
    mask: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write the mean margin of the best move behind each action into `out`, (A,) float64, else minus infinity."""
    for action in range(len(mask)):
        out[action] = -np.inf
        for at in range(end):
            if mask[action] and leads_to(compiled, worlds.root, action, listing.moves[at]):
                out[action] = max(out[action], tally.totals[at] / max(worlds.tried, 1))


@kernel
def best_of(values: np.ndarray, count: int) -> int:
    """Return the place of the highest of the first `count` values."""
    best = 0
    for at in range(1, count):
        if values[at] > values[best]:
            best = at
    return best


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
    """Complete a game that `read_public` has written, sampled uniformly among those that agree with `seen`.

    Unless `whole`, the stock is left unshuffled. Returns whether there is such a game.
    """
    seed_game(game, seed)
    if not deal_hidden(compiled, game, seen, whole, worlds.owner, worlds.pool):
        return False
    prepare(compiled, game, scratch)
    return True


@kernel
def world_seed(seed: np.uint64, world: int) -> np.uint64:
    """Return the seed of one of the worlds of a decision."""
    return mix(seed + np.uint64(world))
