"""The rollout agent: flat Monte Carlo over worlds, with the tactician at every seat."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from krypenv.agents.moves.listing import list_moves, order_moves
from krypenv.agents.moves.staging import next_action
from krypenv.agents.scripted import best_action, list_actions, make_tactician
from krypenv.agents.search.horizon import expected_margin
from krypenv.agents.search.sampler import Sampler, name_of
from krypenv.agents.search.sampling import Job, begin, next_world, write_best
from krypenv.agents.search.workspace import Workspace
from krypenv.cards import NO_CARD
from krypenv.kernels.observing import write_observation
from krypenv.kernels.play import act
from krypenv.kernels.scoring import margin_of
from krypenv.rules import Rules
from krypenv.runtime.jit import kernel, rare_kernel
from krypenv.state import ACTIONS, random_below

FEW_CAPTURES = 3  # of a card, and builds with it, that are looked at in a game that is played out


@kernel
def play_out(
    compiled: np.record,
    game: np.record,
    last_deal: int,
    is_random: bool,
    player: np.record,
    listing: np.record,
) -> None:
    """Play on with a scripted player, or at random, at every seat, to the end of deal `last_deal` or of the game.

    Where cards are built, every seat makes the move that wins most at once, builds at half their worth.
    """
    scratch = listing.scratch
    if compiled.building and not is_random:
        play_moves(compiled, game, last_deal, listing)
        return
    legal, looks_ahead, shed_weight = player.legal, player.looks_ahead, player.shed_weight
    while not game.over and game.deal_number <= last_deal:
        count = list_actions(game, legal)
        action = legal[0]
        if count > 1:
            if is_random:
                action = legal[random_below(game, ACTIONS, count)]
            else:
                write_observation(compiled, game, game.seat, player.seen)
                luck = np.int64(random_below(game, ACTIONS, 1 << 32))
                action = best_action(compiled, player.seen, count, looks_ahead, shed_weight, luck, player, scratch)
        act(compiled, game, action, scratch)


@rare_kernel
def play_moves(compiled: np.record, game: np.record, last_deal: int, listing: np.record) -> None:
    """Play on with the move of least cost at every seat, to the end of deal `last_deal` or of the game."""
    listing.keep = FEW_CAPTURES
    while not game.over and game.deal_number <= last_deal:
        end = list_moves(compiled, game, 0, listing)
        order_moves(compiled, game, 0, end, listing)
        move = listing.moves[0]
        act(compiled, game, next_action(game, move), listing.scratch)
        while game.pending != NO_CARD:
            act(compiled, game, next_action(game, move), listing.scratch)


@kernel
def final_margin(compiled: np.record, model: np.record, game: np.record, side: int) -> float:
    """Return a side's leaf value where a deal has just ended, with at most the hands of the next one dealt."""
    margin = margin_of(compiled, game, side)
    return margin if game.over else margin + expected_margin(compiled, model, game, game.deal_number - 1, side)


class PlayoutPlan(NamedTuple):
    """How worlds are played out."""

    deals: int  # to play out, including the current one
    players: np.ndarray  # (threads,) of `PLAYER`


@kernel
def roll_out_rows(job: Job, plan: PlayoutPlan, workspace: Workspace, part: int, parts: int) -> None:
    """Decide every `parts`-th row of a job by the best mean margin."""
    for row in range(job.start + part, job.stop, parts):
        if begin(job, row, workspace.worlds[part], workspace.listing[part].scratch):
            roll_out(
                job,
                plan.deals,
                row,
                plan.players[part],
                workspace.listing[part],
                workspace.worlds[part],
                workspace.tally[part],
            )


@kernel
def roll_out(
    job: Job, deals: int, row: int, player: np.record, listing: np.record, worlds: np.record, tally: np.record
) -> None:
    """Write the action with the best mean margin of a decision that was begun; this mean is the action's value."""
    rules, totals = job.compiled[0], tally.totals
    side = worlds.root.seat % rules.teams
    last_deal = worlds.root.deal_number + deals - 1
    if job.first == 0:
        worlds.tried = 0
        for action in range(job.masks.shape[1]):
            totals[action] = 0.0 if job.masks[row, action] else -np.inf
    while next_world(job, row, True, worlds, listing.scratch):
        for action in range(job.masks.shape[1]):
            if totals[action] > -np.inf:
                worlds.ahead = worlds.game
                act(rules, worlds.ahead, action, listing.scratch)
                play_out(rules, worlds.ahead, last_deal, False, player, listing)
                totals[action] += final_margin(rules, job.model[0], worlds.ahead, side)
        worlds.tried += 1
    write_best(job, row, worlds, tally)


class Rollout(Sampler):
    """Plays the action with the best mean margin over sampled worlds, with `tactician(shed=True)` at every seat.

    Flat Monte Carlo: only the first action is chosen by its value, and the rest is played out without search.

    Args:
        worlds, ms, threads: as in `Sampler`; each action is tried once in each world.
        deals: deals to play out, including the current one; after them comes a leaf value.
        value: the leaf value: the next deal's first sweep (sweep), or nothing (margin).
    """

    _decide = staticmethod(roll_out_rows)

    def __init__(
        self,
        rules: Rules,
        seed: int = 0,
        *,
        worlds: int = 30,
        deals: int = 1,
        value: str = "sweep",
        ms: float = 0.0,
        threads: int = 1,
    ) -> None:
        self.name = name_of("rollout", self, locals())
        super().__init__(rules, seed, worlds, value, ms, threads)
        self._plan = PlayoutPlan(deals, make_tactician(rules, self._threads))
