"""Rewards, computed from scores in the same way for every environment."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.cards import NUM_RANKS, SPADES
from krypenv.families.bounds import mulle_values
from krypenv.inputs.words import shown
from krypenv.kernels.compiled import lead_sign
from krypenv.kernels.scoring import are_best, leads, running_scores, side_scores
from krypenv.rules import Rules
from krypenv.state import State

KINDS = ("centred", "points", "win")
LAST_GAME = 1_000_000  # the highest game number in a session without a limit

FloatArray = npt.NDArray[np.float64]


def check_reward(reward: str) -> None:
    """Raise ValueError unless `reward` names one of the kinds of rewards."""
    if not isinstance(reward, str) or reward not in KINDS:
        raise ValueError(f"unknown reward {shown(reward)}; it is one of {', '.join(KINDS)}")


def returns_of(rules: Rules, scores: npt.ArrayLike, reward: str, tie_breaks: npt.ArrayLike | None = None) -> FloatArray:
    """Convert the seats' scores, (..., P) ints, to the return of each seat, (..., P) float64.

    - ``centred``: the mean score of all sides minus the score of the seat's own side; over all seats it sums to 0.
    - ``points``: minus the score of the seat's own side.
    - ``win``: 1 for the side with the best score, otherwise 0; k sides that share the best score get 1/k each. With
      `tie_breaks`, (..., P) ints such as `Engine.final_tie_breaks`, those decide between equal scores first (K6, F7).

    Where the goal is "high", the first two have the other sign.
    """
    sides = side_scores(rules, scores)
    if reward == "centred":
        return leads(rules, sides, sides.mean(-1, keepdims=True))
    if reward == "points":
        return -lead_sign(rules) * sides.astype(np.float64)
    best = are_best(rules, sides, None if tie_breaks is None else np.asarray(tie_breaks))
    return best * (rules.players / rules.num_teams) / best.sum(-1, keepdims=True)


def seat_margins(rules: Rules, scores: npt.ArrayLike) -> FloatArray:
    """Compute each seat's margin, (..., P) from scores (..., P): its side's lead over the mean of the others (R14)."""
    sides = side_scores(rules, scores)
    total = sides[..., : rules.num_teams].sum(-1, keepdims=True)
    return leads(rules, sides, (total - sides) / (rules.num_teams - 1)) + 0.0  # no -0.0


class Payments:
    """The rewards of the seats in B games, and what has been paid of them so far.

    Args:
        rules: the rules of all games.
        num_games: B.
        reward: one of `KINDS`.
        dense: pay rewards as points fall, instead of at the end of the episode.

    Attributes:
        rewards: (B, P) float64, the last payment; the caller sets it to 0 before a step.
        paid: (B, P) float64, what the episode has paid so far; 0 without `dense`.
    """

    def __init__(self, rules: Rules, num_games: int, reward: str, dense: bool) -> None:
        check_reward(reward)
        self.rules, self.reward, self.dense = rules, reward, dense
        self.rewards: FloatArray = np.zeros((num_games, rules.players))
        self.paid: FloatArray = np.zeros_like(self.rewards)

    def settle(self, rows: npt.NDArray[np.int64], scores: npt.ArrayLike, tie_breaks: npt.NDArray[Any]) -> None:
        """Pay what remains of the worth of final scores and tie breaks, (M, P) ints each, in rows that have ended."""
        self.rewards[rows] = returns_of(self.rules, scores, self.reward, tie_breaks) - self.paid[rows]
        self.paid[rows] = 0

    def pay(self, state: State, rows: npt.NDArray[np.int64]) -> None:
        """With `dense`, pay the change in what the scores are worth, in rows whose episodes continue, (M,) ints."""
        if self.dense:
            worth = returns_of(self.rules, running_scores(self.rules, state, rows), self.reward)
            self.rewards[rows] = worth - self.paid[rows]
            self.paid[rows] = worth

    def count_from(self, state: State) -> None:
        """Count from a state, (B,) of `GAME`: pay only what comes after it."""
        self.rewards[:] = 0
        if self.dense:
            self.paid[:] = returns_of(self.rules, running_scores(self.rules, state), self.reward)


def all_points(rules: Rules) -> int:
    """Count the points of a side that takes everything: cards, last capture, majorities (R14, K5, O1)."""
    spades = int(rules.deck_counts[SPADES * NUM_RANKS :].sum())
    above = 0 if rules.spades_above is None else max(spades - rules.spades_above, 0)
    return rules.total_points + rules.most_spades_points + rules.most_cards_points + above


def most_points(rules: Rules) -> int:
    """Bound the points of all sides together, without sweeps: `all_points`, an initial match and mulles."""
    mulles = rules.mulle_points * rules.deck_size // 2
    if rules.mulle_by_value:
        mulles = int(np.array(mulle_values(rules))[rules.deck_counts > 0].sum())
    return all_points(rules) + abs(rules.initial_match_bonus) + mulles


def illegal_reward(rules: Rules, reward: str, dense: bool) -> float:
    """Compute the reward for an illegal action, which ends the episode: less than any legal episode can return.

    In one game no side's score is further from 0 than all that a game can count, `game`: its points, those of
    majorities and mulles, and a double sweep with each card that the seats of one side, or those before them, are
    dealt. At most one game passes a threshold, unless play goes on (K6). `mean` bounds the mean score of the sides.
    Dense rewards may already have paid something; no side earns more than all the others lose.
    """
    if reward == "win":
        return -2.0 if dense else -1.0
    hands = np.sum([hand for hand, _ in rules.deal_sizes()], axis=0)
    points = most_points(rules)
    sweeps = int(side_scores(rules, hands).max() if rules.sweep_payer == "seat_before" else hands.sum())
    game = points + (1 + (rules.double_sweep != "none")) * rules.sweep_points * sweeps
    swept = 0 if rules.sweep_payer == "seat_before" else game - points
    most, mean = rules.games * game, rules.games * (points + swept) / rules.num_teams
    if not rules.games:
        most = mean = (rules.threshold or 0) + game
    if rules.tie_break == "play_on" and not rules.games:
        most = mean = LAST_GAME * game
    bound = most + (mean if reward == "centred" else 0)
    return -float(np.floor(bound * (1 + rules.num_teams if dense else 1)) + 1)
