"""Luck: of the variance of a game's margin, how much is the deal, how much chance in play, how much skill."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from krypenv import agents
from krypenv.rules import Rules
from krypenv.training.evaluation.matches.deal_lists import deal_seeds
from krypenv.training.evaluation.matches.duplicate_deals import play_duplicates
from krypenv.training.evaluation.matches.margins import FloatArray, Interval, format_margin
from krypenv.training.lab.chunks import by_deal, chunk_tasks
from krypenv.training.lab.intervals import amounts, cells, figures_of, percents
from krypenv.training.lab.studying import Answer, Setup, Study, Task

WEAKER = "search(worlds=4, plies=2)"  # who draws its worlds at random, and so plays a deal in different ways
PLAYS = 4  # times that each deal is played in each seating, with other random numbers of the agents
RESAMPLES = 400  # of the deals, for intervals
SURE = 1.645  # standard errors at which the better one is ahead with 95%


def play_deals(rules: str, agent: str, first: int, deals: int, seed: int) -> list[list[list[float]]]:
    """Return margins of an agent over the weaker one on all other sides, by deal, seating and repetition."""
    game = Rules.parse(rules)
    seeds = deal_seeds(seed, first + deals)[first:]
    found = []
    for repetition in range(PLAYS):
        streams = np.random.SeedSequence([seed, first, repetition]).generate_state(2).tolist()
        players = [agents.make_known(name, game, it) for name, it in zip((agent, WEAKER), streams, strict=True)]
        found.append(play_duplicates(players, game, seeds).margins)
    margins: list[list[list[float]]] = np.stack(found, axis=2).round(9).tolist()
    return margins


def tasks(setup: Setup) -> list[Task]:
    """Return chunks of deals."""
    return chunk_tasks("deals", setup, play_deals)


def variances(margins: FloatArray) -> dict[str, float]:
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


def summary(margins: FloatArray) -> dict[str, float]:
    """Return what follows from margins (deals, seatings, repetitions): skill, spread, shares, and games that it takes.

    The numbers of games are infinite where the agent is not ahead.
    """
    parts, skill = variances(margins), float(margins.mean())
    total = sum(parts.values())
    a_deal = parts["deal"] + parts["chance"] / margins.shape[1]  # all seatings of a deal: `seat` cancels out
    needed = (SURE / skill) ** 2 if skill > 0 else math.inf
    return {
        "skill": skill,
        "spread": math.sqrt(total),
        **{f"share of {name}": part / total for name, part in parts.items()},
        "games": total * needed,
        "duplicate deals": a_deal * needed,
        "variance of a duplicate deal": a_deal,
    }


def resampled(margins: FloatArray, seed: int) -> dict[str, Interval]:
    """Return the finite figures of `summary` with 95% intervals, by a percentile bootstrap over deals."""
    random, found = np.random.default_rng(seed), summary(margins)
    draws = [summary(margins[random.integers(0, len(margins), len(margins))]) for _ in range(RESAMPLES)]
    bounds = {
        name: np.percentile([draw[name] for draw in draws], (2.5, 97.5), method="nearest").tolist() for name in found
    }
    return {name: (value, *bounds[name]) for name, value in found.items() if np.isfinite(bounds[name]).all()}


def answer(setup: Setup, results: dict[str, Any]) -> Answer:
    """Tell the parts of the variance, and how many games and deals it takes to tell the better player."""
    margins = np.array(by_deal(results, "deals", setup))
    found = resampled(margins, setup.seed)
    skill, spread = found["skill"], found["spread"][0]
    chance, seat, deal = (percents(found[f"share of {name}"])[0] for name in ("chance", "seat", "deal"))
    sentence = (
        f"Against {WEAKER} the agent has a margin of {format_margin(*skill, 1, ' points a game')}, and the margin of "
        f"one game has a standard deviation of {spread:.1f}: {chance} of its variance is chance in play, {seat} who "
        f"holds which cards, {deal} the deal as a whole. "
    )
    if "games" in found:
        games, deals = found["games"], found["duplicate deals"]
        sentence += (
            f"To be ahead with 95% it takes {games[0]:.0f} games ({games[1]:.0f} to {games[2]:.0f}), or {deals[0]:.0f} "
            f"duplicate deals ({deals[1]:.0f} to {deals[2]:.0f}) of {margins.shape[1]} games each."
        )
    else:
        sentence += "So it is not ahead for certain."
    rows = [
        (name, *(percents(each) if name.startswith("share") else cells(each) if name == "skill" else amounts(each)))
        for name, each in found.items()
        if name != "variance of a duplicate deal"
    ]

    def draw(axes: Axes) -> None:
        most = found["games"][0] if "games" in found else 100
        counts = np.arange(1, max(2, min(int(most), 10_000)) + 1)
        a_deal = found["variance of a duplicate deal"][0] * margins.shape[1]
        for label, variance in (("single games", spread**2), ("duplicate deals", a_deal)):
            axes.plot(counts, SURE * np.sqrt(variance / counts), label=label)
        axes.axhline(skill[0], color="black", linewidth=0.8, label="the difference in skill")
        axes.set_ylim(0, 4 * max(skill[0], 1))
        axes.set_xlabel("games played")
        axes.set_ylabel("lead that is sure with 95%, points a game")
        axes.legend(loc="upper right")

    return Answer(sentence, ("what", "figure", "95% interval"), rows, dict(figures_of(found)), draw)


STUDY = Study("luck", "How many games until the better player is ahead?", tasks, answer, deals=2000, fewest=2)
