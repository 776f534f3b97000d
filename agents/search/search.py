"""The search agent: perfect-information Monte Carlo (PIMC; Levy 1989, Ginsberg 2001).

1. List the moves of the information set (`sampler.list_choices`), the cheapest first where captures are optional.
2. Draw a determinization: a deal of the unseen cards that agrees with the observation (`worlds.draw_world`).
3. With all hands open, value each move: alpha-beta on the margin between two sides, max^n (Luckhardt and Irani 1986) or
   paranoid search (Sturtevant and Korf 2000) among more (`solver`). Lines that are cut get a leaf value (`horizon`).
4. Add the values to the moves' totals; eliminate moves that are clearly behind (successive elimination; Even-Dar,
   Mannor and Mansour 2006). Repeat from 2 until one move is left or all worlds are drawn.
5. Play the move with the highest mean. PIMC supposes that everybody will see all cards (strategy fusion), so it never
   plays to hide or to find out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from krypenv.agents.base import MAX_PLIES, check_limit, is_main, name_of
from krypenv.agents.moves.making import make_move
from krypenv.agents.moves.record import LARGE_LINE_CAPTURES, LINE_CAPTURES, MOST_SOLVED
from krypenv.agents.search.sampler import Examiner, is_large, is_last, make_loop
from krypenv.agents.search.solver import MAX_N, PARANOID, alpha_beta, key_after, max_n
from krypenv.agents.search.worlds import Job, draw_world
from krypenv.agents.workspace import NO_LIMIT
from krypenv.inputs.words import shown
from krypenv.rules import Rules
from krypenv.runtime.jit import kernel, other_kernel
from krypenv.state import mix

MANY_PLIES, FEW_PLIES = 4, 2  # after which a line is cut: with two sides, and with more
METHODS = {"paranoid": PARANOID, "max_n": MAX_N}
# A deal with no more orders of play than this, captures apart, is searched to its end. Two players with 4 cards against
# 4 have 576; with more players it is two cards each at most.
FEW_LINES = {2: 576, 3: 8, 4: 16, 5: 32, 6: 64}
# A move is pruned if after n worlds its mean margin is RACE / sqrt(n) points behind the best (`add_values`). The
# difference of two good moves has a standard deviation of about 6 over the worlds.
RACE = 25.0

# The same constants for rules beyond the main game's, with more moves and margins of a few points. Two players with 3
# cards against 3 have 36 orders of play. Max^n has no cutoffs, so its depth is smaller. A mulle is worth as much as a
# game's majorities, which doubles the spread of margins, and hands are larger there.
OTHER_PLIES = 2
OTHER_LINES, MULLE_LINES, MAX_N_LINES = 36, 12, 2
OTHER_RACE, MULLE_RACE = 2.5, 5.0
# Where cards are built, the value of a promise shows only after two replies, and a mulle wins up to 16 points.
BUILDING_PLIES, LARGE_BUILDING_PLIES, BUILDING_RACE = 3, 2, 12.0
# Node budget for solving the last deal of two sides with open hands exactly, all captures included.
MOST_NODES = 4000


class SearchPlan(NamedTuple):
    """How worlds are solved."""

    method: int  # PARANOID or MAX_N
    plies: int  # plays after which a line is cut
    few_lines: int  # deals with no more orders of play are searched to their end
    race: float = RACE
    large_plies: int = MAX_PLIES  # plays after which a line is cut, at most, where captures are optional and many


def plan_of(rules: Rules, method: str, plies: int) -> SearchPlan:
    """Choose how to search and how far; raises ValueError for an unknown method or an impossible depth."""
    if method not in METHODS:
        raise ValueError(f"method is {' or '.join(METHODS)}, not {shown(method)}")
    check_limit("plies", plies)
    two_sides = rules.num_teams == 2
    chosen = PARANOID if two_sides else METHODS[method]
    if not is_main(rules):
        lines, race = (MULLE_LINES, MULLE_RACE) if rules.mulle_points else (OTHER_LINES, OTHER_RACE)
        if rules.building:
            lines = MULLE_LINES if two_sides else MAX_N_LINES
            return SearchPlan(chosen, plies or BUILDING_PLIES, lines, BUILDING_RACE, plies or LARGE_BUILDING_PLIES)
        return SearchPlan(chosen, plies or OTHER_PLIES, lines if two_sides else MAX_N_LINES, race)
    depth = plies or (MANY_PLIES if two_sides else FEW_PLIES)
    return SearchPlan(chosen, depth, FEW_LINES[rules.players])


@kernel
def depth_of(compiled: np.record, game: np.record, plan: SearchPlan) -> int:
    """Choose the depth in plays: `plan.plies`, or all plays that are left if hands are small."""
    lines, cards = 1.0, 0
    for seat in range(compiled.players):
        for held in range(1, game.hand_size[seat] + 1):
            lines *= held
        cards += game.hand_size[seat]
    return min(cards, MAX_PLIES) if lines <= plan.few_lines else plan.plies


@other_kernel
def _solve_any(compiled: np.record, plan: SearchPlan, workspace: np.record, end: int, salt: np.uint64) -> None:
    """Write the margins of moves under rules beyond the main game's; see `solve_to`.

    A last deal is solved, without a cut, within a node budget. On a large table lines are always cut.
    """
    game, listing, lines = workspace.decision.world, workspace.listing, workspace.lines
    if workspace.decision.is_open and is_last(compiled, game) and not listing.is_cut and not is_large(game):
        listing.keep = MOST_SOLVED
        lines.limit = listing.nodes + MOST_NODES
        solve_to(compiled, plan, workspace, end, mix(salt), MAX_PLIES)
        is_solved = listing.nodes < lines.limit and not listing.is_cut
        lines.limit = NO_LIMIT
        if is_solved:
            return
    listing.keep = LARGE_LINE_CAPTURES if is_large(game) else LINE_CAPTURES
    plies = min(plan.plies, plan.large_plies) if is_large(game) else depth_of(compiled, game, plan)
    solve_to(compiled, plan, workspace, end, salt, plies)


@kernel
def solve_to(
    compiled: np.record, plan: SearchPlan, workspace: np.record, end: int, salt: np.uint64, plies: int
) -> None:
    """Write the margins of the open ones of the first `end` moves, searched to a depth in plays, to `tally.values`.

    `salt` must differ for every world that is searched in this workspace: the transposition table keeps all of them.
    """
    game, listing, lines, tally = workspace.decision.world, workspace.listing, workspace.lines, workspace.tally
    side = game.seat % compiled.teams
    for at in range(end):
        if tally.totals[at] == -np.inf:
            continue
        key = key_after(game, listing.moves[at], salt, workspace)
        lines.stack[1] = game
        outcome = make_move(compiled, lines.stack[1], listing.moves[at], listing)
        if plan.method == MAX_N:
            tally.values[at] = max_n(compiled, workspace, side, outcome, end, plies - 1)
        else:
            tally.values[at] = alpha_beta(compiled, workspace, side, outcome, end, key, plies - 1)


@kernel
def take_one_world(job: Job, plan: Any, end: int, workspace: np.record) -> None:
    """Sample a single world where nothing is hidden."""
    if workspace.decision.is_open:
        workspace.decision.end = 1


@kernel
def solve_world(job: Job, plan: SearchPlan, end: int, workspace: np.record) -> None:
    """Write the margins of the open moves in `decision.world` by the solver."""
    compiled, salt = job.compiled[0], mix(~workspace.decision.seed)
    if compiled.is_main:
        solve_to(compiled, plan, workspace, end, salt, depth_of(compiled, workspace.decision.world, plan))
    else:
        _solve_any(compiled, plan, workspace, end, salt)


class Search(Examiner):
    """Perfect-information Monte Carlo (PIMC): solves sampled worlds with all hands open, and plays the best move.

    Small hands (two players: at most four cards against four) are searched to the end of the deal. Larger ones are
    searched to a depth of a few plays, and the rest of the deal follows the moves that cost least at once. In the last
    deal of a two-player game nothing is hidden from a seat that has counted, and one world is solved instead of many.

    Args:
        worlds, ms, threads: as in `Sampler`.
        plies: depth limit in plays for larger hands; 0 means 4 with two sides and 2 with more.
        method: with more than two sides, each one maximizes its own margin (max_n), or all others minimize that of the
            searching side (paranoid).
    """

    _loop = make_loop(take_one_world, draw_world, solve_world)

    def __init__(
        self,
        rules: Rules,
        seed: int = 0,
        *,
        worlds: int = 30,
        plies: int = 0,
        method: str = "max_n",
        ms: float = 0.0,
        threads: int = 1,
    ) -> None:
        self.name = name_of("search", type(self), locals())
        self._plan = plan_of(rules, method, plies)
        super().__init__(rules, seed, worlds, ms, threads)
