"""Determinization, as kernels: the information set of a decision, and complete games sampled uniformly from it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from krypenv.cards import NUM_KINDS
from krypenv.kernels.play import prepare
from krypenv.observation import LAYOUT
from krypenv.runtime.jit import kernel
from krypenv.state import mix, seed_game
from krypenv.worlds.determinize import copy_public
from krypenv.worlds.hidden import deal_hidden

_SEEN, _HAND_SIZE = LAYOUT["seen"].start, LAYOUT["hand_size"].start


class Job(NamedTuple):
    """Decisions, the worlds to sample for each, and the arrays for the answers."""

    compiled: np.ndarray  # (1,) compiled rules
    observations: np.ndarray  # (B, >= 433) int8
    masks: np.ndarray  # (B, A) int8
    seeds: np.ndarray  # (B,) uint64
    start: int  # the first row to decide
    stop: int  # the row after the last one
    first: int  # number of the first world; above 0, a later batch of a decision with a time limit
    worlds: int
    out: np.ndarray  # (B,) int64: the actions, NO_ACTION where no world agrees with the observation
    values: np.ndarray  # (B, A) float64, or (0, A) if not requested: see `Sampler.action_values`


# ---------------------------------------------------------------------- the information set


@kernel
def has_choice(mask: np.ndarray) -> bool:
    """Check whether a mask, (A,) int8, allows more than one action."""
    count = 0
    for action in range(len(mask)):
        count += mask[action] != 0
    return count > 1


@kernel
def set_root(compiled: np.record, seen: np.ndarray, workspace: np.record) -> bool:
    """Write the game that an observation shows, with empty hidden hands, to `decision.root`; return `hides_nothing`."""
    decision = workspace.decision
    decision.root = decision.blank
    copy_public(compiled, decision.root, seen)
    prepare(compiled, decision.root, workspace.listing.scratch)
    return hides_nothing(compiled, seen)


@kernel
def hides_nothing(compiled: np.record, seen: np.ndarray) -> bool:
    """Check whether an observation determines all hands: with two players, once all other cards have been seen."""
    unseen = np.int64(0)
    for kind in range(NUM_KINDS):
        unseen += compiled.deck_counts[kind] - seen[_SEEN + kind]
    return compiled.players == 2 and unseen == seen[_HAND_SIZE + 1]


@kernel
def find_open(compiled: np.ndarray, observations: np.ndarray, out: np.ndarray) -> None:
    """Write whether each observation, (B, >= 433) int8, hides nothing to `out`, (B,) bool."""
    for row in range(len(out)):
        out[row] = hides_nothing(compiled[0], observations[row])


# ---------------------------------------------------------------------- worlds


@kernel
def begin(job: Job, row: int, workspace: np.record) -> bool:
    """Set up the decision of a row; return whether there is a choice. If there is none, write the answer."""
    if not has_choice(job.masks[row]):
        job.out[row] = np.argmax(job.masks[row])
        return False
    begin_decision(job, row, workspace)
    return True


@kernel
def begin_decision(job: Job, row: int, workspace: np.record) -> None:
    """Set up the information set of a row, and the range of worlds to sample."""
    decision = workspace.decision
    decision.is_open = set_root(job.compiled[0], job.observations[row], workspace)
    decision.row, decision.next, decision.end = row, job.first, job.first + job.worlds
    if job.first == 0:
        decision.tried = 0
    decision.agrees = True


@kernel
def draw_world(job: Job, plan: Any, workspace: np.record) -> int:
    """Sample the next world of a decision, stock included; return its multiplicity, 0 after the last world."""
    return int(next_world(job, True, workspace))


@kernel
def next_world(job: Job, whole: bool, workspace: np.record) -> bool:
    """Sample the next world of a decision into `decision.world`; return False after the last one.

    Unless `whole`, the stock is left unshuffled. If no world agrees with the observation, it returns False too, and
    `decision.agrees` is False.
    """
    decision = workspace.decision
    if decision.next >= decision.end or not decision.agrees:
        return False
    decision.seed = world_seed(job.seeds[decision.row], decision.next)
    decision.next += 1
    decision.world = decision.root
    decision.agrees = complete(job.compiled[0], job.observations[decision.row], decision.seed, whole, workspace)
    return decision.agrees


@kernel
def complete(compiled: np.record, seen: np.ndarray, seed: np.uint64, whole: bool, workspace: np.record) -> bool:
    """Complete `decision.world`, which is the root, to a game sampled uniformly among those that agree with `seen`.

    Unless `whole`, the stock is left unshuffled. Returns whether there is such a game.
    """
    decision = workspace.decision
    game = decision.world
    seed_game(game, seed)
    if not deal_hidden(compiled, game, seen, whole, decision.owner, decision.pool):
        return False
    prepare(compiled, game, workspace.listing.scratch)
    return True


@kernel
def world_seed(seed: np.uint64, world: int) -> np.uint64:
    """Derive the seed of one of the worlds of a decision."""
    return mix(seed + np.uint64(world))
