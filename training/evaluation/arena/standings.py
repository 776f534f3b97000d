"""Standings of an arena: payoffs and ratings, best agent first, as JSON and as tables."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from krypenv.inputs.words import printable, to_install
from krypenv.rules import Rules
from krypenv.training.evaluation.arena import ratings
from krypenv.training.evaluation.arena.games import FloatArray, Games
from krypenv.training.evaluation.arena.payoffs import Payoffs, payoffs, plain, worth_of_deals
from krypenv.training.evaluation.matches.margins import NO_FIGURE, Interval
from krypenv.training.evaluation.matches.mixed_table import format_milliseconds
from krypenv.training.runs.tables import print_table

BLOCK = 6  # opponents side by side in a printed table, at most
NEEDS_OPEN_SPIEL = f"alpha-rank is left out because OpenSpiel is not installed; {to_install('metagame')}"
NOT_ALL_MET = "Nash averaging and alpha-rank are left out because not every two agents have met"


@dataclass(frozen=True)
class Standing:
    """One agent's figures. Margins are in points a game, or a session under rules with sessions; positive is good."""

    agent: str
    margin: float  #: by how much the own score is better than the mean of the others at the table
    low: float  #: lower end of its 95% interval; infinite after a single deal
    high: float  #: upper end
    adjusted_margin: float | None  #: with luck taken out; None where it was not measured
    adjusted_low: float | None  #: lower end of its 95% interval
    adjusted_high: float | None  #: upper end
    win_rate: float  #: share of games in which the own score alone is best
    tie_rate: float  #: share of games in which it is tied for best
    mu: float  #: OpenSkill's mean
    sigma: float  #: OpenSkill's standard deviation
    nash_weight: float | None  #: weight in the Nash equilibrium of greatest entropy
    nash_margin: float | None  #: margin over that equilibrium, zero for its members, at most zero for the others
    alpha_rank: float | None  #: share of time of alpha-rank's chain
    milliseconds: float  #: of processor time per decision; nan if not measured
    forfeits: int  #: games forfeited

    @property
    def ranking(self) -> Interval:
        """The margin over the field by which it is ranked, and its interval, with luck taken out where measured."""
        if self.adjusted_margin is None or self.adjusted_low is None or self.adjusted_high is None:
            return self.margin, self.low, self.high
        return self.adjusted_margin, self.adjusted_low, self.adjusted_high

    @property
    def ordinal(self) -> float:
        """A rating that the agent almost certainly exceeds by OpenSkill's model, mu - 3 sigma."""
        return self.mu - 3 * self.sigma


@dataclass(frozen=True)
class Standings:
    """The standings of an arena."""

    rules: str
    deals: int
    games: int
    agents: tuple[Standing, ...]  #: from the best margin over the field to the worst, by the ranking payoffs
    payoffs: Payoffs  #: of every agent over every other, in the order of the arena
    adjusted: Payoffs | None  #: the same with luck taken out, where it was measured
    worth: float | None  #: how many deals one with luck taken out is worth; nan if unknown
    cycles: ratings.Cycles  #: with indices in that order
    notes: tuple[str, ...]  #: a sentence for each omitted figure

    @property
    def ranking(self) -> Payoffs:
        """The payoffs by which agents are ranked, with luck taken out where it was measured."""
        return self.adjusted or self.payoffs

    @property
    def widest(self) -> float:
        """Half the width of the widest interval among the pairs that met; infinite if none met."""
        return self.ranking.widest

    def cycle_names(self) -> list[str]:
        """Return the agents of the clearest cycle, if any: each beats the next, and the last the first."""
        return [self.payoffs.names[agent] for agent in self.cycles.example or ()]

    def to_json(self) -> dict[str, Any]:
        """Return the figures as plain JSON values; omitted and infinite ones are None."""
        return {
            "rules": self.rules,
            "deals": self.deals,
            "games": self.games,
            "widest": plain(self.widest),
            "agents": [_plain_figures(agent) | {"ordinal": agent.ordinal} for agent in self.agents],
            "payoffs": self.payoffs.to_json(),
            "adjusted": self.adjusted.to_json() if self.adjusted else None,
            "worth": None if self.worth is None else plain(self.worth),
            "cycles": dataclasses.asdict(self.cycles) | {"example": self.cycle_names() or None},
            "notes": list(self.notes),
        }


def standings(games: Games) -> Standings:
    """Return the standings of the games of an arena; takes a few seconds for a million games.

    The figures depend only on the games, and neither on their order nor on chance. A forfeited game counts with its
    stored scores. Where luck was measured, the margins without it rank the agents, and Nash averaging, alpha-rank and
    cycles rest on them. docs/arena.md explains each figure. Raises ValueError for impossible games, such as a game
    with one agent on all sides.
    """
    raw = payoffs(games)
    adjusted = payoffs(games, adjusted=True) if games.luck is not None else None
    table = adjusted or raw
    mu, sigma = ratings.rate(games)
    nash, nash_margin, alpha, notes = _metagame(table)
    forfeits = np.bincount(games.forfeit[games.forfeit >= 0], minlength=len(games.names))
    agents = tuple(
        Standing(
            agent=games.names[agent],
            margin=float(raw.field_margin[agent]),
            low=float(raw.field_low[agent]),
            high=float(raw.field_high[agent]),
            adjusted_margin=float(adjusted.field_margin[agent]) if adjusted else None,
            adjusted_low=float(adjusted.field_low[agent]) if adjusted else None,
            adjusted_high=float(adjusted.field_high[agent]) if adjusted else None,
            win_rate=float(raw.win_rate[agent]),
            tie_rate=float(raw.tie_rate[agent]),
            mu=float(mu[agent]),
            sigma=float(sigma[agent]),
            nash_weight=None if nash is None else float(nash[agent]),
            nash_margin=None if nash_margin is None else float(nash_margin[agent]),
            alpha_rank=None if alpha is None else float(alpha[agent]),
            milliseconds=float(games.milliseconds[agent]),
            forfeits=int(forfeits[agent]),
        )
        for agent in table.order
    )
    return Standings(
        rules=str(games.rules),
        deals=len(np.unique(games.deal)),
        games=len(games.deal),
        agents=agents,
        payoffs=raw,
        adjusted=adjusted,
        worth=worth_of_deals(raw, adjusted) if adjusted else None,
        cycles=ratings.find_cycles(table.margin, table.low),
        notes=notes,
    )


def _metagame(
    table: Payoffs,
) -> tuple[FloatArray | None, FloatArray | None, FloatArray | None, tuple[str, ...]]:
    """Return the Nash weights, the margins over them, alpha-rank, and notes on omitted figures."""
    margin = table.margin.copy()
    np.fill_diagonal(margin, 0.0)
    if np.isnan(margin).any():
        return None, None, None, (NOT_ALL_MET,)
    nash, nash_margin = ratings.nash_average(margin)
    try:
        return nash, nash_margin, ratings.alpha_rank(margin, table.low, table.high), ()
    except ImportError:
        return nash, nash_margin, None, (NEEDS_OPEN_SPIEL,)


def _plain_figures(agent: Standing) -> dict[str, Any]:
    figures = dataclasses.asdict(agent)
    return {key: plain(value) if isinstance(value, float) else value for key, value in figures.items()}


# ---------------------------------------------------------------------- texts


def format_figure(value: float | None, pattern: str) -> str:
    """Return a number in a format such as "+.1f"; a dash for None or nan, an infinity sign for an infinite one.

    >>> format_figure(1.25, "+.1f"), format_figure(float("nan"), ".2f")
    ('+1.2', '–')
    """
    if value is None or math.isnan(value):
        return NO_FIGURE
    return format(value, pattern) if math.isfinite(value) else "∞" if value > 0 else "-∞"


def margin_and_half(found: Interval, between: str = " ") -> str:
    """Return a margin and half the width of its interval, as in "+1.20 ±0.40"."""
    margin, low, high = found
    return f"{format_figure(margin, '+.2f')}{between}±{format_figure((high - low) / 2, '.2f')}"


def luck_sentence(result: Standings) -> str:
    """Return a sentence on the margins with luck taken out, for standings that have them."""
    return (
        "luck taken out: the margin without what the cards brought, which ranks the agents; a deal is then worth "
        f"{format_figure(result.worth, '.1f')} deals with luck left in (median over the pairs)"
    )


def cycle_sentence(result: Standings) -> str:
    """Return one sentence on the cycles of three."""
    count = result.cycles
    names = result.cycle_names()
    clear = f", {count.clear} of them clear, as in {' beats '.join([*names, names[0]])}" if names else ""
    return f"Circles of three agents, each of which beats the next: {count.cyclic} of {count.triples}{clear}."


def print_standings(result: Standings) -> None:
    """Print the margins over the field, the ratings, and the payoff matrix."""
    has_luck = result.adjusted is not None
    between = "\n" if has_luck else " "  # two columns of margins are narrow ones
    print_table(
        ("agent", "margin", *(["luck taken out"] if has_luck else []), "win", "tie", "ms/decision", "forfeits"),
        [
            (
                f"{place} {agent.agent}",
                margin_and_half((agent.margin, agent.low, agent.high), between),
                *([margin_and_half(agent.ranking, between)] if has_luck else []),
                format_figure(agent.win_rate, ".1%"),
                format_figure(agent.tie_rate, ".1%"),
                format_milliseconds(agent.milliseconds),
                str(agent.forfeits),
            )
            for place, agent in enumerate(result.agents, 1)
        ],
    )
    print_table(
        ("agent", "mu", "sigma", "ordinal", "Nash", "over Nash", "alpha-rank"),
        [
            (
                f"{place} {agent.agent}",
                *(format_figure(value, ".1f") for value in (agent.mu, agent.sigma, agent.ordinal)),
                format_figure(agent.nash_weight, ".1%"),
                format_figure(agent.nash_margin, "+.2f"),
                format_figure(agent.alpha_rank, ".1%"),
            )
            for place, agent in enumerate(result.agents, 1)
        ],
    )
    order = result.ranking.order.tolist()
    for title, table in matrices(result):
        if title:
            print(f"{title}:")
        for start in range(0, len(order), BLOCK):
            _print_block(table, order, range(start, min(start + BLOCK, len(order))))
    is_low = Rules.parse(result.rules).goal == "low"
    meaning = "the others' mean score minus the agent's" if is_low else "the agent's mean score minus the others'"
    print(f"margin: {meaning}, in points a game; ±: the 95% interval, by deal")
    if has_luck:
        print(luck_sentence(result))
    print("mu, sigma, ordinal: OpenSkill's rating; Nash, over Nash: Nash averaging")
    print(printable(cycle_sentence(result)), *result.notes, sep="\n")


def matrices(result: Standings) -> list[tuple[str, Payoffs]]:
    """Return the payoffs to show, each with a title: those that rank first; a single matrix needs no title."""
    if result.adjusted is None:
        return [("", result.payoffs)]
    return [("margins with luck taken out", result.adjusted), ("margins as they were played", result.payoffs)]


def _print_block(table: Payoffs, order: Sequence[int], places: range) -> None:
    """Print the margins of all agents over the agents in some places."""
    found = np.stack([table.margin, table.low, table.high], axis=-1)  # (A, A, 3)
    rows = [
        (
            f"{place} {table.names[agent]}",
            *(
                NO_FIGURE
                if not table.deals[agent, order[column]]
                else margin_and_half(found[agent, order[column]], "\n")
                for column in places
            ),
        )
        for place, agent in enumerate(order, 1)
    ]
    print_table(("agent", *(f"over {column + 1}" for column in places)), rows)
