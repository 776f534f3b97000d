"""What an analysis says, as tables, as comments in a record, and as a picture."""

from __future__ import annotations

import io
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from krypenv.files import write_whole
from krypenv.game import Game
from krypenv.training.analysis import Estimate, MoveValue, Play, PositionAnalysis, RecordAnalysis, SeatSummary
from krypenv.training.report import print_table

MOVE_COLUMNS = ("move", "margin", "behind the best", "sweeps", "sets up", "risks")
PLAY_COLUMNS = ("play", "seat", "played", "mark", "regret", "best", "margin")
SEAT_COLUMNS = ("seat", "decisions", "best move", "regret a decision", "in all", "?!", "?", "??")
MARK_COLOURS = {"": "0.55", "?!": "tab:olive", "?": "tab:orange", "??": "tab:red"}


def print_position(analysis: PositionAnalysis) -> None:
    """Print the moves of a position, best first."""
    print(f"{analysis.rules}: seat {analysis.seat} in deal {analysis.deal}, margin so far {analysis.so_far:+g}")
    print(f"hand {' '.join(analysis.hand)}; table {' '.join(analysis.table) or 'empty'}{_pending(analysis)}")
    print(f"{analysis.agent}, {_basis(analysis.worlds, analysis.open_hands)}, seed {analysis.seed}")
    print_table(MOVE_COLUMNS, [_move_row(value) for value in analysis.moves])
    print("margin: expected at the end of the game, in points; sets up, risks: chance of a sweep that the next seat")
    print("must make, and of one that this seat must make at its next turn")


def _pending(analysis: PositionAnalysis) -> str:
    return f"; taking with {analysis.pending}" if analysis.pending else ""


def _basis(worlds: int, open_hands: bool) -> str:
    if open_hands:
        return "shown all hands (cheats)"
    return f"{worlds} worlds" if worlds > 1 else "nothing is hidden"


def _move_row(value: MoveValue) -> tuple[str, ...]:
    behind = _plus_minus(value.behind, "") if value.behind.mean else "-"
    return (
        value.move,
        _plus_minus(value.margin, "+"),
        behind,
        str(value.sweeps or "-"),
        f"{value.sets_up:.0%}",
        f"{value.risks:.0%}",
    )


def _plus_minus(estimate: Estimate, sign: str) -> str:
    width = "" if estimate.half is None else f" ± {estimate.half:.1f}"
    return f"{estimate.mean:{sign}.1f}{width}"


def print_record(analysis: RecordAnalysis) -> None:
    """Print every decision of a record, and how each seat played."""
    cheats = ", shown all hands (cheats)" if analysis.open_hands else ""
    scores = "-".join(map(str, analysis.scores))
    print(f"{analysis.rules}: {scores}{'' if analysis.is_over else ' so far'}; {analysis.agent}{cheats}")
    print_table(PLAY_COLUMNS, [_play_row(play) for play in analysis.plays if play.had_choice])
    print_table(SEAT_COLUMNS, [_seat_row(seat) for seat in analysis.seats])
    marks = (f"{mark} from {least:g}" for mark, least in zip(("?!", "?", "??"), analysis.marks, strict=True))
    print(f"regret: points behind the best move; marks: {', '.join(marks)} points, where the interval excludes 0")


def _play_row(play: Play) -> tuple[str, ...]:
    best = play.best.move if play.regret else "-"
    regret = _plus_minus(play.played.behind, "") if play.regret else "-"
    return str(play.number), str(play.seat), play.played.move, play.mark, regret, best, f"{play.best.margin.mean:+.1f}"


def _seat_row(seat: SeatSummary) -> tuple[str, ...]:
    rate = "-" if seat.best_rate is None else f"{seat.best_rate:.0%}"
    mean = "-" if seat.mean_regret is None else f"{seat.mean_regret:.2f}"
    counts = (str(count) for count in (seat.inaccuracies, seat.mistakes, seat.blunders))
    return str(seat.seat), str(seat.decisions), rate, mean, f"{seat.total_regret:.1f}", *counts


def annotate(game: Game, analysis: RecordAnalysis) -> str:
    """Return the record of the game with a comment behind each marked move; it reads back as the same game."""
    twin = game.copy()
    for play in analysis.plays:
        if play.mark:
            text = f"{play.mark} {play.regret:.1f} behind {play.best.move}"
            before = twin.comments.get(play.number)
            twin.comments[play.number] = f"{before}; {text}" if before else text
    return twin.record()


# ---------------------------------------------------------------------- pictures


def draw_position(path: Path, analysis: PositionAnalysis) -> None:
    """Draw the margin of every move with its interval, the best on top."""
    moves = analysis.moves[::-1]
    figure = Figure(figsize=(9, 1.6 + 0.42 * len(moves)), layout="constrained")
    axes = figure.subplots()
    best = analysis.best.move
    for place, value in enumerate(moves):
        colour = "tab:green" if value.move == best else "tab:blue"
        axes.barh(place, value.margin.mean, xerr=value.margin.half, color=colour, alpha=0.75, ecolor="0.2", capsize=3)
    axes.set_yticks(range(len(moves)), [_label(value) for value in moves], parse_math=False)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_xlabel("expected margin at the end of the game, points (95% interval)")
    title = f"seat {analysis.seat}, deal {analysis.deal}: {analysis.agent}"
    axes.set_title(f"{title}, {_basis(analysis.worlds, analysis.open_hands)}", fontsize=10, parse_math=False)
    axes.grid(axis="x", alpha=0.3)
    _save(path, figure)


def _label(value: MoveValue) -> str:
    """Return a move with what it does about sweeps, in two lines where the move is long."""
    facts = [f"sets up {value.sets_up:.0%}"] if value.sets_up >= 0.005 else []
    facts += [f"risks {value.risks:.0%}"] if value.risks >= 0.005 else []
    move = value.move if len(value.move) <= 24 else value.move[:22] + "…"
    return f"{move}\n{', '.join(facts)}" if facts else move


def draw_record(path: Path, analysis: RecordAnalysis) -> None:
    """Draw what each seat could expect along the game, with marked moves, and the regret of every move by seat."""
    seats = [seat.seat for seat in analysis.seats]
    figure = Figure(figsize=(10, 4 + 1.1 * len(seats)), layout="constrained")
    upper, *lower = figure.subplots(1 + len(seats), sharex=True, gridspec_kw={"height_ratios": [3] + [1] * len(seats)})
    most = max((play.regret for play in analysis.plays), default=0.0)
    for index, (seat, axes) in enumerate(zip(seats, lower, strict=True)):
        own = [play for play in analysis.plays if play.seat == seat]
        upper.plot(
            [play.number for play in own], [play.best.margin.mean for play in own],
            color=f"C{index}", label=f"seat {seat}", linewidth=1.5,
        )  # fmt: skip
        _draw_regrets(axes, seat, own, most)
        for play in own:
            if play.mark in ("?", "??"):
                upper.annotate(
                    f"{play.mark} {play.played.move}", (play.number, play.best.margin.mean), fontsize=7, rotation=60,
                    xytext=(0, 6), textcoords="offset points", color=MARK_COLOURS[play.mark], parse_math=False,
                )  # fmt: skip
                upper.plot(play.number, play.best.margin.mean, "o", color=MARK_COLOURS[play.mark], markersize=4)
    upper.margins(y=0.25)
    upper.axhline(0, color="black", linewidth=0.8)
    upper.set_ylabel("margin expected\nwith the best move")
    upper.legend(loc="upper left", fontsize=8, ncols=3)
    upper.grid(alpha=0.3)
    cheats = ", shown all hands (cheats)" if analysis.open_hands else ""
    upper.set_title(f"{analysis.rules}: {analysis.agent}{cheats}", fontsize=10, parse_math=False)
    lower[-1].set_xlabel("play")
    _save(path, figure)


def _draw_regrets(axes: Axes, seat: int, plays: list[Play], most: float) -> None:
    for play in plays:
        if play.regret:
            axes.bar(play.number, play.regret, color=MARK_COLOURS[play.mark])
    axes.set_ylim(0, 1.1 * most or 1)
    axes.set_ylabel(f"seat {seat}\nregret", fontsize=8)
    axes.grid(alpha=0.3)


def _save(path: Path, figure: Figure) -> None:
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=120)
    write_whole(path, picture.getvalue())
