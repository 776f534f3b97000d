"""Points beyond what an observation shows: who may have them, and how many."""

from __future__ import annotations

from typing import Any

import numpy as np

from krypenv.cards import NO_CARD, NO_SEAT
from krypenv.kernels.compiled import NEVER
from krypenv.kernels.deals import leader_of
from krypenv.kernels.scoring import running_score
from krypenv.observation import LAYOUT
from krypenv.runtime.jit import kernel, rare_kernel

MOST_SHOWN = 127  # points that an observation shows, at most
_POINTS, _HAND_SIZE = LAYOUT["points"].start, LAYOUT["hand_size"].start


@kernel
def seat_of_cut(compiled: np.record, seen: np.ndarray, viewer: int) -> int:
    """Return a seat whose points are cut off in an observation, or NO_SEAT."""
    for place in range(compiled.players):
        if seen[_POINTS + place] == MOST_SHOWN:
            return (viewer + place) % compiled.players
    return NO_SEAT


@rare_kernel
def share_cut_points(
    compiled: np.record, game: np.record, seen: np.ndarray, viewer: int, cut: int, missing: int
) -> None:
    """Give the seats whose points are cut off those that are missing; make up the leader's bonus (H5).

    It has none, unless its pile can't account for its points or others show too many. At the end of a game what it
    settles counts too, and stands with the seat that is cut off.
    """
    leader = leader_of(compiled, game)
    is_end, bonus = compiled.num_deals == game.deal_number and game.pending == NO_CARD, 0
    for place in range(compiled.players):
        is_end &= seen[_HAND_SIZE + place] == 0
    if is_end:
        leader, bonus = cut, max(-missing, 0)
    else:
        has_nothing = compiled.counts_piles and game.cards_won[leader] == 0 and game.points[leader] != 0
        if missing < 0 or (leader != cut and (has_nothing or game.points[leader] < 0)):
            bonus = compiled.initial_match_bonus
    game.bonus[leader] = bonus
    game.points[leader] -= bonus
    if missing + bonus <= 0:
        game.points[cut] += missing + bonus
    else:
        _level(compiled, game, seen, viewer, missing + bonus)


@rare_kernel
def _level(compiled: np.record, game: np.record, seen: np.ndarray, viewer: int, points: int) -> None:
    """Give points to the seats whose points are cut off, always to the side with the lowest running score.

    So no score reaches a threshold that all of them were below (F6).
    """
    left = np.int64(points)
    while left > 0:
        lowest, second, count = NEVER, NEVER, 0
        for place in range(compiled.players):
            if seen[_POINTS + place] == MOST_SHOWN:
                score = running_score(compiled, game, (viewer + place) % compiled.players % compiled.teams)
                if score < lowest:
                    lowest, second, count = score, lowest, 1
                elif score == lowest:
                    count += 1
                else:
                    second = min(second, score)
        each = min(second - lowest, max(left // count, 1))
        for place in range(compiled.players):
            seat = (viewer + place) % compiled.players
            is_cut = left > 0 and seen[_POINTS + place] == MOST_SHOWN
            if is_cut and running_score(compiled, game, seat % compiled.teams) == lowest:
                given: Any = min(each, left)
                game.points[seat] += given
                left -= given
