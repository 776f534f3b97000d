"""Which statements on strategy hold for which players: each one measured with four of them in the seats."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm

from krypenv.rules import Rules
from krypenv.training.evaluation.luck.control import is_slow
from krypenv.training.evaluation.matches.margins import FloatArray, Interval, interval, share_interval
from krypenv.training.lab.chunks import Change, by_deal, chunk_tasks, match_tasks, play_match, watch
from krypenv.training.lab.habits import is_network, network_of, with_habit
from krypenv.training.lab.intervals import LEVEL, P, effects_of, figures_of
from krypenv.training.lab.strong_positions import CARD, EMPTY, PICTURE
from krypenv.training.lab.studying import Answer, Setup, Study, Task
from krypenv.training.research.studies import last, memory, setups
from krypenv.training.research.studies.seat import play_deals
from krypenv.training.research.studies.statements import HABITS, LEADER, STATEMENTS, UNCHANGED

MOVED, LEFT, ENDS = "sweeps", "tables", "ends"  # games of a player against itself: what is counted in them
QUICK = 2  # deals of quick players for each deal of slow ones
GAMES = 5  # games of a player against itself, for each deal of a match
SPREAD, RARER = "games", 4  # deals of a match for each one of which the margins of all its games are kept
SWEEPS, TAKEN = "points a game that sweeps move", "points that the last capture takes in"
OPENING, ASIDE = "of these, by sweeps that open a deal", "of these, set aside"
SINGLE, LARGER = (
    "percent of single cards left that the next play sweeps",
    "percent of larger tables left that it sweeps",
)
STAYS, EARLY = "percent of games in which the last capturer, eight cards before the end, stays the last", 8
WHATS = (SWEEPS, OPENING, TAKEN, ASIDE, SINGLE, LARGER, STAYS)


def players_of(setup: Setup) -> dict[str, str]:
    """Return who is asked, the strongest two last: their strings by name. The network is the setup's agent."""
    return {
        "tactician": "tactician", "search": "search(worlds=10)", "network": setup.agent,
        "champion": "champion(worlds=20)",
    }  # fmt: skip


def changes(player: str, setup: Setup) -> dict[str, Change]:
    """Return the ways to play that a player can be given, by their names."""
    named = [name for statement in STATEMENTS for name in (statement.does, statement.rather)]
    found = {name: with_habit(HABITS[name]) for name in named if name in HABITS}
    if is_network(player, setup.rules):
        found |= {name: memory.CHANGES[name] for name in named if name in memory.CHANGES}
    return found


def own_setup(player: str, setup: Setup) -> Setup:
    """Return the setup of a player's matches; quick ones play more of them."""
    return dataclasses.replace(setup, agent=player, deals=setup.deals * (1 if is_slow(player) else QUICK))


def games_setup(player: str, setup: Setup) -> Setup:
    """Return the setup of a player's games against itself."""
    own = own_setup(player, setup)
    return dataclasses.replace(own, deals=GAMES * own.deals)


def rarer(setup: Setup, player: str) -> Setup:
    """Return the setup of the games whose spread is measured, few of those of a match."""
    return dataclasses.replace(own_setup(player, setup), deals=max(setup.deals // RARER, 2))


def play_games(rules: str, agent: str, first: int, deals: int, seed: int, change: Change) -> list[list[float]]:
    """Return the margins of a changed agent against the agent as it is, by deal and seating."""
    margins: list[list[float]] = play_match(rules, agent, first, deals, seed, change).played.tolist()
    return margins


def tasks(setup: Setup) -> list[Task]:
    """Return the matches of every player with each change against itself, and its games against itself."""
    watched = {LEADER: play_deals, MOVED: move_by_sweeps, LEFT: setups.count_sweeps, ENDS: last.watch_ends}
    found = []
    for player in reversed(players_of(setup).values()):  # the slow ones first
        for name, change in changes(player, setup).items():
            found += match_tasks(f"{player}: {name}", own_setup(player, setup), change)
            found += chunk_tasks(f"{player}: {SPREAD}: {name}", rarer(setup, player), play_games, change=change)
        for name, watching in watched.items():
            found += chunk_tasks(f"{player}: {name}", games_setup(player, setup), watching)
    return found


def move_by_sweeps(rules: str, agent: str, first: int, deals: int, seed: int) -> list[int]:
    """Return by deal the points that sweeps move, with an agent in every seat."""
    moved = np.zeros(deals, np.int64)
    for engine, _, _, ended, _ in watch(rules, agent, first, deals, seed):
        moved[ended] = (engine.final_sweeps[ended] - engine.final_void_sweeps[ended]).sum(axis=1)
    points: list[int] = (Rules.parse(rules).sweep_points * moved).tolist()
    return points


def figures_by(player: str, setup: Setup, results: Mapping[str, Any]) -> dict[str, Interval]:
    """Return figures that describe games with one player in every seat: points a game, and percent."""
    games = games_setup(player, setup)
    moved, left, ends, leads = (
        by_deal(dict(results), f"{player}: {what}", games) for what in (MOVED, LEFT, ENDS, LEADER)
    )
    aside, lying = np.array([end[:2] for end in ends], float).T
    stays = [end[2][last.LEFT.index(EARLY)] for end in ends]
    tables = np.array(left, float)  # (deals, kinds, 3)
    single = [PICTURE, CARD]
    larger = [kind for kind in range(tables.shape[1]) if kind not in (EMPTY, *single)]
    shares = {
        what: share_interval(tables[:, kinds, 1].sum(axis=1), tables[:, kinds, 0].sum(axis=1))
        for what, kinds in ((SINGLE, single), (LARGER, larger))
    }
    shares[STAYS] = interval([each for each in stays if each is not None])
    return {
        SWEEPS: interval(moved), OPENING: interval(setup.rules.sweep_points * np.array(leads)[:, -1]),
        TAKEN: interval(aside + lying), ASIDE: interval(aside),
        **{what: (100 * share, 100 * low, 100 * high) for what, (share, low, high) in shares.items()},
    }  # fmt: skip


def leads_of(player: str, setup: Setup, results: Mapping[str, Any]) -> FloatArray:
    """Return the leader's margin over the dealer by game, with one player in every seat."""
    scores = np.array(by_deal(dict(results), f"{player}: {LEADER}", games_setup(player, setup)))[:, :-1].astype(float)
    sign = -1 if setup.rules.goal == "low" else 1
    margins: FloatArray = sign * (scores[:, 0] - scores[:, -1])
    return margins


def differences(player: str, setup: Setup, results: Mapping[str, Any]) -> dict[str, FloatArray]:
    """Return by how much the first way to play of each statement is better, by deal; those that can be measured.

    Two ways that are one, such as to solve the last deal or not where four play, measure nothing.
    """
    own, known = own_setup(player, setup), changes(player, setup)
    margins = {name: np.array(by_deal(dict(results), f"{player}: {name}", own)) for name in known}
    margins[UNCHANGED] = np.zeros(own.deals)
    found = {}
    for each in STATEMENTS:
        if each.does == LEADER:
            found[each.words] = leads_of(player, setup, results)
        elif each.does in margins and each.rather in margins:
            found[each.words] = margins[each.does] - margins[each.rather]
    return {words: better for words, better in found.items() if better.any()}


def spreads_of(player: str, setup: Setup, results: Mapping[str, Any]) -> dict[str, float]:
    """Return the standard deviation of a game's margin by statement, in the matches that it rests on together."""
    games = rarer(setup, player)
    variances = {
        name: float(np.var(by_deal(dict(results), f"{player}: {SPREAD}: {name}", games), ddof=1))
        for name in changes(player, setup)
    }
    variances[LEADER] = float(np.var(leads_of(player, setup, results), ddof=1))
    found = {}
    for each in STATEMENTS:
        if known := [variances[name] for name in (each.does, each.rather) if name in variances]:
            found[each.words] = float(np.sqrt(np.mean(known)))
    return found


def answer(setup: Setup, results: dict[str, Any]) -> Answer:
    """Tell which statements hold for which players, tested together."""
    players = players_of(setup)
    measured = {name: differences(player, setup, results) for name, player in players.items()}
    spreads = {name: spreads_of(player, setup, results) for name, player in players.items()}
    effects = effects_of({(player, words): each for player in players for words, each in measured[player].items()})
    found: dict[str, dict[str, Any]] = {each.words: {} for each in STATEMENTS}
    for (player, words), effect in effects.items():
        holds = bool(effect[P] < LEVEL and effect["mean"] > 0)
        found[words][player] = {**effect, "holds": holds, "spread": spreads[player][words]}
    counted = {name: figures_of(figures_by(player, setup, results)) for name, player in players.items()}
    rows = [(each.words, *(_cell(found[each.words].get(player)) for player in players)) for each in STATEMENTS]
    rows += [("figures by player", *[""] * len(players))]
    rows += [(what, *(_amount(each.get(what)) for each in counted.values())) for what in WHATS]
    figures = {"players": players, "statements": found, "by player": counted}
    return Answer(sentence(found, tuple(players)), ("statement", *players), rows, figures, draw_of(figures))


def _cell(figure: Mapping[str, Any] | None) -> str:
    """Return a difference, half of its interval, and whether the statement holds."""
    if figure is None:
        return "-"
    return f"{figure['mean']:+.1f} ±{_half(figure):.1f}\n{'holds' if figure['holds'] else ''}"


def _amount(figure: Mapping[str, Any] | None) -> str:
    """Return an amount and half of its interval."""
    return "-" if figure is None else f"{figure['mean']:.1f} ±{_half(figure):.1f}"


def _half(figure: Mapping[str, Any]) -> float:
    return float(figure["high"] - figure["low"]) / 2


def sentence(found: Mapping[str, Mapping[str, Any]], players: tuple[str, ...]) -> str:
    """Tell how many statements hold for every player, and which for the strongest two alone, or not at all."""
    strongest = players[-2:]
    found = {words: each for words, each in found.items() if each}  # those that can be measured at all
    everyone = [words for words, each in found.items() if all(figure["holds"] for figure in each.values())]
    more, against = [], []
    for words, each in found.items():
        figures = [each[player] for player in strongest if player in each]
        if words not in everyone and all(figure["holds"] for figure in figures):
            more.append(words)
        if all(figure["mean"] < 0 and figure[P] < LEVEL for figure in figures):
            against.append(words)
    told = f"Of {len(found)} statements {len(everyone)} hold for every player that they can be measured with"
    if more:
        told += f", and {len(more)} more for {' and '.join(strongest)} ({'; '.join(more)})"
    if against:
        told += f". The opposite holds for them of {len(against)} ({'; '.join(against)})"
    return f"{told}."


def draw_of(figures: Mapping[str, Any]) -> Callable[[Axes], None]:
    """Return what draws all differences in standard deviations of a game, with a mark where a statement holds."""
    found, players = figures["statements"], list(figures["players"])

    def draw(axes: Axes) -> None:
        shown = np.array(
            [[each[player]["mean"] / each[player]["spread"] if player in each else np.nan for player in players]
             for each in found.values()]
        )  # fmt: skip
        most = max(float(np.nanmax(np.abs(shown))), 1e-9)
        axes.imshow(shown, cmap="PiYG", norm=TwoSlopeNorm(0, -most, most), aspect="auto")
        for row, each in enumerate(found.values()):
            for at, player in enumerate(players):
                if player in each:
                    mark = " ✓" if each[player]["holds"] else ""
                    axes.text(at, row, f"{shown[row, at]:+.2f}{mark}", ha="center", va="center", fontsize=8)
        axes.set_yticks(range(len(found)), list(found), fontsize=8)
        axes.set_xticks(range(len(players)), players, fontsize=8)
        axes.set_xlabel(
            "how much better, in standard deviations of a game of that match\n✓ told apart from zero", fontsize=9
        )

    return draw


STUDY = Study(
    "advice",
    "Which advice holds for which player?",
    tasks,
    answer,
    deals=400,
    players=(2, 4),
    fewest=2,
    needs=network_of,
)
