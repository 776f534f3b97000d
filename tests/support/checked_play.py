"""Random play with every invariant checked after every ply."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from krypenv import Engine, Rules, determinize
from krypenv.cards import BUILD, STOP, TAKE_BUILD
from krypenv.kernels.decision_checks import check_decisions
from krypenv.worlds.determinize import check_genuine
from krypenv.worlds.invariants import check_state
from support.games import seen_by, viewers_of

ROWS = 64
STEPS = 8  # plies of each row at a time; then whoever runs this may stop it
LOOK_AFTER = 4  # times; then what a seat sees is looked at


@dataclass
class CheckedPlay:
    """Random games of some rules, in which every invariant is checked after every ply, and what a seat sees often.

    A row takes at random, much, little or builds where it can. `sessions` are those that have ended.
    """

    rules: Rules
    seed: int
    plies: int = 0
    sessions: int = 0
    times: int = 0

    def __post_init__(self) -> None:
        self.engine, self.rng = Engine(self.rules, ROWS, seed=self.seed), np.random.default_rng(self.seed)
        self.weights = np.ones((ROWS, self.rules.num_actions))
        self.weights[1::4, STOP], self.weights[2::4, STOP] = 1e-3, 1e3
        self.weights[3::4, BUILD:TAKE_BUILD] = 1e3

    def _play(self, engine: Engine) -> None:
        for _ in range(STEPS):
            engine.step((engine.action_mask * self.weights * self.rng.random(self.weights.shape)).argmax(axis=1))
            check_state(self.rules, engine.state)
            self.plies += ROWS
            self.sessions += int(engine.finished.sum())

    def go_on(self) -> None:
        """Play some plies in each row; what a seat sees now and then is that of a world, which is played on too."""
        self._play(self.engine)
        self.times += 1
        if self.times % LOOK_AFTER == 0:
            check_decisions(self.rules, self.engine.observation, self.engine.action_mask)
            check_genuine(self.rules, self.engine.observation, self.engine.action_mask)
            seen = seen_by(self.engine, np.full(ROWS, self.times // LOOK_AFTER % self.rules.players))
            worlds = Engine.from_state(self.rules, determinize(seen, self.times, self.rules))
            assert (seen_by(worlds, viewers_of(seen, self.rules.players)) == seen).all()
            self._play(worlds)
