"""How do these rules differ?

Rule sets on the same footing: what there is to choose, where points come from, and what skill, the first seat and
hidden hands are worth. Margins are in luck: the standard deviation of a game's margin between two equal players.

    python notebooks/studies/compare.py krypkasino 'krypkasino goal=high' --deals 500
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from krypenv import Game, Rules, agents
from krypenv.training import deal_seeds, lab

PLAYERS = ("random", "greedy", "tactician", "search(worlds=10)", "oracle-hand")  # each meets the one before it
STEPS = {f"{above} over {below}": (above, below) for below, above in pairwise(PLAYERS)}
HIDDEN = [*STEPS][-1]  # what it is worth to see the other hands
SKILL = "search(worlds=10) over random, by steps"
CARDS, SWEEPS, FURTHER = "points of cards", "points that sweeps move", "further points"
LEAD, LUCK = "first seat over the others", "luck of a game, in points"
MOVES, CHOICE = "legal moves", "percent of plays with a choice"
MANY, FEW = 10, 10  # games to count for each deal of a match; deals of matches for each game looked at for moves
MOST = 10_000  # moves that a game lists


def games_setup(setup: lab.Setup, text: str) -> lab.Setup:
    """Return the setup of the games of a rule set in which the agent plays every seat; they are quick."""
    return dataclasses.replace(setup, rules=Rules.parse(text), deals=MANY * setup.deals)


def moves_setup(setup: lab.Setup, text: str) -> lab.Setup:
    """Return the setup of the games of a rule set whose moves are counted, which takes long."""
    return dataclasses.replace(setup, rules=Rules.parse(text), deals=max(setup.deals // FEW, 2))


def match_setup(setup: lab.Setup, text: str, step: str) -> lab.Setup:
    """Return the setup of a step's match by a rule set."""
    return dataclasses.replace(setup, rules=Rules.parse(text), agent=STEPS[step][1])


def tasks(setup: lab.Setup) -> list[lab.Task]:
    """Return the games and the matches of all rule sets."""
    found = []
    for text in setup.sets:
        found += lab.chunk_tasks(f"{text}: moves", moves_setup(setup, text), count_moves)
        found += lab.chunk_tasks(f"{text}: games", games_setup(setup, text), count_points)
        for step, (above, _) in STEPS.items():
            found += lab.match_tasks(f"{text}: {step}", match_setup(setup, text, step), lab.instead(above))
    return found


def count_points(rules: str, agent: str, first: int, deals: int, seed: int) -> list[list[float]]:
    """Return by deal points of cards, by sweeps and further ones, over all seats, and the first side's lead."""
    game, found = Rules.parse(rules), np.zeros((deals, 4))
    for engine, _, _, ended, _ in lab.watch(rules, agent, first, deals, seed):
        by_side = len(ended), game.players // game.num_teams, game.num_teams
        scores = engine.final_scores[ended].reshape(by_side).sum(axis=1).astype(float)
        cards = engine.final_points[ended].sum(axis=1)
        moved = (engine.final_sweeps[ended] - engine.final_void_sweeps[ended]).sum(axis=1) * game.sweep_points
        further = scores.sum(axis=1) - cards - (moved if game.sweep_payer == "nobody" else 0)
        lead = (scores[:, 0] - scores[:, 1:].mean(axis=1)) * (-1 if game.goal == "low" else 1)
        found[ended] = np.stack([cards, moved, further, lead], axis=1)
    return found.tolist()


def count_moves(rules: str, agent: str, first: int, deals: int, seed: int) -> list[list[float]]:
    """Return by deal the mean number of legal moves, a card with what it takes, and the share of plays with several."""
    its, found = Rules.parse(rules), []
    player = agents.make_known(agent, its, seed)
    for start in deal_seeds(seed, first + deals)[first:].tolist():
        game, moves = Game(its, seed=start), []
        while not game.is_over:
            if game.pending is None:  # and not within a capture that is being chosen
                try:
                    moves.append(len(game.legal_moves()))
                except ValueError:  # more than it lists
                    moves.append(MOST)
            game.act(int(player.act(game.observation()[None], game.action_mask()[None])[0]))
        found.append([float(np.mean(moves)), float(np.mean(np.array(moves) > 1))])
    return found


def figures_of(setup: lab.Setup, text: str, results: dict[str, Any]) -> dict[str, Any]:
    """Return what a rule set's games and matches measure; margins are in luck, where games differ at all."""
    moves, choice = np.array(lab.by_deal(results, f"{text}: moves", moves_setup(setup, text))).T
    cards, moved, further, lead = np.array(lab.by_deal(results, f"{text}: games", games_setup(setup, text))).T
    found = {MOVES: moves, CHOICE: 100 * choice, CARDS: cards, SWEEPS: moved, FURTHER: further}
    margins = {step: lab.by_deal(results, f"{text}: {step}", match_setup(setup, text, step)) for step in STEPS}
    margins[SKILL] = np.sum([margins[step] for step in STEPS if step != HIDDEN], axis=0)
    if luck := float(lead.std()):
        found |= {name: np.array(each) / luck for name, each in {**margins, LEAD: lead}.items()}
    variance = lab.interval((lead - lead.mean()) ** 2)
    found = {name: lab.interval(each) for name, each in found.items()}
    return lab.figures_of({**found, LUCK: tuple(max(bound, 0.0) ** 0.5 for bound in variance)})


def answer(setup: lab.Setup, results: dict[str, Any]) -> lab.Answer:
    """Return what each rule set has to choose, where its points come from, and what skill and hands are worth."""
    figures = {text: figures_of(setup, text, results) for text in setup.sets}
    names = dict.fromkeys(name for found in figures.values() for name in found)
    rows = [(name, *(cell(found.get(name)) for found in figures.values())) for name in names]
    return lab.Answer(figures, ("what; margins in luck", *figures), rows, partial(draw, figures))


def cell(figure: Mapping[str, float] | None) -> str:
    """Return a mean with its interval."""
    return f"{figure['mean']:.2f} ({figure['low']:.2f} to {figure['high']:.2f})" if figure else "-"


def draw(figures: Mapping[str, Any], axes: Axes) -> None:
    """Draw how far each player is above random play in each rule set, step by step, with the interval of each step."""
    for row, found in enumerate(figures.values()):
        at = 0.0
        for number, step in enumerate(STEPS):
            if step in found:
                mean, low, high = (found[step][name] for name in ("mean", "low", "high"))
                errors = [[mean - low], [high - mean]]
                axes.errorbar(at + mean, row, xerr=errors, fmt="o", capsize=3, color=f"C{number}")
                at += mean
        axes.plot([0, at], [row, row], color="#cccccc", zorder=0)
    for number, (above, _) in enumerate(STEPS.values()):
        axes.plot([], [], "o", color=f"C{number}", label=above)
    axes.set_yticks(range(len(figures)), list(figures), fontsize=9)
    axes.set_ylim(len(figures) - 0.5, -0.5)
    axes.set_xlabel("above random play, step by step, in standard deviations of a game's margin")
    axes.figure.legend(loc="outside lower center", ncols=4, fontsize=8)


SETS = ("krypkasino", "krypkasino goal=high")
STUDY = lab.Study("compare", "How do these rules differ?", tasks, answer, 1000, agent="tactician", sets=SETS)

if __name__ == "__main__":
    lab.main(STUDY)
