"""Analyses as tables, and as comments in a record."""

from __future__ import annotations

import numpy as np

from krypenv.advice.estimates import TIE, plus_minus
from krypenv.game.game import MOST_MOVES, Game
from krypenv.rules import Rules
from krypenv.training.evaluation.analysis.analysis import SYMBOLS, PositionAnalysis, RecordAnalysis, RecordedMove
from krypenv.training.runs.tables import print_table

MOVE_COLUMNS = ("move", "margin", "behind the best", "sweeps", "sets up", "risks")
PLAY_COLUMNS = ("play", "seat", "played", "mark", "regret", "best", "margin", "so far")
LUCK_COLUMNS = ("side", "deal", "margin", "cards", "play")
SEAT_COLUMNS = ("seat", "decisions", "best move", "regret a decision", "in all", "?!", "?", "??")


def print_position(analysis: PositionAnalysis) -> None:
    """Print the moves of a position, best first."""
    rules = Rules.parse(analysis.rules)
    print(f"{analysis.rules}: seat {analysis.seat} in deal {analysis.deal}, margin so far {analysis.so_far:+g}")
    print(describe_cards(analysis))
    print(f"{describe(analysis)}, seed {analysis.seed}")
    rows = [
        (
            value.move, plus_minus(value.margin, "+"), plus_minus(value.behind) if value.behind.mean > TIE else "-",
            str(value.sweeps or "-"), f"{value.sets_up:.0%}", f"{value.risks:.0%}",
        )
        for value in analysis.moves
    ]  # fmt: skip
    print_table(MOVE_COLUMNS, rows)
    if analysis.legal != len(analysis.moves):
        legal = f"more than {MOST_MOVES:,}" if analysis.legal is None else f"{analysis.legal:,}"
        less = ", or win less at once with the same card" if analysis.was_cut else ""
        print(f"{len(analysis.moves)} of {legal} moves examined: the others are no better than one of these{less}")
    verb = "must" if rules.forced_sweep or rules.capture == "maximal" else "can"
    print(f"margin: expected at the end of the game, in points; sets up: probability that the next seat {verb} sweep;")
    print(f"risks: probability that this seat {verb} sweep at its next turn")


def describe_cards(analysis: PositionAnalysis) -> str:
    """Format the cards of the hand and of the table."""
    pending = f"; taking with {analysis.pending}" if analysis.pending else ""
    return f"hand {' '.join(analysis.hand)}; table {' '.join(analysis.table) or 'empty'}{pending}"


def describe(analysis: PositionAnalysis | RecordAnalysis) -> str:
    """Name the agent, with a note if it saw hidden cards, or if nothing is hidden in a position."""
    if analysis.open_hands:
        return f"{analysis.agent}, shown all hands (cheats)"
    is_known = isinstance(analysis, PositionAnalysis) and analysis.worlds == 1
    return f"{analysis.agent}, nothing is hidden" if is_known else analysis.agent


def print_record(analysis: RecordAnalysis) -> None:
    """Print every decision of a record with several legal moves, and a summary of each seat."""
    scores = "-".join(map(str, analysis.scores)) + ("" if analysis.is_over else " so far")
    print(f"{analysis.rules}: {scores}; {describe(analysis)}, seed {analysis.seed}")
    plays = [
        (
            str(play.number), str(play.seat), play.played.move, play.mark,
            *((plus_minus(play.played.behind), play.best.move) if play.regret > TIE else ("-", "-")),
            *(f"{round(points, 1) + 0.0:+.1f}" for points in (play.best.margin.mean, play.so_far)),  # no -0.0
        )
        for play in analysis.plays if play.had_choice
    ]  # fmt: skip
    print_table(PLAY_COLUMNS, plays)
    seats = [
        (
            str(seat.seat), str(seat.decisions), "-" if seat.best_rate is None else f"{seat.best_rate:.0%}",
            "-" if seat.mean_regret is None else f"{seat.mean_regret:.2f}", f"{seat.total_regret:.1f}",
            *map(str, (seat.inaccuracies, seat.mistakes, seat.blunders)),
        )
        for seat in analysis.seats
    ]  # fmt: skip
    print_table(SEAT_COLUMNS, seats)
    marks = (f"{mark} from {least:g}" for mark, least in zip(SYMBOLS, analysis.marks, strict=True))
    print(f"regret: points behind the best move; marks: {', '.join(marks)} points, where the interval excludes 0")
    print("margin: expected for the seat's side with the best move; so far: its margin by the scores so far")
    print_luck(analysis)


def print_luck(analysis: RecordAnalysis) -> None:
    """Print the margin and the luck of each deal and side, and a sentence on the sums."""
    luck, sides = analysis.luck, analyzed_sides(analysis)
    print()
    if not luck.deals:
        print("luck: unknown, as no deal was both dealt and finished in this record")
        return
    print("luck: what the cards brought, deal by deal")
    print_table(LUCK_COLUMNS, [(name, *row) for side, name in sides.items() for row in _luck_rows(analysis, side)])
    for sentence in luck_sentences(analysis):
        print(sentence)
    print("cards: points due to the hands that came, against hands dealt anew from the same cards; play: the rest")
    if luck.margins.shape[1] == 2:
        print(f"{side_name(analysis, 1 - next(iter(sides)))}: the same with the opposite sign")
    print(f"values of hands: {luck.control}")


def _luck_rows(analysis: RecordAnalysis, side: int) -> list[tuple[str, ...]]:
    """Format deal, margin, cards and play of a side as a row for each deal and one for their sum."""
    luck = analysis.luck
    figures = np.stack([luck.margins, luck.luck, luck.margins - luck.luck])[:, :, side].T
    rows = [*zip(map(str, luck.deals), figures, strict=True), ("all", figures.sum(axis=0))]
    return [(deal, *(f"{points.round(1) + 0.0:+.1f}" for points in row)) for deal, row in rows]  # no -0.0


def analyzed_sides(analysis: RecordAnalysis) -> dict[int, str]:
    """Name the sides that were analysed; with two sides only the first, as the other has the opposite margin."""
    sides = Rules.parse(analysis.rules).num_teams
    sides_analyzed = sorted({seat.seat % sides for seat in analysis.seats})
    return {side: side_name(analysis, side) for side in (sides_analyzed[:1] if sides == 2 else sides_analyzed)}


def side_name(analysis: RecordAnalysis, side: int) -> str:
    """Name the seats of a side, as in "seat 1" or "seats 0, 2 and 4"."""
    rules = Rules.parse(analysis.rules)
    *earlier, last = map(str, range(side, rules.players, rules.num_teams))
    return f"seats {', '.join(earlier)} and {last}" if earlier else f"seat {last}"


def luck_sentences(analysis: RecordAnalysis) -> list[str]:
    """Write a sentence on the margin and the luck of each of `analyzed_sides`."""
    return [
        analysis.luck.tell(side, name.capitalize(), "them" if name.startswith("seats") else "it")
        for side, name in analyzed_sides(analysis).items()
    ]


def annotate(game: Game, analysis: RecordAnalysis) -> str:
    """Write the record of the game with the analysis as comments, and the agent in the tag `Annotator`.

    A comment after each analysed move has its mark, its regret with the 95% interval, and the best move. A comment
    before each deal has the luck of the deal; the last comment has the luck of the game. Comments of the record are
    kept, and none is repeated. The record reads back as the same game.
    """
    twin, starts = game.rewound(), dict[int, int]()
    for number, move in enumerate(game.moves):
        starts.setdefault(twin.deal_number, number)  # the number of moves before each deal
        twin.push(move)
    borders = set(starts.values())  # moves whose comment is printed under the title of the next deal
    comments = []
    for play in analysis.plays:
        comments.append((play.number, f"move {play.number}: " * (play.number in borders) + _describe_play(play)))
    sides = {name: _luck_rows(analysis, side) for side, name in analyzed_sides(analysis).items()}
    for at, deal in enumerate(analysis.luck.deals):
        figures = (f"{name}: margin {{1}}, cards {{2}}, play {{3}}".format(*rows[at]) for name, rows in sides.items())
        comments.append((starts[deal], f"deal {deal}, {'; '.join(figures)}"))
    comments += [(len(game.moves), " ".join(luck_sentences(analysis)))] if analysis.luck.deals else []
    twin = game.copy()
    twin.tags["Annotator"] = describe(analysis)
    for number, text in comments:
        before = twin.comments.get(number, "")
        if f"; {text};" not in f"; {before};":
            twin.comments[number] = f"{before}; {text}" if before else text
    return twin.record()


def _describe_play(play: RecordedMove) -> str:
    """Format a move's mark and regret, as in ``?? 5.2 ± 1.1 behind 2C``."""
    if not play.had_choice:
        return "only move"
    if play.regret <= TIE:
        return "best"
    return f"{play.mark} {plus_minus(play.played.behind)} behind {play.best.move}".strip()
