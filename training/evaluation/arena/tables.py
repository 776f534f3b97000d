"""The tables of an arena's standings, in the terminal."""

from __future__ import annotations

import math

import numpy as np

from krypenv.inputs.words import LONGEST_NAME, one_line, printable
from krypenv.rules import Rules
from krypenv.training.evaluation.arena.standings import Payoffs, Standings
from krypenv.training.evaluation.matches.margins import NO_FIGURE, margin_cells
from krypenv.training.evaluation.matches.mixed_table import format_milliseconds
from krypenv.training.runs.tables import INTERVAL, print_table

Table = tuple[list[str], list[list[str]]]  # columns and rows; the first column names the agents, best first


def print_standings(result: Standings) -> None:
    """Print the margins over the field with ratings, the margins over each other without luck first, and a legend."""
    matrices = [("margins with luck taken out", result.adjusted)] if result.adjusted else []
    matrices.append(("margins as they were played" if matrices else "margins", result.payoffs))
    tables = [("standings", _figures(result)), *((title, _matrix(result, payoffs)) for title, payoffs in matrices)]
    for title, (columns, rows) in tables:
        print(f"{title}:")
        print_table(columns, rows)
    print(*_legend(result), sep="\n")


def _figures(result: Standings) -> Table:
    luck = ["luck taken out", INTERVAL] if result.adjusted else []
    alpha = ["alpha-rank"] if result.agents[0].alpha_rank is not None else []
    rows = [
        [
            f"{place} {one_line(agent.agent, LONGEST_NAME)}",
            *_cells(agent.margin, agent.low, agent.high),
            *(_cells(*agent.adjusted) if agent.adjusted else []),
            _figure(agent.win_rate, ".1%"),
            _figure(agent.tie_rate, ".1%"),
            f"{agent.mu:.1f}",
            f"{agent.sigma:.1f}",
            *([_figure(agent.alpha_rank, ".1%")] if alpha else []),
            format_milliseconds(agent.milliseconds),
            str(agent.forfeits),
        ]
        for place, agent in enumerate(result.agents, 1)
    ]
    columns = ["agent", "margin", INTERVAL, *luck, "win", "tie", "mu", "sigma", *alpha, "ms/decision", "forfeits"]
    return columns, rows


def _matrix(result: Standings, table: Payoffs) -> Table:
    order = [table.names.index(agent.agent) for agent in result.agents]
    figures = np.stack([table.margin, table.low, table.high], axis=-1)  # (A, A, 3)
    rows = [
        [
            f"{place} {one_line(table.names[agent], LONGEST_NAME)}",
            *("\n".join(_cells(*figures[agent, other])).replace(" to ", " to\n") for other in order),
        ]
        for place, agent in enumerate(order, 1)
    ]
    return ["agent", *(f"over {place}" for place in range(1, len(order) + 1))], rows


def _cells(margin: float, low: float, high: float) -> tuple[str, str]:
    return (NO_FIGURE, "") if math.isnan(margin) else margin_cells(margin, low, high)


def _figure(value: float | None, pattern: str) -> str:
    return NO_FIGURE if value is None or math.isnan(value) else format(value, pattern)


def _legend(result: Standings) -> list[str]:
    """Write sentences that explain the figures, and why some are missing."""
    is_low = Rules.parse(result.rules).goal == "low"
    margin = "the others' mean score minus the agent's" if is_low else "the agent's mean score minus the others'"
    worth = _figure(result.worth, ".1f")
    luck = f"luck taken out: this margin ranks the agents; one deal is as precise as {worth} deals with luck left in"
    return [
        f"margin: {margin}, in points a game, with 95% intervals clustered by deal",
        *([luck] if result.adjusted else []),
        "mu, sigma: OpenSkill's rating; alpha-rank: share of time of a Markov chain of better agents",
        *result.notes,
        *(f"forfeit: {printable(sentence)}" for sentence in result.forfeits),
    ]
