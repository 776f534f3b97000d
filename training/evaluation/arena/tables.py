"""The tables of an arena's standings: in the terminal, and as a page of HTML."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console

from krypenv.inputs.files import write_whole
from krypenv.inputs.words import LONGEST_NAME, one_line, printable
from krypenv.rules import Rules
from krypenv.training.evaluation.arena.standings import Payoffs, Standings
from krypenv.training.evaluation.matches.margins import NO_FIGURE, margin_cells
from krypenv.training.evaluation.matches.mixed_table import format_milliseconds
from krypenv.training.runs import Header
from krypenv.training.runs.tables import INTERVAL, print_table

PAGE_WIDTH = 200  # characters of the page


class Table(NamedTuple):
    """A table of texts; the first column has the names of the agents, best first."""

    title: str
    columns: list[str]
    rows: list[list[str]]


def tables(result: Standings) -> list[Table]:
    """Make the tables of the agents' figures and of their margins over each other, those without luck first."""
    adjusted = [("margins with luck taken out", result.adjusted)] if result.adjusted else []
    title = "margins as they were played" if adjusted else "margins"
    return [_figures(result), *(_matrix(result, *payoffs) for payoffs in [*adjusted, (title, result.payoffs)])]


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
    return Table("standings", columns, rows)


def _matrix(result: Standings, title: str, table: Payoffs) -> Table:
    order = [table.names.index(agent.agent) for agent in result.agents]
    figures = np.stack([table.margin, table.low, table.high], axis=-1)  # (A, A, 3)
    rows = [
        [
            f"{place} {one_line(table.names[agent], LONGEST_NAME)}",
            *("\n".join(_cells(*figures[agent, other])).replace(" to ", " to\n") for other in order),
        ]
        for place, agent in enumerate(order, 1)
    ]
    return Table(title, ["agent", *(f"over {place}" for place in range(1, len(order) + 1))], rows)


def _cells(margin: float, low: float, high: float) -> tuple[str, str]:
    return (NO_FIGURE, "") if math.isnan(margin) else margin_cells(margin, low, high)


def _figure(value: float | None, pattern: str) -> str:
    return NO_FIGURE if value is None or math.isnan(value) else format(value, pattern)


def legend(result: Standings) -> list[str]:
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


def print_standings(result: Standings, console: Console | None = None) -> None:
    """Print the margins over the field with ratings, the margins over each other, and the legend."""
    console = console or Console()
    for title, columns, rows in tables(result):
        _print_lines(console, f"{title}:")
        print_table(columns, rows, console)
    _print_lines(console, *legend(result))


def write_report(path: Path, result: Standings, header: Header) -> None:
    """Write the command and the setup of an arena, and all that `print_standings` prints, as a page of HTML."""
    console = Console(record=True, file=io.StringIO(), width=PAGE_WIDTH)
    identity, about = header.identity, header.about
    weights = {f"weights of {agent['name']}": ", ".join(agent["weights_sha256"]) for agent in identity["agents"]}
    setup = {
        "command": about["command"], "rules": result.rules, "deals": f"{result.deals:,} of {identity['deals_list']}",
        "games": f"{result.games:,}", "luck": identity["luck"] or "not taken out",
        "seed of the agents": identity["seed"], **about["machine"], **weights,
    }  # fmt: skip
    _print_lines(console, *(printable(f"{name}: {value}") for name, value in setup.items() if value != ""))
    print_standings(result, console)
    write_whole(path, console.export_html().encode())


def _print_lines(console: Console, *lines: str) -> None:
    console.print(*lines, sep="\n", markup=False, highlight=False, emoji=False, soft_wrap=True)
