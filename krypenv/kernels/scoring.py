"""Scoring: points, sweeps, what the end of a game settles, and which scores are better (`Rules.goal`).

Kernels over one game's row, then the same for arrays of scores. Points are what a game counts; a lead is positive for
the side that is doing better.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.cards import NO_CARD, NUM_KINDS, NUM_RANKS, SPADES
from krypenv.kernels.compiled import BY_SPADES, FINNISH, NEVER, NIBBLE, PLAY_ON, compile_rules, lead_sign
from krypenv.rules import Rules
from krypenv.runtime.jit import for_kernels, handle, kernel, other_kernel, rare_kernel
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
    """Count the sweeps of a card that takes a whole table: 2 for a lone card of its kind, else 1 (R11, H4, K3).

    `ranks` is that table, packed, and `copies` how many of the card's kind are on it.
    """
    is_lone = ranks == np.int64(1) << NIBBLE * (card % NUM_RANKS)
    if not is_lone:
        return 1
    return compiled.identical_sweep if copies == 1 else compiled.rank_sweep


@kernel
def is_mulle(card: int, capture: int, copies: int) -> bool:
    """Check whether a card makes a mulle: it takes one card, packed ranks, and that is its identical copy (M2)."""
    return capture == np.int64(1) << NIBBLE * (card % NUM_RANKS) and copies == 1


@kernel
def is_void(compiled: np.record, game: np.record) -> bool:
    """Check whether a sweep would not count now, before the card's capture is counted (F5)."""
    if not compiled.judges_sweeps:
        return False
    if not compiled.last_deal_sweeps and game.deal_number == compiled.num_deals:
        return True
    return highest_score(compiled, game) >= compiled.sweep_limit


@kernel
def highest_score(compiled: np.record, game: np.record) -> int:
    """Find the highest running score of all sides (F5)."""
    best = np.int64(-NEVER)
    for side in range(compiled.teams):
        best = max(best, running_score(compiled, game, side))
    return best


@kernel
def running_score(compiled: np.record, game: np.record, side: int) -> int:
    """Sum the running score of a side: its total in the session and its score in this game so far (F5)."""
    total = np.int64(0)
    for seat in range(side, compiled.players, compiled.teams):
        total += game.totals[seat] + score_of(compiled, game, seat)
    return total


@kernel
def has_played(compiled: np.record, game: np.record) -> bool:
    """Check whether a play of this game is complete."""
    left = np.int64(game.pending != NO_CARD)
    for seat in range(compiled.players):
        left += game.hand_size[seat]
    return game.deal_number > 1 or left < compiled.deal_start[1] - compiled.laid[1]


@rare_kernel
def ends_at_once(compiled: np.record, game: np.record) -> bool:
    """Check whether a running score ends the session now, in the middle of the game (F6).

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
    """Sum the seats' numbers over the members of a side (R16)."""
    total = np.int64(0)
    seat = side
    while seat < compiled.players:  # a range with such a step would divide
        total += numbers[seat]
        seat += compiled.teams
    return total


@kernel
def settle_game(compiled: np.record, game: np.record) -> None:
    """Add the points for the end of a game to each seat's bonus."""
    for seat in range(compiled.players):
        game.bonus[seat] += settled_points(compiled, game, seat)


@kernel
def settled_points(compiled: np.record, game: np.record, seat: int) -> int:
    """Count a seat's points for the last capture (V2, S3), and for majorities if it is the first of its side (K5)."""
    points = compiled.last_capture_points * np.int64(seat == game.last_capturer)
    if compiled.counts_piles and seat < compiled.teams:
        points += majority_points(compiled, game, seat)
    return points


@other_kernel
def majority_points(compiled: np.record, game: np.record, side: int) -> int:
    """Count the points of a side for its spades and its cards at the end of a game (K5, F3, O1)."""
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
    """Count the sides that share the highest number, `own`; 0 if another side has more, or none has anything."""
    count = np.int64(0)
    for side in range(compiled.teams):
        other = sum_over(compiled, numbers, side)
        if other > own:
            return np.int64(0)
        count += other == own
    return count if own > 0 else np.int64(0)


@kernel
def cancelled_sweeps(compiled: np.record, game: np.record) -> int:
    """Count the sweeps that every side loses: as many as the side with the fewest counted ones has (F4)."""
    fewest = np.int64(NEVER)
    for side in range(compiled.teams):
        counted = sum_over(compiled, game.sweeps, side) - sum_over(compiled, game.void_sweeps, side)
        fewest = min(fewest, counted)
    return fewest


@kernel
def void_sweeps_of(compiled: np.record, game: np.record, seat: int) -> int:
    """Count the sweeps of a seat that bring nothing: void ones (F5), and those of its side that cancel (F4).

    Sweeps that cancel are taken off the first seat of each side (K7), even if its partner made them.
    """
    void = np.int64(game.void_sweeps[seat])
    if compiled.sweeps_cancel and seat < compiled.teams:
        void += cancelled_sweeps(compiled, game)
    return void


@kernel
def score_of(compiled: np.record, game: np.record, seat: int) -> int:
    """Compute a seat's score in the game so far from points, sweeps and mulles (R9, R12, R14, K3, M2).

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
    """Compute the key that breaks a tie of totals; the higher one is better for a high goal (K6, F7)."""
    if compiled.tie_break != BY_SPADES and compiled.tie_break != FINNISH:
        return np.int64(0)
    key = sum_over(compiled, game.spades_won, side)
    if compiled.tie_break == FINNISH:
        key = sum_over(compiled, game.points, side) << 16 | key << 8 | sum_over(compiled, game.cards_won, side)
    return key


@kernel
def is_shared(compiled: np.record, game: np.record, running: bool) -> bool:
    """Check whether several sides have the best total in the session, this game's score included if it is running."""
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
    """Compute by how much a score is better than another."""
    return compiled.lead_sign * (others - own)


@kernel
def margin_of(compiled: np.record, game: np.record, side: int) -> float:
    """Compute the margin of a side so far: its score's lead over the mean of the other sides' (R14, R16)."""
    own, total = np.int64(0), np.int64(0)
    for seat in range(compiled.players):
        score = score_of(compiled, game, seat)
        total += score
        if seat % compiled.teams == side:
            own += score
    return lead_over(compiled, own, (total - own) / (compiled.teams - 1))


@kernel
def sweep_gain(compiled: np.record, sweeper: int, side: int) -> float:
    """Compute the change of a side's margin when a seat sweeps, for which the seat before may pay (R9, K3)."""
    before = (sweeper + compiled.players - 1) % compiled.players
    share = np.int64(compiled.previous_pays and before % compiled.teams == side)
    share -= np.int64(sweeper % compiled.teams == side)
    share = share * compiled.teams + np.int64(not compiled.previous_pays)  # who has not swept is behind who has
    return compiled.lead_sign * compiled.sweep_points * share / (compiled.teams - 1)


@kernel
def cost_of(compiled: np.record, points: int, own_sweeps: float, next_sweeps: float) -> float:
    """Compute the cost to a seat of points, own sweeps and the expected sweeps of the next seat (R9)."""
    return compiled.lead_sign * (points + compiled.sweep_points * (own_sweeps - next_sweeps))


# ---------------------------------------------------------------------- arrays of scores


def leads(rules: Rules, own: npt.NDArray[Any], others: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Compute by how much each score is better than another, as `lead_over`."""
    return lead_sign(rules) * (others - own)


def are_best(
    rules: Rules, scores: npt.NDArray[Any], tie_breaks: npt.NDArray[Any] | None = None
) -> npt.NDArray[np.bool_]:
    """Mark the best scores of each row of (..., S), all of them in a tie, as (..., S) bool.

    With `tie_breaks`, (..., S) ints of `tie_break_of`, the best of these decides between equal scores (K6, F7).
    """
    good = -lead_sign(rules) * scores
    best = good == good.max(-1, keepdims=True)
    if tie_breaks is None:
        return best
    decides = np.where(best, -lead_sign(rules) * tie_breaks.astype(np.int64), -NEVER)
    return decides == decides.max(-1, keepdims=True)


def side_scores(rules: Rules, scores: npt.ArrayLike) -> IntArray:
    """Sum the scores of seats, (..., P) ints, to that of each seat's side, (..., P) int64 (R16)."""
    scores = np.asarray(scores, np.int64)
    if rules.teams is None:
        return scores
    members = rules.players // rules.teams
    sums = scores.reshape(*scores.shape[:-1], members, rules.teams).sum(-2)
    return np.tile(sums, members)


def points_of_sweeps(rules: Rules, sweeps: npt.ArrayLike) -> tuple[IntArray, IntArray]:
    """Count what sweeps, (..., P) ints by seat, add to each seat's score: its own, and those of the next seat.

    Those of the next seat are taken off where the seat before pays for a sweep (R9, not K3). Sweeps that don't count
    or cancel (F4, F5) must be left out.
    """
    points = rules.sweep_points * np.asarray(sweeps, np.int64)
    pays = rules.sweep_payer == "seat_before"
    return points, -np.roll(points, -1, axis=-1) if pays else np.zeros_like(points)


def running_scores(rules: Rules, state: State, rows: npt.ArrayLike | None = None) -> IntArray:
    """Sum the seats' scores in the session so far, (B, P) int64; with `rows`, (M,) ints, only theirs (R14, R15)."""
    chosen = np.arange(len(state)) if rows is None else for_kernels(np.asarray(rows), np.int64)
    scores = np.empty((len(chosen), rules.players), np.int64)
    _write_scores(compile_rules(rules), handle(state), chosen, scores)
    return scores


@kernel
def _write_scores(compiled: np.ndarray, state: np.ndarray, rows: np.ndarray, out: np.ndarray) -> None:
    for at in range(len(rows)):
        game = state[rows[at]]
        for seat in range(compiled[0].players):
            out[at, seat] = game.totals[seat] + score_of(compiled[0], game, seat)
