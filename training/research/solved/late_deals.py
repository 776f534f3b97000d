"""Late deals of the full game, solved: what is perfect play of the end worth, and where does the champion err?

Positions are sampled from games of champions, in the second half of the deal before the last one. They are solved for
all hands that the seats may hold, with the last deal by minimax; agents see them without what was played before. Whole
deals are too large for that: what agents lose there is bounded (`late_bounds`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from krypenv.agents import Agent
from krypenv.rules import Rules
from krypenv.training.evaluation.matches.margins import FloatArray, Interval, format_margin, interval, margin_cells
from krypenv.training.lab.intervals import figures_of
from krypenv.training.lab.studying import Answer, Setup, Study, Task
from krypenv.training.research.solved.late_bounds import (
    COMPARED,
    HANDS,
    MOST_HANDS,
    WHOLE,
    hide_plays,
    late_game,
    of_a_response,
)
from krypenv.training.solving.late import solve_late
from krypenv.training.solving.late_agent import Equilibrium
from krypenv.training.solving.looking import look
from krypenv.training.solving.pairs import SAMPLES
from krypenv.training.solving.solving import Solved, evaluate, grow_for_agents, lost_to_equilibrium, measure

ASKED = {"random": 1, "greedy": 8, "tactician(shed=True)": 8, "search": 2, "champion(worlds=0)": 1, "champion": 2}
FEW, MORE = 4, 5  # cards in both hands
RARER = 10  # positions with few cards for each one with more
LOST, BEST, REGRET = "lost to an equilibrium", "exploitability", "lost by the first play"
MEASURES = (LOST, BEST, REGRET)
BOUND = "exploitability, at most"
RESOLVED = {"hands": 32, "samples": 10}  # options of `Equilibrium` in positions with few cards
SMALL, ALL_HANDS = "mini-hidden", {"hands": 500, "samples": 0}  # a small game, and options that make it exact
OFTEN = 3  # positions that it plays, for each one with more cards
ERROR = 0.1  # points from which on a play is an error


def of_a_position(rules: str, agent: str, seed: int, number: int, cards: int) -> dict[str, Any]:
    """Return a position, its value and its moves between perfect players, and what agents lose there, in points."""
    game = late_game(Rules.parse(rules), agent, seed, number, cards)
    solved = solve_late(game, threads=1)
    here = look(solved, game, knows_plays=False)
    margins = {each.move: each.margin for each in here.moves}
    lost: dict[str, dict[str, float]] = {name: {} for name in MEASURES}
    plays = {}
    for spec, seeds in ASKED.items():
        measured = measure_blind(solved, spec, seeds)
        lost[LOST][spec] = lost_to_equilibrium(solved, measured, 1)
        lost[BEST][spec] = measured.exploitability
        if len(margins) > 1:
            theirs = look(measured, game, knows_plays=False)
            expected = sum(each.probability * margins[each.move] for each in theirs.moves)
            lost[REGRET][spec] = max(margins.values()) - expected
            plays[spec] = theirs.moves[0].move
    return {
        "position": game.position(), "cards": cards, "value": solved.value, "gap": solved.exploitability,
        "moves": [[each.move, each.probability, each.margin] for each in here.moves if len(margins) > 1],
        "plays": plays, "lost": lost,
    }  # fmt: skip


def measure_blind(solved: Solved, spec: str | Agent, seeds: int) -> Solved:
    """Return an agent's policy in a late position, and best responses to it; it sees no plays of before."""
    rules, trees = solved.trees.rules, solved.trees
    blind = measure(spec, rules, seeds, 1, hide_plays(trees))
    return evaluate(Solved(trees, blind.solutions), 1)


def of_a_resolved_position(rules: str, agent: str, seed: int, number: int, cards: int) -> dict[str, Any]:
    """Return what an agent that solves the deal before the last one loses to an equilibrium in a position."""
    game = late_game(Rules.parse(rules), agent, seed, number, cards)
    solved = solve_late(game, threads=1)
    measured = measure_blind(solved, Equilibrium(game.rules, **RESOLVED), 1)
    return {
        "position": game.position(), "cards": cards,
        "resolved": {LOST: lost_to_equilibrium(solved, measured, 1), BEST: measured.exploitability},
    }  # fmt: skip


def of_a_small_game(preset: str) -> dict[str, float]:
    """Return the exploitability of that agent in a small game, and of a search."""
    rules = Rules.preset(preset)
    trees = grow_for_agents(rules)
    players: dict[str, str | Agent] = {"resolved": Equilibrium(rules, **ALL_HANDS), "search": "search"}
    return {name: measure(player, rules, 2, 1, trees).exploitability for name, player in players.items()}


def tasks(setup: Setup) -> list[Task]:
    """Return tasks: positions to solve, to bound exploitability in, and to measure the agent of `resolving` in."""
    about = {"rules": str(setup.rules), "agent": setup.agent, "seed": setup.seed}
    some = setup.deals // RARER
    solved = [
        Task(f"{cards} cards, {number}", of_a_position, {**about, "number": number, "cards": cards})
        for cards, positions in ((MORE, some), (FEW, setup.deals))
        for number in range(positions)
    ]
    bounded = [
        Task(
            f"{cards} cards, {number}, bounded", of_a_response,
            {**about, "number": number, "cards": cards, "asked": asked},
        )
        for cards, positions, asked in (
            (FEW, setup.deals, COMPARED), (MORE, some, COMPARED), (WHOLE, some, dict.fromkeys(ASKED, 1)),
        )
        for number in range(positions)
    ]  # fmt: skip
    again = [
        Task(f"{FEW} cards, {number}, solved anew", of_a_resolved_position, {**about, "number": number, "cards": FEW})
        for number in range(OFTEN * some)
    ]
    return solved + bounded + again + [Task(SMALL, of_a_small_game, {"preset": SMALL})] * (some > 0)


def answer(setup: Setup, results: dict[str, Any]) -> Answer:
    """Tell what agents lose in late positions, by the cards in both hands."""
    bounded = [each for each in results.values() if "gains" in each]
    solved = [each for each in results.values() if "value" in each]
    resolved = resolved_in(results.values(), solved, setup.agent)
    found = {cards: here for cards in (FEW, MORE) if (here := [each for each in solved if each["cards"] == cards])}
    rows, figures = [], {}
    for cards, here in found.items():
        for what in MEASURES:
            for spec in ASKED:
                values = lost_in(here, what, spec)
                rows.append((what, f"{cards} cards", spec, *margin_cells(*interval(values), 3)))
                figures[f"{what}, {cards} cards, {spec}"] = interval(values)
    bounds = {
        _bound_name(cards, hands, spec): interval(gains)
        for cards in (FEW, MORE, WHOLE)
        for hands in HANDS
        for spec in ASKED
        if len(gains := bounds_in(bounded, solved, cards, spec, hands))
    }
    for name, gained in bounds.items():
        cards_told, hands_told, spec = name.split(", ", 2)
        rows.append((f"{BOUND}: {hands_told}", cards_told, spec, *margin_cells(*gained, 3)))
    return Answer(
        _sentence(setup, found) + _bounds_sentence(bounds) + _resolved_sentence(setup, resolved, results.get(SMALL)),
        ("points", "in both hands", "agent", "mean", "95% interval"), rows,
        {
            "intervals": figures_of(figures), "errors": errors_of(found[FEW], setup.agent), "positions": solved,
            "resolved": {**figures_of(resolved), SMALL: results.get(SMALL)},
            "bounds": figures_of(bounds), "whole deals": [each for each in bounded if each["cards"] == WHOLE],
        },
        lambda axes: draw(axes, found),
    )  # fmt: skip


def lost_in(results: Iterable[dict[str, Any]], what: str, spec: str) -> FloatArray:
    """Return what an agent loses in each position in which that was measured."""
    return np.array([each["lost"][what][spec] for each in results if spec in each["lost"][what]])


def bounds_in(
    bounded: Iterable[dict[str, Any]], solved: Iterable[dict[str, Any]], cards: int, spec: str, hands: int
) -> FloatArray:
    """Return bounds of an agent's exploitability, a sample for each position with so many cards.

    Where it was computed exactly too, the sample is that figure, and what the responder gains more with so many hands
    than with all: the luck of its own hand is in both.
    """
    exact = {each["position"]: each["lost"][BEST].get(spec) for each in solved}
    found = []
    for each in bounded:
        gains = each["gains"].get(spec, {})
        if each["cards"] == cards and str(hands) in gains:
            known = exact.get(each["position"])
            found.append(gains[str(hands)] if known is None else known + gains[str(hands)] - gains["0"])
    return np.array(found)


def resolved_in(
    results: Iterable[dict[str, Any]], solved: Iterable[dict[str, Any]], agent: str
) -> dict[str, Interval]:  # fmt: skip
    """Return what the agent of `resolving` loses to an equilibrium, and how much another loses more there."""
    theirs = {each["position"]: each["lost"][LOST][agent] for each in solved}
    pairs = [
        (each["resolved"][LOST], theirs[each["position"]]) for each in results if "resolved" in each and "cards" in each
    ]
    if not pairs:
        return {}
    lost, other = np.array(pairs).T
    return {LOST: interval(lost), f"more by {agent}": interval(other - lost)}


def errors_of(results: Iterable[dict[str, Any]], agent: str) -> dict[str, Any]:
    """Return how many first plays are errors, by what was played and what is best: leaving a card, or a capture."""
    errors: dict[str, list[float]] = {}
    decisions = 0
    for each in results:
        if agent not in each["plays"]:
            continue
        decisions += 1
        best, margin = max(((move, margin) for move, _, margin in each["moves"]), key=lambda move: move[1])
        played = each["plays"][agent]
        lost = margin - next(there for move, _, there in each["moves"] if move == played)
        if lost > ERROR:
            errors.setdefault(f"{kind_of(played)} for {kind_of(best)}", []).append(lost)
    return {"decisions": decisions, "errors": {kind: [len(lost), float(np.sum(lost))] for kind, lost in errors.items()}}


def kind_of(move: str) -> str:
    """Return whether a move leaves its card on the table, in a word."""
    return "capture" if "x" in move else "creep"


def _sentence(setup: Setup, found: dict[int, list[dict[str, Any]]]) -> str:
    told = []
    for cards, here in found.items():
        lost, best = (interval(lost_in(here, what, setup.agent)) for what in (LOST, BEST))
        told.append(
            f"with {cards} cards in both hands {setup.agent} loses {format_margin(*lost, 2)} points to an equilibrium, "
            f"and {format_margin(*best, 2)} to its best response"
        )
    errors = errors_of(found[FEW], setup.agent)
    counted = ", ".join(f"{count} {kind} ({lost:.1f} points)" for kind, (count, lost) in errors["errors"].items())
    return (
        f"In the deal before the last one, {'; '.join(told)}. Of its {errors['decisions']} first plays with a choice, "
        f"{sum(count for count, _ in errors['errors'].values())} lose more than {ERROR} points: {counted or 'none'}."
    )


def _bounds_sentence(bounds: dict[str, Interval]) -> str:
    """Tell what best responses gain in whole deals, with the largest ranges and with all hands."""
    told = []
    for hands, knowledge in (
        (max(HANDS), f"told {max(HANDS)} hands of which the other seat holds one"),
        (0, "with all hands"),
    ):
        gains = [
            f"{format_margin(*bounds[name], 1)} on {spec}"
            for spec in COMPARED
            if (name := _bound_name(WHOLE, hands, spec)) in bounds
        ]
        if gains:
            told.append(f"{', '.join(gains)}, {knowledge}")
    if not told:
        return ""
    limits = "".join(f", {spec} with at most {most} hands" for spec, most in MOST_HANDS.items())
    return (
        f" In whole deals a best response gains {'; '.join(told)}. There agents are asked once{limits}, and each end "
        f"is valued by {SAMPLES} last deals."
    )


def _resolved_sentence(setup: Setup, resolved: dict[str, Interval], small: dict[str, float] | None) -> str:
    """Tell what the agent of `resolving` loses, if it was asked."""
    if not resolved or small is None:
        return ""
    lost, more = resolved.values()
    return (
        f" An agent that solves this deal, for {RESOLVED['hands']} hands of each seat, loses "
        f"{format_margin(*lost, 2)} to an equilibrium with {FEW} cards in both hands; {setup.agent} loses "
        f"{format_margin(*more, 2)} more in the same positions. With all hands its exploitability in {SMALL} is "
        f"{small['resolved']:.2f}, that of search {small['search']:.2f}."
    )


def _bound_name(cards: int, hands: int, spec: str) -> str:
    return f"{cards} cards, {hands or 'all'} hands, {spec}"


def draw(axes: Axes, found: dict[int, list[dict[str, Any]]]) -> None:
    """Draw what each agent loses to an equilibrium and to its best response."""
    for at, (cards, here) in enumerate(found.items()):
        for what, marker, colour in ((LOST, "o", "C0"), (BEST, "s", "C3")):
            means = np.array([interval(lost_in(here, what, spec)) for spec in ASKED])
            places = np.arange(len(ASKED)) + 0.15 * (2 * at - 1)
            errors = np.array([means[:, 0] - means[:, 1], means[:, 2] - means[:, 0]])
            axes.errorbar(
                means[:, 0], places, xerr=errors, fmt=marker, ms=5, capsize=3, color=colour,
                mfc=colour if at == 0 else "white", label=f"{what}, {cards} cards in both hands",
            )  # fmt: skip
    axes.set_yticks(range(len(ASKED)), list(ASKED))
    axes.invert_yaxis()
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_xlabel("points")
    axes.legend(loc="lower right", fontsize=8)


STUDY = Study(
    "late", "What is perfect play of the last two deals worth?", tasks, answer, deals=60, players=(2,),
    agent="champion",
)  # fmt: skip
