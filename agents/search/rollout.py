"""The rollout agent: flat Monte Carlo over determinizations, with the tactician at every seat.

1. List the moves of the information set and draw determinizations, as `search` does.
2. In each world make each move, and play the rest of the deal out with the tactician's policy at every seat
   (`play_out`): a playout, with no tree.
3. The value is the margin at the end of the deal plus a leaf value for what comes after it (`final_margin`).
4. Play the move with the highest mean over all worlds; none is eliminated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from krypenv.agents.base import name_of
from krypenv.agents.moves.listing import list_moves, order_moves
from krypenv.agents.moves.making import carry_out
from krypenv.agents.moves.record import PLAYOUT_CAPTURES
from krypenv.agents.scripted import Style, best_move, cheapest_action, list_actions, tactical_style
from krypenv.agents.search.horizon import expected_margin
from krypenv.agents.search.sampler import Examiner, make_loop
from krypenv.agents.search.worlds import Job, draw_world
from krypenv.kernels.observing import write_observation
from krypenv.kernels.play import act
from krypenv.kernels.scoring import margin_of
from krypenv.rules import Rules
from krypenv.runtime.jit import kernel, other_kernel
from krypenv.state import ACTIONS, random_below


@kernel
def play_out(
    compiled: np.record, game: np.record, last_deal: int, style: Style, start: int, workspace: np.record
) -> None:
    """Play on with a scripted player at every seat, to the end of deal `last_deal` or of the game.

    Moves are written from `start` on.
    """
    judging, scratch = workspace.judging, workspace.listing.scratch
    if not compiled.is_main:
        play_out_other(compiled, game, last_deal, style, start, workspace)
    while not game.over and game.deal_number <= last_deal:
        count = list_actions(game, judging.legal)
        action = judging.legal[0]
        if count > 1:
            write_observation(compiled, game, game.seat, judging.seen)
            luck = np.int64(random_below(game, ACTIONS, 1 << 32))
            action = cheapest_action(compiled, judging.seen, count, style, luck, judging, scratch)
        act(compiled, game, action, scratch)


@other_kernel
def play_out_other(
    compiled: np.record, game: np.record, last_deal: int, style: Style, start: int, workspace: np.record
) -> None:
    """Play on as `play_out` does under rules beyond the main game's.

    Where cards are built, every seat makes the move of the largest immediate gain, with builds at half their worth.
    """
    listing, judging = workspace.listing, workspace.judging
    while not game.over and game.deal_number <= last_deal:
        best, listing.keep = start, PLAYOUT_CAPTURES
        if compiled.building:
            order_moves(compiled, game, start, list_moves(compiled, game, start, listing), listing)
        else:
            write_observation(compiled, game, game.seat, judging.seen)
            luck = np.int64(random_below(game, ACTIONS, 1 << 32))
            best = best_move(compiled, judging.seen, game, style, luck, start, workspace)
        carry_out(compiled, game, listing.moves[best], listing.scratch)


@kernel
def final_margin(compiled: np.record, game: np.record, side: int) -> float:
    """Compute a side's leaf value where a deal has just ended, with at most the hands of the next one dealt."""
    margin = margin_of(compiled, game, side)
    return margin if game.over else margin + expected_margin(compiled, game, game.deal_number - 1, side)


class PlayoutPlan(NamedTuple):
    """How worlds are played out."""

    deals: int  # to play out, including the current one
    style: Style
    race: float = np.inf  # no move is pruned


@kernel
def roll_out(job: Job, plan: PlayoutPlan, end: int, workspace: np.record) -> None:
    """Write the margins of the open moves in a world by playing them out."""
    compiled, listing, decision, tally = job.compiled[0], workspace.listing, workspace.decision, workspace.tally
    side, last_deal = decision.root.seat % compiled.teams, decision.root.deal_number + plan.deals - 1
    for at in range(end):
        if tally.totals[at] > -np.inf:
            decision.ahead = decision.world
            carry_out(compiled, decision.ahead, listing.moves[at], listing.scratch)
            play_out(compiled, decision.ahead, last_deal, plan.style, end, workspace)
            tally.values[at] = final_margin(compiled, decision.ahead, side)


@kernel
def keep_all(job: Job, plan: PlayoutPlan, end: int, workspace: np.record) -> None:
    """Prune no move before the first world."""


class Rollout(Examiner):
    """Flat Monte Carlo: plays the move with the best mean margin over worlds, with the tactician at every seat.

    Args:
        worlds, ms, threads: as in `Sampler`; each move is tried once in each world.
        deals: deals to play out, including the current one; after them comes a leaf value.
    """

    _loop = make_loop(keep_all, draw_world, roll_out)
    _whole = True

    def __init__(
        self, rules: Rules, seed: int = 0, *, worlds: int = 30, deals: int = 1, ms: float = 0.0, threads: int = 1
    ) -> None:
        self.name = name_of("rollout", type(self), locals())
        super().__init__(rules, seed, worlds, ms, threads)
        self._plan = PlayoutPlan(deals, tactical_style(rules))
