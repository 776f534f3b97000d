"""Tables of what a study measures on two seeds: `make pages`. All effects of a page are tested together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Any

from answer_tables import stored
from result_tables import table_of

from krypenv.training.evaluation.matches.margins import format_margin
from krypenv.training.lab.intervals import ALONE, format_p
from krypenv.training.lab.replication import replicated, sign_of
from krypenv.training.research.misere import large
from krypenv.training.research.solved.matched import FIRST as FIRST_SEAT
from krypenv.training.research.solved.matched import SPREAD
from krypenv.training.research.studies.statements import STATEMENTS

AGAIN = "-seed-1"  # the end of the name of an answer on another seed
PAGES = {
    "misere": ("matched-2", "recall-2", "large-2", "transfer-2"),
    "strategy": ("advice-2", "advice-4", "advice-howto"),
}  # by page the answers whose effects it tests


def on_both_seeds(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the figures of a stored answer, and those of the same study on another seed."""
    return stored(name)["figures"], stored(name + AGAIN)["figures"]


@cache
def p_values_of(page: str) -> dict[tuple[str, ...], float]:
    """Return the p values of all effects of a page together, by answer and place in the figures."""
    return replicated({name: on_both_seeds(name) for name in PAGES[page]})


class Twice:
    """A study on two seeds: its figures, and which of its effects hold."""

    def __init__(self, name: str) -> None:
        """Take the name of the first answer."""
        self.name = name
        self.page = next(page for page, names in PAGES.items() if name in names)
        self.first, self.again = on_both_seeds(name)

    def at(self, *path: str) -> tuple[Any, Any]:
        """Return what stands at a place of the figures, on both seeds."""
        found: tuple[Any, Any] = (self.first, self.again)
        for name in path:
            found = (found[0][name], found[1][name])
        return found

    def p(self, *path: str) -> float:
        """Return the p value of an effect, by Holm over all of the page."""
        return p_values_of(self.page)[(self.name, *path)]

    def sign(self, *path: str) -> int:
        """Return the sign of an effect that holds, else 0."""
        return sign_of(self.at(*path)[0], self.p(*path))

    def signs(self, *path: str, then: Sequence[str] = ()) -> dict[str, int]:
        """Return the signs of the effects that hold of those at a place, by name; `then` leads from there to them."""
        return {name: sign for name in self.at(*path)[0] if (sign := self.sign(*path, name, *then))}

    def cell(self, *path: str, digits: int = 2) -> str:
        """Return an effect as a cell: bold if it holds, its interval, the interval on the other seed, and p."""
        mean, bounds = format_margin(*bounds_of(self.at(*path)[0]), digits).split(" ", 1)
        again = format_margin(*bounds_of(self.at(*path)[1]), digits).split(" ", 1)[1].strip("()")
        p = self.p(*path)
        return f"{f'**{mean}**' if self.sign(*path) else mean} {bounds}<br>again {again}<br>{format_p(p)}"


def bounds_of(figure: Mapping[str, float]) -> tuple[float, float, float]:
    """Return a mean and its interval."""
    return figure["mean"], figure["low"], figure["high"]


def half_width(figure: Mapping[str, float]) -> float:
    """Return half of an interval."""
    return (figure["high"] - figure["low"]) / 2


def spread_cell(figures: Mapping[str, Any], name: str) -> str:
    """Return a figure and half of its interval, or "-" if there is none."""
    return f"{figures[name]['mean']:+.2f} ±{half_width(figures[name]):.2f}" if name in figures else "-"


def holders(signs: Mapping[str, int], measured: Collection[str]) -> str:
    """Return for which of the players measured something holds: all, their names, or none; signs if they differ."""
    if not signs:
        return "none"
    if len(set(signs.values())) > 1:
        return ", ".join(f"{player} ({'+' if sign > 0 else '-'})" for player, sign in signs.items())
    return "all" if len(signs) == len(measured) > 1 else ", ".join(signs)


def holding(signs: Mapping[str, int], measured: Collection[str]) -> str:
    """Return for which of the players measured a statement holds, and for which its opposite does."""
    for_it, against = ({name: sign for name, sign in signs.items() if sign == side} for side in (1, -1))
    return holders(for_it, measured) + (f"<br>the opposite: {holders(against, measured)}" if against else "")


# ---------------------------------------------------------------------- advice


def advice(names: Sequence[str], folder: str) -> str:
    """Return for which players each statement of a source holds."""
    source, name = names
    study = Twice(name)
    players = study.first["players"]

    def cell(words: str, player: str) -> str:
        found, again = study.at("statements", words, player)
        mark = "**" if study.sign("statements", words, player) else ""
        margins = [format_margin(*bounds_of(each), 1) for each in (found, again)]
        return f"{mark}{margins[0]}{mark}<br>{found['mean'] / found['spread']:+.2f} SD<br>again {margins[1]}"

    rows = []
    for words in (each.words for each in STATEMENTS if each.source == source):
        measured = study.first["statements"][words]
        cells = [cell(words, player) if player in measured else "-" for player in players]
        rows.append([words, *cells, holding(study.signs("statements", words), measured)])
    return table_of(("statement", *(f"`{player}`" for player in players.values()), "holds for"), rows)


def by_player(names: Sequence[str], folder: str) -> str:
    """Return figures of games of each player against itself, on both seeds."""
    study = Twice(names[0])
    players = study.first["players"]

    def cell(player: str, what: str) -> str:
        both = study.at("by player", player, what)
        found, again = (f"{each['mean']:.1f} ±{half_width(each):.1f}" for each in both)
        return f"{found}<br>again {again}"

    whats = next(iter(study.first["by player"].values()))
    rows = ([what, *(cell(player, what) for player in players)] for what in whats)
    return table_of(("figure", *(f"`{player}`" for player in players.values())), rows)


# ---------------------------------------------------------------------- misère


def misere(names: Sequence[str], folder: str) -> str:
    """Return a table of the page on misère, by its kind."""
    return OF_MISERE[names[0]](Twice(names[1]))


def matched(study: Twice) -> str:
    """Return what each measure is with both goals, and the difference, by kind of games."""
    measures = study.first["differences"]
    digits = 4 if study.name.startswith("recall") else 3

    def cell(what: str, games: str) -> str:
        means = [f"{each:+.{digits}f}" for each in measures[what][games]["means"]]
        return f"{', '.join(means)}<br>{study.cell('differences', what, games, digits=digits)}"

    groups = next(iter(measures.values()))
    rows = ([what, *(cell(what, games) for games in groups)] for what in measures)
    return table_of(("in SD: low, high, difference", *groups), rows)


def cells(study: Twice) -> str:
    """Return the first seat's lead and the standard deviation in points, by size and rules."""

    def row(size: str, cell: str, games: dict[str, dict[str, float]]) -> list[str]:
        leads = [f"{games[goal][FIRST_SEAT]:+.2f}" for goal in ("low", "high")]
        return [size, cell, *leads, *(f"{games[goal][SPREAD]:.2f}" for goal in ("low", "high"))]

    head = ("games", "rules", "lead, low", "lead, high", "SD, low", "SD, high")
    sizes = study.first["cells"].items()
    return table_of(head, (row(size, *each) for size, found in sizes for each in found.items()))


def differences(study: Twice) -> str:
    """Return the differences between the goals by quantity, game and player, and for whom they hold."""

    def cell(game: str, quantity: str, player: str) -> str:
        if player not in large.QUANTITIES[quantity]:
            return "-"
        low, high = large.means_of(study.first, game, quantity, player)
        return f"{low:+.2f}, {high:+.2f}<br>{study.cell('differences', game, quantity, player)}"

    def row(game: str, quantity: str) -> list[str]:
        whose = [cell(game, quantity, player) for player in large.PLAYERS]
        signs = study.signs("differences", game, quantity)
        return [f"{quantity}, {game}", *whose, holders(signs, large.QUANTITIES[quantity])]

    rows = (row(game, quantity) for quantity in large.QUANTITIES for game in large.GAMES)
    return table_of(("in SD; sweeps in points", *large.PLAYERS, "holds for"), rows)


def levels(study: Twice) -> str:
    """Return each quantity by rule set and player, in SD and points; for whom it is told apart from zero, if tested."""

    def cell(label: str, quantity: str, player: str) -> str:
        found = study.first["cells"][label][quantity].get(player)
        if found is None:
            return "-"
        points = f"{spread_cell(found, 'points')} points"
        if quantity in large.SIGNED:
            return f"{study.cell('cells', label, quantity, player, 'in SD')}<br>{points}"
        return f"{spread_cell(found, 'in SD')}<br>{points}" if "in SD" in found else points

    def row(label: str, quantity: str) -> list[str]:
        whose = [cell(label, quantity, player) for player in large.PLAYERS]
        if quantity not in large.SIGNED:
            return [f"{quantity}, {label}", *whose, ""]
        signs = study.signs("cells", label, quantity, then=("in SD",))
        return [f"{quantity}, {label}", *whose, holders(signs, large.PLAYERS)]

    rows = (row(label, quantity) for quantity in large.QUANTITIES for label in large.SETS)
    return table_of(("in SD", *large.PLAYERS, "holds for"), rows)


def transfer(study: Twice) -> str:
    """Return the margins of all trainings, and what each saves."""
    result = stored(study.name)
    gained = result["columns"].index("mean margin, more than from scratch")
    rows = []
    for what, *more in result["rows"]:
        goal, arm = what.split(": ")
        row = [what, *more]
        if ALONE in study.first[goal]["gained"].get(arm, {}):
            row[gained] = study.cell(goal, "gained", arm, digits=1)
        rows.append([each.replace("\n", "<br>") for each in row])
    return table_of(result["columns"], rows)


OF_MISERE: dict[str, Callable[[Twice], str]] = {
    "matched": matched, "cells": cells, "large": differences, "levels": levels, "transfer": transfer,
}  # fmt: skip
KINDS: dict[str, Callable[[Sequence[str], str], str]] = {"advice": advice, "by_player": by_player, "misere": misere}
