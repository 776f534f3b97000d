"""Luck: how much of each side's margin the cards brought, deal by deal, while games are played.

At each deal, luck is the value of the hands that came, less the mean value over hands that are dealt anew from the
cards that were left. Whatever the value, the expectation of this difference is zero, so a margin from which the sum is
subtracted has the same expectation (a control variate, as in AIVAT: Burch, Schmid, Moravcik and Bowling 2018).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt

from krypenv.agents.champion import shipped_model
from krypenv.agents.neural.guided import load_weights
from krypenv.agents.neural.inference import make_network_scratch
from krypenv.agents.neural.playouts import make_repeats
from krypenv.agents.scripted import tactical_style
from krypenv.agents.search.horizon import make_model
from krypenv.agents.workspace import make_workspace, with_room
from krypenv.engine import Engine
from krypenv.kernels.compiled import compile_rules
from krypenv.rules import Rules
from krypenv.runtime.jit import handle
from krypenv.state import allocate
from krypenv.training.evaluation.luck.control import Control
from krypenv.training.evaluation.luck.redealing import value_by_network, value_by_tactician, write_redeals

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

Player = Callable[[np.ndarray, FloatArray], None]  # plays N games on, and writes their values, (N, S)
AT_ONCE = 4096  # games and redeals that are valued at once: 4 MB
DIGITS = 3  # of luck, in points: it is the same on every machine, and short in files


class Meter:
    """Measures luck in the games of an engine.

    Args:
        rules: the rules of the games.
        control: the players whose rollouts value a deal, with their coefficients, and the number of redeals.

    Attributes:
        parts: (B, S, V) float64, by rollouts of each of V players, the points by which the deals so far have changed
            each side's margin, in expectation; positive is good luck. The sum over sides is zero.
    """

    def __init__(self, rules: Rules, control: Control) -> None:
        self._control, self._sides = control, rules.num_teams
        self._compiled, self._model, self._style = compile_rules(rules), make_model("sweep"), tactical_style(rules)
        self._workspace = make_workspace()
        self._games = handle(allocate(max(1, AT_ONCE // (1 + control.redeals)) * (1 + control.redeals)))
        self._players = [self._by_tactician if name == "tactician" else self._network(rules) for name in control.shares]

    @property
    def luck(self) -> FloatArray:
        """The luck of each side so far by the control variate, (B, S), in points of margin."""
        luck: FloatArray = (self.parts @ np.array([*self._control.shares.values()])).round(DIGITS)
        return luck

    def begin(self, engine: Engine, first: bool = False) -> None:
        """Begin with the games of a fresh engine, all of which are at their first deal.

        Its luck counts only if asked for: over all seatings of a deal it sums to zero.
        """
        self.parts = np.zeros((engine.num_games, self._sides, len(self._players)))
        self._number = _deals(engine)
        if first:
            self._add(engine, np.arange(engine.num_games))

    def look(self, engine: Engine, rows: IntArray) -> None:
        """Measure the luck of those of some games, (M,) rows, that have gone on to a new deal in the last step."""
        number = _deals(engine)
        self._add(engine, rows[number[rows] != self._number[rows]])
        self._number[rows] = number[rows]

    def _add(self, engine: Engine, rows: IntArray) -> None:
        size = 1 + self._control.redeals
        for start in range(0, len(rows), len(self._games) // size):
            some = rows[start : start + len(self._games) // size]
            games, values = self._games[: len(some) * size], np.empty((len(some) * size, self._sides))
            for at, player in enumerate(self._players):
                with_room(self, partial(self._play, engine, some, player, games, values))
                by_game = values.reshape(len(some), size, self._sides)
                self.parts[some, :, at] += by_game[:, 0] - by_game[:, 1:].mean(axis=1)

    def _play(self, engine: Engine, rows: IntArray, player: Player, games: np.ndarray, values: FloatArray) -> None:
        write_redeals(self._compiled, engine._state, rows, self._control.redeals, games, self._workspace)
        player(games, values)

    def _by_tactician(self, games: np.ndarray, out: FloatArray) -> None:
        value_by_tactician(self._compiled, self._model, games, self._style, self._workspace, out)

    def _network(self, rules: Rules) -> Player:
        weights = load_weights(str(shipped_model(rules)), rules)
        repeats, scratch = make_repeats(), make_network_scratch()

        def by_network(games: np.ndarray, out: FloatArray) -> None:
            value_by_network(self._compiled, self._model, games, weights, repeats, scratch, self._workspace, out)

        return by_network


def _deals(engine: Engine) -> IntArray:
    """Return a number for each game that differs between the deals of a session, (B,)."""
    number: IntArray = engine.state.game_number.astype(np.int64) << 16 | engine.state.deal_number
    return number
