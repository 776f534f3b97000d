"""Which advice holds for which player?

Four players of different strength follow one habit each against themselves without it, and play games against
themselves in which sweeps and the last capture are counted. All statements of the guide and of the rulebooks are tested
together. What holds on a second seed too, `--seed 1`, is told by `lab.replicated`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from habits import HABITS
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm
from memory import CHANGES, NO_NEXT_REVEALS, NOTHING, WHOLE
from scipy.stats import bootstrap

from krypenv import Rules
from krypenv.cards import NO_CARD
from krypenv.training import lab

Array = npt.NDArray[np.float64]
FREE, LEADER = "as it likes", "leads"


class Statement(NamedTuple):
    """What is said of two ways to play: the first is better than the second."""

    words: str
    does: str  # a habit (`habits.py`), a memory (`memory.py`), FREE or LEADER
    rather: str


GUIDE = [
    Statement("set up sweeps: never doing so is worse than to choose", FREE, "set up no sweep"),
    Statement("but with a reason: always doing so is worse too", FREE, "set up sweeps"),
    Statement("leave no single card but a picture, rather than one", "leave no single card", "leave a single card"),
    Statement("choosing is better than to leave none", FREE, "leave no single card"),
    Statement("creeping on principle is worse than to choose", FREE, "creep"),
    Statement("capturing on principle is worse than to choose", FREE, "capture"),
    Statement("never paying for a capture is worse than to choose", FREE, "pay 0 at most"),
    Statement("pay up to two points rather than none", "pay 2 at most", "pay 0 at most"),
    Statement("choosing is better than up to two points", FREE, "pay 2 at most"),
    Statement("creep the highest card rather than the lowest", "creep the highest", "creep the lowest"),
    Statement("choosing is better than the highest", FREE, "creep the highest"),
    Statement("keep low cards without points rather than give them away", "low cards last", "low cards first"),
    Statement("choosing is better than to keep them", FREE, "low cards last"),
    Statement("make the cheapest capture rather than the dearest", "capture the cheapest", "capture the dearest"),
    Statement("choosing is better than the cheapest", FREE, "capture the cheapest"),
    Statement("remember the cards", WHOLE, NOTHING),
    Statement("begin with aces and pictures", "remembers aces and pictures alone", NOTHING),
    Statement("no rule for the last deal: capturing is worse than to choose", FREE, "capture in the last deal"),
    Statement("no rule for the last deal: creeping is worse than to choose", FREE, "creep in the last deal"),
    Statement("count out the hands of the last deal", FREE, WHOLE),
    Statement("lead rather than deal", LEADER, FREE),
]
RULEBOOKS = [
    Statement("avoid taking in scoring cards rather than capture on principle", "pay 0 at most", "capture"),
    Statement("get rid of aces early rather than late", "creep aces first", "creep aces last"),
    Statement("choosing is better than aces early", FREE, "creep aces first"),
    Statement("use what the sweeps of the left-hand opponent reveal", WHOLE, NO_NEXT_REVEALS),
    Statement("keep your captures tiny rather than large", "capture the fewest cards", "capture the most cards"),
    Statement("choosing is better than tiny captures", FREE, "capture the fewest cards"),
    Statement("take a neutral card rather than leave a spade", "take beside a spade", "leave beside a spade"),
    Statement("choosing is better than to take it", FREE, "take beside a spade"),
    Statement(
        "foul a table with a ten of diamonds rather than spare it", "foul a ten of diamonds", "spare a ten of diamonds"
    ),
    Statement("choosing is better than to foul it", FREE, "foul a ten of diamonds"),
    Statement("aim for the very last capture rather than avoid it", "seek the last capture", "avoid the last capture"),
    Statement("choosing is better than to aim for it", FREE, "seek the last capture"),
    Statement("leave no two cards rather than two", "leave no two cards", "leave two cards"),
    Statement("choosing is better than to leave no two", FREE, "leave no two cards"),
    Statement("remember the aces", "remembers aces alone", NOTHING),
    Statement("remember the tens of diamonds", "remembers the tens of diamonds alone", NOTHING),
]
STATEMENTS = [*GUIDE, *RULEBOOKS]

PLAYERS = {"tactician": "tactician", "search": "search(worlds=10)", "network": "", "champion": "champion(worlds=20)"}
NAMED = {name for each in STATEMENTS for name in (each.does, each.rather)}
GAMES = 5  # games of a player against itself, for each deal of a match
EARLY = 8  # cards to be played
KINDS = ("single", "larger")  # of tables that are left
COUNTED = {
    "points a game that sweeps move": "moved",
    "of these, by sweeps that open a deal": "opening",
    "points that the last capture takes in": "taken",
    "of these, set aside": "aside",
    "percent of single cards left that the next play sweeps": "single",
    "percent of larger tables left that it sweeps": "larger",
    f"percent of games in which the last capturer, {EARLY} cards before the end, stays the last": "stays",
}


def setups_of(setup: lab.Setup) -> dict[str, lab.Setup]:
    """Return the setup of each player's matches by its name; the network is the setup's agent."""
    return {name: dataclasses.replace(setup, agent=spec or setup.agent) for name, spec in PLAYERS.items()}


def changes_of(player: str) -> dict[str, lab.Change]:
    """Return the ways to play that a player can be given: habits, and memories if it is the network."""
    habits = {name: lab.with_habit(habit) for name, habit in HABITS.items()}
    ways: dict[str, Any] = {**habits, **CHANGES} if player == "network" else habits
    return {name: change for name, change in ways.items() if name in NAMED}


def games_setup(own: lab.Setup) -> lab.Setup:
    """Return the setup of the games of a player against itself."""
    return dataclasses.replace(own, deals=GAMES * own.deals)


def tasks(setup: lab.Setup) -> list[lab.Task]:
    """Return the matches of every player with each habit against itself, and its games against itself."""
    found = []
    for player, own in setups_of(setup).items():
        for name, change in changes_of(player).items():
            found += lab.match_tasks(f"{player}: {name}", own, change)
        found += lab.chunk_tasks(f"{player}: games", games_setup(own), count)
    return found


def count(rules: str, agent: str, first: int, deals: int, seed: int) -> list[dict[str, Any]]:
    """Return by deal, with an agent in every seat, the leader's margin over the dealer and what `COUNTED` names.

    Of single cards and larger tables it counts those left to the next play in a deal and those that it sweeps. Whether
    the last capturer stays the last is left out where nobody had captured or the last capture took no points.
    """
    game, worth = Rules.parse(rules), Rules.parse(rules).card_points.astype(int)
    fresh = np.ones(deals, bool)  # no card of the deal has been played
    left, capturer = np.full(deals, -1), np.full(deals, -1)  # a single card 0, a larger table 1
    opening, tables = np.zeros(deals), np.zeros((deals, 2, 2))
    found: list[dict[str, Any]] = [{} for _ in range(deals)]
    for engine, rows, before, ended, ends in lab.watch(rules, agent, first, deals, seed):
        state = engine.state
        early = game.deck_size - before.next_card + before.hand_size.sum(axis=1) == EARLY
        capturer[rows[early]] = before.last_capturer[early]
        done = state.pending[rows] == NO_CARD
        plays, is_new = rows[done], state.deal_number[rows[done]] != before.deal_number[done]
        sweeps = state.last_sweep[plays]
        opening[plays] += sweeps * fresh[plays]
        known = left[plays] >= 0
        np.add.at(tables, (plays[known], left[plays[known]]), np.stack([known[known], sweeps[known] > 0], axis=1))
        cards = state.table[plays].sum(axis=1)
        left[plays] = np.where(is_new | (cards == 0), -1, cards > 1)
        fresh[plays] = is_new
        lying = (ends.table + ends.hands.sum(axis=1)) @ worth + np.where(ends.pending >= 0, worth[ends.pending], 0)
        for at, row in enumerate(ended.tolist()):
            scores, gained = engine.final_scores[row], engine.final_points[row] - ends.points[at, : game.players]
            sweeps_made = int((engine.final_sweeps[row] - engine.final_void_sweeps[row]).sum())
            aside = int(ends.set_aside[at] @ worth)
            found[row] = {
                "lead": int(scores[0] - scores[-1]) * (-1 if game.goal == "low" else 1),
                "moved": game.sweep_points * sweeps_made, "opening": game.sweep_points * float(opening[row]),
                "taken": aside + int(lying[at]), "aside": aside, "tables": tables[row].tolist(),
            }  # fmt: skip
            if capturer[row] >= 0 and gained.any():
                found[row]["stays"] = 100.0 * bool(gained.argmax() == capturer[row])
    return found


def differences(player: str, own: lab.Setup, results: dict[str, Any]) -> dict[str, Array]:
    """Return by statement how much better its first way to play is, by deal; only those that can be measured.

    Two ways that are one, such as to solve the last deal or not where four play, measure nothing.
    """
    margins = {name: np.array(lab.by_deal(results, f"{player}: {name}", own)) for name in changes_of(player)}
    margins[FREE] = np.zeros(own.deals)
    leads = np.array([game["lead"] for game in lab.by_deal(results, f"{player}: games", games_setup(own))])
    found = {}
    for each in STATEMENTS:
        if each.does == LEADER:
            found[each.words] = leads
        elif each.does in margins and each.rather in margins:
            found[each.words] = margins[each.does] - margins[each.rather]
    return {words: better for words, better in found.items() if better.any()}


def ratio(hits: Array, times: Array, axis: int = -1) -> Array:
    """Return the ratio of two sums in percent, nan where the second one is 0."""
    with np.errstate(invalid="ignore"):
        return np.asarray(100 * hits.sum(axis=axis) / times.sum(axis=axis))


def counted(games: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """Return what `COUNTED` names, as figures with intervals over deals."""
    tables = np.array([game["tables"] for game in games], float)  # (deals, kinds, 2): left, swept
    found = {}
    for what, key in COUNTED.items():
        if key in KINDS:
            left, swept = tables[:, KINDS.index(key)].T
            around = bootstrap((swept, left), ratio, paired=True, n_resamples=999, method="basic", rng=0)
            found[what] = ratio(swept, left), *around.confidence_interval
        else:
            found[what] = lab.interval([game[key] for game in games if key in game])
    return lab.figures_of(found)


def answer(setup: lab.Setup, results: dict[str, Any]) -> lab.Answer:
    """Return by how much each advice is better, and for whom it holds at 5% of all tests together."""
    setups = setups_of(setup)
    measured = {name: differences(name, own, results) for name, own in setups.items()}
    tested = {(words, name): better for name, found in measured.items() for words, better in found.items()}
    statements: dict[str, Any] = {each.words: {} for each in STATEMENTS}
    for (words, name), effect in lab.effects_of(tested).items():
        statements[words][name] = {**effect, "holds": effect["p"] < 0.05 and effect["mean"] > 0}
    games = {name: lab.by_deal(results, f"{name}: games", games_setup(own)) for name, own in setups.items()}
    by_player = {name: counted(each) for name, each in games.items()}
    rows = [(words, *(cell(found.get(name)) for name in PLAYERS)) for words, found in statements.items()]
    rows += [(what, *(cell(found.get(what), "") for found in by_player.values())) for what in COUNTED]
    figures = {"statements": statements, "by player": by_player}
    columns = ("points by which the advice is better", *PLAYERS)
    return lab.Answer(figures, columns, rows, partial(draw, statements))


def cell(figure: Mapping[str, Any] | None, sign: str = "+") -> str:
    """Return a mean and half of its interval, with a mark if the advice holds."""
    if figure is None:
        return "-"
    mark = " holds" if figure.get("holds") else ""
    return f"{figure['mean']:{sign}.1f} ±{(figure['high'] - figure['low']) / 2:.1f}{mark}"


def draw(statements: Mapping[str, Any], axes: Axes) -> None:
    """Draw by how many points each advice is better for each player, with a mark where it holds."""
    cells = [[found.get(name, {}).get("mean", np.nan) for name in PLAYERS] for found in statements.values()]
    most = max(float(np.nanmax(np.abs(cells))), 1e-9)
    axes.imshow(np.array(cells), cmap="PiYG", norm=TwoSlopeNorm(0, -most, most), aspect="auto")
    for row, found in enumerate(statements.values()):
        for at, name in enumerate(PLAYERS):
            if name in found:
                mark = " ✓" if found[name]["holds"] else ""
                axes.text(at, row, f"{found[name]['mean']:+.1f}{mark}", ha="center", va="center", fontsize=8)
    axes.set_yticks(range(len(statements)), list(statements), fontsize=8)
    axes.set_xticks(range(len(PLAYERS)), list(PLAYERS), fontsize=8)
    axes.set_xlabel("points a game by which it is better; ✓ holds, of all tests together", fontsize=9)
    axes.figure.set_figheight(2 + 0.2 * len(statements))


QUESTION = "Which advice holds for which player?"
STUDY = lab.Study("advice", QUESTION, tasks, answer, deals=400)

if __name__ == "__main__":
    lab.main(STUDY)
