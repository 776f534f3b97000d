"""The score sheet: every point of a game by its source and seat, and who won and why."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from krypenv.cards import card_name
from krypenv.game.game import Game
from krypenv.kernels.compiled import compile_rules
from krypenv.kernels.scoring import are_best, majority_points
from krypenv.rules import Rules
from krypenv.ui.narrator.facts import counting_cards
from krypenv.ui.narrator.rules_text import class_name
from krypenv.ui.narrator.words import Words, starting

_MAJORITIES = {"most_spades": "most_spades_points", "most_cards": "most_cards_points", "spades_above": "spades_above"}
_NONE: dict[str, Any] = {"most_spades_points": 0, "most_cards_points": 0, "spades_above": None}
Row = tuple[str, list[str]]  # a label, and a cell for each seat
_GAP = 2  # columns between two of a sheet


class Entry(NamedTuple):
    """A source of points, a row of the sheet."""

    label: str
    points: tuple[int, ...]  # by seat


class Sheet(NamedTuple):
    """All points of a game: the entries of each seat sum to its score."""

    entries: list[Entry]
    scores: tuple[int, ...]  # by seat
    sides: tuple[int, ...]  # by seat, the score of its side; empty where everyone plays alone
    totals: tuple[int, ...]  # by seat, of the session's games so far; empty if the game is alone


def sheet_of(words: Words, game: Game) -> Sheet:
    """List the points of a game so far by source and seat; at its end they are final (R14, K7)."""
    rules, seats = words.rules, range(words.rules.players)
    entries: list[Entry] = []

    def add(key: str, points: list[int], **parts: Any) -> None:
        if any(points):
            entries.append(Entry(words.say(key, **parts), tuple(points)))

    piles = [game.captured(seat) for seat in seats]
    for found in counting_cards(rules):
        names = {card_name(kind) for kind in found.kinds}
        what = class_name(words, found.name, "row")
        key = "sheet.cards" if rules.packs * len(names) > 1 else "sheet.card"
        taken = [found.points * sum(card in names for card in pile) for pile in piles]
        add(key, taken, cards=what, each=found.points)
    each, counted = rules.sweep_points, [game.counted_sweeps(seat) for seat in seats]
    add("sheet.sweeps", [each * count for count in counted], each=each)
    if rules.sweep_payer == "seat_before":
        paid = [-each * counted[(seat + 1) % rules.players] for seat in seats]
        add("sheet.setups", paid, each=-each)
    if rules.sweeps_cancel:
        fewest = min(sum(counted[seat] for seat in words.members(side)) for side in range(rules.num_teams))
        add("sheet.cancelled", [-each * fewest * (seat < rules.num_teams) for seat in seats])
    mulles = [rules.mulle_points * game.mulles(seat) + game.mulle_scores(seat) for seat in seats]
    add("sheet.mulles", mulles)
    ends = _of_the_end(game) if game.is_over and not game.ended_at_once else {}
    for name, points in ends.items():
        add(f"sheet.{name}", points, limit=rules.spades_above or 0)
    bonus = game.state["bonus"][: rules.players].tolist()
    settled = [sum(points[seat] for points in ends.values()) for seat in seats]
    add("sheet.first_table", [whole - seen for whole, seen in zip(bonus, settled, strict=True)])
    scores = game.scores()
    sides = [sum(scores[seat] for seat in words.members(rules.team_of(each))) for each in seats] if rules.teams else []
    return Sheet(entries, tuple(scores), tuple(sides), tuple(game.totals) if rules.games != 1 else ())


def _of_the_end(game: Game) -> dict[str, list[int]]:
    """Compute the points of the end of a game by seat: the last capture, and each majority as it counts alone."""
    rules, seats = game.rules, range(game.rules.players)
    found = {"last_capture": [rules.last_capture_points * (seat == game.last_capturer) for seat in seats]}
    for name, field in _MAJORITIES.items():
        if getattr(rules, field) != _NONE[field]:
            alone = compile_rules(_with_only(rules, field))[0]
            found[name] = [
                int(majority_points(alone, game.state, seat)) if seat < rules.num_teams else 0 for seat in seats
            ]
    return found


def _with_only(rules: Rules, field: str) -> Rules:
    return dataclasses.replace(rules, **{**_NONE, field: getattr(rules, field)})


def tell_account(words: Words, game: Game, seat: int) -> str:
    """Tell what the score of a seat so far is made of, as in "6 points - 5 given = 1"."""
    rules, score, cards = words.rules, game.scores()[seat], game.points(seat)
    made, given = game.counted_sweeps(seat), 0
    if rules.sweep_payer == "seat_before":
        given = game.counted_sweeps((seat + 1) % rules.players)
    mulles = rules.mulle_points * game.mulles(seat) + game.mulle_scores(seat)
    more = score - cards - rules.sweep_points * (made - given) - mulles
    terms = [(cards, words.points(abs(cards)))] if cards or score == 0 else []
    for key, count, points in (
        ("sweeps", made, rules.sweep_points * made), ("given", given, -rules.sweep_points * given),
        ("mulles", 0, mulles), ("more", 0, more),
    ):  # fmt: skip
        terms += [(points, words.say(f"account.{key}", count, points=abs(points)))] if points else []
    said = " ".join(f"{'-' if points < 0 else '+'} {text}" for points, text in terms).removeprefix("+ ")
    return said if len(terms) == 1 else f"{said} = {score}"


def rows_of(words: Words, sheet: Sheet) -> list[list[str]]:
    """Lay a sheet out as rows of a label and a cell for each seat; the first row has their names."""
    names, rows, ends = _parts_of(words, sheet)
    return [["", *names], *([label, *cells] for label, cells in rows + ends)]


def _parts_of(words: Words, sheet: Sheet) -> tuple[list[str], list[Row], list[Row]]:
    """Write the names of the seats, the entries and the sums below them."""
    names = [starting(words.names[seat]) for seat in range(words.rules.players)]
    rows = [(each.label, [str(points) if points else "" for points in each.points]) for each in sheet.entries]
    ends = [(words.say("sheet.score"), [str(score) for score in sheet.scores])]
    ends += [(words.say("sheet.side"), [str(score) for score in sheet.sides])] if sheet.sides else []
    ends += [(words.say("sheet.total"), [str(total) for total in sheet.totals])] if sheet.totals else []
    return names, rows, ends


def lines_of(words: Words, game: Game, width: int = 80) -> list[str]:
    """Write the sheet of a game in lines of at most `width` columns: a table, or the entries of each seat."""
    names, rows, ends = _parts_of(words, sheet_of(words, game))
    first = max(len(label) for label, _ in rows + ends)
    widths = [max(len(cell) for cell in cells) for cells in zip(names, *(row for _, row in rows + ends), strict=True)]
    if first + sum(each + _GAP for each in widths) > width:
        return _by_seat(words, names, rows, ends)

    def line(label: str, cells: list[str]) -> str:
        return label.ljust(first) + "".join(cell.rjust(each + _GAP) for cell, each in zip(cells, widths, strict=True))

    rule = "-" * len(line("", names))
    return [line("", names), *(line(*row).rstrip() for row in rows), rule, *(line(*row) for row in ends)]


def _by_seat(
    words: Words, names: list[str], rows: list[tuple[str, list[str]]], ends: list[tuple[str, list[str]]]
) -> list[str]:
    lines = []
    for seat, name in enumerate(names):
        lines.append(f"{name}:")
        lines += [f"  {cells[seat]:>4} {label}" for label, cells in rows if cells[seat]]
        lines += [f"  {cells[seat]:>4} {label}" for label, cells in ends]
    return lines


def tell_result(words: Words, game: Game) -> str:
    """Tell who won a game that is over, or its session, with which scores and why; who led one that was broken off."""
    rules = game.rules
    best, sums, is_decided, in_session, by = outcome(game, rules.games != 1)
    names, score = words.listed([words.side(side) for side in best]), sums[best[0]]
    others = words.listed([str(each) for side, each in enumerate(sums) if side not in best])
    broken = words.say(f"by.{by.replace(' ', '_')}") if by else ""
    is_alone = len(words.members(best[0])) == 1
    form = "plural" if not is_alone else "you" if best == [words.own_side] else "one"
    if not game.is_over:
        return words.say("result.agreed", who=starting(names), score=score)
    if not is_decided:
        return words.say("result.best", who=starting(names), score=score)
    if len(best) > 1:
        result = words.say("result.share", who=starting(names), score=score)
    else:
        result = words.say(f"result.wins.{form}", who=starting(names), score=score, others=others, by=broken)
    session = [words.say("result.session")] if in_session else []
    return " ".join([result, words.say(f"goal.{rules.goal}"), *session])


class Outcome(NamedTuple):
    """The winners of a game that is over, or of its session."""

    best: list[int]  # the sides; several share the win
    sums: list[int]  # by side: scores of the game, or totals when a session ends
    is_decided: bool  # whether there is a winner: not between the games of a session
    in_session: bool  # whether the totals of a session decide
    broken_by: str  # what broke a tie: "spades", "card points" or "cards"; empty if nothing did (K6, F7)


def outcome(game: Game, in_session: bool) -> Outcome:
    """Find the best sides, a team by the sum of its seats (R16); `in_session` says that totals decide."""
    is_decided = game.session_over or not in_session
    sums = sums_by_side(game, game.totals if in_session and is_decided else game.scores())
    ties = np.array(game.tie_breaks()[: game.rules.num_teams]) if is_decided else None
    best = np.flatnonzero(are_best(game.rules, np.array(sums), ties)).tolist()
    by = _tie_broken_by(game, best[0], sums) if is_decided and len(best) == 1 else ""
    return Outcome(best, sums, is_decided, in_session, by)


def sums_by_side(game: Game, numbers: list[int]) -> list[int]:
    """Sum the numbers of seats by side (R16)."""
    return [sum(numbers[side :: game.rules.num_teams]) for side in range(game.rules.num_teams)]


def _tie_broken_by(game: Game, winner: int, sums: list[int]) -> str:
    """Name the count that broke a tie for the best score; empty if there was no tie (K6, F7)."""
    tied = [side for side, total in enumerate(sums) if total == sums[winner] and side != winner]
    cards, spades = zip(*map(game.pile_counts, range(game.rules.players)), strict=True)
    counts = {"spades": spades}
    if game.rules.tie_break == "finnish":
        counts = {"card points": tuple(map(game.points, range(game.rules.players))), **counts, "cards": cards}
    for name, by_seat in counts.items():
        by_side = sums_by_side(game, list(by_seat))
        rivals = [side for side in tied if by_side[side] == by_side[winner]]
        if tied and not rivals:
            return name
        tied = rivals
    return ""
