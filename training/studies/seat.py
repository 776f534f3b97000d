"""The lead and the seat: what each place at the table is worth."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from krypenv import agents
from krypenv.engine import Engine
from krypenv.rules import Rules
from krypenv.training.evaluation.deals import deal_seeds
from krypenv.training.evaluation.matches import confidence_interval
from krypenv.training.evaluation.table import play_table
from krypenv.training.studies.play import by_deal, chunk_tasks, told
from krypenv.training.studies.study import Answer, Setup, Study, Task


def play_deals(rules: str, agent: str, first: int, deals: int, seed: int) -> list[list[int]]:
    """Return the scores of an agent that plays every seat, by deal and seat; seat 0 leads, and the last one deals."""
    game = Rules.parse(rules)
    engine = Engine(game, deals, deal_seeds(seed, first + deals)[first:])
    player = agents.make_known(agent, game, int(np.random.SeedSequence([seed, first]).generate_state(1)[0]))
    scores: list[list[int]] = play_table(engine, [player], np.zeros((deals, game.num_teams), np.int64)).scores.tolist()
    return scores


def tasks(setup: Setup) -> list[Task]:
    """Return chunks of deals in which the agent plays every seat."""
    return chunk_tasks("deals", setup, play_deals)


def answer(setup: Setup, results: dict[str, Any]) -> Answer:
    """Tell by how much each seat is ahead of the mean of all."""
    scores = np.array(by_deal(results, "deals", setup)).astype(float)
    ahead = scores.mean(axis=1, keepdims=True) - scores
    intervals = [confidence_interval(ahead[:, seat]) for seat in range(scores.shape[1])]
    names = [f"{seat} after the dealer" for seat in range(1, scores.shape[1])] + ["the dealer"]
    names[0] = "the leader"
    best, worst = int(np.argmax([each[0] for each in intervals])), int(np.argmin([each[0] for each in intervals]))
    mean, low, high = confidence_interval(ahead[:, best] - ahead[:, worst])
    sure = "" if low > 0 else ", which is not told apart from zero"
    sentence = (
        f"The best seat is {names[best]}, {mean:.2f} points a game ({low:.2f} to {high:.2f}) ahead of the worst, "
        f"{names[worst]}{sure}."
    )

    def draw(axes: Axes) -> None:
        means = np.array(intervals)
        axes.bar(names, means[:, 0], yerr=[means[:, 0] - means[:, 1], means[:, 2] - means[:, 0]], capsize=4)
        axes.axhline(0, color="black", linewidth=0.8)
        axes.set_ylabel("points a game ahead of the mean of all seats")

    return Answer(
        sentence,
        ("seat", "ahead of the mean", "95% interval"),
        [(name, *told(ahead[:, seat])) for seat, name in enumerate(names)],
        {
            name: dict(zip(("mean", "low", "high"), each, strict=True))
            for name, each in zip(names, intervals, strict=True)
        },
        draw,
    )


STUDY = Study("seat", "What is each place at the table worth?", tasks, answer, deals=20_000, players=(2, 3, 4, 5, 6))
