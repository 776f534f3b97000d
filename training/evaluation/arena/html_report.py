"""The report of an arena: a self-contained HTML page."""

from __future__ import annotations

import dataclasses
import io
import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2
import matplotlib
import numpy as np
from markupsafe import Markup
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from krypenv.inputs.files import write_whole
from krypenv.inputs.words import LONGEST_NAME, one_line, printable
from krypenv.training.evaluation.arena.games import Games
from krypenv.training.evaluation.arena.payoffs import Payoffs
from krypenv.training.evaluation.arena.standings import (
    Standing,
    Standings,
    cycle_sentence,
    format_figure,
    luck_sentence,
    matrices,
)
from krypenv.training.evaluation.matches.margins import format_margin
from krypenv.training.evaluation.matches.mixed_table import format_milliseconds
from krypenv.training.runs.figures import spread

COLOURS = matplotlib.colormaps["RdBu"]  # red to blue, which colour-blind readers can tell apart
COLOUR_SPAN = 0.84  # part of the colours used, about the middle: text is hard to read on the darkest
EVEN_CONTRAST = 0.179  # luminance on which black and white text are equally legible
FILLED, HOLLOW = "#2166ac", "#ffffff"
MINUS = "−"
LONGEST_LABEL = 44  # characters of a name in the picture


def write_report(path: Path, standings: Standings, games: Games, command: str, facts: dict[str, str]) -> None:
    """Write the standings of some games as an HTML page; the same input gives the same page.

    `command` is the command line that produced the games. `facts` are shown below it, such as the version, the list of
    deals and the machine.
    """
    standings = _printable(standings)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=jinja2.StrictUndefined
    )
    order = standings.ranking.order.tolist()
    shown = matrices(standings)
    most = max(float(np.nanmax(np.abs(table.margin), initial=0.0)) for _, table in shown)
    page = environment.get_template("report.html.j2").render(
        standings=standings,
        rules=standings.rules,
        command=printable(command),
        facts={printable(key): printable(value) for key, value in facts.items()},
        lead=_lead(standings),
        columns=_columns(standings),
        rows=[_row(standings, agent) for agent in standings.agents],
        matrices=[{"title": title.capitalize(), "lines": _matrix(table, order, most)} for title, table in shown],
        band=", ".join(to_hex(COLOURS(0.5 + COLOUR_SPAN * (step / 16 - 0.5))) for step in range(17)),
        ticks=[_figure(part * most, "+.3g") if part else "0" for part in (-1, -0.25, 0, 0.25, 1)],
        cycles=cycle_sentence(standings),
        luck=f"{luck_sentence(standings).capitalize()}." if standings.adjusted else "",
        margin="the mean score of the others at the table minus the agent's own"
        if games.rules.goal == "low"
        else "the agent's mean score minus that of the others at the table",
        picture=_picture(standings.agents),
        forfeited=sum(agent.forfeits for agent in standings.agents),
        forfeits=[printable(forfeit) for forfeit in games.forfeits],
    )
    write_whole(path, page.encode())


def _printable(standings: Standings) -> Standings:
    """Return standings with names that a page can show."""
    names = tuple(one_line(name, LONGEST_NAME) for name in standings.payoffs.names)
    agents = tuple(dataclasses.replace(each, agent=one_line(each.agent, LONGEST_NAME)) for each in standings.agents)
    payoffs = dataclasses.replace(standings.payoffs, names=names)
    adjusted = standings.adjusted and dataclasses.replace(standings.adjusted, names=names)
    return dataclasses.replace(standings, agents=agents, payoffs=payoffs, adjusted=adjusted)


# ---------------------------------------------------------------------- texts


def _lead(standings: Standings) -> str:
    """Return a sentence on the best two agents, and on whether the games tell them apart."""
    first, second = standings.agents[:2]
    table = standings.ranking
    a, b = table.order[:2]
    leading = _with_half(table.field_margin[a], table.field_low[a], table.field_high[a])
    sentence = f"{first.agent} leads with {leading} points a game over the field"
    if not table.deals[a, b]:
        return f"{sentence}."
    over = _with_half(table.margin[a, b], table.low[a, b], table.high[a, b])
    is_clear = table.low[a, b] > 0 or table.high[a, b] < 0
    return (
        f"{sentence}, and with {over} over {second.agent}, which comes next"
        f"{'' if is_clear else '; these games do not tell the two apart'}."
    )


def _columns(standings: Standings) -> list[str]:
    alpha = ["alpha-rank"] if _has_alpha_rank(standings) else []
    nash = ["Nash", "over Nash"] if _has_nash(standings) else []
    luck = ["luck taken out"] if standings.adjusted else []
    return ["margin", *luck, "win", "tie", "OpenSkill (sigma)", *nash, *alpha, "ms", "forfeits"]


def _row(standings: Standings, agent: Standing) -> dict[str, Any]:
    luck = [_with_half(*agent.ranking)] if standings.adjusted else []
    texts = [
        *luck,
        _figure(agent.win_rate, ".1%"),
        _figure(agent.tie_rate, ".1%"),
        f"{_figure(agent.mu, '.1f')} ({agent.sigma:.1f})",
    ]
    if _has_nash(standings):
        texts += [_figure(agent.nash_weight, ".0%"), _figure(agent.nash_margin, "+.2f")]
    if _has_alpha_rank(standings):
        texts.append(_figure(agent.alpha_rank, ".0%"))
    texts += [format_milliseconds(agent.milliseconds), f"{agent.forfeits:,}"]
    return {
        "agent": agent.agent,
        "margin": _figure(agent.margin, "+.2f"),
        "half": _half(agent.low, agent.high),
        "texts": texts,
    }


def _has_nash(standings: Standings) -> bool:
    return standings.agents[0].nash_weight is not None


def _has_alpha_rank(standings: Standings) -> bool:
    return standings.agents[0].alpha_rank is not None


def _figure(value: float | None, pattern: str) -> str:
    """Return a formatted number with a minus sign instead of a hyphen."""
    return format_figure(value, pattern).replace("-", MINUS)


def _with_half(margin: float, low: float, high: float) -> str:
    """Return a margin and half the width of its interval."""
    return f"{_figure(margin, '+.2f')} ± {_half(low, high)}"


def _half(low: float, high: float) -> str:
    """Return half the width of an interval."""
    return _figure((high - low) / 2, ".2f")


def _matrix(table: Payoffs, order: list[int], most: float) -> list[dict[str, Any]]:
    """Return the rows of a payoff matrix, with the agents in some order."""
    return [
        {
            "name": table.names[row],
            "cells": [_cell(table, row, column, most) if table.deals[row, column] else None for column in order],
        }
        for row in order
    ]


def _cell(table: Payoffs, row: int, column: int, most: float) -> dict[str, Any]:
    margin, low, high = (float(matrix[row, column]) for matrix in (table.margin, table.low, table.high))
    strength = math.copysign(math.sqrt(abs(margin) / most), margin) if most else 0.0
    colour = COLOURS(0.5 + COLOUR_SPAN / 2 * strength)
    over = format_margin(margin, low, high).replace("-", MINUS)
    return {
        "margin": _figure(margin, "+.2f"),
        "half": _half(low, high),
        "is_clear": low > 0 or high < 0,
        "colour": to_hex(colour),
        "ink": "#ffffff" if _luminance(colour) < EVEN_CONTRAST else "#000000",
        "title": f"{table.names[row]} over {table.names[column]}: {over}, {table.deals[row, column]:,} deals",
    }


def _luminance(colour: Sequence[float]) -> float:
    """Return the relative luminance of a colour by the Web Content Accessibility Guidelines."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour[:3]]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


# ---------------------------------------------------------------------- picture


def _picture(agents: Sequence[Standing]) -> Markup | None:
    """Return margin against time as an SVG image, or None if no time was measured."""
    shown = [agent for agent in agents if agent.milliseconds > 0 and math.isfinite(agent.margin)]  # best first
    if not shown:
        return None
    with matplotlib.rc_context({"svg.fonttype": "path", "svg.hashsalt": "krypenv", "font.size": 10}):
        height = max(3.8, 1.3 + 0.29 * len(shown))
        figure = Figure(figsize=(10.5, height))
        axes = figure.add_axes((0.08, 0.62 / height, 0.55, 1 - 0.75 / height))
        _draw_agents(axes, shown, gap=0.27 / (height - 0.75))
        text = io.StringIO()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph", UserWarning)  # a name may have characters that the font lacks
            figure.savefig(text, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    return Markup(text.getvalue()[text.getvalue().index("<svg") :])  # safe: names in it are drawn as paths


def _draw_agents(axes: Any, agents: Sequence[Standing], gap: float) -> None:
    """Draw a point with its interval for each agent, best first, and its name in a column on the right."""
    times = [agent.milliseconds for agent in agents]
    margins, halves = [], []
    for agent in agents:
        margin, low, high = agent.ranking
        margins.append(margin)
        halves.append((high - low) / 2 if math.isfinite(high - low) else 0.0)
    axes.set_xscale("log")
    axes.set_xlim(10 ** math.floor(math.log10(min(times)) - 0.05), 10 ** math.ceil(math.log10(max(times)) + 0.05))
    top = max(margin + half for margin, half in zip(margins, halves, strict=True))
    bottom = min(margin - half for margin, half in zip(margins, halves, strict=True))
    room = 0.06 * (top - bottom) or 1.0
    axes.set_ylim(bottom - room, top + room)
    axes.axhline(0, color="#8a939c", linewidth=0.8, zorder=1)
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("milliseconds a decision")
    axes.set_ylabel("margin over the field, points a game")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.9f}".rstrip("0").rstrip("."))

    heights = [(margin - bottom + room) / (top - bottom + 2 * room) for margin in margins]
    quickest = math.inf
    for agent, margin, half, height in zip(agents, margins, halves, spread(heights[::-1], gap)[::-1], strict=True):
        is_best = agent.milliseconds < quickest
        quickest = min(quickest, agent.milliseconds)
        point = (agent.milliseconds, margin)
        axes.annotate(
            _shorten(agent.agent),
            point,
            (1.03, height),
            textcoords="axes fraction",
            va="center",
            parse_math=False,
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": "#b9c1c9", "linewidth": 0.7, "relpos": (0, 0.5), "shrinkB": 5},
        )
        face = FILLED if is_best else HOLLOW
        style = {"color": FILLED, "markerfacecolor": face, "markersize": 6.5, "capsize": 3, "elinewidth": 1.2}
        axes.errorbar(*point, yerr=half, fmt="o", zorder=3, **style)


def _shorten(name: str) -> str:
    """Return a name, with the middle left out if it is long."""
    half = LONGEST_LABEL // 2 - 1
    return name if len(name) <= LONGEST_LABEL else f"{name[:half]}…{name[-half:]}"
