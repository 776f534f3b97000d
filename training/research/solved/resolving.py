"""An agent that solves the deal before the last one anew at each decision, for bounded ranges of hands.

Ranges are drawn at the position, and what was played earlier in the deal tells nothing about them. So it is no
equilibrium of the whole deal, even with all hands in the ranges.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from krypenv.agents.base import IntArray, check_seed
from krypenv.agents.champion import Champion
from krypenv.kernels.compiled import compile_rules
from krypenv.one_game import Game
from krypenv.rules import Rules
from krypenv.training.research.exact.late import MOST_BOUNDED, solve_late
from krypenv.training.research.exact.looking import infosets_of
from krypenv.training.research.exact.pairs import Bounds
from krypenv.worlds.determinize import determinize

GAP = 0.02  # points of exploitability at which a solution is good enough


class Equilibrium:
    """Solves what is left of the deal before the last one as a game of its own, and plays `Champion` elsewhere.

    Each seat holds one of some hands, drawn at random, that both know, the own hand among them. CFR+ solves this game,
    with the last deal by minimax, and the agent draws its card from the average strategy. How to go on with a capture
    is left to `Champion`.

    Args:
        hands: hands in each range.
        samples: last deals, drawn at random, by which a position after the deal is valued.
        iterations: iterations of CFR+, at most.

    Raises ValueError if one of them is below 1, and for rules whose deal before the last one can't be solved.

    >>> from krypenv import agents
    >>> agent = agents.make(agents.typed("krypenv.training.research.solved.resolving:Equilibrium(hands=8)"), Rules())
    """

    needs_history = True
    remembers = False

    def __init__(
        self, rules: Rules, seed: int = 0, *, hands: int = 16, samples: int = 4, iterations: int = 200
    ) -> None:
        if min(hands, samples, iterations) < 1:
            raise ValueError(f"hands, samples and iterations are 1 or more, not {hands}, {samples} and {iterations}")
        check_rules(rules)
        self.rules = rules
        self._elsewhere = Champion(rules, seed)
        self._bounds, self._iterations = (hands, samples), iterations
        self._rng = np.random.default_rng(check_seed(seed))

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> IntArray:
        """Return an action for each row, (B,) int64; see `krypenv.agents.Agent`."""
        actions = self._elsewhere.act(observations, action_masks)
        for row in np.flatnonzero(np.asarray(action_masks).sum(axis=1) > 1):
            game = self._game_of(observations[row])
            if game.deal_number == len(self.rules.deal_sizes()) - 1 and game.pending is None:
                actions[row] = self._rng.choice(self.rules.num_actions, p=self._solve(game))
        return actions

    def _game_of(self, observation: npt.NDArray[np.int8]) -> Game:
        """Return a game that agrees with an observation."""
        world = determinize(observation, int(self._rng.integers(2**31)), self.rules)
        return Game.at_row(self.rules, world[0])

    def _solve(self, game: Game) -> npt.NDArray[np.float64]:
        """Return the probability of each action of the seat to act, (A,)."""
        hands, samples = self._bounds
        bounds = Bounds(hands, int(self._rng.integers(2**31)), known=game.turn, samples=samples)
        solved = solve_late(game, GAP, self._iterations, threads=1, bounds=bounds)
        forest, policy = solved.trees.forests[0], solved.solutions[0].policy
        [infoset] = infosets_of(self.rules, forest, game, knows_plays=False)
        choices = slice(forest.choice[infoset], forest.choice[infoset + 1])
        found = np.zeros(self.rules.num_actions)
        found[forest.actions[choices]] = policy[choices]
        return found / found.sum()


def check_rules(rules: Rules) -> None:
    """Raise ValueError for rules whose deal before the last one can't be solved."""
    deals = rules.deal_sizes()
    if rules.players != 2 or not compile_rules(rules)[0]["is_main"] or sum(deals[-2:][0][0]) > MOST_BOUNDED:
        raise ValueError(
            f"the deal before the last one is solved in games like Krypkasino for two with at most {MOST_BOUNDED} "
            f"cards in both hands, not in '{rules}'"
        )
