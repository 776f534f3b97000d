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
    whole: bool  # shuffle the stock too, where lines go beyond the deal
    out: np.ndarray  # (B,) int64: the actions, NO_ACTION where no world agrees with the observation
    values: np.ndarray  # (B, A) float64, or (0, A) if not requested: see `Sampler.action_values`


# ---------------------------------------------------------------------- the information set


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


# ---------------------------------------------------------------------- worlds


@kernel
def begin(job: Job, row: int, workspace: np.record) -> bool:
    """Set up the decision of a row; return whether there is a choice. If there is none, write the answer."""
    if np.sum(job.masks[row]) == 1:
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
    """Sample the next world of a decision into `decision.world`; return its multiplicity, 0 after the last world.

    If no world agrees with the observation, it returns 0 too, and `decision.agrees` is False.
    """
    is_drawn = begin_world(job, workspace) and complete(job, job.observations[workspace.decision.row], workspace)
    return int(is_drawn)


@kernel
def begin_world(job: Job, workspace: np.record) -> bool:
    """Copy the root to `decision.world`, and seed the next world; return False after the last one."""
    decision = workspace.decision
    if decision.next >= decision.end or not decision.agrees:
        return False
    decision.seed = mix(job.seeds[decision.row] + np.uint64(decision.next))
    decision.next += 1
    decision.world = decision.root
    return True


@kernel
def complete(job: Job, seen: np.ndarray, workspace: np.record) -> bool:
    """Complete `decision.world`, which is the root, to a game sampled uniformly among those that agree with `seen`.

    Returns whether there is such a game, as `decision.agrees` says too.
    """
    compiled, decision = job.compiled[0], workspace.decision
    game = decision.world
    seed_game(game, decision.seed)
    decision.agrees = deal_hidden(compiled, game, seen, job.whole, decision.owner, decision.pool)
    if decision.agrees:
        prepare(compiled, game, workspace.listing.scratch)
    return bool(decision.agrees)
