"""The end of a large game, solved from a position: the rest of its deal as a tree, and the last deal by minimax.

Between two players who count cards nothing is hidden in the last deal, so its value is that of minimax with open hands.
In the deal before it, all hands that the seats may hold are equally likely: earlier plays of that deal are public, but
are not evidence about the hands. Where there are too many hands, ranges bound them (`pairs`).
"""

from __future__ import annotations

import math

import numpy as np

from krypenv.agents.base import is_main
from krypenv.agents.search.solver import solve_open_deal
from krypenv.agents.workspace import make_workspaces
from krypenv.game.game import Game
from krypenv.kernels.compiled import compile_rules
from krypenv.kernels.play import refresh
from krypenv.kernels.scoring import margin_of
from krypenv.rules import Rules
from krypenv.runtime.jit import handle, kernel, records
from krypenv.runtime.threads import count_threads, share
from krypenv.state import GAME, State, mix
from krypenv.training.solving.growing import MOST_HISTORIES, FloatArray, Trees, grow_forest, without_hands
from krypenv.training.solving.pairs import (
    UNBOUNDED,
    Bounds,
    Pairs,
    Ranges,
    draw_pair,
    draw_ranges,
    hash_unseen,
    hold_pair,
    list_pairs,
    make_pairs,
)
from krypenv.training.solving.solving import Solved, solve_trees

MOST_CARDS, MOST_BOUNDED = 6, 8  # in both hands, in the deal before the last one: without and with bounded ranges


def grow_late(game: Game, bounds: Bounds = UNBOUNDED, threads: int = 0) -> Trees:
    """Grow the tree of the rest of a game's deal, with observations and the values of the last deal.

    All hands that the seats may hold, or those in their ranges (`pairs`), are equally likely.

    Raises ValueError for a game that can't be solved from there.
    """
    check_late(game, bounds)
    ranges = draw_ranges(game.rules, game.state, bounds)
    return grow_rest(game.rules, game.state, ranges, bounds.samples, threads)


def grow_rest(rules: Rules, state: np.ndarray, ranges: Ranges, samples: int = 0, threads: int = 0) -> Trees:
    """Grow the tree of the rest of a deal from a record of `GAME`, for ranges of hands; see `grow_late`."""
    roots = records(GAME, 1)
    roots[0] = state
    forest, followers = grow_forest(rules, without_hands(roots), sees=True, ranges=ranges)
    number, ending = int(state["deal_number"]), last_deals(rules, followers, threads, samples)
    begins_deal = tuple(state["hand_size"][:2]) == rules.deal_sizes()[number - 1][0]
    return Trees(rules, np.ones(1), [roots], [forest], number, begins_deal, ending)


def solve_late(
    game: Game, gap: float = 1e-4, most: int = 20_000, threads: int = 0, bounds: Bounds = UNBOUNDED
) -> Solved:
    """Compute an equilibrium of the rest of a game in its last two deals; see `grow_late` and `solving.solve`."""
    return solve_trees(grow_late(game, bounds, threads), gap, most, threads)


def check_rules(rules: Rules) -> None:
    """Raise ValueError for rules whose late deals can't be solved."""
    if rules.players != 2 or not is_main(rules):
        raise ValueError(f"late deals are solved in games like Krypkasino for two, not in '{rules}'")


def check_late(game: Game, bounds: Bounds = UNBOUNDED) -> None:
    """Raise ValueError for a game that can't be solved from where it stands, with bounds or without."""
    check_rules(game.rules)
    if game.is_over or game.pending is not None:
        raise ValueError("give a position in which a card is to be played; captures are no positions of their own")
    deals, sizes = len(game.rules.deal_sizes()), [len(game.hand(seat)) for seat in range(2)]
    if game.deal_number < deals - 1:
        raise ValueError(
            f"deal {game.deal_number} of {deals} is too early to be solved; give a position in the last two deals"
        )
    most = MOST_BOUNDED if bounds.is_bounded else MOST_CARDS
    if game.deal_number < deals and sum(sizes) > most:
        raise ValueError(
            f"the deal before the last one is solved with at most {most} cards in both hands, and this position has "
            f"{sum(sizes)}; give a later one{'' if bounds.is_bounded else ', or how many hands each seat may hold'}"
        )
    unseen = game.rules.deck_size - int(game.state["seen"].sum())
    histories = count_pairs(unseen, sizes, bounds) * math.factorial(sizes[0]) * math.factorial(sizes[1])
    if histories > MOST_HISTORIES:
        raise ValueError(
            f"with {sizes[0]} and {sizes[1]} cards in hand and {unseen} unseen there are about {histories:.1e} "
            f"histories, captures apart; at most {MOST_HISTORIES:,} are held in memory; give a later position"
            f"{' or fewer hands' if bounds.is_bounded else ''}"
        )


def count_pairs(unseen: int, sizes: list[int], bounds: Bounds) -> float:
    """Estimate the number of pairs of hands, as if all unseen cards were of different kinds."""
    if bounds.responder is not None:
        beside = math.comb(unseen - sizes[bounds.responder], sizes[1 - bounds.responder])
        return min(bounds.hands or beside, beside)
    own, other = (math.comb(unseen, size) for size in sizes)
    share = math.comb(unseen - sizes[0], sizes[1]) / other
    return share * min(bounds.hands or own, own) * min(bounds.hands or other, other)


def last_deals(rules: Rules, positions: State, threads: int = 0, samples: int = 0) -> FloatArray:
    """Compute the margin of seat 0 that the last deal adds, (S,), for positions (S,) of `GAME` in which it begins.

    It is the mean minimax value over all pairs of hands, or an unbiased estimate from `samples` pairs. These are drawn
    by a hash of the unseen cards, so all leaves of a deal are compared by the same pairs. On average the error of the
    estimate can only raise what a best response gains.
    """
    values, threads = np.zeros(len(positions)), count_threads(threads)
    compiled, games = compile_rules(rules), handle(positions)
    rooms = [(make_workspaces(), make_pairs(rules, positions)) for _ in range(threads)]
    share(
        lambda part, parts: value_last_deals(
            compiled, games, np.arange(part, len(values), parts), *rooms[part], samples, values
        ),
        threads,
    )
    return values


@kernel
def value_last_deals(
    compiled: np.ndarray, positions: np.ndarray, places: np.ndarray, workspaces: np.ndarray,
    pairs: Pairs, samples: int, values: np.ndarray,
) -> None:  # fmt: skip
    """Compute the values of the positions at some places."""
    workspace = workspaces[0]
    listing, lines = workspace.listing, workspace.lines
    game = lines.ahead
    for at in places:
        lines.ahead = positions[at]
        before = margin_of(compiled[0], game, 0)
        total, weights, pair = 0.0, 0.0, 0
        combinations = list_pairs(compiled[0], game, pairs)
        draw = hash_unseen(pairs)
        for combination in range(samples if samples > 0 else combinations):
            if samples > 0:
                weight, draw = 1.0, draw_pair(game, pairs, draw)
            else:
                weight = hold_pair(game, pairs, combination)
            if weight == 0.0:
                continue
            refresh(compiled[0], game, listing.scratch)
            key = mix(np.uint64(at + 1) << np.uint64(20) | np.uint64(pair))
            total += weight * (solve_open_deal(compiled[0], game, 0, 0, key, workspace) - before)
            weights += weight
            pair += 1
        values[at] = total / weights
