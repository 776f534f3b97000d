"""Which answers about misère hold for which players?

Players of different strength play large games in which captures are forced, with goal low and high. Margins are in
standard deviations of a game of that very match (SD). Luck is taken out of matches alone, by `--luck on`. Networks play
the games for which there is a model in a folder of runs/misere, each trained for its own goal:

    krypenv train --workers 1 --set curve_every=1e9 --deals 200 --out runs/misere/low
    krypenv train --workers 1 --set curve_every=1e9 --deals 200 --out runs/misere/high --rule goal=high
    python notebooks/studies/misere_large.py krypkasino
"""

import dataclasses
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from krypenv import Rules, agents
from krypenv.training import lab

GAMES = ("krypkasino", "kasino-sweden capture=maximal", "overspader capture=maximal", "kasino-finland capture=maximal")
MODELS = Path("runs/misere")
GOALS, DIFFERENCE = ("low", "high"), "low - high"
LEAD, SWEEPS, SIGHT = "first seat's lead", "points that sweeps move", "sight of the other hand"
SKILL, STRENGTH = "skill, over random", "strength, over tactician"
QUANTITIES = (LEAD, SIGHT, SKILL, STRENGTH, SWEEPS)
MANY = 5  # games of a player against itself, for each deal of a match


class Piece(NamedTuple):
    """A player of a game with a goal, the setup of its matches, and by quantity who meets whom in them."""

    game: str
    goal: str
    player: str
    setup: lab.Setup
    matches: dict

    @property
    def alone(self):
        """The setup of its games against itself."""
        return dataclasses.replace(self.setup, deals=MANY * self.setup.deals)

    def key(self, what):
        """Return the key of tasks."""
        return f"{self.game}, {self.goal}, {self.player}: {what}"


def players_of(rules):
    """Return the strings of the players of a game by their names."""
    found = {"tactician": "tactician", "search": "search(worlds=10)"}
    for folder in sorted(path.parent for path in MODELS.glob("*/model.json")):
        if agents.rules_of(str(folder)) == rules:
            found["network"] = agents.format_spec("learned", {"model": str(folder)})
            found["network with search"] = agents.format_spec("guided", {"model": str(folder), "worlds": 20})
    return found


def pieces(setup):
    """Yield the players of all games with both goals."""
    for game, goal in product(setup.sets, GOALS):
        rules = dataclasses.replace(Rules.parse(game), goal=goal)
        for player, spec in players_of(rules).items():
            meet = {SIGHT: ("oracle-hand", spec), SKILL: (spec, "random"), STRENGTH: (spec, "tactician")}
            matches = {quantity: both for quantity, both in meet.items() if both[0] != both[1]}
            yield Piece(game, goal, player, dataclasses.replace(setup, rules=rules, agent=spec), matches)


def tasks(setup):
    """Return the games of all players against themselves, and their matches."""
    found = []
    for piece in pieces(setup):
        found += lab.chunk_tasks(piece.key("games"), piece.alone, play_alone)
        for quantity, (agent, opponent) in piece.matches.items():
            match = dataclasses.replace(piece.setup, agent=opponent)
            found += lab.chunk_tasks(piece.key(quantity), match, play_match, other=agent, luck=setup.luck)
    return found


def play_alone(rules, agent, first, deals, seed):
    """Return by deal, with an agent in every seat, the first seat's lead and the points that sweeps move."""
    game, found = Rules.parse(rules), np.zeros((deals, 2))
    for engine, _, _, ended, _ in lab.watch(rules, agent, first, deals, seed):
        scores, sweeps = engine.final_scores[ended], engine.final_sweeps[ended] - engine.final_void_sweeps[ended]
        found[ended, 0] = (scores[:, 0] - scores[:, 1:].mean(axis=1)) * (-1 if game.goal == "low" else 1.0)
        found[ended, 1] = game.sweep_points * sweeps.sum(axis=1)
    return found.tolist()


def play_match(rules, agent, first, deals, seed, other, luck):
    """Return by deal the margins in both seatings of another agent against an agent, and those with luck left in."""
    match = (rules, agent, first, deals, seed, lab.instead(other))
    played = lab.play_match(*match)
    margins = played if luck == "off" else lab.play_match(*match, luck)
    return np.stack([margins, played], axis=1).tolist()


def in_units(margins, played):
    """Return margins by deal and seating, (deals, seatings), by deal in standard deviations of a game as it is played.

    The mean is that of the margins over the standard deviation, and the variance that of both (delta method).
    """
    points, unit = margins.mean(axis=1), played.std() or 1.0
    spread = ((played - played.mean()) ** 2).mean(axis=1) / unit**2 - 1
    return points / unit - points.mean() / unit * spread / 2


def answer(setup, results):
    """Compare the goals for each player by deal, as both have the same decks; p values by Holm over all differences."""
    samples = {}
    for piece in pieces(setup):
        lead, sweeps = np.array(lab.by_deal(results, piece.key("games"), piece.alone)).T
        found = {LEAD: in_units(lead[:, None], lead[:, None]), SWEEPS: sweeps}
        for quantity in piece.matches:
            both = np.array(lab.by_deal(results, piece.key(quantity), piece.setup))
            found[quantity] = in_units(both[:, 0], both[:, 1])
        for quantity, sample in found.items():
            samples.setdefault((quantity, piece.game, piece.player), {})[piece.goal] = sample
    effects = lab.effects_of({key: each["low"] - each["high"] for key, each in samples.items() if len(each) == 2})
    figures = {quantity: {game: {} for game in setup.sets} for quantity in QUANTITIES}
    for (quantity, game, player), each in samples.items():
        cells = lab.figures_of({goal: lab.interval(sample) for goal, sample in each.items()})
        if len(each) == 2:
            cells[DIFFERENCE] = effects[quantity, game, player]
        figures[quantity][game][player] = cells
    return lab.Answer(figures, draw=partial(draw, figures))


def draw(figures, axes):
    """Draw by how much more each quantity is with goal low: a row for each game and player, a colour for a quantity."""
    rows = [(game, player) for game, found in figures[LEAD].items() for player in found]
    for at, quantity in enumerate(QUANTITIES[:-1]):
        axes.plot([], [], "o", color=f"C{at}", label=quantity)
        for row, (game, player) in enumerate(rows):
            if found := figures[quantity][game].get(player, {}).get(DIFFERENCE):
                errors = [[found["mean"] - found["low"]], [found["high"] - found["mean"]]]
                axes.errorbar(found["mean"], row + 0.16 * (at - 1.5), xerr=errors, fmt="o", ms=4, color=f"C{at}")
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(rows)), [f"{game}: {player}" for game, player in rows], fontsize=8)
    axes.invert_yaxis()
    axes.figure.legend(loc="outside lower center", ncols=4, fontsize=8)
    axes.set_xlabel("goal low less goal high, in standard deviations of a game of that match", fontsize=9)


QUESTION = "Which answers about misère hold for which players?"
STUDY = lab.Study("misere_large", QUESTION, tasks, answer, deals=600, fewest=2, sets=GAMES, agent="tactician")

if __name__ == "__main__":
    lab.main(STUDY)
