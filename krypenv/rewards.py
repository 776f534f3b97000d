"""What the seats earn: rewards made of scores, the same in every environment."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from krypenv.rules import Rules
from krypenv.words import shown

KINDS = ("centred", "points", "win")

FloatArray = npt.NDArray[np.float64]


def check_reward(reward: str) -> None:
    """Raise ValueError unless `reward` names one of the kinds of rewards."""
    if not isinstance(reward, str) or reward not in KINDS:
        raise ValueError(f"unknown reward {shown(reward)}; it is one of {', '.join(KINDS)}")


def side_scores(rules: Rules, scores: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return the score of each seat's side, (..., P) int64, from the seats' scores, (..., P) ints (R16)."""
    scores = np.asarray(scores, np.int64)
    if rules.teams is None:
        return scores
    members = rules.players // rules.teams
    sums = scores.reshape(*scores.shape[:-1], members, rules.teams).sum(-2)
    return np.tile(sums, members)


def returns_of(rules: Rules, scores: npt.ArrayLike, reward: str) -> FloatArray:
    """Return what scores are worth to each seat, (..., P) float64, from the seats' scores, (..., P) ints.

    - ``centred``: the mean score of all sides, less the score of the own side; over all seats it sums to 0.
    - ``points``: minus the score of the own side.
    - ``win``: 1 for the side with the lowest score and 0 for the others; k sides that share the lowest get 1/k each.
    """
    sides = side_scores(rules, scores)
    if reward == "centred":
        return sides.mean(-1, keepdims=True) - sides
    if reward == "points":
        return -sides.astype(np.float64)
    best = sides == sides.min(-1, keepdims=True)
    return best * (rules.players / rules.num_teams) / best.sum(-1, keepdims=True)


def illegal_reward(rules: Rules, reward: str, dense: bool) -> float:
    """Return the reward for an illegal action, which ends the episode: less than any legal episode can return.

    In one game a side scores at most all the points there are and a double sweep with each card dealt to it, and at
    least minus a double sweep for each card dealt to the next side: within +-`game`. A threshold is passed by one game
    at most. `mean` bounds the mean score of the sides. `dense` rewards may have paid something before; no side earns
    more than all the others lose.
    """
    if reward == "win":
        return -2.0 if dense else -1.0
    hands = np.sum([hand for hand, _ in rules.deal_sizes()], axis=0)
    points = rules.total_points + abs(rules.initial_match_bonus)
    game = points + 2 * rules.sweep_points * int(side_scores(rules, hands).max())
    most, mean = rules.games * game, rules.games * points / rules.num_teams
    if not rules.games:
        most = mean = (rules.threshold or 0) + game
    bound = most + (mean if reward == "centred" else 0)
    return -float(np.floor(bound * (1 + rules.num_teams if dense else 1)) + 1)
