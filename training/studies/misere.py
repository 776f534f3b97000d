"""Misère: what changes if few points are the goal? Krypkasino and its one-pack relatives, each for few and for many."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from krypenv import agents
from krypenv.agents import Agent
from krypenv.cards import NO_CARD
from krypenv.game.game import Game
from krypenv.rules import Rules
from krypenv.training.evaluation.table import by_side
from krypenv.training.lab.intervals import FloatArray, Interval, cells, figures_of, interval, is_sure
from krypenv.training.lab.play import by_deal, chunk_tasks, instead, leads_over_others, match_tasks, watch
from krypenv.training.lab.study import Answer, Setup, Study, Task

PLAYER = "tactician"  # who plays where decisions and points are counted
# Each agent of the ladder meets the one below it.
LADDER = ("random", "greedy", PLAYER, "search(worlds=10)", "oracle-hand(worlds=1)")
STEPS = tuple(zip(LADDER[1:], LADDER, strict=False))
LOOKED_AT = 20  # a decision of so many is looked at for its legal moves
MOST_MOVES = 1000  # that are counted


def _sets() -> dict[str, str]:
    found = {"Krypkasino": "krypkasino goal=low", "Krypkasino, high": "krypkasino goal=high"}
    for name, preset in (("Sweden", "kasino-sweden"), ("Överspader", "overspader"), ("Finland", "kasino-finland")):
        found[name] = preset
        found[f"{name}, misère"] = f"{preset} goal=low"
        found[f"{name}, must capture"] = f"{preset} capture=maximal"
        found[f"{name}, must capture, misère"] = f"{preset} capture=maximal goal=low"
    return found


SETS = _sets()


def setups(setup: Setup) -> dict[str, Setup]:
    """Return the setup of each rule set."""
    return {name: dataclasses.replace(setup, rules=Rules.parse(text), agent=PLAYER) for name, text in SETS.items()}


def count_decisions(rules: str, agent: str, first: int, deals: int, seed: int) -> list[list[float]]:
    """Return by deal, with an agent in every seat: what `COUNTED` names."""
    game = Rules.parse(rules)
    found, looked = np.zeros((deals, len(COUNTED))), 0
    for engine, rows, before, ended, ends in watch(rules, agent, first, deals, seed):
        for at, states in ((rows, before), (ended, ends)):
            plays = states.pending == NO_CARD
            found[at, 0] += plays
            for row, state in zip(at[plays].tolist(), states[plays], strict=True):
                looked += 1
                if looked % LOOKED_AT == 0:
                    moves = _count_moves(game, state)
                    found[row, 1:4] += 1, moves, moves > 1
        if len(ended):
            points = engine.final_points[ended].sum(axis=1)
            sweeps = (engine.final_sweeps[ended] - engine.final_void_sweeps[ended]).sum(axis=1) * game.sweep_points
            scores = by_side(engine.final_scores[ended].astype(np.int64), game.num_teams).astype(float)
            kept = sweeps * (game.sweep_payer != "seat_before")
            found[ended, 4], found[ended, 5] = points, sweeps
            found[ended, 6] = scores.sum(axis=1) - points - kept
            found[ended, 7] = leads_over_others(game, scores)[:, 0]
    return found.tolist()


COUNTED = (
    "plays", "positions looked at", "their legal moves", "those with a choice", "points of cards", "points of sweeps",
    "other points", "lead of the first seat",
)  # fmt: skip


def _count_moves(rules: Rules, state: np.record) -> int:
    try:
        return min(len(Game.from_state(rules, state).legal_moves()), MOST_MOVES)
    except ValueError:  # more than a game lists
        return MOST_MOVES


def other_goal(agent: str, rules: Rules, seed: int) -> Agent:
    """Return the agent that plays for the other goal: as if many points were good where few are, or the reverse."""
    turned = dataclasses.replace(rules, goal="high" if rules.goal == "low" else "low")
    found = agents.make_known(agent, turned, seed)
    found.rules = rules
    return found


def step_setup(own: Setup, below: str) -> Setup:
    """Return the setup in which an agent is met by the one above it on the ladder."""
    return dataclasses.replace(own, agent=below)


def tasks(setup: Setup) -> list[Task]:
    """Return the games to count and the matches of each rule set."""
    found: list[Task] = []
    for name, own in setups(setup).items():
        found += chunk_tasks(f"{name}: counts", own, count_decisions)
        for above, below in STEPS:
            found += match_tasks(f"{name}: {above}", step_setup(own, below), instead(above))
        found += match_tasks(f"{name}: other goal", own, other_goal)
    return found


def answer(setup: Setup, results: dict[str, Any]) -> Answer:
    """Tell for each rule set what there is to choose, where points come from, and what skill and hidden cards pay."""
    rows: list[tuple[str, ...]] = []
    figures: dict[str, Any] = {}
    ladder: dict[str, dict[str, Interval]] = {}
    for name, own in setups(setup).items():
        counts = np.array(by_deal(results, f"{name}: counts", own), float)
        totals = counts.sum(axis=0)
        spread = float(counts[:, 7].std(ddof=1))
        scale = spread if spread > 0 else 1.0
        matches = {
            above: np.array(by_deal(results, f"{name}: {above}", step_setup(own, below))) for above, below in STEPS
        }
        turned = interval(np.array(by_deal(results, f"{name}: other goal", own)))
        ladder[name] = {above: interval(each / scale) for above, each in matches.items()}
        moves, choice = (totals[at] / max(totals[1], 1) for at in (2, 3))
        lead = interval(counts[:, 7])
        rows.append((
            name, f"{moves:.1f}", f"{choice:.0%}",
            " / ".join(f"{counts[:, at].mean():.1f}" for at in (4, 5, 6)), f"{spread:.1f}",
            *("\n".join(cells(each)) for each in (*ladder[name].values(), lead, turned)),
        ))  # fmt: skip
        figures[name] = {
            "moves": float(moves), "choice": float(choice), "spread": spread,
            **{label: float(counts[:, at].mean()) for at, label in enumerate(COUNTED) if at > 3},
            **figures_of({**ladder[name], "lead": lead, "other goal": turned}),
        }  # fmt: skip
    return Answer(
        _sentence(figures, ladder),
        ("rules", "moves", "choice", "cards / sweeps / other", "luck", *(above.partition("(")[0] for above, _ in STEPS),
         "first seat", "other goal"),
        rows, figures, _draw(ladder),
    )  # fmt: skip


def skill_of(steps: dict[str, Interval]) -> float:
    """Return how far the best honest agent is above random play, in standard deviations of a game."""
    return sum(each[0] for above, each in steps.items() if not above.startswith("oracle"))


def _sentence(figures: dict[str, Any], ladder: dict[str, dict[str, Interval]]) -> str:
    idle = [name for name, each in figures.items() if each["spread"] == 0]
    played = {name: steps for name, steps in ladder.items() if name not in idle}
    most, least = (find(played, key=lambda name: skill_of(played[name])) for find in (max, min))
    told = (
        f"Skill pays most in {most}: its ladder climbs {skill_of(played[most]):.1f} standard deviations of a game from "
        f"random to search, and least in {least} ({skill_of(played[least]):.1f})."
    )
    if idle:
        told += f" Where nobody must capture, nobody takes a card for few points ({'; '.join(idle)})."
    hidden = [name for name, steps in played.items() if is_sure(steps[LADDER[-1]]) and steps[LADDER[-1]][0] > 0]
    return told + f" To see the other hand pays for certain in {len(hidden)} of {len(played)} games."


def _draw(ladder: dict[str, dict[str, Interval]]) -> Callable[[Axes], None]:
    def draw(axes: Axes) -> None:
        left: FloatArray = np.zeros(len(ladder))
        for above, below in STEPS:
            widths = np.array([steps[above][0] for steps in ladder.values()])
            axes.barh(
                list(ladder), widths, left=left, label=f"{above.partition('(')[0]} over {below.partition('(')[0]}"
            )
            left = left + widths
        axes.invert_yaxis()
        axes.set_xlabel("standard deviations of a game's margin")
        axes.legend(fontsize=8)

    return draw


STUDY = Study("misere", "What does misère change?", tasks, answer, deals=1000, players=(2,), fewest=2)
