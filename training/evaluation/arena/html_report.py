"""The report of an arena: a self-contained HTML page with its tables and a figure."""

from __future__ import annotations

import io
import math
import warnings
from pathlib import Path
from typing import Any

import jinja2
import matplotlib
import numpy as np
from markupsafe import Markup
from matplotlib.figure import Figure

from krypenv.inputs.files import write_whole
from krypenv.inputs.words import one_line, printable
from krypenv.training.evaluation.arena.standings import Standing, Standings
from krypenv.training.evaluation.arena.tables import legend, tables
from krypenv.training.runs import Header

LONGEST_LABEL = 44  # characters of a name in the figure


def write_report(path: Path, result: Standings, header: Header) -> None:
    """Write the standings of an arena with a header as an HTML page; the same input gives the same page."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
    )
    page = environment.get_template("report.html.j2").render(
        result=result,
        header=header,
        tables=tables(result),
        shade=_shade,
        legend=legend(result),
        figure=_figure([agent for agent in result.agents if math.isfinite(agent.margin)]),
    )
    write_whole(path, page.encode())


def _shown(value: Any) -> Any:
    """Format a value of the page as printable text."""
    return value if isinstance(value, Markup) else "\n".join(map(printable, str(value).split("\n")))


def _shade(cell: str) -> str:
    """Choose the background of a margin, blue above zero and red below, on which black text is legible."""
    margin = cell.partition("\n")[0]
    if margin[:1] not in "+-":
        return "#f5f7f9"
    strength = 0.5 * math.tanh(math.sqrt(abs(float(margin))) / 4)
    return f"rgba({'33, 102, 172' if margin[0] == '+' else '178, 24, 43'}, {strength:.2f})"


def _figure(agents: list[Standing]) -> Markup:
    """Draw the margins over the field with their intervals as an SVG image, one agent a line, best first."""
    with matplotlib.rc_context({"svg.fonttype": "path", "svg.hashsalt": "krypenv", "font.size": 10}):
        figure = Figure(figsize=(10.5, 1.2 + 0.3 * len(agents)), layout="constrained")
        axes = figure.add_subplot()
        margin, low, high = np.array([agent.ranking for agent in agents]).T
        half = np.where(np.isfinite(high - low), (high - low) / 2, 0)
        axes.errorbar(margin, np.arange(len(agents)), xerr=half, fmt="o", color="#2166ac", capsize=3)
        axes.axvline(0, color="#8a939c", linewidth=0.8)
        axes.set_yticks(np.arange(len(agents)), [one_line(agent.agent, LONGEST_LABEL) for agent in agents])
        for label in axes.get_yticklabels():
            label.set_parse_math(False)
        axes.set_ylim(len(agents) - 0.5, -0.5)
        axes.grid(axis="x", alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_xlabel("margin over the field, points a game")
        text = io.StringIO()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph", UserWarning)  # a name may have characters that the font lacks
            figure.savefig(text, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    return Markup(text.getvalue()[text.getvalue().index("<svg") :])  # safe: names in it are drawn as paths
