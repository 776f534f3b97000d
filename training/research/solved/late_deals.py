"""Late deals of the full game, solved: what is perfect play of the end worth, and where does the champion err?

Positions are sampled from games of champions, in the second half of the deal before the last one. They are solved for
all hands that the seats may hold, with the last deal by minimax; agents see them without what was played before.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from krypenv import agents
from krypenv.one_game import Game
from krypenv.rules import Rules
from krypenv.training.evaluation.matches.margins import FloatArray, format_margin, interval, margin_cells
from krypenv.training.research.exact.late import solve_late
from krypenv.training.research.exact.looking import look
from krypenv.training.research.exact.solving import Solved, evaluate, lost_to_equilibrium, measure
from krypenv.training.research.lab.intervals import figures_of
from krypenv.training.research.lab.studying import Answer, Setup, Study, Task

ASKED = {"random": 1, "greedy": 8, "tactician(shed=True)": 8, "search": 2, "champion(worlds=0)": 1, "champion": 2}
FEW, MORE = 4, 5  # cards in both hands
RARER = 10  # positions with few cards for each one with more
LOST, BEST, REGRET = "lost to an equilibrium", "exploitability", "lost by the first play"
MEASURES = (LOST, BEST, REGRET)
ERROR = 0.1  # points from which on a play is an error


def late_game(rules: Rules, agent: str, seed: int, number: int, cards: int) -> Game:
    """Return a game in the deal before the last one, when the hands hold so many cards; an agent has played it."""
    player = agents.make_known(agent, rules, seed)
    game = Game(rules, seed=int(np.random.default_rng([seed, number]).integers(2**31)))
    last = len(rules.deal_sizes())
    while (
        game.pending is not None
        or game.deal_number < last - 1
        or sum(len(game.hand(seat)) for seat in range(2)) > cards
    ):
        mask = np.zeros((1, rules.num_actions), np.int8)
        mask[0, game.legal_actions()] = 1
        game.act(int(player.act(game.observation(history=True)[None], mask)[0]))
    return game


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


def measure_blind(solved: Solved, spec: str, seeds: int) -> Solved:
    """Return an agent's policy in a late position, and best responses to it; it sees no plays of before."""
    rules, trees = solved.trees.rules, solved.trees
    seen = [np.ascontiguousarray(forest.seen[:, : rules.observation_size]) for forest in trees.forests]
    forests = [forest._replace(seen=each) for forest, each in zip(trees.forests, seen, strict=True)]
    blind = measure(spec, rules, seeds, 1, dataclasses.replace(trees, forests=forests))
    return evaluate(Solved(trees, blind.solutions), 1)


def tasks(setup: Setup) -> list[Task]:
    """Return a task for each position."""
    return [
        Task(
            f"{cards} cards, {number}", of_a_position,
            {"rules": str(setup.rules), "agent": setup.agent, "seed": setup.seed, "number": number, "cards": cards},
        )
        for cards, positions in ((MORE, setup.deals // RARER), (FEW, setup.deals))
        for number in range(positions)
    ]  # fmt: skip


def answer(setup: Setup, results: dict[str, Any]) -> Answer:
    """Tell what agents lose in late positions, by the cards in both hands."""
    found = {
        cards: here for cards in (FEW, MORE) if (here := [each for each in results.values() if each["cards"] == cards])
    }
    rows, figures = [], {}
    for cards, here in found.items():
        for what in MEASURES:
            for spec in ASKED:
                values = lost_in(here, what, spec)
                rows.append((what, f"{cards} cards", spec, *margin_cells(*interval(values), 3)))
                figures[f"{what}, {cards} cards, {spec}"] = interval(values)
    return Answer(
        _sentence(setup, found), ("points", "in both hands", "agent", "mean", "95% interval"), rows,
        {
            "intervals": figures_of(figures), "errors": errors_of(found[FEW], setup.agent),
            "positions": list(results.values()),
        },
        lambda axes: draw(axes, found),
    )  # fmt: skip


def lost_in(results: Iterable[dict[str, Any]], what: str, spec: str) -> FloatArray:
    """Return what an agent loses in each position in which that was measured."""
    return np.array([each["lost"][what][spec] for each in results if spec in each["lost"][what]])


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
