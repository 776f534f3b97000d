"""Which statements on strategy hold for which players: each one measured with four of them in the seats."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm

from krypenv.cards import NUM_KINDS, NUM_RANKS
from krypenv.rules import Rules
from krypenv.training.evaluation.luck.control import is_slow
from krypenv.training.evaluation.matches.margins import FloatArray, holm, interval
from krypenv.training.research.lab.chunks import Change, by_deal, chunk_tasks, match_tasks, watch
from krypenv.training.research.lab.habits import (
    BoolArray,
    Habit,
    Int8Array,
    first_of,
    is_network,
    network_of,
    tables_left,
    with_habit,
)
from krypenv.training.research.lab.intervals import LEVEL, figures_of, p_value
from krypenv.training.research.lab.studying import Answer, Setup, Study, Task
from krypenv.training.research.studies import advice, creep, last, memory, setups, shed
from krypenv.training.research.studies.seat import play_deals

UNCHANGED = "as it likes"
LEADER = "leads"
COUNTED = "counts"
QUICK = 2  # deals of quick players for each deal of slow ones
GAMES = 5  # games of a player against itself, for each deal of a match
_LOW = np.arange(NUM_KINDS) % NUM_RANKS < 10  # all but pictures


def leaves_single(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """Leave one card on the table that is no picture, where a play does."""
    return first_of(masks[:, :NUM_KINDS] > 0, ~_is_single(rules, observations, masks), masks)


def never_leaves_single(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """Leave a picture, nothing, or more than one card, where a play does."""
    return first_of(masks[:, :NUM_KINDS] > 0, _is_single(rules, observations, masks), masks)


def _is_single(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    found = np.zeros((len(masks), NUM_KINDS), np.bool_)
    rows, cards, tables = tables_left(rules, observations, masks)
    found[rows, cards] = (tables.sum(axis=1) == 1) & (tables[:, _LOW].sum(axis=1) == 1)
    return found


HABITS: dict[str, Habit] = {
    **creep.HABITS, **shed.HABITS, **last.HABITS, **setups.HABITS, **advice.HABITS,
    "leave a single card but a picture": leaves_single,
    "leave no single card but a picture": never_leaves_single,
}  # fmt: skip
MEMORIES = (memory.WHOLE, memory.HIGH_ALONE, memory.NOTHING)


@dataclass(frozen=True)
class Statement:
    """What is said of two ways to play: the first is better than the second."""

    words: str
    does: str  # a habit, a memory, or UNCHANGED
    rather: str


STATEMENTS = (
    Statement("set up sweeps: never doing so is worse than to choose", UNCHANGED, "never sets up a sweep if it can"),
    Statement("but with a reason: always doing so is worse too", UNCHANGED, "sets up whenever it can"),
    Statement("leave no single card but a picture, rather than one",
              "leave no single card but a picture", "leave a single card but a picture"),
    Statement("creeping on principle is worse than to choose", UNCHANGED, "creep whenever possible"),
    Statement("capturing on principle is worse than to choose", UNCHANGED, "capture whenever possible"),
    Statement("never paying for a capture is worse than to choose", UNCHANGED, "pays 0 at most for a capture"),
    Statement("pay up to two points rather than none", "pays 2 at most for a capture", "pays 0 at most for a capture"),
    Statement("creep the highest card rather than the lowest", "creep the highest card", "creep the lowest card"),
    Statement("choosing is better than the highest", UNCHANGED, "creep the highest card"),
    Statement("keep low cards without points rather than give them away",
              "creep low cards without points last", "creep low cards without points first"),
    Statement("choosing is better than to keep them", UNCHANGED, "creep low cards without points last"),
    Statement("make the cheapest capture rather than the dearest",
              "capture the fewest points", "capture the most points"),
    Statement("choosing is better than the cheapest", UNCHANGED, "capture the fewest points"),
    Statement("remember the cards", memory.WHOLE, memory.NOTHING),
    Statement("begin with aces and pictures", memory.HIGH_ALONE, memory.NOTHING),
    Statement("no rule for the last deal: capturing is worse than to choose",
              UNCHANGED, "captures whenever it can in the last deal"),
    Statement("no rule for the last deal: creeping is worse than to choose",
              UNCHANGED, "creeps whenever it can in the last deal"),
    Statement("lead rather than deal", LEADER, UNCHANGED),
)  # fmt: skip
SWEEPS, TAKEN = "points a game that sweeps move", "points that the last capture takes in"
OPENING, ASIDE = "of these, by sweeps that open a deal", "of these, set aside"


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
        found |= {name: memory.CHANGES[name] for name in MEMORIES}
    return found


def own_setup(player: str, setup: Setup) -> Setup:
    """Return the setup of a player's matches; quick ones play more of them."""
    return dataclasses.replace(setup, agent=player, deals=setup.deals * (1 if is_slow(player) else QUICK))


def games_setup(player: str, setup: Setup) -> Setup:
    """Return the setup of a player's games against itself."""
    own = own_setup(player, setup)
    return dataclasses.replace(own, deals=GAMES * own.deals)


def tasks(setup: Setup) -> list[Task]:
    """Return the matches of every player with each change against itself, and both kinds of games against itself."""
    found = []
    for player in reversed(players_of(setup).values()):  # the slow ones first
        for name, change in changes(player, setup).items():
            found += match_tasks(f"{player}: {name}", own_setup(player, setup), change)
        found += chunk_tasks(f"{player}: {LEADER}", games_setup(player, setup), play_deals)
        found += chunk_tasks(f"{player}: {COUNTED}", games_setup(player, setup), count_games)
    return found


def count_games(rules: str, agent: str, first: int, deals: int, seed: int) -> list[list[int]]:
    """Return by deal, with an agent in every seat: `SWEEPS`, `TAKEN` and `ASIDE`."""
    game = Rules.parse(rules)
    found = np.zeros((deals, 3), np.int64)
    for engine, _, _, ended, ends in watch(rules, agent, first, deals, seed):
        sweeps = (engine.final_sweeps[ended] - engine.final_void_sweeps[ended]).sum(axis=1)
        pile, table = last.points_left(game, ends)
        found[ended] = np.stack([game.sweep_points * sweeps, pile + table, pile], axis=1)
    counts: list[list[int]] = found.tolist()
    return counts


def counts_of(player: str, setup: Setup, results: Mapping[str, Any]) -> dict[str, FloatArray]:
    """Return what sweeps move and the last capture takes in, in points by game, with one player in every seat."""
    games = games_setup(player, setup)
    moved, taken, aside = np.array(by_deal(dict(results), f"{player}: {COUNTED}", games)).astype(float).T
    opening = setup.rules.sweep_points * np.array(by_deal(dict(results), f"{player}: {LEADER}", games))[:, -1]
    return {SWEEPS: moved, OPENING: opening, TAKEN: taken, ASIDE: aside}


def leads_of(player: str, setup: Setup, results: Mapping[str, Any]) -> FloatArray:
    """Return the leader's margin over the dealer by game, with one player in every seat."""
    scores = np.array(by_deal(dict(results), f"{player}: {LEADER}", games_setup(player, setup)))[:, :-1].astype(float)
    sign = -1 if setup.rules.goal == "low" else 1
    margins: FloatArray = sign * (scores[:, 0] - scores[:, -1])
    return margins


def differences(player: str, setup: Setup, results: Mapping[str, Any]) -> dict[str, FloatArray]:
    """Return by how much the first way to play of each statement is better, by deal; those that can be measured."""
    own, known = own_setup(player, setup), changes(player, setup)
    margins = {name: np.array(by_deal(dict(results), f"{player}: {name}", own)) for name in known}
    margins[UNCHANGED] = np.zeros(own.deals)
    found = {
        each.words: margins[each.does] - margins[each.rather]
        for each in STATEMENTS
        if each.does in margins and each.rather in margins
    }
    return {**found, STATEMENTS[-1].words: leads_of(player, setup, results)}


def answer(setup: Setup, results: dict[str, Any]) -> Answer:
    """Tell which statements hold for which players, tested together."""
    players = players_of(setup)
    measured = {name: differences(player, setup, results) for name, player in players.items()}
    spreads = {name: float(leads_of(player, setup, results).std(ddof=1)) for name, player in players.items()}
    places = [(player, words) for player in players for words in measured[player]]
    adjusted = holm([p_value(measured[player][words]) for player, words in places])
    found: dict[str, dict[str, Any]] = {each.words: {} for each in STATEMENTS}
    for (player, words), p in zip(places, adjusted, strict=True):
        mean, low, high = interval(measured[player][words])
        holds = bool(p < LEVEL and mean > 0)
        found[words][player] = {"mean": mean, "low": low, "high": high, "p": p, "holds": holds}
    counted = {
        name: figures_of({what: interval(each) for what, each in counts_of(player, setup, results).items()})
        for name, player in players.items()
    }
    rows = [(each.words, *(_cell(found[each.words].get(player)) for player in players)) for each in STATEMENTS]
    rows += [("figures by player", *[""] * len(players))]
    rows += [(what, *(_amount(each[what]) for each in counted.values())) for what in (SWEEPS, OPENING, TAKEN, ASIDE)]
    return Answer(
        sentence(found, tuple(players)), ("statement", *players), rows,
        {"players": players, "spreads": spreads, "statements": found, "by player": counted}, draw_of(found, spreads),
    )  # fmt: skip


def _cell(figure: Mapping[str, Any] | None) -> str:
    """Return a difference, half of its interval, and whether the statement holds."""
    if figure is None:
        return "-"
    return f"{figure['mean']:+.1f} ±{_half(figure):.1f}\n{'holds' if figure['holds'] else ''}"


def _amount(figure: Mapping[str, Any]) -> str:
    """Return an amount and half of its interval."""
    return f"{figure['mean']:.1f} ±{_half(figure):.1f}"


def _half(figure: Mapping[str, Any]) -> float:
    return float(figure["high"] - figure["low"]) / 2


def sentence(found: Mapping[str, Mapping[str, Any]], players: tuple[str, ...]) -> str:
    """Tell how many statements hold for every player, for the strongest two, and which do not."""
    everyone = [words for words, each in found.items() if all(figure["holds"] for figure in each.values())]
    strongest = [
        words for words, each in found.items()
        if all(each[player]["holds"] for player in players[-2:] if player in each)
    ]  # fmt: skip
    less = [words for words in strongest if words not in everyone]
    others = [words for words in found if words not in strongest]
    told = f"Of {len(found)} statements {len(everyone)} hold for every player that they can be measured with"
    if less:
        told += f", and {len(less)} more for {' and '.join(players[-2:])} ({'; '.join(less)})"
    return f"{told}. The others are: {'; '.join(others)}." if others else f"{told}."


def draw_of(found: Mapping[str, Mapping[str, Any]], spreads: Mapping[str, float]) -> Any:
    """Return what draws all differences in standard deviations of a game, with a mark where a statement holds."""

    def draw(axes: Axes) -> None:
        players = list(spreads)
        shown = np.array(
            [[each[player]["mean"] / spreads[player] if player in each else np.nan for player in players]
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
        axes.set_xlabel("how much better, in standard deviations of a game\n✓ told apart from zero", fontsize=9)

    return draw


STUDY = Study(
    "holds",
    "Which advice holds for which player?",
    tasks,
    answer,
    deals=400,
    players=(2,),
    fewest=2,
    needs=network_of,
)
