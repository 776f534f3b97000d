"""Pictures of analyses: the moves of a position as bars, or the course of a game."""

from __future__ import annotations

import textwrap
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from krypenv.advice.estimates import TIE
from krypenv.rules import Rules
from krypenv.training.evaluation.analysis.analysis import SYMBOLS, PositionAnalysis, RecordAnalysis, RecordedMove
from krypenv.training.evaluation.analysis.comments import describe, describe_cards, side_name
from krypenv.training.runs.tables import save_figure

MOST_BARS = 24  # most moves drawn for a position
LINE = 24  # characters of a move in a line of its label
LONGEST = 14  # characters of a move next to its mark
MARK_COLOURS = dict(zip(("", *SYMBOLS), ("0.55", "tab:olive", "tab:orange", "tab:red"), strict=True))


def draw_position(path: Path, analysis: PositionAnalysis) -> None:
    """Draw the margin of every move as a bar that starts at the margin so far, with its interval, best on top."""
    moves = analysis.moves[:MOST_BARS]
    figure = Figure(figsize=(10, 1.6 + 0.5 * len(moves)), layout="constrained")
    axes = figure.subplots()
    for place, value in enumerate(moves):
        axes.barh(
            place, value.margin.mean - analysis.so_far, 0.7, analysis.so_far, xerr=value.margin.half,
            color="tab:blue" if value.behind.mean > TIE else "tab:green", alpha=0.75, ecolor="0.2", capsize=3,
        )  # fmt: skip
    axes.set_yticks(range(len(moves)), [textwrap.fill(value.move, LINE) for value in moves], parse_math=False)
    axes.invert_yaxis()
    axes.axvline(analysis.so_far, color="black", linewidth=0.8)
    interval = "" if analysis.worlds == 1 else ", with its 95% interval"
    axes.set_xlabel(f"expected margin, points{interval}; bars start at the margin so far")
    of_all = f", the best {len(moves)} of {len(analysis.moves)} moves" if len(moves) < len(analysis.moves) else ""
    whose = f"{analysis.rules}: seat {analysis.seat} in deal {analysis.deal}{of_all}"
    title = "\n".join(textwrap.fill(line, 110) for line in (whose, describe_cards(analysis), describe(analysis)))
    figure.suptitle(title, fontsize=10, parse_math=False)
    axes.grid(axis="x", alpha=0.3)
    save_figure(path, figure)


def draw_record(path: Path, analysis: RecordAnalysis) -> None:
    """Draw each side's expected margin over the game, with marked moves, and the regret of every move by seat."""
    seats = [seat.seat for seat in analysis.seats]
    sides = Rules.parse(analysis.rules).num_teams
    figure = Figure(figsize=(10, 4 + 1.1 * len(seats)), layout="constrained")
    upper, *lower = figure.subplots(1 + len(seats), sharex=True, gridspec_kw={"height_ratios": [3] + [1] * len(seats)})
    for side in sorted({seat % sides for seat in seats}):
        own = [play for play in analysis.plays if play.seat % sides == side]
        numbers, margins = [play.number for play in own], [play.best.margin.mean for play in own]
        upper.plot(numbers, margins, color=f"C{side}", label=side_name(analysis, side), linewidth=1.5)
        if sides == 2:
            upper.plot(numbers, [play.so_far for play in own], color=f"C{side}", linewidth=0.8, linestyle=":")
    largest = max(play.regret for play in analysis.plays)
    for seat, axes in zip(seats, lower, strict=True):
        for play in analysis.plays:
            if play.seat == seat and play.regret > TIE:
                axes.bar(play.number, play.regret, color=MARK_COLOURS[play.mark])
        axes.set_ylim(0, 1.1 * largest or 1)
        axes.set_ylabel(f"seat {seat}\nregret", fontsize=8)
        axes.grid(alpha=0.3)
    upper.margins(y=0.25)
    upper.axhline(0, color="black", linewidth=0.8)
    so_far = "\n(dotted: margin so far)" if sides == 2 else ""
    upper.set_ylabel(f"expected margin of the best move{so_far}", fontsize=9)
    upper.legend(loc="lower left", fontsize=8, ncols=3)  # "best" warns where the machine is busy
    upper.grid(alpha=0.3)
    _draw_marks(upper, [play for play in analysis.plays if play.mark in SYMBOLS[1:]])
    figure.suptitle(f"{analysis.rules}: {describe(analysis)}", fontsize=10, parse_math=False)
    lower[-1].set_xlabel("play")
    save_figure(path, figure)


def _draw_marks(axes: Axes, plays: list[RecordedMove]) -> None:
    """Mark moves on the lines of their sides, and name them above the panel."""
    for play in plays:
        at, colour = (play.number, play.best.margin.mean), MARK_COLOURS[play.mark]
        move = play.played.move if len(play.played.move) <= LONGEST else f"{play.played.move[: LONGEST - 1]}…"
        axes.plot(*at, "o", color=colour, markersize=4)
        axes.annotate(
            f"{move} {play.mark}", at, (play.number, 1.02), textcoords=axes.get_xaxis_transform(), rotation=90,
            fontsize=6, color="0.2", ha="center", va="bottom", parse_math=False, annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.6, "relpos": (0.5, 0), "shrinkB": 3},
        )  # fmt: skip
