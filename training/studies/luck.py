"""Luck: of the variance of a game's margin, how much is the deal, how much chance in play, how much skill."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from krypenv import agents
from krypenv.engine import Engine
from krypenv.rules import Rules
from krypenv.training.evaluation.deals import deal_seeds
from krypenv.training.evaluation.table import by_side, play_table
from krypenv.training.lab.play import by_deal, chunk_tasks, own_margins
from krypenv.training.lab.study import Answer, Setup, Study, Task

WEAKER = "search(worlds=4, plies=2)"  # who draws its worlds at random, and so plays a deal in different ways
PLAYS = 4  # times that each deal is played in each seating, with other random numbers of the agents
SURE = 1.645  # standard errors at which the better one is ahead with 95%


def play_deals(rules: str, agent: str, first: int, deals: int, seed: int) -> list[list[list[float]]]:
    """Return margins of an agent over the weaker one on all other sides, by deal, seating and repetition."""
    game = Rules.parse(rules)
    sides = game.num_teams
    seeds = np.repeat(deal_seeds(seed, first + deals)[first:], sides)
    lineup = np.tile(1 - np.eye(sides, dtype=np.int64), (deals, 1))
    found = []
    for repetition in range(PLAYS):
        streams = np.random.SeedSequence([seed, first, repetition]).generate_state(2).tolist()
        players = [agents.make_known(name, game, it) for name, it in zip((agent, WEAKER), streams, strict=True)]
        seats = play_table(Engine(game, len(seeds), seeds), players, lineup).scores
        found.append(own_margins(game, by_side(seats, sides).reshape(deals, sides, sides).astype(float)))
    margins: list[list[list[float]]] = np.stack(found, axis=2).round(9).tolist()
    return margins


def tasks(setup: Setup) -> list[Task]:
    """Return chunks of deals."""
    return chunk_tasks("deals", setup, play_deals)


def variances(margins: npt.NDArray[np.float64]) -> dict[str, float]:
    """Return the parts of the variance of a margin, from margins (deals, seatings, repetitions): a nested ANOVA.

    `chance`: between repetitions of a deal in a seating, that is, by the agents' random numbers. `seat`: between the
    seatings of a deal, who holds which cards, that is what duplicate deals take out. `deal`: between deals, over all
    their seatings.
    """
    _, seatings, repetitions = margins.shape
    chance = margins.var(axis=2, ddof=1).mean()
    by_seating = margins.mean(axis=2)
    seat = by_seating.var(axis=1).mean() - (1 - 1 / seatings) * chance / repetitions
    deal = by_seating.mean(axis=1).var(ddof=1) - chance / (seatings * repetitions)
    return {"deal": float(deal), "seat": float(seat), "chance": float(chance)}


def answer(setup: Setup, results: dict[str, Any]) -> Answer:
    """Tell the parts of the variance, and how many games and deals it takes to tell the better player."""
    margins = np.array(by_deal(results, "deals", setup))
    parts = variances(margins)
    skill = float(margins.mean())
    total = sum(parts.values())
    single = math.ceil(total * (SURE / skill) ** 2) if skill > 0 else math.inf
    a_deal = parts["deal"] + parts["chance"] / margins.shape[1]  # all seatings of a deal: `seat` cancels out
    duplicate = math.ceil(a_deal * (SURE / skill) ** 2) if skill > 0 else math.inf
    games = duplicate * margins.shape[1]
    sentence = (
        f"The better player is {skill:.1f} points a game ahead, and a single game's margin has a standard deviation of "
        f"{math.sqrt(total):.1f}: {max(parts['seat'], 0) / total:.0%} of the variance is who holds which cards, "
        f"{parts['chance'] / total:.0%} chance in play and {max(parts['deal'], 0) / total:.0%} the deal as a whole. "
        f"To be ahead with 95% it takes {single:,.0f} games, or {duplicate:,.0f} duplicate deals ({games:,.0f} games)."
    )
    rows = [
        ("who holds which cards", f"{parts['seat']:.1f}", f"{parts['seat'] / total:.0%}"),
        ("chance in play", f"{parts['chance']:.1f}", f"{parts['chance'] / total:.0%}"),
        ("the deal as a whole", f"{parts['deal']:.1f}", f"{parts['deal'] / total:.0%}"),
    ]

    def draw(axes: Axes) -> None:
        counts = np.arange(1, max(2, int(single if math.isfinite(single) else 100)) + 1)
        for label, variance, cost in (("single games", total, 1), ("duplicate deals", a_deal, margins.shape[1])):
            axes.plot(counts, 1.96 * np.sqrt(variance * cost / counts), label=label)
        axes.axhline(skill, color="black", linewidth=0.8, label="the difference in skill")
        axes.set_ylim(0, 4 * max(skill, 1))
        axes.set_xlabel("games played")
        axes.set_ylabel("half of the 95% interval, points a game")
        axes.legend()

    figures = {**parts, "skill": skill, "games": single, "duplicate_deals": duplicate}
    return Answer(sentence, ("what", "variance", "share"), rows, figures, draw)


STUDY = Study("luck", "How many games until the better player is ahead?", tasks, answer, deals=2000, players=(2, 4))
