"""The lead and the seat: what each place at the table is worth, and what R12 gives the dealer."""

from __future__ import annotations

from typing import Any

import numpy as np

from krypenv.cards import NO_CARD
from krypenv.kernels.scoring import leads
from krypenv.rules import Rules
from krypenv.training.evaluation.matches.margins import interval
from krypenv.training.lab.chunks import by_deal, chunk_tasks, watch
from krypenv.training.lab.intervals import bars, cells, figures_of, points
from krypenv.training.lab.studying import Answer, Setup, Study, Task


def play_deals(rules: str, agent: str, first: int, deals: int, seed: int) -> list[list[int]]:
    """Return by deal the scores of an agent that plays every seat, and the sweeps that begin a deal.

    Seat 0 leads, and the last one deals: these sweeps are credited to it across the deal (R12).
    """
    game = Rules.parse(rules)
    scores = np.zeros((deals, game.players), np.int64)
    credited = np.zeros(deals, np.int64)
    is_fresh = np.ones(deals, np.bool_)  # no card of the deal has been played
    for engine, rows, before, ended, _ in watch(rules, agent, first, deals, seed):
        complete = rows[engine.state.pending[rows] == NO_CARD]
        opening = complete[is_fresh[complete]]
        credited[opening] += engine.state.last_sweep[opening]
        is_fresh[complete] = False
        is_fresh[rows] |= engine.state.deal_number[rows] != before.deal_number
        scores[ended] = engine.final_scores[ended]
    return np.column_stack([scores, credited]).tolist()


def tasks(setup: Setup) -> list[Task]:
    """Return chunks of deals in which the agent plays every seat."""
    return chunk_tasks("deals", setup, play_deals)


def answer(setup: Setup, results: dict[str, Any]) -> Answer:
    """Tell by how much each seat is ahead of the mean of all."""
    found = np.array(by_deal(results, "deals", setup)).astype(float)
    scores, credit = found[:, :-1], found[:, -1] * setup.rules.sweep_points
    ahead = leads(setup.rules, scores, scores.mean(axis=1, keepdims=True))
    names = ["the leader", *(f"{seat} after the dealer" for seat in range(2, scores.shape[1])), "the dealer"]
    seats = {name: interval(ahead[:, seat]) for seat, name in enumerate(names)}
    paid = interval(credit)
    sentence = (
        f"The leader has a margin of {points(ahead[:, 0] - ahead[:, -1])[0]} over the dealer. "
        "Sweeps that open a deal are credited to the dealer: "
        f"{paid[0]:.2f} points a game ({paid[1]:.2f} to {paid[2]:.2f})."
    )
    every = {**seats, "credited to the dealer by R12": paid}
    return Answer(
        sentence, ("what", "ahead of the mean", "95% interval"),
        [(name, *cells(each)) for name, each in every.items()], figures_of(every),
        bars(seats, "points a game ahead of the mean of all seats"),
    )  # fmt: skip


STUDY = Study("seat", "What is each place at the table worth?", tasks, answer, deals=10_000, players=(2, 3, 4, 5, 6))
