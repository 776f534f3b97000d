"""Tables that pages show of one study each, made of its stored answers: `make pages`. `generated.py` says where."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import answer_tables
from answer_tables import rows_of, stored
from result_tables import table_of

from krypenv import Rules
from krypenv.training.evaluation.matches.margins import format_margin
from krypenv.training.research.exact.beliefs import CAUSES
from krypenv.training.research.lab.intervals import LEVEL
from krypenv.training.research.misere import large
from krypenv.training.research.solved.matched import FIRST as FIRST_SEAT
from krypenv.training.research.solved.matched import SPREAD
from krypenv.training.research.solved.small import BEST, LOST
from krypenv.training.research.studies.statements import STATEMENTS


def half_width(figure: dict[str, float]) -> float:
    """Return half of an interval."""
    return (figure["high"] - figure["low"]) / 2


def spread_cell(figures: dict[str, Any], name: str, form: str) -> str:
    """Return a figure and half of its interval, or "-" if there is none."""
    if name not in figures:
        return "-"
    return f"{figures[name]['mean']:{form}} ±{half_width(figures[name]):{form.replace('+', '')}}"


def advice(names: Sequence[str], folder: str) -> str:
    """Return for which players each statement of a source holds: in the first answer, and on another seed.

    A difference is told apart from zero if it is in the first answer, with Holm's correction over all statements, and
    its interval in the second is on the same side.
    """
    source, *answers = names
    first, again = (stored(name)["figures"] for name in answers)
    players = first["players"]
    rows = []
    for words in (each.words for each in STATEMENTS if each.source == source):
        found, other = (each["statements"][words] for each in (first, again))
        signs = signs_on_both(found, other)
        cells = [advice_cell(found[name], other[name], name in signs) if name in found else "-" for name in players]
        rows.append([words, *cells, holding(signs, found)])
    return table_of(("statement", *(f"`{player}`" for player in players.values()), "holds for"), rows)


def holding(signs: Mapping[str, int], measured: Collection[str]) -> str:
    """Return for which of the players measured a statement holds, and for which its opposite does."""
    for_it, against = ({name: sign for name, sign in signs.items() if sign == side} for side in (1, -1))
    return holders(for_it, measured) + (f"<br>the opposite: {holders(against, measured)}" if against else "")


def advice_cell(figure: dict[str, Any], again: dict[str, Any], told_apart: bool) -> str:
    """Return a difference in points and in standard deviations of a game of that match, and the one on another seed."""
    mark = "**" if told_apart else ""
    margins = [format_margin(each["mean"], each["low"], each["high"], 1) for each in (figure, again)]
    return f"{mark}{margins[0]}{mark}<br>{figure['mean'] / figure['spread']:+.2f} SD<br>again {margins[1]}"


def by_player(names: Sequence[str], folder: str) -> str:
    """Return figures of games of each player against itself, in the first answer and on another seed in the second."""
    first, second = (stored(name)["figures"] for name in names)
    counted = [each["by player"] for each in (first, second)]

    def cell(player: str, what: str) -> str:
        found, again = (f"{each[player][what]['mean']:.1f} ±{half_width(each[player][what]):.1f}" for each in counted)
        return f"{found}<br>again {again}"

    whats = next(iter(counted[0].values()))
    rows = ([what, *(cell(player, what) for player in first["players"])] for what in whats)
    return table_of(("figure", *(f"`{player}`" for player in first["players"].values())), rows)


def misere(names: Sequence[str], folder: str) -> str:
    """Return a table of the page on misère, by its kind: one of an answer, or one of an answer on two seeds."""
    if names[0] in OF_AN_ANSWER:
        return OF_AN_ANSWER[names[0]](stored(names[1]))
    return OF_TWO_SEEDS[names[0]](*(stored(name)["figures"] for name in names[1:]))


def matched_measures(result: dict[str, Any]) -> str:
    """Return what each measure is with both goals, and the difference, by kind of games."""
    cells = {(what, games): more for what, games, *more in result["rows"]}
    groups = list(dict.fromkeys(games for _, games in cells))

    def cell(low: str, high: str, difference: str, bounds: str, p: str) -> str:
        shown = f"**{difference}**" if float(p) < LEVEL else difference
        return "<br>".join(
            [f"{low}, {high}", shown, bounds, "p < 0.001" if float(p) < 0.001 else f"p = {float(p):.3f}"]
        )

    rows = ([what, *(cell(*cells[what, games]) for games in groups)] for what in dict.fromkeys(w for w, _ in cells))
    return table_of(("in SD: low, high, difference", *groups), rows)


def matched_cells(result: dict[str, Any]) -> str:
    """Return the first seat's lead and the standard deviation in points, by size and rules."""

    def row(size: str, cell: str, games: dict[str, dict[str, float]]) -> list[str]:
        leads = [f"{games[goal][FIRST_SEAT]:+.2f}" for goal in ("low", "high")]
        return [size, cell, *leads, *(f"{games[goal][SPREAD]:.2f}" for goal in ("low", "high"))]

    sizes = result["figures"]["cells"].items()
    head = ("games", "rules", "lead, low", "lead, high", "SD, low", "SD, high")
    return table_of(head, (row(size, *each) for size, cells in sizes for each in cells.items()))


def large_differences(first: dict[str, Any], again: dict[str, Any]) -> str:
    """Return the differences between the goals by quantity, game and player, and for whom they hold on both seeds."""

    def cell(game: str, quantity: str, player: str) -> str:
        found, other = (each["differences"][game][quantity].get(player) for each in (first, again))
        if found is None:
            return "-"
        low, high = large.means_of(first, game, quantity, player)
        return f"{low:+.2f}, {high:+.2f}<br>{tested(found, other)}"

    def row(game: str, quantity: str) -> list[str]:
        found, other = (each["differences"][game][quantity] for each in (first, again))
        cells = [cell(game, quantity, player) for player in large.PLAYERS]
        return [f"{quantity}, {game}", *cells, holders(signs_on_both(found, other), found)]

    rows = (row(game, quantity) for quantity in large.QUANTITIES for game in large.GAMES)
    return table_of(("in SD; sweeps in points", *large.PLAYERS, "holds for"), rows)


def large_levels(first: dict[str, Any], again: dict[str, Any]) -> str:
    """Return each quantity by rule set and player, in SD and points; for whom it is told apart from zero, if tested."""

    def cell(label: str, quantity: str, player: str) -> str:
        found, other = (each["cells"][label][quantity].get(player) for each in (first, again))
        if found is None:
            return "-"
        points = f"{spread_cell(found, 'points', '+.2f')} points"
        if quantity in large.SIGNED:
            told = tested(*({**each["in SD"], "p": each["p"]} for each in (found, other)))
            return f"{told}<br>{points}"
        return f"{spread_cell(found, 'in SD', '+.2f')}<br>{points}" if "in SD" in found else points

    def row(label: str, quantity: str) -> list[str]:
        cells = [cell(label, quantity, player) for player in large.PLAYERS]
        if quantity not in large.SIGNED:
            return [f"{quantity}, {label}", *cells, ""]
        found, other = (large.cells_in_sd(each, label, quantity) for each in (first, again))
        return [f"{quantity}, {label}", *cells, holders(signs_on_both(found, other), found)]

    rows = (row(label, quantity) for quantity in large.QUANTITIES for label in large.SETS)
    return table_of(("in SD", *large.PLAYERS, "holds for"), rows)


def sign_on_both(found: dict[str, float], other: dict[str, float]) -> int:
    """Return the sign of a mean that is told apart from zero (Holm), and by its interval on the other seed; else 0."""
    sign = large.sign_of(found)
    return sign if sign and min(sign * other["low"], sign * other["high"]) > 0 else 0


def tested(found: dict[str, float], other: dict[str, float]) -> str:
    """Return a mean, bold if its sign holds on both seeds, its interval, its p value, and the interval again."""
    mean = f"{found['mean']:+.2f}"
    shown = f"**{mean}**" if sign_on_both(found, other) else mean
    p = "p < 0.001" if found["p"] < 0.001 else f"p = {found['p']:.3f}"
    first, again = (f"{each['low']:+.2f} to {each['high']:+.2f}" for each in (found, other))
    return f"{shown} ({first})<br>{p}; again {again}"


def signs_on_both(found: dict[str, dict[str, float]], other: dict[str, dict[str, float]]) -> dict[str, int]:
    """Return the signs that hold on both seeds, by player."""
    return {player: sign for player in found if (sign := sign_on_both(found[player], other[player]))}


def holders(signs: Mapping[str, int], measured: Collection[str]) -> str:
    """Return for which of the players measured something holds: all, their names, or none; signs if they differ."""
    if not signs:
        return "none"
    if len(set(signs.values())) > 1:
        return ", ".join(f"{player} ({'+' if sign > 0 else '-'})" for player, sign in signs.items())
    return "all" if len(signs) == len(measured) > 1 else ", ".join(signs)


def small(names: Sequence[str], folder: str) -> str:
    """Return a table of the page on small games, by its name."""
    return SMALL[names[0]](stored("small-2")["figures"])


def small_agents(figures: dict[str, Any]) -> str:
    """Return the exploitability of every agent in every small game, and what it loses to an equilibrium in the last."""
    games, lost = list(figures[BEST]), figures[LOST]["agents"]
    rows = (
        [f"`{agent}`", *(f"{figures[BEST][game][agent]:.2f}" for game in games), f"{lost[games[-1]][agent]:.2f}"]
        for agent in figures[BEST][games[0]]
    )
    return table_of(("agent", *(f"`{game}`" for game in games), f"{LOST}, `{games[-1]}`"), rows)


def small_bounds(figures: dict[str, Any]) -> str:
    """Return the lower bounds beside the true figures, and the shares that they find."""

    def row(agent: str, found: dict[str, float]) -> list[str]:
        true = figures["exploitability"]["mini-hidden"][agent]
        bound = format_margin(found["margin"], found["low"], found["high"])
        return [f"`{agent}`", f"{true:.2f}", bound, f"{max(found['margin'], 0) / true:.0%}"]

    head = ("agent", "exploitability", "lower bound, 95% interval", "share found")
    return table_of(head, (row(*each) for each in figures["bounds"].items()))


def small_learning(figures: dict[str, Any]) -> str:
    """Return what PPO comes down to, run by run: its exploitability, and what it loses to an equilibrium."""
    found = {**figures["ppo"], **{f"{name}, {LOST}": runs for name, runs in figures[LOST]["ppo"].items()}}
    rows = (
        [f"{frames:,}", *(" and ".join(f"{run:.2f}" for run in each) for each in runs)]
        for frames, *runs in zip(figures["frames"], *found.values(), strict=True)
    )
    return table_of(("training decisions, at least", *found), rows)


def small_causes(figures: dict[str, Any]) -> str:
    """Return what a search with all worlds loses to an equilibrium, by its causes."""
    rows = ([f"`{game}`", *(f"{found[key]:.3f}" for key in CAUSES)] for game, found in figures["causes"].items())
    return table_of(("game", *CAUSES), rows)


def small_trained(figures: dict[str, Any]) -> str:
    """Return the exploitability of what is trained, and what it loses to an equilibrium."""
    lost = figures[LOST]["trained"]
    rows = ([name, f"{figure:.2f}", f"{lost[name]:.2f}"] for name, figure in figures["trained"].items())
    return table_of(("what is trained", BEST, LOST), rows)


def baselines(names: Sequence[str], folder: str) -> str:
    """Return a table of the study of baselines: its `rows`, or what each of the `settings` reached in a short run."""
    result = stored("baselines-2")
    if names[0] == "rows":
        return table_of(result["columns"], ([f"`{game}`", *cells] for game, *cells in result["rows"]))
    settings = result["figures"]["settings"]

    def row(name: str, setting: str) -> list[str]:
        cells = []
        for found in settings.values():
            points = f"{found[name]['tried'][setting]:.3f}"
            cells.append(f"**{points}**" if setting == found[name]["best"] else points)
        return [name, setting, *cells]

    names_of = {name: each["tried"] for name, each in next(iter(settings.values())).items()}
    rows = (row(name, setting) for name, tried in names_of.items() for setting in tried)
    return table_of(("algorithm", "settings", *(f"`{game}`" for game in settings)), rows)


def late(names: Sequence[str], folder: str) -> str:
    """Return what each agent loses in late deals, by the cards in both hands: its `rows`, or its `bounds`."""
    figures = stored("late-2")["figures"]
    if names[0] == "bounds":
        return late_bounds(figures["bounds"])
    cells: dict[str, list[str]] = {}
    head = ["agent"]
    for name, found in figures["intervals"].items():
        measure, cards, agent = name.split(", ", 2)
        head += [each for each in (f"{measure}, {cards}",) if each not in head]
        cells.setdefault(agent, []).append(with_interval(found))
    return table_of(head, ([f"`{agent}`", *each] for agent, each in cells.items()))


def late_bounds(bounds: dict[str, Any]) -> str:
    """Return what best responses gain on agents, by the hands that the responder is told."""
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for name, found in bounds.items():
        cards, hands, agent = name.split(", ", 2)
        cells.setdefault((cards, agent), {})[hands] = with_interval(found)
    told = list(dict.fromkeys(hands for each in cells.values() for hands in each))
    rows = ([cards, f"`{agent}`", *(each.get(hands, "") for hands in told)] for (cards, agent), each in cells.items())
    return table_of(("in both hands", "agent", *(f"told {hands}" for hands in told)), rows)


def with_interval(found: dict[str, float]) -> str:
    """Return a mean and its interval in a cell of two lines."""
    return f"{found['mean']:+.2f}<br>{found['low']:+.2f} to {found['high']:+.2f}"


def minis(names: Sequence[str], folder: str) -> str:
    """Return the decks and deals of the small games."""
    head = ("preset", "ranks", "suits", "packs", "cards", "points on cards", "first hands, table", "later hands")
    return table_of(head, (mini(name) for name in Rules.presets() if name.startswith("mini-")))


def mini(name: str) -> list[str]:
    """Return the deck and the deals of a small game."""
    rules = Rules.preset(name)
    ranks, suits = [RANKS[rank] for rank in rules.ranks], "".join(SUITS[suit] for suit in rules.suits)
    in_a_row = rules.ranks[-1] - rules.ranks[0] == len(ranks) - 1
    hand, layout = (sum(batch) for batch in zip(*rules.first_deal, strict=True))
    later = sum(batch for batch, _ in rules.later_deal)
    numbers = (
        rules.packs,
        len(rules.ranks) * len(rules.suits) * rules.packs,
        rules.total_points - rules.last_capture_points,
        f"{hand}, {layout}",
        later,
    )
    return [f"`{name}`", f"{ranks[0]} to {ranks[-1]}" if in_a_row else " ".join(ranks), suits, *map(str, numbers)]


SUITS = "♣♦♥♠"
RANKS = {1: "A", 11: "J", 12: "Q", 13: "K"} | {rank: str(rank) for rank in range(2, 11)}
SMALL: dict[str, Callable[[dict[str, Any]], str]] = {
    "agents": small_agents,
    "bounds": small_bounds,
    "learning": small_learning,
    "causes": small_causes,
    "trained": small_trained,
}
KINDS: dict[str, Callable[[Sequence[str], str], str]] = {
    **answer_tables.KINDS,
    "baselines": baselines,
    "by_player": by_player,
    "advice": advice,
    "late": late,
    "misere": misere,
    "minis": minis,
    "small": small,
}
OF_AN_ANSWER: dict[str, Callable[[dict[str, Any]], str]] = {
    "matched": matched_measures,
    "cells": matched_cells,
    "rows": lambda result: rows_of([result]),
}
OF_TWO_SEEDS: dict[str, Callable[..., str]] = {"large": large_differences, "levels": large_levels}
