"""Which answers about misère hold for which players?

Players of different strength play large games in which captures are forced, with goal low and high. Margins are in
standard deviations of a game of that very match (SD). Luck is taken out of matches alone, by `--luck on`. Networks play
the games for which there is a model in runs/misere, each trained for its own goal:

    for goal in low high; do krypenv train --workers 1 --rule goal=$goal --out runs/misere/$goal; done
    python notebooks/studies/misere_large.py krypkasino
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from krypenv import Rules, agents
from krypenv.training import lab

Array = npt.NDArray[np.float64]
GAMES = ("krypkasino", "kasino-sweden capture=maximal", "overspader capture=maximal", "kasino-finland capture=maximal")
MODELS = Path("runs/misere")
GOALS, DIFFERENCE = ("low", "high"), "low - high"
LEAD, SWEEPS, SIGHT = "first seat's lead", "points that sweeps move", "sight of the other hand"
SKILL, STRENGTH = "skill, over random", "strength, over tactician"
QUANTITIES = (LEAD, SIGHT, SKILL, STRENGTH, SWEEPS)
MANY = 5  # games of a player against itself, for each deal of a match


class Piece(NamedTuple):
    """A player of a game with a goal."""

    game: str
    goal: str
    player: str
    alone: lab.Setup  # of its games against itself
    setup: lab.Setup  # of its matches
    matches: dict[str, tuple[str, str]]  # who meets whom, by quantity

    def key(self, what: str) -> str:
        """Return the key of tasks."""
        return f"{self.game}, {self.goal}, {self.player}: {what}"


def players_of(rules: Rules) -> dict[str, str]:
    """Return the strings of the players of a game by their names."""
    found = {"tactician": "tactician", "search": "search(worlds=10)"}
    for folder in sorted(MODELS.glob("*/model")):
        if agents.rules_of(str(folder)) == rules:
            found["network"] = agents.format_spec("learned", {"model": str(folder)})
            found["network with search"] = agents.format_spec("guided", {"model": str(folder), "worlds": 20})
    return found


def pieces(setup: lab.Setup) -> Iterator[Piece]:
    """Yield the players of all games with both goals."""
    for game, goal in product(setup.sets, GOALS):
        rules = dataclasses.replace(Rules.parse(game), goal=goal)
        for player, spec in players_of(rules).items():
            matches = {SIGHT: ("oracle-hand", spec), SKILL: (spec, "random"), STRENGTH: (spec, "tactician")}
            matches = {quantity: both for quantity, both in matches.items() if both[0] != both[1]}
            own = dataclasses.replace(setup, rules=rules, agent=spec)
            yield Piece(game, goal, player, dataclasses.replace(own, deals=MANY * setup.deals), own, matches)


def tasks(setup: lab.Setup) -> list[lab.Task]:
    """Return the games of all players against themselves, and their matches."""
    found = []
    for piece in pieces(setup):
        found += lab.chunk_tasks(piece.key("games"), piece.alone, play_alone)
        for quantity, (agent, opponent) in piece.matches.items():
            match = dataclasses.replace(piece.setup, agent=opponent)
            found += lab.chunk_tasks(piece.key(quantity), match, play_match, other=agent, luck=setup.luck)
    return found


def play_alone(rules: str, agent: str, first: int, deals: int, seed: int) -> list[list[float]]:
    """Return by deal, with an agent in every seat, the first seat's lead and the points that sweeps move."""
    game, found = Rules.parse(rules), np.zeros((deals, 2))
    for engine, _, _, ended, _ in lab.watch(rules, agent, first, deals, seed):
        scores, sweeps = engine.final_scores[ended], engine.final_sweeps[ended] - engine.final_void_sweeps[ended]
        found[ended, 0] = (scores[:, 0] - scores[:, 1:].mean(axis=1)) * (-1 if game.goal == "low" else 1.0)
        found[ended, 1] = game.sweep_points * sweeps.sum(axis=1)
    return found.tolist()


def play_match(rules: str, agent: str, first: int, deals: int, seed: int, other: str, luck: str) -> list[Any]:
    """Return by deal the margins in both seatings of another agent against an agent, and those with luck left in."""
    match = (rules, agent, first, deals, seed, lab.instead(other))
    played = lab.play_match(*match)
    margins = played if luck == "off" else lab.play_match(*match, luck)
    return [[*both] for both in zip(margins.tolist(), played.tolist(), strict=True)]


def in_units(margins: Array, played: Array) -> Array:
    """Return margins by deal and seating, (deals, seatings), by deal in standard deviations of a game as it is played.

    The mean is that of the margins over the standard deviation, and the variance that of both (delta method).
    """
    points, unit = margins.mean(axis=1), float(played.std()) or 1.0
    spread = ((played - played.mean()) ** 2).mean(axis=1) / unit**2 - 1
    return np.asarray(points / unit - points.mean() / unit * spread / 2)


def answer(setup: lab.Setup, results: dict[str, Any]) -> lab.Answer:
    """Compare the goals for each player by deal, as both have the same decks; p values by Holm over all differences."""
    samples: dict[tuple[str, str, str], dict[str, Array]] = {}
    for piece in pieces(setup):
        lead, sweeps = np.array(lab.by_deal(results, piece.key("games"), piece.alone)).T
        found = {LEAD: in_units(lead[:, None], lead[:, None]), SWEEPS: sweeps}
        for quantity in piece.matches:
            both = np.array(lab.by_deal(results, piece.key(quantity), piece.setup))
            found[quantity] = in_units(both[:, 0], both[:, 1])
        for quantity, sample in found.items():
            samples.setdefault((quantity, piece.game, piece.player), {})[piece.goal] = sample
    effects = lab.effects_of({key: each["low"] - each["high"] for key, each in samples.items() if len(each) == 2})
    figures: dict[str, Any] = {quantity: {game: {} for game in setup.sets} for quantity in QUANTITIES}
    for (quantity, game, player), each in samples.items():
        cells = lab.figures_of({goal: lab.interval(sample) for goal, sample in each.items()})
        if len(each) == 2:
            cells[DIFFERENCE] = effects[quantity, game, player]
        figures[quantity][game][player] = cells
    return lab.Answer(figures, draw=partial(draw, figures))


def draw(figures: Mapping[str, Any], axes: Axes) -> None:
    """Draw by how much more each quantity is with goal low: a row for each game and player, a colour for a quantity."""
    rows = [(game, player) for game, found in figures[LEAD].items() for player in found]
    for at, quantity in enumerate(QUANTITIES[:-1]):
        axes.plot([], [], "o", color=f"C{at}", label=quantity)
        for row, (game, player) in enumerate(rows):
            if found := figures[quantity][game].get(player, {}).get(DIFFERENCE):
                half, place = (found["high"] - found["low"]) / 2, row + 0.16 * (at - 1.5)
                axes.errorbar(found["mean"], place, xerr=half, fmt="o", ms=4, color=f"C{at}")
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(rows)), [f"{game}: {player}" for game, player in rows], fontsize=8)
    axes.invert_yaxis()
    axes.figure.legend(loc="outside lower center", ncols=4, fontsize=8)
    axes.set_xlabel("goal low less goal high, in standard deviations of a game of that match", fontsize=9)


QUESTION = "Which answers about misère hold for which players?"
STUDY = lab.Study("misere_large", QUESTION, tasks, answer, deals=600, agent="tactician", sets=GAMES)

if __name__ == "__main__":
    lab.main(STUDY)
