"""What is each place at the table worth?

One agent plays every seat. Seat 0 leads and the last one deals. Sweeps that open a deal are credited to the dealer
(R12).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from krypenv import Rules
from krypenv.cards import NO_CARD
from krypenv.training import lab


def play_deals(rules: str, agent: str, first: int, deals: int, seed: int) -> list[list[int]]:
    """Return by deal the scores of an agent that plays every seat, and the sweeps that begin a deal."""
    scores = np.zeros((deals, Rules.parse(rules).players), np.int64)
    credited = np.zeros(deals, np.int64)
    is_fresh = np.ones(deals, bool)  # no card of the deal has been played
    for engine, rows, before, ended, _ in lab.watch(rules, agent, first, deals, seed):
        complete = rows[engine.state.pending[rows] == NO_CARD]
        opening = complete[is_fresh[complete]]
        credited[opening] += engine.state.last_sweep[opening]
        is_fresh[complete] = False
        is_fresh[rows] |= engine.state.deal_number[rows] != before.deal_number
        scores[ended] = engine.final_scores[ended]
    return np.column_stack([scores, credited]).tolist()


def tasks(setup: lab.Setup) -> list[lab.Task]:
    """Return chunks of deals in which the agent plays every seat."""
    return lab.chunk_tasks("deals", setup, play_deals)


def answer(setup: lab.Setup, results: dict[str, Any]) -> lab.Answer:
    """Return by how much each seat is ahead of the mean of all, and the leader of the dealer."""
    found = np.array(lab.by_deal(results, "deals", setup)).astype(float)
    scores = found[:, :-1] * (-1 if setup.rules.goal == "low" else 1)
    ahead = scores - scores.mean(axis=1, keepdims=True)
    names = ["the leader", *(f"{seat} after the dealer" for seat in range(2, scores.shape[1])), "the dealer"]
    margins = {name: ahead[:, seat] for seat, name in enumerate(names)}
    margins["the leader over the dealer"] = scores[:, 0] - scores[:, -1]
    paid = {"credited to the dealer by R12": lab.interval(found[:, -1] * setup.rules.sweep_points)}
    return lab.Answer({**lab.effects_of(margins), **lab.figures_of(paid)})


QUESTION = "What is each place at the table worth?"
STUDY = lab.Study("lead", QUESTION, tasks, answer, deals=10_000)

if __name__ == "__main__":
    lab.main(STUDY)
