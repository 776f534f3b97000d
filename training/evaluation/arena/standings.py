"""Standings of an arena: margins of its agents over each other and over the field, ratings, and their tables."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from openskill.models import PlackettLuce

from krypenv.agents.programs.llm import Usage
from krypenv.inputs.words import LONGEST_NAME, one_line, printable, to_install
from krypenv.kernels.compiled import lead_sign
from krypenv.kernels.scoring import are_best, leads
from krypenv.rules import Rules
from krypenv.training.evaluation.arena.arena import Games
from krypenv.training.evaluation.matches.margins import (
    NO_FIGURE,
    FloatArray,
    IntArray,
    Interval,
    interval_of_groups,
    margin_cells,
    margin_meaning,
)
from krypenv.training.evaluation.matches.mixed_table import format_milliseconds, print_usage
from krypenv.training.runs.tables import INTERVAL, plain, print_table

Table = tuple[list[str], list[list[str]]]  # columns and rows; the first column names the agents, best first

RATED = 50_000  # most results that OpenSkill rates: about 2 seconds
ALPHA_RANK_NOISE = 1e-6  # probability of a step to a worse agent, relative to that of a step to a better one
NEEDS_OPEN_SPIEL = f"alpha-rank is left out because OpenSpiel is not installed; {to_install('metagame')}"
NOT_ALL_MET = "alpha-rank is left out because not every two agents have met"


@dataclass(frozen=True)
class Payoffs:
    """Margins of A agents in points a game; positive is good. nan without games; bounds are infinite after one deal."""

    names: tuple[str, ...]  #: the agents, in the order of the arena
    margin: FloatArray  #: (A, A) of the row's agent over the column's, in games with both; antisymmetric
    low: FloatArray  #: (A, A) lower end of its 95% interval
    high: FloatArray  #: (A, A) upper end
    deals: IntArray  #: (A, A) deals in which the two met


@dataclass(frozen=True)
class Standing:
    """One agent's figures. Margins are in points a game, or a session under rules with sessions; positive is good."""

    agent: str
    margin: float  #: its lead over the mean of the others at the table; all tables, sets of agents, have equal weight
    low: float  #: lower end of its 95% interval; infinite after a single deal
    high: float  #: upper end
    adjusted: Interval | None  #: the margin with luck taken out and its interval; None where luck was not measured
    win_rate: float  #: share of games in which the own score alone is best
    tie_rate: float  #: share of games in which it is tied for best
    mu: float  #: OpenSkill's mean
    sigma: float  #: OpenSkill's standard deviation
    alpha_rank: float | None  #: share of time of alpha-rank's chain
    milliseconds: float  #: of processor time per decision; nan if not measured
    forfeits: int  #: games forfeited
    usage: Usage | None = None  #: tokens, seconds and legality of the decisions, if it is a language model


@dataclass(frozen=True)
class Standings:
    """The standings of an arena."""

    rules: str
    deals: int
    games: int
    agents: tuple[Standing, ...]  #: from the best margin over the field to the worst, with luck taken out if measured
    payoffs: Payoffs  #: of every agent over every other
    adjusted: Payoffs | None  #: the same with luck taken out, where it was measured
    forfeits: tuple[str, ...]  #: a sentence for each of the first few forfeits
    notes: tuple[str, ...]  #: a sentence for each omitted figure

    def to_json(self) -> dict[str, Any]:
        """Convert the figures to plain JSON values; those that are not finite become None."""
        return dict(plain(self))


def standings(games: Games) -> Standings:
    """Compute the standings of the games of an arena; takes a few seconds for a million games.

    The figures depend only on the games, and neither on their order nor on chance. A forfeited game counts with its
    stored scores. Where luck was measured, the margins without it rank the agents and feed alpha-rank. docs/arena.md
    explains each figure. Raises ValueError without games.
    """
    if not len(games.deal):
        raise ValueError("there are no games")
    size, raw = len(games.names), _ByAgent(games, None)
    ranked = None if games.luck is None else _ByAgent(games, games.luck)
    payoffs, adjusted = raw.payoffs(), ranked.payoffs() if ranked else None
    alpha, notes = _alpha_rank(adjusted or payoffs)
    mu, sigma = _rate(raw)
    best = are_best(games.rules, games.scores, games.tie_breaks)
    is_alone = best.sum(axis=1, keepdims=True) == 1
    forfeits = np.bincount(games.forfeit[games.forfeit >= 0], minlength=size)
    agents = [
        Standing(
            games.names[agent],
            *raw.over_tables(raw.lead[:, agent]),
            adjusted=ranked.over_tables(ranked.lead[:, agent]) if ranked else None,
            win_rate=raw.over_tables(raw.of_agent(agent, best & is_alone))[0],
            tie_rate=raw.over_tables(raw.of_agent(agent, best & ~is_alone))[0],
            mu=float(mu[agent]),
            sigma=float(sigma[agent]),
            alpha_rank=None if alpha is None else float(alpha[agent]),
            milliseconds=float(games.milliseconds[agent]),
            forfeits=int(forfeits[agent]),
            usage=(games.usage[agent] or None) if games.usage else None,
        )
        for agent in range(size)
    ]
    ranking = [-(agent.adjusted or (agent.margin,))[0] for agent in agents]
    return Standings(
        str(games.rules),
        raw.deals,
        len(games.deal),
        tuple(agents[place] for place in np.argsort(ranking, kind="stable")),  # nan comes last
        payoffs,
        adjusted,
        games.forfeits,
        notes,
    )


class _ByAgent:
    """Games by agent: `mean`, its mean score over its sides, and `lead`, its lead over all other sides, (G, A) each.

    Both are nan in games without the agent. All games of a deal share its luck, so intervals are clustered by deal.
    """

    def __init__(self, games: Games, luck: FloatArray | None) -> None:
        self.rules, self.names, self.agents, scores = games.rules, games.names, games.agents, games.scores
        if luck is not None:  # margins lose as much of it
            others = games.rules.num_teams - 1
            scores = scores + lead_sign(games.rules) * luck * others / (others + 1)
        numbers, self.deal = np.unique(games.deal, return_inverse=True)
        self.deals = len(numbers)
        tables = np.unique(np.sort(games.agents, axis=1), axis=0, return_inverse=True)[1]
        self.table = tables.ravel()  # (G,) the number of its set of agents
        sides = np.stack([(games.agents == agent).sum(axis=1) for agent in range(len(games.names))], axis=1)
        self.sides = np.where(sides > 0, sides, np.nan)
        self.mean = np.stack([self.of_agent(agent, scores) for agent in range(len(games.names))], axis=1)
        other_totals = scores.sum(axis=1, keepdims=True) - self.sides * self.mean
        self.lead = leads(self.rules, self.mean, other_totals / (games.agents.shape[1] - self.sides))

    def of_agent(self, agent: int, values: FloatArray) -> FloatArray:
        """Average values by side, (G, S), over the sides of an agent, (G,)."""
        mean: FloatArray = (values * (self.agents == agent)).sum(axis=1) / self.sides[:, agent]
        return mean

    def over_tables(self, values: FloatArray) -> Interval:
        """Average values, (G,) with nan in other games, over their tables with equal weights, with the interval."""
        return interval_of_groups(*self.by_deal(values, self.table))

    def by_deal(self, values: FloatArray, group: IntArray) -> tuple[FloatArray, Any]:
        """Average values, (G,), by deal and group, (D, C), without nan; mark the cells that have games, (D, C)."""
        rows = np.flatnonzero(~np.isnan(values))
        groups, group = np.unique(group[rows], return_inverse=True)
        columns = max(len(groups), 1)
        cell = self.deal[rows] * columns + group
        count = np.bincount(cell, minlength=self.deals * columns).reshape(-1, columns)
        total = np.bincount(cell, values[rows], minlength=self.deals * columns).reshape(-1, columns)
        return total / np.maximum(count, 1), count > 0

    def payoffs(self) -> Payoffs:
        """Compute the margins between agents: the differences of their mean scores in games with both."""
        size = len(self.names)
        margin, low, high = np.full((3, size, size), np.nan)
        deals = np.zeros((size, size), np.int64)
        for i, j in itertools.combinations(range(size), 2):
            lead = leads(self.rules, self.mean[:, i], self.mean[:, j])
            means, met = self.by_deal(lead, np.zeros_like(self.table))
            deals[i, j] = deals[j, i] = met.sum()
            margin[i, j], low[i, j], high[i, j] = interval_of_groups(means, met)
            margin[j, i], low[j, i], high[j, i] = -margin[i, j], -high[i, j], -low[i, j]
        return Payoffs(self.names, margin, low, high, deals)


def _rate(games: _ByAgent) -> tuple[FloatArray, FloatArray]:
    """Rate the agents by OpenSkill: means mu, (A,), and standard deviations sigma, (A,).

    A result ranks one set of agents by their leads on one deal, summed over its seatings. The agents do not change
    during an arena, so sigma never grows (tau is 0). Ratings depend on the order of the results, and results of one
    deal share its luck, so the results are shuffled by a fixed seed, and the first `RATED` of them are rated.
    """
    results, result = np.unique(games.deal * (games.table.max() + 1) + games.table, return_inverse=True)
    place = np.random.default_rng(0).permutation(len(results))
    rows = np.flatnonzero(place[result] < RATED)
    totals = np.zeros((min(RATED, len(results)), len(games.names)))
    np.add.at(totals, place[result[rows]], games.lead[rows])
    model = PlackettLuce(tau=0.0)
    ratings = [model.rating() for _ in games.names]
    for total in totals.round(6):
        table = np.flatnonzero(~np.isnan(total))
        after = model.rate([[ratings[agent]] for agent in table], ranks=(-total[table]).tolist())
        for agent, (rating,) in zip(table, after, strict=True):
            ratings[agent] = rating
    return np.array([rating.mu for rating in ratings]), np.array([rating.sigma for rating in ratings])


def _alpha_rank(table: Payoffs) -> tuple[FloatArray | None, tuple[str, ...]]:
    """Compute the share of time that alpha-rank's Markov chain spends at each agent, (A,), or a note without it.

    The chain moves from an agent to one that beats it, in the limit of strong selection. In that limit only the signs
    of the margins count, so a pair whose interval contains zero counts as even, and the chain moves both ways.
    """
    if not (table.deals + np.eye(len(table.names))).all():
        return None, (NOT_ALL_MET,)
    try:
        from open_spiel.python.egt import alpharank
    except ImportError:
        return None, (NEEDS_OPEN_SPIEL,)
    clear = np.where((table.low > 0) | (table.high < 0), table.margin, 0.0)
    return alpharank.compute([clear], use_inf_alpha=True, inf_alpha_eps=ALPHA_RANK_NOISE)[2], ()


# ---------------------------------------------------------------------- in the terminal


def print_standings(result: Standings) -> None:
    """Print the margins over the field with ratings, the margins over each other without luck first, and a legend."""
    matrices = [("margins with luck taken out", result.adjusted)] if result.adjusted else []
    matrices.append(("margins as they were played" if matrices else "margins", result.payoffs))
    for title, table in (("standings", _figures(result)), *((name, _matrix(result, its)) for name, its in matrices)):
        print(f"{title}:")
        print_table(*table)
    print_usage((agent.agent, agent.usage) for agent in result.agents)
    meaning = margin_meaning(Rules.parse(result.rules), "others")
    print(f"margin: {meaning}, in points a game, with 95% intervals clustered by deal")
    if result.adjusted:
        print("luck taken out: this margin ranks the agents")
    print("mu, sigma: OpenSkill's rating; alpha-rank: share of time of a Markov chain of better agents")
    for sentence in (*result.notes, *(f"forfeit: {printable(sentence)}" for sentence in result.forfeits)):
        print(sentence)


def _figures(result: Standings) -> Table:
    luck = ["luck taken out", INTERVAL] if result.adjusted else []
    alpha = ["alpha-rank"] if result.agents[0].alpha_rank is not None else []
    rows = [
        [
            f"{place} {one_line(agent.agent, LONGEST_NAME)}",
            *margin_cells(agent.margin, agent.low, agent.high),
            *(margin_cells(*agent.adjusted) if agent.adjusted else []),
            *map(_percent, (agent.win_rate, agent.tie_rate)),
            f"{agent.mu:.1f}",
            f"{agent.sigma:.1f}",
            *map(_percent, (agent.alpha_rank,) if alpha else ()),
            format_milliseconds(agent.milliseconds),
            str(agent.forfeits),
        ]
        for place, agent in enumerate(result.agents, 1)
    ]
    columns = ["agent", "margin", INTERVAL, *luck, "win", "tie", "mu", "sigma", *alpha, "ms a decision", "forfeits"]
    return columns, rows


def _matrix(result: Standings, table: Payoffs) -> Table:
    order = [table.names.index(agent.agent) for agent in result.agents]
    figures = np.stack([table.margin, table.low, table.high], axis=-1)  # (A, A, 3)
    rows = [
        [
            f"{place} {one_line(table.names[agent], LONGEST_NAME)}",
            *("\n".join(margin_cells(*figures[agent, other])).replace(" to ", " to\n") for other in order),
        ]
        for place, agent in enumerate(order, 1)
    ]
    return ["agent", *(f"over {place}" for place in range(1, len(order) + 1))], rows


def _percent(share: float | None) -> str:
    return NO_FIGURE if share is None or math.isnan(share) else f"{share:.1%}"
