"""Analyses as tables, and as comments in a record."""

from __future__ import annotations

import numpy as np

from krypenv.advice.estimates import TIE, plus_minus
from krypenv.advice.values import MoveValue
from krypenv.game.core import MOST_MOVES
from krypenv.one_game import Game
from krypenv.rules import Rules
from krypenv.training.evaluation.analysis.analysis import (
    SYMBOLS,
    PositionAnalysis,
    RecordAnalysis,
    RecordedMove,
    SeatSummary,
)
from krypenv.training.evaluation.luck.of_game import FloatArray, GameLuck
from krypenv.training.runs.tables import print_table

MOVE_COLUMNS = ("move", "margin", "behind the best", "sweeps", "sets up", "risks")
PLAY_COLUMNS = ("play", "seat", "played", "mark", "regret", "best", "margin", "so far")
LUCK_COLUMNS = ("side", "deal", "margin", "cards", "play")
SEAT_COLUMNS = ("seat", "decisions", "best move", "regret a decision", "in all", "?!", "?", "??")


def print_position(analysis: PositionAnalysis) -> None:
    """Print the moves of a position, best first."""
    print(f"{analysis.rules}: seat {analysis.seat} in deal {analysis.deal}, margin so far {analysis.so_far:+g}")
    print(f"hand {' '.join(analysis.hand)}; table {' '.join(analysis.table) or 'empty'}{_pending(analysis)}")
    print(f"{describe(analysis)}, seed {analysis.seed}")
    print_table(MOVE_COLUMNS, [_move_row(value) for value in analysis.moves])
    if looked_at := _looked_at(analysis):
        print(looked_at)
    rules = Rules.parse(analysis.rules)
    verb = "must" if rules.forced_sweep or rules.capture == "maximal" else "can"
    print(f"margin: expected at the end of the game, in points; sets up: probability that the next seat {verb} sweep;")
    print(f"risks: probability that this seat {verb} sweep at its next turn")


def _looked_at(analysis: PositionAnalysis) -> str:
    """Return which of the legal moves are listed; nothing if all are."""
    if analysis.legal == len(analysis.moves):
        return ""
    legal = f"more than {MOST_MOVES:,}" if analysis.legal is None else f"{analysis.legal:,}"
    why = "the others are no better than one of these"
    if analysis.was_cut:
        why += ", or win less at once with the same card"
    return f"{len(analysis.moves)} of {legal} moves looked at: {why}"


def _pending(analysis: PositionAnalysis) -> str:
    return f"; taking with {analysis.pending}" if analysis.pending else ""


def describe(analysis: PositionAnalysis | RecordAnalysis) -> str:
    """Return the agent's name, whether it saw hidden cards and, for a position, whether anything is hidden."""
    if analysis.open_hands:
        return f"{analysis.agent}, shown all hands (cheats)"
    is_known = isinstance(analysis, PositionAnalysis) and analysis.worlds == 1
    return f"{analysis.agent}, nothing is hidden" if is_known else analysis.agent


def _move_row(value: MoveValue) -> tuple[str, ...]:
    return (
        value.move,
        plus_minus(value.margin, "+"),
        plus_minus(value.behind) if value.behind.mean > TIE else "-",
        str(value.sweeps or "-"),
        f"{value.sets_up:.0%}",
        f"{value.risks:.0%}",
    )


def print_record(analysis: RecordAnalysis) -> None:
    """Print every decision of a record that had a choice, and a summary of each seat."""
    scores = "-".join(map(str, analysis.scores))
    print(
        f"{analysis.rules}: {scores}{'' if analysis.is_over else ' so far'}; {describe(analysis)}, seed {analysis.seed}"
    )
    print_table(PLAY_COLUMNS, [_play_row(play) for play in analysis.plays if play.had_choice])
    print_table(SEAT_COLUMNS, [_seat_row(seat) for seat in analysis.seats])
    marks = (f"{mark} from {least:g}" for mark, least in zip(SYMBOLS, analysis.marks.points, strict=True))
    print(f"regret: points behind the best move; marks: {', '.join(marks)} points, where the interval excludes 0")
    print("margin: expected for the seat's side with the best move; so far: its margin by the scores so far")
    print_luck(analysis)


def _play_row(play: RecordedMove) -> tuple[str, ...]:
    lost, best = (plus_minus(play.played.behind), play.best.move) if play.regret > TIE else ("-", "-")
    margins = f"{play.best.margin.mean:+.1f}", f"{play.so_far:+.1f}"
    return str(play.number), str(play.seat), play.played.move, play.mark, lost, best, *margins


def _seat_row(seat: SeatSummary) -> tuple[str, ...]:
    rate = "-" if seat.best_rate is None else f"{seat.best_rate:.0%}"
    mean = "-" if seat.mean_regret is None else f"{seat.mean_regret:.2f}"
    counts = (str(count) for count in (seat.inaccuracies, seat.mistakes, seat.blunders))
    return str(seat.seat), str(seat.decisions), rate, mean, f"{seat.total_regret:.1f}", *counts


def print_luck(analysis: RecordAnalysis) -> None:
    """Print the margin of each deal and side, how much of it was the cards, and the sum in a sentence."""
    luck, told = analysis.luck, told_sides(analysis)
    print()
    if not luck.deals:
        print("luck: unknown, as no deal was both dealt and finished in this record")
        return
    print("luck: what the cards brought, deal by deal")
    print_table(LUCK_COLUMNS, [row for side in told for row in _luck_rows(analysis, side)])
    for sentence in tell_sides(analysis):
        print(sentence)
    print("cards: points due to the hands that came, against hands dealt anew from the same cards; play: the rest")
    if luck.margins.shape[1] == 2:
        print(f"{side_name(analysis, 1 - told[0])}: the same with the opposite sign")
    print(f"values of hands: {luck.control}")


def _luck_rows(analysis: RecordAnalysis, side: int) -> list[tuple[str, ...]]:
    luck, name = analysis.luck, side_name(analysis, side)
    figures = _luck_figures(luck)[:, :, side].T
    rows = [*zip(map(str, luck.deals), figures, strict=True), ("all", figures.sum(axis=0))]
    return [(name, deal, *map(_points, row)) for deal, row in rows]


def _luck_figures(luck: GameLuck) -> FloatArray:
    """Return margins, cards and play by deal and side, (3, D, S)."""
    return np.stack([luck.margins, luck.luck, luck.play])


def _points(points: np.float64) -> str:
    return f"{points.round(1) + 0.0:+.1f}"  # no -0.0


def told_sides(analysis: RecordAnalysis) -> list[int]:
    """Return the sides of the seats that were analysed; of two sides one, as the other has the opposite margin."""
    sides = Rules.parse(analysis.rules).num_teams
    found = sorted({seat.seat % sides for seat in analysis.seats})
    return found[:1] if sides == 2 else found


def side_name(analysis: RecordAnalysis, side: int) -> str:
    """Return the seats of a side, as in "seat 1" or "seats 0, 2 and 4"."""
    rules = Rules.parse(analysis.rules)
    *others, last = map(str, range(side, rules.players, rules.num_teams))
    return f"seats {', '.join(others)} and {last}" if others else f"seat {last}"


def tell_sides(analysis: RecordAnalysis) -> list[str]:
    """Return for each of `told_sides` how it came off and what the cards brought it, in a sentence."""
    names = {side: side_name(analysis, side).capitalize() for side in told_sides(analysis)}
    return [
        analysis.luck.tell(side, name, "them" if name.startswith("Seats") else "it") for side, name in names.items()
    ]


def annotate(game: Game, analysis: RecordAnalysis) -> str:
    """Return the record of the game with the analysis as comments, and the agent in the tag `Annotator`.

    A comment after each analysed move tells its mark, its regret with the 95% interval, and the best move; one before
    each deal the luck of that deal, and the last one that of the game. Comments of the record are kept; one that says
    the same already is not repeated. The record reads back as the same game.
    """
    twin = game.copy()
    twin.tags["Annotator"] = describe(analysis)
    starts = _starts_of_deals(game)
    borders = set(starts.values())  # where a comment stands under the title of the next deal
    said = [
        (play.number, f"move {play.number}: " * (play.number in borders) + tell_play(play)) for play in analysis.plays
    ]
    said += [(starts[deal], tell_deal(analysis, at)) for at, deal in enumerate(analysis.luck.deals)]
    said += [(len(game.moves), " ".join(tell_sides(analysis)))] if analysis.luck.deals else []
    for number, text in said:
        before = twin.comments.get(number, "")
        if f"; {text};" not in f"; {before};":
            twin.comments[number] = f"{before}; {text}" if before else text
    return twin.record()


def tell_play(play: RecordedMove) -> str:
    """Return what a move was worth among the legal ones, as in ``?? 5.2 ± 1.1 behind 2C``."""
    if not play.had_choice:
        return "only move"
    return (
        f"{play.mark} {plus_minus(play.played.behind)} behind {play.best.move}".strip() if play.regret > TIE else "best"
    )


def tell_deal(analysis: RecordAnalysis, at: int) -> str:
    """Return the luck in a deal, at its place in `analysis.luck`, side by side."""
    luck = analysis.luck
    figures = {
        side_name(analysis, side): zip(("margin", "cards", "play"), _luck_figures(luck)[:, at, side], strict=True)
        for side in told_sides(analysis)
    }
    told = (
        f"{name}: {', '.join(f'{what} {_points(points)}' for what, points in row)}" for name, row in figures.items()
    )
    return f"deal {luck.deals[at]}, {'; '.join(told)}"


def _starts_of_deals(game: Game) -> dict[int, int]:
    """Return the number of moves before each deal."""
    starts: dict[int, int] = {}
    twin = game.rewound()
    for number, move in enumerate(game.moves):
        starts.setdefault(twin.deal_number, number)
        twin.push(move)
    return starts
