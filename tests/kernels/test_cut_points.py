"""Worlds for observations that cut points off at 127 show them again, and no score ends a session that goes on."""

from __future__ import annotations

import numpy as np
import pytest
from support.games import seen_by

from krypenv import Engine, Rules
from krypenv.kernels.scoring import running_scores
from krypenv.worlds.determinize import determinize

RICH = "mulle-glimne spade_points=17 ace_points=13 spade_ace_points=1 sweep_points=2 most_spades_points=2"
THRESHOLD = 150


@pytest.mark.parametrize("sides", ["players=2", "players=4 teams=2"])
def test_f6_two_sides_cut_off_below_a_threshold_stay_below_it(sides: str) -> None:
    rules = Rules.parse(f"{RICH} {sides} threshold={THRESHOLD} threshold_at_once=True")
    engine, met = Engine(rules, 256, seed=1), 0
    while met < 20:
        engine.step(engine.sample_actions())
        for seat in range(rules.players):
            seen = seen_by(engine, np.full(256, seat))
            cut = np.flatnonzero((seen[:, rules.layout["points"]] == 127).sum(axis=1) > 1)
            met += len(cut)
            if len(cut):
                worlds = determinize(seen[cut], 1, rules)
                shown = Engine.from_state(rules, worlds)
                assert np.array_equal(seen_by(shown, viewers(rules, seen[cut])), seen[cut])
                scores = running_scores(rules, worlds)
                sides_scores = [scores[:, side :: rules.num_teams].sum(axis=1) for side in range(rules.num_teams)]
                assert np.max(sides_scores) < THRESHOLD


def viewers(rules: Rules, seen: np.ndarray) -> np.ndarray:
    """Return the seat of each observation's viewer in its world, where the last seat deals."""
    return rules.players - 1 - seen[:, rules.layout["dealer"]].argmax(axis=1)
