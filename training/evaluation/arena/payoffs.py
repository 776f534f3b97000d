"""Payoffs of an arena: the margin of every agent over every other and over the field, with intervals by deal."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.kernels.scoring import are_best, leads
from krypenv.training.evaluation.arena.games import FloatArray, Games, IntArray, check_games
from krypenv.training.evaluation.matches.margins import interval, interval_of_groups, without_luck


@dataclass(frozen=True)
class Payoffs:
    """Margins of A agents in points a game; positive is good. nan without games; bounds are infinite after one deal."""

    names: tuple[str, ...]  #: the agents, A of them
    margin: FloatArray  #: (A, A) of the row's agent over the column's, in games with both; antisymmetric
    low: FloatArray  #: (A, A) of its 95% interval
    high: FloatArray  #: (A, A)
    deals: IntArray  #: (A, A) deals in which the two met
    field_margin: FloatArray  #: (A,) over all others at the table; every table, a set of agents, has equal weight
    field_low: FloatArray  #: (A,) of its 95% interval
    field_high: FloatArray  #: (A,)
    win_rate: FloatArray  #: (A,) share of games in which the agent's score alone is best
    tie_rate: FloatArray  #: (A,) share of games in which it is tied for best

    @cached_property
    def widest(self) -> float:
        """Half the width of the widest interval among the pairs that met; infinite if none met."""
        half = (self.high - self.low)[self.deals > 0] / 2
        return float(half.max(initial=0.0)) if len(half) else math.inf

    @cached_property
    def order(self) -> IntArray:
        """The agents from the best margin over the field to the worst, (A,); agents without games come last."""
        return np.argsort(-self.field_margin, kind="stable")

    def to_json(self) -> dict[str, Any]:
        """Return the matrices as nested lists in the order of `names`; values that are not finite are None."""
        matrices = {"margin": self.margin, "low": self.low, "high": self.high}
        return {
            "names": list(self.names),
            **{key: [list(map(plain, row)) for row in matrix] for key, matrix in matrices.items()},
            "deals": self.deals.tolist(),
        }


def payoffs(games: Games, adjusted: bool = False) -> Payoffs:
    """Return who beats whom and by how much; takes a few hundredths of a second for 100,000 games.

    A game counts for a pair of agents by the difference of their scores; an agent on several sides counts by their
    mean. Games of one deal share its luck, so they are averaged first, and the 95% interval is Student's t over deals.
    `adjusted` takes the measured luck out of the margins; shares of wins and ties never change by it.

    Raises ValueError for impossible games, such as a game with one agent on all sides, and with `adjusted` for games
    whose luck was not measured.
    """
    check_games(games)
    scores = games.scores
    if adjusted:
        if games.luck is None:
            raise ValueError("the luck of these games was not measured")
        scores = without_luck(games.rules, scores, games.luck)
    size, sides = len(games.names), games.agents.shape[1]
    numbers, deal = np.unique(games.deal, return_inverse=True)
    first, second = np.triu_indices(size, 1)
    pair_of = np.zeros((size, size), np.int64)
    pair_of[first, second] = pair_of[second, first] = np.arange(len(first))
    pairs = _DealMeans(len(numbers), len(first))
    table = np.unique(np.sort(games.agents, axis=1), axis=0, return_inverse=True)[1].ravel()  # its set of agents, (G,)
    tables = int(table.max()) + 1
    margins, wins, ties = (_DealMeans(len(numbers), size * tables) for _ in range(3))

    own = games.agents[:, :, None] == games.agents[:, None, :]  # (G, S, S) whether one agent plays both sides
    share = 1 / own.sum(axis=2)  # (G, S) weight of the side among its agent's sides
    for a, b in itertools.combinations(range(sides), 2):
        one, other = games.agents[:, a], games.agents[:, b]
        lead = leads(games.rules, scores[:, a], scores[:, b])
        lead *= np.sign(other - one)  # of the agent with the lower index
        met = np.flatnonzero(one != other)
        pairs.add(deal[met], pair_of[one, other][met], lead[met], (share[:, a] * share[:, b])[met])
    is_best = are_best(games.rules, games.scores, games.tie_breaks)
    is_alone = is_best.sum(axis=1) == 1
    for side in range(sides):
        others = ~own[:, side]
        rest = (scores * others).sum(axis=1) / others.sum(axis=1)
        margin = leads(games.rules, scores[:, side], rest)
        counted = ((margins, margin), (wins, is_best[:, side] & is_alone), (ties, is_best[:, side] & ~is_alone))
        for means, values in counted:
            means.add(deal, games.agents[:, side] * tables + table, values, share[:, side])

    margin, low, high = np.full((3, size, size), np.nan)
    deals = np.zeros((size, size), np.int64)
    for i, j, samples in zip(first, second, pairs.samples(), strict=True):
        deals[i, j] = deals[j, i] = len(samples)
        margin[i, j], low[i, j], high[i, j] = interval(samples)
        margin[j, i], low[j, i], high[j, i] = -margin[i, j], -high[i, j], -low[i, j]
    field, wins_of, ties_of = (
        np.array([interval_of_groups(*means.by_deal(slice(i * tables, (i + 1) * tables))) for i in range(size)]).T
        for means in (margins, wins, ties)
    )
    return Payoffs(
        games.names, margin, low, high, deals, field[0], field[1], field[2], win_rate=wins_of[0], tie_rate=ties_of[0]
    )


def ranking_payoffs(games: Games) -> Payoffs:
    """Return the payoffs by which agents are ranked: with luck taken out where it was measured."""
    return payoffs(games, adjusted=games.luck is not None)


def worth_of_deals(raw: Payoffs, adjusted: Payoffs) -> float:
    """Return how many deals one with luck taken out is worth: the median over pairs of the ratio of variances.

    nan if no pair has an interval.
    """
    pairs = np.triu_indices(len(raw.names), 1)
    before, after = ((each.high - each.low)[pairs] for each in (raw, adjusted))
    known = np.isfinite(before) & (after > 0)
    return float(np.median((before[known] / after[known]) ** 2)) if known.any() else math.nan


def plain(value: float) -> float | None:
    """Return a number for JSON: None unless it is finite."""
    return float(value) if math.isfinite(value) else None


class _DealMeans:
    """Weighted means for each of D deals and C columns."""

    def __init__(self, deals: int, columns: int) -> None:
        self.columns = columns
        self.sums, self.weights = np.zeros((2, deals * columns))

    def add(self, deal: IntArray, column: IntArray, values: npt.NDArray[Any], weights: FloatArray) -> None:
        """Add values, (N,), each to its deal and column."""
        cell = deal * self.columns + column
        self.sums += np.bincount(cell, values * weights, minlength=len(self.sums))
        self.weights += np.bincount(cell, weights, minlength=len(self.sums))

    def samples(self) -> list[FloatArray]:
        """Return for each column the means of the deals with values."""
        means, counted = self.by_deal(slice(None))
        return [column[was] for column, was in zip(means.T, counted.T, strict=True)]

    def by_deal(self, columns: slice) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Return the means of some columns, (D, C), 0 without values, and where there are values, (D, C) bool."""
        sums, weights = (each.reshape(-1, self.columns)[:, columns] for each in (self.sums, self.weights))
        return sums / np.where(weights > 0, weights, 1), weights > 0
