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
    it, rules = analysis, Rules.parse(analysis.rules)
    print(f"{it.rules}: seat {it.seat} in deal {it.deal}, margin so far {it.so_far:+g}")
    print(told_cards(it))
    print(f"{describe(it)}, seed {it.seed}")
    rows = [
        (
            value.move, plus_minus(value.margin, "+"), plus_minus(value.behind) if value.behind.mean > TIE else "-",
            str(value.sweeps or "-"), f"{value.sets_up:.0%}", f"{value.risks:.0%}",
        )
        for value in it.moves
    ]  # fmt: skip
    print_table(MOVE_COLUMNS, rows)
    if it.legal != len(it.moves):
        legal = f"more than {MOST_MOVES:,}" if it.legal is None else f"{it.legal:,}"
        less = ", or win less at once with the same card" if it.was_cut else ""
        print(f"{len(it.moves)} of {legal} moves looked at: the others are no better than one of these{less}")
    verb = "must" if rules.forced_sweep or rules.capture == "maximal" else "can"
    print(f"margin: expected at the end of the game, in points; sets up: probability that the next seat {verb} sweep;")
    print(f"risks: probability that this seat {verb} sweep at its next turn")


def told_cards(analysis: PositionAnalysis) -> str:
    """Return what the seat holds and what lies on the table."""
    pending = f"; taking with {analysis.pending}" if analysis.pending else ""
    return f"hand {' '.join(analysis.hand)}; table {' '.join(analysis.table) or 'empty'}{pending}"


def describe(analysis: PositionAnalysis | RecordAnalysis) -> str:
    """Return the agent's name, whether it saw hidden cards and, for a position, whether anything is hidden."""
    if analysis.open_hands:
        return f"{analysis.agent}, shown all hands (cheats)"
    is_known = isinstance(analysis, PositionAnalysis) and analysis.worlds == 1
    return f"{analysis.agent}, nothing is hidden" if is_known else analysis.agent


def print_record(analysis: RecordAnalysis) -> None:
    """Print every decision of a record that had a choice, and a summary of each seat."""
    it, scores = analysis, "-".join(map(str, analysis.scores))
    print(f"{it.rules}: {scores}{'' if it.is_over else ' so far'}; {describe(it)}, seed {it.seed}")
    plays = [
        (
            str(play.number), str(play.seat), play.played.move, play.mark,
            *((plus_minus(play.played.behind), play.best.move) if play.regret > TIE else ("-", "-")),
            f"{play.best.margin.mean:+.1f}", f"{play.so_far:+.1f}",
        )
        for play in it.plays if play.had_choice
    ]  # fmt: skip
    print_table(PLAY_COLUMNS, plays)
    seats = [
        (
            str(seat.seat), str(seat.decisions), "-" if seat.best_rate is None else f"{seat.best_rate:.0%}",
            "-" if seat.mean_regret is None else f"{seat.mean_regret:.2f}", f"{seat.total_regret:.1f}",
            *map(str, (seat.inaccuracies, seat.mistakes, seat.blunders)),
        )
        for seat in it.seats
    ]  # fmt: skip
    print_table(SEAT_COLUMNS, seats)
    marks = (f"{mark} from {least:g}" for mark, least in zip(SYMBOLS, it.marks.points, strict=True))
    print(f"regret: points behind the best move; marks: {', '.join(marks)} points, where the interval excludes 0")
    print("margin: expected for the seat's side with the best move; so far: its margin by the scores so far")
    print_luck(it)


def print_luck(analysis: RecordAnalysis) -> None:
    """Print the margin of each deal and side, how much of it was the cards, and the sum in a sentence."""
    luck, told = analysis.luck, told_sides(analysis)
    print()
    if not luck.deals:
        print("luck: unknown, as no deal was both dealt and finished in this record")
        return
    print("luck: what the cards brought, deal by deal")
    print_table(LUCK_COLUMNS, [(name, *row) for side, name in told.items() for row in _luck_rows(analysis, side)])
    for sentence in tell_sides(analysis):
        print(sentence)
    print("cards: points due to the hands that came, against hands dealt anew from the same cards; play: the rest")
    if luck.margins.shape[1] == 2:
        print(f"{side_name(analysis, 1 - next(iter(told)))}: the same with the opposite sign")
    print(f"values of hands: {luck.control}")


def _luck_rows(analysis: RecordAnalysis, side: int) -> list[tuple[str, ...]]:
    """Return deal, margin, cards and play of a side as texts, for each deal and for all of them."""
    luck = analysis.luck
    figures = np.stack([luck.margins, luck.luck, luck.play])[:, :, side].T
    rows = [*zip(map(str, luck.deals), figures, strict=True), ("all", figures.sum(axis=0))]
    return [(deal, *(f"{points.round(1) + 0.0:+.1f}" for points in row)) for deal, row in rows]  # no -0.0


def told_sides(analysis: RecordAnalysis) -> dict[int, str]:
    """Return the names of the sides that were analysed; of two sides one, as the other has the opposite margin."""
    sides = Rules.parse(analysis.rules).num_teams
    found = sorted({seat.seat % sides for seat in analysis.seats})
    return {side: side_name(analysis, side) for side in (found[:1] if sides == 2 else found)}


def side_name(analysis: RecordAnalysis, side: int) -> str:
    """Return the seats of a side, as in "seat 1" or "seats 0, 2 and 4"."""
    rules = Rules.parse(analysis.rules)
    *others, last = map(str, range(side, rules.players, rules.num_teams))
    return f"seats {', '.join(others)} and {last}" if others else f"seat {last}"


def tell_sides(analysis: RecordAnalysis) -> list[str]:
    """Return for each of `told_sides` how it came off and what the cards brought it, in a sentence."""
    return [
        analysis.luck.tell(side, name.capitalize(), "them" if name.startswith("seats") else "it")
        for side, name in told_sides(analysis).items()
    ]


def annotate(game: Game, analysis: RecordAnalysis) -> str:
    """Return the record of the game with the analysis as comments, and the agent in the tag `Annotator`.

    A comment after each analysed move tells its mark, its regret with the 95% interval, and the best move; one before
    each deal the luck of that deal, and the last one that of the game. Comments of the record are kept; one that says
    the same already is not repeated. The record reads back as the same game.
    """
    twin, starts = game.rewound(), dict[int, int]()
    for number, move in enumerate(game.moves):
        starts.setdefault(twin.deal_number, number)  # the number of moves before each deal
        twin.push(move)
    borders = set(starts.values())  # where a comment stands under the title of the next deal
    said = [
        (play.number, f"move {play.number}: " * (play.number in borders) + _tell_play(play)) for play in analysis.plays
    ]
    sides = {name: _luck_rows(analysis, side) for side, name in told_sides(analysis).items()}
    for at, deal in enumerate(analysis.luck.deals):
        figures = (f"{name}: margin {{1}}, cards {{2}}, play {{3}}".format(*rows[at]) for name, rows in sides.items())
        said.append((starts[deal], f"deal {deal}, {'; '.join(figures)}"))
    said += [(len(game.moves), " ".join(tell_sides(analysis)))] if analysis.luck.deals else []
    twin = game.copy()
    twin.tags["Annotator"] = describe(analysis)
    for number, text in said:
        before = twin.comments.get(number, "")
        if f"; {text};" not in f"; {before};":
            twin.comments[number] = f"{before}; {text}" if before else text
    return twin.record()


def _tell_play(play: RecordedMove) -> str:
    """Return what a move was worth among the legal ones, as in ``?? 5.2 ± 1.1 behind 2C``."""
    if not play.had_choice:
        return "only move"
    if play.regret <= TIE:
        return "best"
    return f"{play.mark} {plus_minus(play.played.behind)} behind {play.best.move}".strip()
