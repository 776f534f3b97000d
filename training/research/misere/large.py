"""Large games: which answers about misère hold for which players?

Four players play the large games in which captures are forced, with both goals. What holds for the two that are the
strongest is said of the games; what holds for one of the others alone, of that program.

A player with the wrong goal needs no games of its own: against random play, which has no goal, it loses with one goal
what it wins with the other.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from krypenv import agents
from krypenv.agents.base import format_spec
from krypenv.agents.neural.learned import trained_rules
from krypenv.engine import Engine
from krypenv.features import want_history
from krypenv.rules import Rules
from krypenv.training.evaluation.luck.meter import Meter
from krypenv.training.evaluation.matches.deal_lists import deal_seeds
from krypenv.training.evaluation.matches.margins import (
    FloatArray,
    interval,
    leads_over_others,
    margin_cells,
    without_luck,
)
from krypenv.training.evaluation.matches.mixed_table import by_side, play_table
from krypenv.training.lab.chunks import Change, by_deal, chunk_tasks, instead, meter_of, play_match, stream
from krypenv.training.lab.intervals import P, effects_of, figures_of
from krypenv.training.lab.replication import sign_of
from krypenv.training.lab.rulesets import ORACLE, own_setup
from krypenv.training.lab.studying import LEFT_IN, TAKEN_OUT, Answer, Setup, Study, Task

LOW, HIGH = "low", "high"
SETS = {
    "Krypkasino, low": "krypkasino",
    "Krypkasino, high": "krypkasino goal=high",
    "Sweden, must capture, low": "kasino-sweden capture=maximal goal=low",
    "Sweden, must capture, high": "kasino-sweden capture=maximal",
    "Överspader, must capture, low": "overspader capture=maximal goal=low",
    "Överspader, must capture, high": "overspader capture=maximal",
    "Finland, must capture, low": "kasino-finland capture=maximal goal=low",
    "Finland, must capture, high": "kasino-finland capture=maximal",
}
GAMES = tuple(dict.fromkeys(label.rpartition(", ")[0] for label in SETS))

TACTICIAN, SEARCH, NETWORK, GUIDED = "tactician", "search", "network", "network with search"
PLAYERS = (TACTICIAN, SEARCH, NETWORK, GUIDED)

LEAD, SWEEPS, SIGHT = "first seat's lead", "points that sweeps move", "sight of the other hand"
SKILL, STRENGTH = "skill, over random", "strength, over tactician"
QUANTITIES = {LEAD: PLAYERS, SWEEPS: PLAYERS, SIGHT: PLAYERS, SKILL: PLAYERS, STRENGTH: PLAYERS[1:]}  # and whose
SIGNED = (LEAD, SKILL)  # tested against zero in each rule set too
COLUMNS = ("what, in SD; sweeps in points", LOW, HIGH, "low - high", "95% interval", "p, Holm")
GAMES_A_DEAL = 5  # games of a player against itself, for each deal of its matches


def spec_of(player: str, model: str) -> str:
    """Return the string of a player whose network is that of a model's folder."""
    return {
        TACTICIAN: "tactician",
        SEARCH: "search(worlds=10)",
        NETWORK: format_spec("learned", {"model": model}),
        GUIDED: format_spec("guided", {"model": model, "worlds": 20}),
    }[player]


# ---------------------------------------------------------------------- pieces of work


class FromTheStart(Meter):
    """A meter that counts the luck of the first deal, which only seatings of the same deal cancel."""

    def begin(self, engine: Engine, first: bool = True) -> None:
        """Begin with the games of a fresh engine."""
        super().begin(engine, first)


def play_games(rules: str, agent: str, first: int, deals: int, seed: int, luck: str) -> Any:
    """Return by deal, with an agent in every seat: the first seat's lead in a list, as played too, and `SWEEPS`.

    All are points. If luck is measured, there are leads with luck taken out and left in under `TAKEN_OUT` and
    `LEFT_IN`.
    """
    game = Rules.parse(rules)
    player = agents.make_known(agent, game, stream(seed, first))
    meter = meter_of(FromTheStart, luck, agent, [player], game)
    engine = Engine(game, deals, deal_seeds(seed, first + deals)[first:], history=want_history((player,)))
    found = play_table(engine, (player,), np.zeros((deals, game.num_teams), np.int64), meter=meter)
    scores, sweeps = by_side(found.scores, game.num_teams), game.sweep_points * found.sweeps.sum(axis=1)
    played = leads_over_others(game, scores)[:, :1]
    if found.luck is None:
        return _plain(played, played, sweeps)
    adjusted = leads_over_others(game, without_luck(game, scores, found.luck))[:, :1]
    return {TAKEN_OUT: _plain(adjusted, played, sweeps), LEFT_IN: _plain(played, played, sweeps)}


def play_seatings(rules: str, agent: str, first: int, deals: int, seed: int, change: Change, luck: str) -> Any:
    """Return by deal the margins in both seatings of a changed agent against the agent as it is, and those as played.

    All are points. If luck is measured, they are under `TAKEN_OUT` and `LEFT_IN`.
    """
    match = play_match(rules, agent, first, deals, seed, change, luck)
    as_played = _plain(match.played, match.played)
    if match.adjusted is None:
        return as_played
    return {TAKEN_OUT: _plain(match.adjusted, match.played), LEFT_IN: as_played}


def _plain(*columns: Any) -> list[list[Any]]:
    """Return rows of columns as JSON values."""
    return [list(row) for row in zip(*(np.asarray(each).round(9).tolist() for each in columns), strict=True)]


# ---------------------------------------------------------------------- what the study is made of


def folders_of(setup: Setup) -> dict[Rules, str]:
    """Return the folders of the models by their rules; raises ValueError if one of the rule sets has none."""
    found = {trained_rules(folder): folder for folder in setup.models}
    missing = [label for label, text in SETS.items() if Rules.parse(text) not in found]
    if missing:
        raise ValueError(
            "the study large needs a model trained for each of its rule sets, by --models FOLDER; there is none for "
            + "; ".join(missing)
        )
    return found


class LargeStudy(Study):
    """A study that needs a model for each of its rule sets."""

    def check(self, setup: Setup) -> None:
        """Raise ValueError as other studies do, and where a model is missing."""
        super().check(setup)
        folders_of(setup)


def games_setup(own: Setup) -> Setup:
    """Return the setup of the games of a player against itself."""
    return dataclasses.replace(own, deals=GAMES_A_DEAL * own.deals)


def tasks_of(label: str, player: str, own: Setup, folders: Mapping[Rules, str]) -> list[Task]:
    """Return the games of a player against itself and its matches by a rule set."""
    spec = spec_of(player, folders[own.rules])
    matches = {SIGHT: (ORACLE, spec), SKILL: (spec, "random"), STRENGTH: (spec, TACTICIAN)}
    itself = games_setup(dataclasses.replace(own, agent=spec))
    found = chunk_tasks(f"{label}, {player}: games", itself, play_games, luck=own.luck)
    for quantity, (agent, opponent) in matches.items():
        if player in QUANTITIES[quantity]:
            match = dataclasses.replace(own, agent=opponent)
            change = instead(agent)
            found += chunk_tasks(f"{label}, {player}: {quantity}", match, play_seatings, change=change, luck=own.luck)
    return found


def tasks(setup: Setup) -> list[Task]:
    """Return the work of all rule sets and players."""
    folders = folders_of(setup)
    return [
        task
        for label, text in SETS.items()
        for player in PLAYERS
        for task in tasks_of(label, player, own_setup(setup, text), folders)
    ]


# ---------------------------------------------------------------------- answer


class Sample(NamedTuple):
    """A quantity by deal, for a player by a rule set."""

    points: FloatArray  # (deals,)
    compared: FloatArray  # (deals,) in standard deviations of a game; sweeps in points
    unit: float | None = None  # that standard deviation in points, of games as they are played


def in_units(margins: FloatArray, played: FloatArray) -> Sample:
    """Return margins by deal and seating, (deals, seatings), in standard deviations of a game as it is `played`.

    The mean is that of the margins over the standard deviation, and the variance over deals has that of both (delta
    method).
    """
    unit = float(played.std()) or 1.0
    points = margins.mean(axis=1)
    spread = ((played - played.mean()) ** 2).mean(axis=1) / unit**2 - 1
    return Sample(points, points / unit - points.mean() / unit * spread / 2, unit)


def samples_of(label: str, player: str, own: Setup, results: Mapping[str, Any]) -> dict[str, Sample]:
    """Return the samples of a player by a rule set, by quantity."""

    def columns(name: str, setup: Setup) -> list[FloatArray]:
        rows = by_deal(dict(results), f"{label}, {player}: {name}", setup)
        return [np.array(column, float) for column in zip(*rows, strict=True)]

    lead, played, sweeps = columns("games", games_setup(own))
    found = {LEAD: in_units(lead, played), SWEEPS: Sample(sweeps, sweeps)}
    matches = [quantity for quantity, whose in QUANTITIES.items() if player in whose and quantity not in found]
    return found | {quantity: in_units(*columns(quantity, own)) for quantity in matches}


def answer(setup: Setup, results: dict[str, Any]) -> Answer:
    """Compare the goals for each player; p values by Holm over all tests.

    Both goals have the same decks, so differences are taken by deal.
    """
    samples = {
        (label, player): samples_of(label, player, own_setup(setup, text), results)
        for label, text in SETS.items()
        for player in PLAYERS
    }
    tests: dict[tuple[str, str, str], FloatArray] = {
        (game, quantity, player): samples[f"{game}, {LOW}", player][quantity].compared
        - samples[f"{game}, {HIGH}", player][quantity].compared
        for quantity, whose in QUANTITIES.items()
        for game in GAMES
        for player in whose
    }
    differences = len(tests)
    tests |= {
        (label, quantity, player): found[quantity].compared
        for (label, player), found in samples.items()
        for quantity in SIGNED
    }
    effects = effects_of(tests)
    figures: dict[str, Any] = {"differences": {}, "cells": {}}
    for (game, quantity, player), effect in [*effects.items()][:differences]:
        figures["differences"].setdefault(game, {}).setdefault(quantity, {})[player] = effect
    for (label, player), found in samples.items():
        for quantity, sample in found.items():
            cell: dict[str, Any] = figures_of({"points": interval(sample.points)})
            if sample.unit is not None:
                own = figures_of({"in SD": interval(sample.compared)})
                cell |= {"unit": sample.unit, "in SD": effects.get((label, quantity, player), own["in SD"])}
            figures["cells"].setdefault(label, {}).setdefault(quantity, {})[player] = cell
    figures["strongest"] = strongest(figures)
    return Answer(sentence_of(figures), COLUMNS, rows_of(figures), figures, partial(draw, figures=figures))


def _signed(found: Mapping[str, float]) -> str:
    return f"{found['mean']:+.2f}"


def means_of(figures: Mapping[str, Any], game: str, quantity: str, player: str) -> tuple[float, float]:
    """Return what is compared with the goals low and high: means in SD, of sweeps in points."""
    unit = "points" if quantity == SWEEPS else "in SD"
    low, high = (figures["cells"][f"{game}, {goal}"][quantity][player][unit]["mean"] for goal in (LOW, HIGH))
    return low, high


def rows_of(figures: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return a heading for each quantity, and a row for each game and player."""
    rows: list[tuple[str, ...]] = []
    for quantity, whose in QUANTITIES.items():
        rows.append((quantity, *[""] * (len(COLUMNS) - 1)))
        for game, player in product(GAMES, whose):
            found = figures["differences"][game][quantity][player]
            means = [f"{each:+.2f}" for each in means_of(figures, game, quantity, player)]
            told = margin_cells(found["mean"], found["low"], found["high"])
            rows.append((f"  {game}: {player}", *means, *told, f"{found[P]:.2g}"))
    return rows


def strongest(figures: Mapping[str, Any]) -> list[str]:
    """Return the two players that are the strongest over the tactician, by their mean margin in SD; weaker first."""
    means = {
        player: float(np.mean([figures["cells"][label][STRENGTH][player]["in SD"]["mean"] for label in SETS]))
        for player in QUANTITIES[STRENGTH]
    }
    return sorted(means, key=lambda player: means[player])[-2:]


def sign_for(players: Sequence[str], found: Mapping[str, Mapping[str, Any]]) -> int:
    """Return the sign that a mean has for all of some players, told apart from zero, else 0."""
    signs = {sign_of(found[player], found[player][P]) for player in players}
    return signs.pop() if len(signs) == 1 else 0


def cells_in_sd(figures: Mapping[str, Any], label: str, quantity: str) -> dict[str, dict[str, float]]:
    """Return what is tested against zero in a rule set, by player, in SD."""
    return {player: cell["in SD"] for player, cell in figures["cells"][label][quantity].items()}


def sentence_of(figures: Mapping[str, Any]) -> str:
    """Tell which differences hold for the strongest players, which for the tactician alone, and who leads and wins."""
    both = strongest(figures)
    held, alone = [], []
    for quantity in QUANTITIES:
        found = {game: figures["differences"][game][quantity] for game in GAMES}
        certain = {game: each for game, each in found.items() if sign_for(both, each)}
        told = [f"{' and '.join(_signed(each[who]) for who in both)} ({game})" for game, each in certain.items()]
        held += [f"{quantity}: {'; '.join(told)}"] if told else []
        others = [
            game
            for game, each in found.items()
            if game not in certain and TACTICIAN in each and sign_of(each[TACTICIAN], each[TACTICIAN][P])
        ]
        alone += [f"{quantity}: {'; '.join(others)}"] if others else []
    ahead: dict[int, list[str]] = {sign: [] for sign in (1, -1, 0)}
    for label in SETS:
        ahead[sign_for(both, cells_in_sd(figures, label, LEAD))].append(label)
    winning = [label for label in SETS if sign_for(both, cells_in_sd(figures, label, SKILL)) > 0]
    return (
        f"The strongest two over the tactician are {' and '.join(both)}. Differences between the goals, low less high, "
        f"that hold for both, in standard deviations of a game of that very match (sweeps in points): "
        f"{'. '.join(held) or 'none'}. For the tactician but not for both of these: {'. '.join(alone) or 'none'}. "
        f"With one of these in both seats the first seat leads in {'; '.join(ahead[1]) or 'none'} and trails in "
        f"{'; '.join(ahead[-1]) or 'none'}; not told apart for both: {'; '.join(ahead[0]) or 'none'}. Both beat random "
        f"play in {len(winning)} of {len(SETS)} rule sets, and with the wrong goal lose as much where the other one is "
        "right, for the games are the same."
    )


def draw(axes: Axes, figures: Mapping[str, Any]) -> None:
    """Draw each quantity in SD in a panel: a row for each game and player, a point with its interval for each goal."""
    figure = axes.get_figure()
    assert isinstance(figure, Figure)
    axes.remove()
    shown = [quantity for quantity in QUANTITIES if quantity != SWEEPS]
    figure.set_size_inches(12, 6.2)
    places = {row: at + 0.6 * (at // len(PLAYERS)) for at, row in enumerate(product(GAMES, PLAYERS))}
    panels = figure.subplots(1, len(shown), sharey=True)
    for panel, quantity in zip(panels, shown, strict=True):
        for goal, colour, marker, shift in ((LOW, "C0", "o", -0.13), (HIGH, "C3", "s", 0.13)):
            rows = [*product(GAMES, QUANTITIES[quantity])]
            cells = [figures["cells"][f"{game}, {goal}"][quantity][player]["in SD"] for game, player in rows]
            mean, low, high = (np.array([cell[name] for cell in cells]) for name in ("mean", "low", "high"))
            panel.errorbar(
                mean, [places[row] + shift for row in rows], xerr=[mean - low, high - mean], fmt=marker, ms=4,
                capsize=2, color=colour, label=f"goal {goal}",
            )  # fmt: skip
        panel.axvline(0, color="black", linewidth=0.8)
        panel.grid(axis="x", alpha=0.3)
        panel.set_title(quantity, fontsize=10)
    labels = [f"{game}: {player}" if player == PLAYERS[0] else player for game, player in places]
    panels[0].set_yticks([*places.values()], labels, fontsize=8)
    panels[0].invert_yaxis()
    figure.supxlabel("standard deviations of a game of that very match, with 95% intervals", fontsize=9)
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower right", ncols=2, fontsize=9)


STUDY: Study = LargeStudy(
    "large",
    "Which answers about misère hold for which players?",
    tasks,
    answer,
    deals=600,
    players=(2,),
    fewest=2,
    sets=SETS,
    agent="tactician",
)
