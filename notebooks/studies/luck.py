"""How many games until the better player is ahead?

An agent meets a weaker one that draws its worlds at random. Each deal is played several times in each seating, so that
the variance of a game's margin parts into the deal, who holds which cards of it, and chance in play.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from krypenv.training import lab

Array = npt.NDArray[np.float64]
WEAKER = "search(worlds=4, plies=2)"
PLAYS = 4  # times that each deal is played in each seating, with other random numbers of the agents
RESAMPLES = 400  # of the deals, for intervals
SURE = 1.645  # standard errors at which the better one is ahead with 95%


def play_deals(rules: str, agent: str, first: int, deals: int, seed: int) -> list[list[list[float]]]:
    """Return margins of an agent over the weaker one on all other sides, by deal, seating and repetition."""
    better = lab.instead(agent)
    found = [lab.play_match(rules, WEAKER, first, deals, seed, better, repetition=each) for each in range(PLAYS)]
    return np.stack(found, axis=2).round(9).tolist()


def tasks(setup: lab.Setup) -> list[lab.Task]:
    """Return chunks of deals."""
    return lab.chunk_tasks("deals", setup, play_deals)


def variances(margins: Array) -> dict[str, float]:
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


def summary(margins: Array) -> dict[str, float]:
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


def resampled(margins: Array, seed: int) -> dict[str, tuple[float, float, float]]:
    """Return the finite figures of `summary` with 95% intervals, by a percentile bootstrap over deals."""
    random, found = np.random.default_rng(seed), summary(margins)
    draws = [summary(margins[random.integers(0, len(margins), len(margins))]) for _ in range(RESAMPLES)]
    bounds = {name: np.percentile([draw[name] for draw in draws], (2.5, 97.5), method="nearest") for name in found}
    return {name: (value, *bounds[name]) for name, value in found.items() if np.isfinite(bounds[name]).all()}


def answer(setup: lab.Setup, results: dict[str, Any]) -> lab.Answer:
    """Return the parts of the variance, and how many games and deals it takes to tell the better player."""
    margins = np.array(lab.by_deal(results, "deals", setup))
    found = resampled(margins, setup.seed)

    def draw(axes: Axes) -> None:
        most = found["games"][0] if "games" in found else 100
        counts = np.arange(1, max(2, min(int(most), 10_000)) + 1)
        a_deal = found["variance of a duplicate deal"][0] * margins.shape[1]
        for label, variance in (("single games", found["spread"][0] ** 2), ("duplicate deals", a_deal)):
            axes.plot(counts, SURE * np.sqrt(variance / counts), label=label)
        axes.axhline(found["skill"][0], color="black", linewidth=0.8, label="the difference in skill")
        axes.set_ylim(0, 4 * max(found["skill"][0], 1))
        axes.set_xlabel("games played")
        axes.set_ylabel("lead that is sure with 95%, points a game")
        axes.legend(loc="upper right")

    return lab.Answer(lab.figures_of(found), draw=draw)


STUDY = lab.Study("luck", "How many games until the better player is ahead?", tasks, answer, deals=2000)

if __name__ == "__main__":
    lab.main(STUDY)
