"""Scoring: points, sweeps, what the end of a game settles, and which scores are better (`Rules.goal`).

Kernels over one game's row, then the same for arrays of scores. Points are what a game counts; a lead is positive for
the side that is doing better.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.cards import NO_CARD, NO_SEAT, NUM_KINDS, NUM_RANKS, SPADES
from krypenv.kernels.compiled import BY_SPADES, FINNISH, NEVER, NIBBLE, PLAY_ON, lead_sign
from krypenv.rules import Rules
from krypenv.runtime.jit import kernel, other_kernel, rare_kernel
from krypenv.state import State

IntArray = npt.NDArray[np.int64]

# ---------------------------------------------------------------------- in the course of a game


@kernel
def count_cards(compiled: np.record, game: np.record, seat: int, card: int, count: int) -> None:
    """Count copies of a card that a seat has captured (R3)."""
    game.points[seat] += count * compiled.card_points[card]


@kernel
def count_pile(game: np.record, seat: int, cards: np.ndarray) -> None:
    """Add cards, (52,) int8 counts, to the size of a seat's pile and to its spades (K5)."""
    total, spades = np.int64(0), np.int64(0)
    for kind in range(NUM_KINDS):
        total += cards[kind]
    for kind in range(SPADES * NUM_RANKS, NUM_KINDS):
        spades += cards[kind]
    game.cards_won[seat] += total
    game.spades_won[seat] += spades


@kernel
def sweeps_of(compiled: np.record, card: int, ranks: int, copies: int) -> int:
    """Return how many sweeps a card makes by taking a whole table: 2 for a lone card of its kind, else 1 (R11, H4, K3).

    `ranks` is that table, packed, and `copies` how many of the card's kind are on it.
    """
    is_lone = ranks == np.int64(1) << NIBBLE * (card % NUM_RANKS)
    if not is_lone:
        return 1
    return compiled.identical_sweep if copies == 1 else compiled.rank_sweep


@kernel
def is_mulle(card: int, capture: int, copies: int) -> bool:
    """Return whether a card makes a mulle: it takes one card, packed ranks, and that is its identical copy (M2)."""
    return capture == np.int64(1) << NIBBLE * (card % NUM_RANKS) and copies == 1


@kernel
def is_void(compiled: np.record, game: np.record) -> bool:
    """Return whether a sweep would not count now, before the card's capture is counted (F5)."""
    if not compiled.judges_sweeps:
        return False
    if not compiled.last_deal_sweeps and game.deal_number == compiled.num_deals:
        return True
    return highest_score(compiled, game) >= compiled.sweep_limit


@kernel
def highest_score(compiled: np.record, game: np.record) -> int:
    """Return the highest running score of a side: its total in the session, this game's score so far included (F5)."""
    best = np.int64(-NEVER)
    for side in range(compiled.teams):
        best = max(best, running_score(compiled, game, side))
    return best


@kernel
def running_score(compiled: np.record, game: np.record, side: int) -> int:
    """Return a side's total in the session, this game's score so far included (F5)."""
    total = np.int64(0)
    for seat in range(side, compiled.players, compiled.teams):
        total += game.totals[seat] + score_of(compiled, game, seat)
    return total


@kernel
def has_played(compiled: np.record, game: np.record) -> bool:
    """Return whether a play of this game is complete."""
    left = np.int64(game.pending != NO_CARD)
    for seat in range(compiled.players):
        left += game.hand_size[seat]
    return game.deal_number > 1 or left < compiled.deal_start[1] - compiled.laid[1]


@rare_kernel
def ends_at_once(compiled: np.record, game: np.record) -> bool:
    """Return whether a running score ends the session now, in the middle of the game (F6).

    A play has to be made first, even if the first layout brings points (H5). Where play goes on until a side is alone
    at the top, one must be (K6).
    """
    if not compiled.threshold_at_once or highest_score(compiled, game) < compiled.threshold:
        return False
    if not has_played(compiled, game):
        return False
    return compiled.tie_break != PLAY_ON or not is_shared(compiled, game, True)


@kernel
def sum_over(compiled: np.record, numbers: np.ndarray, side: int) -> int:
    """Return the sum of seats' numbers over the members of a side (R16)."""
    total = np.int64(0)
    seat = side
    while seat < compiled.players:  # a range with such a step would divide
        total += numbers[seat]
        seat += compiled.teams
    return total


@kernel
def settle_game(compiled: np.record, game: np.record) -> None:
    """Give what the end of a game is worth to the seat with the last capture (V2, S3) and for majorities (K5, O1)."""
    if game.last_capturer != NO_SEAT:
        game.bonus[game.last_capturer] += compiled.last_capture_points
    if compiled.counts_piles:
        for side in range(compiled.teams):
            game.bonus[side] += majority_points(compiled, game, side)


@kernel
def settled_bonus(compiled: np.record, game: np.record) -> int:
    """Return the total of what `settle_game` has added for all seats."""
    if not game.over or game.cut_short:
        return np.int64(0)
    total = compiled.last_capture_points * np.int64(game.last_capturer != NO_SEAT)
    if compiled.counts_piles:
        for side in range(compiled.teams):
            total += majority_points(compiled, game, side)
    return total


@other_kernel
def majority_points(compiled: np.record, game: np.record, side: int) -> int:
    """Return the points of a side for its spades and its cards at the end of a game (K5, F3, O1)."""
    points = np.int64(0)
    spades = sum_over(compiled, game.spades_won, side)
    leaders = leaders_by(compiled, game.spades_won, spades)
    if leaders == 1:
        points += compiled.most_spades_points
    elif leaders == 2 and compiled.two_share and compiled.teams > 2:
        points += compiled.most_spades_points // 2
    if leaders_by(compiled, game.cards_won, sum_over(compiled, game.cards_won, side)) == 1:
        points += compiled.most_cards_points
    return points + max(spades - compiled.spades_above, 0)


@kernel
def leaders_by(compiled: np.record, numbers: np.ndarray, own: int) -> int:
    """Return how many sides have as much as one of them, or 0 if another has more or nobody has anything."""
    count = np.int64(0)
    for side in range(compiled.teams):
        other = sum_over(compiled, numbers, side)
        if other > own:
            return np.int64(0)
        count += other == own
    return count if own > 0 else np.int64(0)


@kernel
def cancelled_sweeps(compiled: np.record, game: np.record) -> int:
    """Return how many sweeps every side loses: as many as the side with the fewest counted ones has (F4)."""
    fewest = np.int64(NEVER)
    for side in range(compiled.teams):
        counted = sum_over(compiled, game.sweeps, side) - sum_over(compiled, game.void_sweeps, side)
        fewest = min(fewest, counted)
    return fewest


@kernel
def void_sweeps_of(compiled: np.record, game: np.record, seat: int) -> int:
    """Return how many of a seat's sweeps count for nothing: void ones (F5), and those of its side that cancel (F4).

    Sweeps that cancel are taken off the first seat of each side (K7), even if its partner made them.
    """
    void = np.int64(game.void_sweeps[seat])
    if compiled.sweeps_cancel and seat < compiled.teams:
        void += cancelled_sweeps(compiled, game)
    return void


@kernel
def score_of(compiled: np.record, game: np.record, seat: int) -> int:
    """Return a seat's score in the game so far: points, and what sweeps and mulles bring (R9, R12, R14, K3, M2).

    Majorities come with the end of the game. Sweeps that cancel are taken off the first seat of each side (F4, K7).
    """
    if compiled.counts_plainly:
        after = seat + 1
        if after == compiled.players:
            after = 0
        sweeps = game.sweeps[seat] - game.sweeps[after]
        return game.points[seat] + game.bonus[seat] + compiled.sweep_points * sweeps
    counted = game.sweeps[seat] - void_sweeps_of(compiled, game, seat)
    if compiled.previous_pays:
        after = (seat + 1) % compiled.players
        counted -= game.sweeps[after] - game.void_sweeps[after]
    mulles = compiled.mulle_points * game.mulles[seat] + game.mulle_scores[seat]
    return game.points[seat] + game.bonus[seat] + compiled.sweep_points * counted + mulles


@kernel
def tie_break_of(compiled: np.record, game: np.record, side: int) -> int:
    """Return by what a side is compared with another of the same total, more being better for a high goal (K6, F7)."""
    if compiled.tie_break != BY_SPADES and compiled.tie_break != FINNISH:
        return np.int64(0)
    key = sum_over(compiled, game.spades_won, side)
    if compiled.tie_break == FINNISH:
        key = sum_over(compiled, game.points, side) << 16 | key << 8 | sum_over(compiled, game.cards_won, side)
    return key


@kernel
def is_shared(compiled: np.record, game: np.record, running: bool) -> bool:
    """Return whether several sides have the best total in the session, this game's score included if it is running."""
    best, count = np.int64(0), 0
    for side in range(compiled.teams):
        total = running_score(compiled, game, side) if running else sum_over(compiled, game.totals, side)
        total *= -compiled.lead_sign
        if side == 0 or total > best:
            best, count = total, 0
        count += total == best
    return count > 1


# ---------------------------------------------------------------------- what players weigh


@kernel
def lead_over(compiled: np.record, own: float, others: float) -> float:
    """Return by how much a score is better than another."""
    return compiled.lead_sign * (others - own)


@kernel
def margin_of(compiled: np.record, game: np.record, side: int) -> float:
    """Return the margin of a side so far: its score's lead over the mean of the other sides' (R14, R16)."""
    own, total = np.int64(0), np.int64(0)
    for seat in range(compiled.players):
        score = score_of(compiled, game, seat)
        total += score
        if seat % compiled.teams == side:
            own += score
    return lead_over(compiled, own, (total - own) / (compiled.teams - 1))


@kernel
def sweep_gain(compiled: np.record, sweeper: int, side: int) -> float:
    """Return what a side's margin gains when a seat sweeps, for which the seat before may pay (R9, K3)."""
    before = (sweeper + compiled.players - 1) % compiled.players
    share = np.int64(compiled.previous_pays and before % compiled.teams == side)
    share -= np.int64(sweeper % compiled.teams == side)
    share = share * compiled.teams + np.int64(not compiled.previous_pays)  # who has not swept is behind who has
    return compiled.lead_sign * compiled.sweep_points * share / (compiled.teams - 1)


@kernel
def cost_of(compiled: np.record, points: int, own_sweeps: float, next_sweeps: float) -> float:
    """Return what points, own sweeps and the expected sweeps of the next seat cost a seat (R9)."""
    return compiled.lead_sign * (points + compiled.sweep_points * (own_sweeps - next_sweeps))


# ---------------------------------------------------------------------- arrays of scores


def leads(rules: Rules, own: npt.NDArray[Any], others: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return by how much each score is better than another, as `lead_over`."""
    return lead_sign(rules) * (others - own)


def are_best(
    rules: Rules, scores: npt.NDArray[Any], tie_breaks: npt.NDArray[Any] | None = None
) -> npt.NDArray[np.bool_]:
    """Return which of the scores in each row, (..., S), are the best there, (..., S) bool; ties are all best.

    With `tie_breaks`, (..., S) ints of `tie_break_of`, the best of these decides between equal scores (K6, F7).
    """
    good = -lead_sign(rules) * scores
    best = good == good.max(-1, keepdims=True)
    if tie_breaks is None:
        return best
    decides = np.where(best, -lead_sign(rules) * tie_breaks.astype(np.int64), -NEVER)
    return decides == decides.max(-1, keepdims=True)


def side_scores(rules: Rules, scores: npt.ArrayLike) -> IntArray:
    """Return the score of each seat's side, (..., P) int64, from the seats' scores, (..., P) ints (R16)."""
    scores = np.asarray(scores, np.int64)
    if rules.teams is None:
        return scores
    members = rules.players // rules.teams
    sums = scores.reshape(*scores.shape[:-1], members, rules.teams).sum(-2)
    return np.tile(sums, members)


def points_of_sweeps(rules: Rules, sweeps: npt.ArrayLike) -> tuple[IntArray, IntArray]:
    """Return what sweeps, (..., P) ints by seat, add to each seat's score: its own, and those of the next seat.

    Those of the next seat are taken off where the seat before pays for a sweep (R9, not K3). Sweeps that don't count
    or cancel (F4, F5) must be left out.
    """
    points = rules.sweep_points * np.asarray(sweeps, np.int64)
    pays = rules.sweep_payer == "seat_before"
    return points, -np.roll(points, -1, axis=-1) if pays else np.zeros_like(points)


def running_scores(rules: Rules, state: State, rows: npt.ArrayLike | None = None) -> IntArray:
    """Return the seats' scores in the session so far, (B, P) int64; with `rows`, (M,) ints, only theirs (R14, R15)."""
    seats = slice(0, rules.players)
    names = ["totals", "points", "bonus", "sweeps", "void_sweeps", "mulles", "mulle_scores"]
    totals, points, bonus, sweeps, void, mulles, mulle_scores = (
        (getattr(state, name)[:, seats] if rows is None else getattr(state, name)[rows, seats]).astype(np.int64)
        for name in names
    )
    taken, set_up = points_of_sweeps(rules, sweeps - void)
    scores: IntArray = totals + points + bonus + rules.mulle_points * mulles + mulle_scores + taken + set_up
    if rules.sweeps_cancel:
        fewest = side_scores(rules, sweeps - void).min(-1, keepdims=True)
        scores[:, : rules.num_teams] -= rules.sweep_points * fewest
    return scores
